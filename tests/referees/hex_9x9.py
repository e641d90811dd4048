"""Hex as a plain program, the independent check of gdl_games/hex_9x9 (and, with another board, of hex_5x5)."""

from typing import NamedTuple

ROLES = ("black", "white")


class State(NamedTuple):
    stones: tuple[int, int]  # one bit a cell, black's and white's
    mover: int


class Hex:
    """The game on a board of size x size; cell (x, y), counted from one, is bit (y - 1) * (size + 1) + x - 1.

    The bit after the last cell of each row stays clear, so that shifting a set of cells never wraps a row.
    """

    def __init__(self, size: int, black: tuple[tuple[int, int], ...] = ()) -> None:
        self.size = size
        self.width = size + 1
        self.cells = [(x, y) for x in range(1, size + 1) for y in range(1, size + 1)]
        self.edges = (
            tuple(sum(self.bit(i, edge) for i in range(1, size + 1)) for edge in (1, size)),
            tuple(sum(self.bit(edge, i) for i in range(1, size + 1)) for edge in (1, size)),
        )
        self.start = State((sum(self.bit(x, y) for x, y in black), 0), len(black) % 2)

    def bit(self, x: int, y: int) -> int:
        return 1 << (y - 1) * self.width + x - 1

    def joins(self, player: int, stones: int) -> bool:
        """Flood from one edge of the player over the stones given: does it meet the other edge?"""
        near, far = self.edges[player]
        flood, grown = 0, near & stones
        while grown != flood:
            flood = grown
            for shift in (1, self.width, self.width - 1):
                grown |= flood << shift | flood >> shift
            grown &= stones
        return bool(flood & far)

    def initial(self) -> State:
        return self.start

    def legal(self, state: State) -> list[list[str]]:
        taken = state.stones[0] | state.stones[1]
        moves = [["noop"], ["noop"]]
        moves[state.mover] = sorted(f"(place {x} {y})" for x, y in self.cells if not taken & self.bit(x, y))
        return moves

    def step(self, state: State, joint: tuple[str, ...]) -> State:
        _, x, y = joint[state.mover].strip("()").split()
        stones = list(state.stones)
        stones[state.mover] |= self.bit(int(x), int(y))
        return State((stones[0], stones[1]), 1 - state.mover)

    def terminal(self, state: State) -> bool:
        return self.joins(0, state.stones[0]) or self.joins(1, state.stones[1])

    def goals(self, state: State) -> list[int]:
        return [100 * self.joins(player, stones) for player, stones in enumerate(state.stones)]

    def facts(self, state: State) -> set[str]:
        black, white = state.stones
        return {f"(control {ROLES[state.mover]})"} | {
            f"(cell {x} {y} {'black' if black & bit else 'white' if white & bit else 'b'})"
            for x, y in self.cells
            for bit in (self.bit(x, y),)
        }


_GAME = Hex(9)
initial, legal, step = _GAME.initial, _GAME.legal, _GAME.step
terminal, goals, facts = _GAME.terminal, _GAME.goals, _GAME.facts
