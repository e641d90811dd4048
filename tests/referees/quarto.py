"""Quarto as a plain program, the independent check of gdl_games/quarto."""

from functools import reduce
from operator import and_
from typing import NamedTuple

ROLES = ("first", "second")
# A piece is a number of four bits: tall, dark, round and hollow where set, short, light, square and solid where not.
NAMES = [height + colour + shape + top for height in "st" for colour in "ld" for shape in "sr" for top in "sh"]
# Cells are numbered 0 to 15, row after row.
LINES = (
    [range(4 * i, 4 * i + 4) for i in range(4)]
    + [range(i, 16, 4) for i in range(4)]
    + [range(0, 16, 5), range(3, 13, 3)]
)


class State(NamedTuple):
    cells: tuple[int | None, ...]
    hand: int | None
    turn: int


def initial() -> State:
    return State((None,) * 16, None, 0)


def stock(state: State) -> set[int]:
    return set(range(16)) - {*state.cells, state.hand}


def legal(state: State) -> list[list[str]]:
    moves = [["noop"], ["noop"]]
    if state.hand is None:
        moves[state.turn] = sorted(f"(give {NAMES[piece]})" for piece in stock(state))
    else:
        moves[state.turn] = sorted(
            f"(place {i % 4 + 1} {i // 4 + 1})" for i, piece in enumerate(state.cells) if piece is None
        )
    return moves


def step(state: State, joint: tuple[str, ...]) -> State:
    kind, *arguments = joint[state.turn].strip("()").split()
    if kind == "give":
        return State(state.cells, NAMES.index(arguments[0]), 1 - state.turn)
    x, y = map(int, arguments)
    i = 4 * (y - 1) + x - 1
    return State((*state.cells[:i], state.hand, *state.cells[i + 1 :]), None, state.turn)


def won(state: State) -> bool:
    for line in LINES:
        pieces = [piece for i in line if (piece := state.cells[i]) is not None]
        if len(pieces) == 4 and (reduce(and_, pieces) or reduce(and_, (15 ^ piece for piece in pieces))):
            return True
    return False


def terminal(state: State) -> bool:
    return won(state) or None not in state.cells


def goals(state: State) -> list[int]:
    if not won(state):
        return [50, 50]
    return [100, 0] if state.turn == 0 else [0, 100]


def facts(state: State) -> set[str]:
    result = {f"(stock {NAMES[piece]})" for piece in stock(state)} | {f"(control {ROLES[state.turn]})"}
    if state.hand is not None:
        result.add(f"(hand {NAMES[state.hand]})")
    for i, piece in enumerate(state.cells):
        result.add(f"(cell {i % 4 + 1} {i // 4 + 1} {'b' if piece is None else NAMES[piece]})")
    return result
