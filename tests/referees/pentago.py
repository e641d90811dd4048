"""Pentago as a plain program, the independent check of gdl_games/pentago."""

from typing import NamedTuple

ROLES = ("white", "black")
CORNERS = {"nw": (0, 0), "ne": (3, 0), "sw": (0, 3), "se": (3, 3)}
PIECES = {"w": "white", "k": "black", "b": "b"}


class State(NamedTuple):
    rows: tuple[str, ...]  # from the top; one letter a cell: w, k (black) or b (blank)
    turn: int


def initial() -> State:
    return State(("b" * 6,) * 6, 0)


def legal(state: State) -> list[list[str]]:
    moves = [["noop"], ["noop"]]
    moves[state.turn] = sorted(
        f"(place {x} {y} {quadrant} {turn})"
        for y, row in enumerate(state.rows, 1)
        for x, piece in enumerate(row, 1)
        if piece == "b"
        for quadrant in CORNERS
        for turn in ("cw", "ccw")
    )
    return moves


def step(state: State, joint: tuple[str, ...]) -> State:
    _, x, y, quadrant, turn = joint[state.turn].strip("()").split()
    board = [list(row) for row in state.rows]
    board[int(y) - 1][int(x) - 1] = "wk"[state.turn]
    left, top = CORNERS[quadrant]
    square = [row[left : left + 3] for row in board[top : top + 3]]
    for _ in range(1 if turn == "cw" else 3):
        square = [list(column) for column in zip(*reversed(square), strict=True)]
    for row, turned in zip(board[top : top + 3], square, strict=True):
        row[left : left + 3] = turned
    return State(tuple("".join(row) for row in board), 1 - state.turn)


def fives(state: State) -> list[bool]:
    """Whether white, and whether black, has five in a row: the board's lines written out, and searched as text."""
    text = "/".join(state.rows)  # a step down is 7 letters on, one of the diagonals 8 or 6; "/" keeps rows apart
    lines = [text[start::stride] for stride in (1, 6, 7, 8) for start in range(stride)]
    return [any(letter * 5 in line for line in lines) for letter in "wk"]


def terminal(state: State) -> bool:
    return any(fives(state)) or "b" not in "".join(state.rows)


def goals(state: State) -> list[int]:
    white, black = fives(state)
    return [50, 50] if white == black else [100, 0] if white else [0, 100]


def facts(state: State) -> set[str]:
    cells = {f"(cell {x} {y} {PIECES[p]})" for y, row in enumerate(state.rows, 1) for x, p in enumerate(row, 1)}
    return cells | {f"(control {ROLES[state.turn]})"}
