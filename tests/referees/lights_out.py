"""Lights Out as a plain program, the independent check of gdl_games/lights_out."""

from typing import NamedTuple

ROLES = ("player",)
LIMIT = 10
CELLS = [(x, y) for x in range(1, 6) for y in range(1, 6)]
SCRAMBLE = ((2, 2), (3, 3), (4, 5))  # the presses that made the start from a dark board


class State(NamedTuple):
    lit: frozenset[tuple[int, int]]
    presses: int


def press(lit: frozenset[tuple[int, int]], button: tuple[int, int]) -> frozenset[tuple[int, int]]:
    return lit ^ {cell for cell in CELLS if abs(cell[0] - button[0]) + abs(cell[1] - button[1]) <= 1}


def initial() -> State:
    lit: frozenset[tuple[int, int]] = frozenset()
    for button in SCRAMBLE:
        lit = press(lit, button)
    return State(lit, 0)


def legal(state: State) -> list[list[str]]:
    return [[f"(press {x} {y})" for x, y in CELLS]]


def step(state: State, joint: tuple[str, ...]) -> State:
    _, x, y = joint[0].strip("()").split()
    return State(press(state.lit, (int(x), int(y))), state.presses + 1)


def terminal(state: State) -> bool:
    return not state.lit or state.presses == LIMIT


def goals(state: State) -> list[int]:
    return [0 if state.lit else 100]


def facts(state: State) -> set[str]:
    cells = {f"(cell {x} {y} {'on' if (x, y) in state.lit else 'off'})" for x, y in CELLS}
    return cells | {f"(step {state.presses})"}
