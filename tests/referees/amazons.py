"""The Game of the Amazons as a plain program, the independent check of gdl_games/amazons (and of amazons_6x6)."""

from collections.abc import Iterator
from typing import NamedTuple

ROLES = ("white", "black")
Squares = tuple[tuple[int, int], ...]


class State(NamedTuple):
    board: str  # rows from y = 1 on, each ended by a wall; W, B, an arrow x, empty .
    mover: int


class Amazons:
    """The game on size x size squares; black's queens stand opposite white's."""

    def __init__(self, size: int, white: Squares) -> None:
        self.size = size
        self.width = size + 1
        self.rays = tuple(dx + dy * self.width for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy)
        squares = list("." * size + "#") * size
        for x, y in white:
            squares[self.at(x, y)] = "W"
            squares[self.at(x, size + 1 - y)] = "B"
        # Off the board to the south an index is negative and meets the wall below; to the north likewise.
        self.start = State("".join(squares) + "#" * (self.width + 1), 0)

    def at(self, x: int, y: int) -> int:
        return (y - 1) * self.width + x - 1

    def square(self, index: int) -> str:
        return f"{index % self.width + 1} {index // self.width + 1}"

    def queen_lines(self, board: str, start: int) -> Iterator[int]:
        for ray in self.rays:
            index = start + ray
            while board[index] == ".":
                yield index
                index += ray

    def initial(self) -> State:
        return self.start

    def turns(self, state: State) -> Iterator[tuple[int, int, int]]:
        queen = "WB"[state.mover]
        for start in (i for i, piece in enumerate(state.board) if piece == queen):
            lifted = state.board[:start] + "." + state.board[start + 1 :]
            for end in self.queen_lines(state.board, start):
                for arrow in self.queen_lines(lifted, end):
                    yield start, end, arrow

    def legal(self, state: State) -> list[list[str]]:
        moves = [["noop"], ["noop"]]
        turns = ((self.square(i) for i in turn) for turn in self.turns(state))
        moves[state.mover] = sorted(f"(move {' '.join(turn)})" for turn in turns)
        return moves

    def step(self, state: State, joint: tuple[str, ...]) -> State:
        x1, y1, x2, y2, x3, y3 = map(int, joint[state.mover].strip("()").split()[1:])
        squares = list(state.board)
        squares[self.at(x1, y1)] = "."
        squares[self.at(x2, y2)] = "WB"[state.mover]
        squares[self.at(x3, y3)] = "x"
        return State("".join(squares), 1 - state.mover)

    def terminal(self, state: State) -> bool:
        return next(self.turns(state), None) is None

    def goals(self, state: State) -> list[int]:
        """The player to move is stuck where the game has ended."""
        return [0, 100] if state.mover == 0 else [100, 0]

    def facts(self, state: State) -> set[str]:
        names = {"W": "white", "B": "black", "x": "arrow", ".": "b"}
        cells = {f"(cell {self.square(i)} {names[piece]})" for i, piece in enumerate(state.board) if piece != "#"}
        return cells | {f"(control {ROLES[state.mover]})"}


_GAME = Amazons(10, white=((1, 4), (4, 1), (7, 1), (10, 4)))
initial, legal, step = _GAME.initial, _GAME.legal, _GAME.step
terminal, goals, facts = _GAME.terminal, _GAME.goals, _GAME.facts
