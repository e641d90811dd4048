"""Watershed as a plain program, the independent check of gdl_games/watershed."""

from typing import NamedTuple

ROLES = ("meadow", "orchard")
SIZE = 5
CELLS = [(x, y) for y in range(1, SIZE + 1) for x in range(1, SIZE + 1)]  # bit i of a mask is CELLS[i]


def mask(*, x: int | None = None, y: int | None = None) -> int:
    return sum(1 << i for i, (u, v) in enumerate(CELLS) if x in (None, u) and y in (None, v))


SPRING = mask(x=3, y=3)
WEST, EAST, SOUTH, NORTH = mask(x=1), mask(x=SIZE), mask(y=1), mask(y=SIZE)
EDGES = (SOUTH | NORTH, WEST | EAST)


class State(NamedTuple):
    dams: int
    tilled: int
    turn: int


def initial() -> State:
    return State(0, 0, 0)


def wet(state: State) -> int:
    open_cells = mask() & ~state.dams & ~state.tilled
    water, before = SPRING, 0
    while water != before:
        before = water
        water |= (water & ~EAST) << 1 | (water & ~WEST) >> 1 | water << SIZE | water >> SIZE
        water &= open_cells
    return water


def legal(state: State) -> list[list[str]]:
    water, closed = wet(state), state.dams | state.tilled | SPRING
    free = ((water >> i & 1, x, y) for i, (x, y) in enumerate(CELLS) if not closed >> i & 1)
    moves = [f"({'dam' if flooded else 'till'} {x} {y})" for flooded, x, y in free]
    return [sorted(moves) if role == state.turn else ["noop"] for role in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    verb, x, y = joint[state.turn].strip("()").split()
    cell = mask(x=int(x), y=int(y))
    if verb == "dam":
        return State(state.dams | cell, state.tilled, 1 - state.turn)
    return State(state.dams, state.tilled | cell, 1 - state.turn)


def dry(state: State) -> list[bool]:
    water = wet(state)
    return [not water & edges for edges in EDGES]


def terminal(state: State) -> bool:
    return any(dry(state))


def goals(state: State) -> list[int]:
    match dry(state):
        case [True, True]:
            return [100 if role == state.turn else 0 for role in (0, 1)]
        case [meadow, orchard] if meadow or orchard:
            return [100 * orchard, 100 * meadow]
    return [50, 50]


def facts(state: State) -> set[str]:
    def ground(i: int) -> str:
        return "dam" if state.dams >> i & 1 else "tilled" if state.tilled >> i & 1 else "b"

    cells = {f"(cell {x} {y} {ground(i)})" for i, (x, y) in enumerate(CELLS) if not SPRING >> i & 1}
    return cells | {f"(control {ROLES[state.turn]})"}
