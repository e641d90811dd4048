"""Gomoku on a string of points searched by regular expressions, the independent check of gdl_games/gomoku."""

from __future__ import annotations

import re

ROLES = ("black", "white")
SIZE = 15
WIDTH = SIZE + 1  # a bar closes each row, so that no line runs over the edge
COLOURS = "XO"
POINTS = {f"{x} {y}": WIDTH * (y - 1) + x - 1 for x in range(1, SIZE + 1) for y in range(1, SIZE + 1)}
STEPS = (1, WIDTH - 1, WIDTH, WIDTH + 1)
FIVE = {c: re.compile("|".join(f"{c}(?:.{{{step - 1}}}{c}){{4}}" for step in STEPS)) for c in COLOURS}

State = str  # row by row, "." for a blank point


def initial() -> State:
    return ("." * SIZE + "|") * SIZE


def _mover(state: State) -> int:
    return state.count("X") - state.count("O")


def legal(state: State) -> list[list[str]]:
    marks = sorted(f"(mark {point})" for point, index in POINTS.items() if state[index] == ".")
    return [marks if _mover(state) == player else ["noop"] for player in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    mover = _mover(state)
    index = POINTS[joint[mover].removeprefix("(mark ").removesuffix(")")]
    return state[:index] + COLOURS[mover] + state[index + 1 :]


def terminal(state: State) -> bool:
    return "." not in state or goals(state) != [50, 50]


def goals(state: State) -> list[int]:
    if FIVE["X"].search(state):
        return [100, 0]
    return [0, 100] if FIVE["O"].search(state) else [50, 50]


def facts(state: State) -> set[str]:
    content = {".": "b", "X": "black", "O": "white"}
    cells = {f"(cell {point} {content[state[index]]})" for point, index in POINTS.items()}
    return cells | {f"(control {ROLES[_mover(state)]})"}
