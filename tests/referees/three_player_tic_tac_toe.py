"""Three-player Tic-Tac-Toe as a plain program, the independent check of gdl_games/three_player_tic_tac_toe."""

import re

ROLES = ("x", "o", "z")
SIZE = 5
State = str  # the marks in order of row and column, "." for an empty cell, and "/" after each row

# The next cell of the same line is that many characters further on: across, up, and along the two diagonals.
LINES = [re.compile(f"([xoz])(?:.{{{gap}}}\\1){{2}}") for gap in (0, SIZE, SIZE - 1, SIZE + 1)]


def initial() -> State:
    return ("." * SIZE + "/") * SIZE


def turn(state: State) -> int:
    return sum(state.count(mark) for mark in ROLES) % 3


def legal(state: State) -> list[list[str]]:
    lists = [["noop"], ["noop"], ["noop"]]
    lists[turn(state)] = sorted(f"(mark {place(cell)})" for cell, mark in enumerate(state) if mark == ".")
    return lists


def place(cell: int) -> str:
    return f"{cell % (SIZE + 1) + 1} {cell // (SIZE + 1) + 1}"


def step(state: State, joint: tuple[str, ...]) -> State:
    mover = turn(state)
    x, y = (int(number) for number in re.findall(r"\d", joint[mover]))
    cell = (y - 1) * (SIZE + 1) + x - 1
    return state[:cell] + ROLES[mover] + state[cell + 1 :]


def winner(state: State) -> str | None:
    return next((found[1] for line in LINES if (found := line.search(state))), None)


def terminal(state: State) -> bool:
    return winner(state) is not None or "." not in state


def goals(state: State) -> list[int]:
    won = winner(state)
    return [33 if won is None else 100 * (won == role) for role in ROLES]


def facts(state: State) -> set[str]:
    marks = {f"(cell {place(cell)} {mark.replace('.', 'b')})" for cell, mark in enumerate(state) if mark != "/"}
    return marks | {f"(control {ROLES[turn(state)]})"}
