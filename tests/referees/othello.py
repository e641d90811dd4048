"""Othello as a plain program on bitboards, the independent check of gdl_games/othello."""

from typing import NamedTuple

ROLES = ("black", "white")
FULL = (1 << 64) - 1
NOT_LEFT = 0xFEFEFEFEFEFEFEFE  # every cell but those of column 1
NOT_RIGHT = 0x7F7F7F7F7F7F7F7F  # every cell but those of column 8
# A step in a direction moves bit 8 * (row - 1) + (column - 1) by so many places, and must not wrap around an edge.
STEPS = (
    (1, NOT_LEFT), (-1, NOT_RIGHT), (8, FULL), (-8, FULL),
    (9, NOT_LEFT), (7, NOT_RIGHT), (-7, NOT_LEFT), (-9, NOT_RIGHT),
)  # fmt: skip


class State(NamedTuple):
    discs: tuple[int, int]  # bitboards of black and white
    turn: int


def bit(x: int, y: int) -> int:
    return 1 << (8 * (y - 1) + x - 1)


def shift(cells: int, places: int, mask: int) -> int:
    return (cells << places if places > 0 else cells >> -places) & mask & FULL


def turned(own: int, other: int, cell: int) -> int:
    """The discs that a disc of `own` on the cell turns over."""
    result = 0
    for places, mask in STEPS:
        line, at = 0, shift(cell, places, mask)
        while at & other:
            line |= at
            at = shift(at, places, mask)
        if at & own:
            result |= line
    return result


def placings(discs: tuple[int, int], player: int) -> list[str]:
    own, other = discs[player], discs[1 - player]
    return [
        f"(place {x} {y})"
        for x in range(1, 9)
        for y in range(1, 9)
        if not bit(x, y) & (own | other) and turned(own, other, bit(x, y))
    ]


def initial() -> State:
    return State((bit(5, 4) | bit(4, 5), bit(4, 4) | bit(5, 5)), 0)


def legal(state: State) -> list[list[str]]:
    moves = [["noop"], ["noop"]]
    moves[state.turn] = placings(state.discs, state.turn) or ["noop"]
    return moves


def step(state: State, joint: tuple[str, ...]) -> State:
    move = joint[state.turn]
    discs = list(state.discs)
    if move != "noop":
        cell = bit(*map(int, move.strip("()").split()[1:]))
        flips = turned(discs[state.turn], discs[1 - state.turn], cell)
        discs[state.turn] |= flips | cell
        discs[1 - state.turn] &= ~flips
    return State((discs[0], discs[1]), 1 - state.turn)


def terminal(state: State) -> bool:
    return not placings(state.discs, 0) and not placings(state.discs, 1)


def goals(state: State) -> list[int]:
    lead = state.discs[0].bit_count() - state.discs[1].bit_count()
    return [100, 0] if lead > 0 else [0, 100] if lead < 0 else [50, 50]


def facts(state: State) -> set[str]:
    black, white = state.discs
    result = {f"(control {ROLES[state.turn]})"}
    for x in range(1, 9):
        for y in range(1, 9):
            piece = "black" if black & bit(x, y) else "white" if white & bit(x, y) else "b"
            result.add(f"(cell {x} {y} {piece})")
    return result
