"""Dots and Boxes as a plain program, the independent check of gdl_games/dots_and_boxes."""

from typing import NamedTuple

ROLES = ("red", "blue")
SIZE = 3  # boxes a side

Dot = tuple[int, int]
Line = tuple[Dot, Dot]

DOTS = [(x, y) for x in range(1, SIZE + 2) for y in range(1, SIZE + 2)]
LINES: dict[str, Line] = {f"h {x} {y}": ((x, y), (x + 1, y)) for x, y in DOTS if x <= SIZE}
LINES |= {f"v {x} {y}": ((x, y), (x, y + 1)) for x, y in DOTS if y <= SIZE}
# a box is the four lines whose ends lie among its four corners
BOXES = [
    frozenset(name for name, line in LINES.items() if all(0 <= u - x <= 1 and 0 <= v - y <= 1 for u, v in line))
    for x, y in DOTS
    if x <= SIZE and y <= SIZE
]


class State(NamedTuple):
    drawn: frozenset[str]
    score: tuple[int, int]
    turn: int


def initial() -> State:
    return State(frozenset(), (0, 0), 0)


def legal(state: State) -> list[list[str]]:
    moves = sorted(f"(draw {name})" for name in LINES.keys() - state.drawn)
    return [moves if role == state.turn else ["noop"] for role in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    name = joint[state.turn].removeprefix("(draw ").removesuffix(")")
    drawn = state.drawn | {name}
    boxes = sum(box <= drawn for box in BOXES) - sum(state.score)
    red, blue = state.score
    score = (red, blue + boxes) if state.turn else (red + boxes, blue)
    return State(drawn, score, state.turn if boxes else 1 - state.turn)


def terminal(state: State) -> bool:
    return state.drawn == LINES.keys()


def goals(state: State) -> list[int]:
    return [100 if 2 * boxes > len(BOXES) else 0 for boxes in state.score]


def facts(state: State) -> set[str]:
    scores = {f"(score {role} {boxes})" for role, boxes in zip(ROLES, state.score, strict=True)}
    return {f"(drawn {name})" for name in state.drawn} | scores | {f"(control {ROLES[state.turn]})"}
