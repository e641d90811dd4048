"""Clobber as a plain program, the independent check of gdl_games/clobber."""

from collections.abc import Iterator
from typing import NamedTuple

ROLES = ("white", "black")
COLUMNS, ROWS = 6, 5


class State(NamedTuple):
    board: str  # row by row from the south-west corner: w, b, or a dot where nothing stands
    turn: int


def initial() -> State:
    return State("".join("wb"[(x + y) % 2] for y in range(ROWS) for x in range(COLUMNS)), 0)


def captures(state: State) -> Iterator[tuple[int, int]]:
    own, other = "wb"[state.turn], "bw"[state.turn]
    for i, stone in enumerate(state.board):
        if stone == own:
            neighbours = [(i - 1, i % COLUMNS > 0), (i + 1, i % COLUMNS < COLUMNS - 1)]
            neighbours += [(i - COLUMNS, i >= COLUMNS), (i + COLUMNS, i < COLUMNS * (ROWS - 1))]
            yield from ((i, j) for j, inside in neighbours if inside and state.board[j] == other)


def legal(state: State) -> list[list[str]]:
    def square(i: int) -> str:
        return f"{i % COLUMNS + 1} {i // COLUMNS + 1}"

    moves = sorted(f"(clobber {square(i)} {square(j)})" for i, j in captures(state))
    return [moves if role == state.turn else ["noop"] for role in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    x1, y1, x2, y2 = map(int, joint[state.turn].strip("()").split()[1:])
    board = list(state.board)
    board[x1 - 1 + COLUMNS * (y1 - 1)] = "."
    board[x2 - 1 + COLUMNS * (y2 - 1)] = "wb"[state.turn]
    return State("".join(board), 1 - state.turn)


def terminal(state: State) -> bool:
    return next(captures(state), None) is None


def goals(state: State) -> list[int]:
    return [0 if role == state.turn else 100 for role in (0, 1)]


def facts(state: State) -> set[str]:
    stones = ((i, ROLES["wb".index(stone)]) for i, stone in enumerate(state.board) if stone != ".")
    cells = {f"(cell {i % COLUMNS + 1} {i // COLUMNS + 1} {stone})" for i, stone in stones}
    return cells | {f"(control {ROLES[state.turn]})"}
