"""Tron as a plain program, the independent check of gdl_games/tron."""

from typing import NamedTuple

ROLES = ("red", "blue")
SIZE = 10
TURNS = {"(go east)": 1 + 0j, "(go north)": 1j, "(go south)": -1j, "(go west)": -1 + 0j}


class State(NamedTuple):
    """The cells each cycle has been to, in order, as complex numbers x + yi; it stands on the last one."""

    trails: tuple[tuple[complex, ...], tuple[complex, ...]]


def initial() -> State:
    return State(((2 + 5j,), (9 + 6j,)))


def legal(state: State) -> list[list[str]]:
    walls = {cell for trail in state.trails for cell in trail}

    def free(cell: complex) -> bool:
        return 1 <= cell.real <= SIZE and 1 <= cell.imag <= SIZE and cell not in walls

    return [[move for move, way in TURNS.items() if free(trail[-1] + way)] for trail in state.trails]


def step(state: State, joint: tuple[str, ...]) -> State:
    red, blue = ((*trail, trail[-1] + TURNS[move]) for trail, move in zip(state.trails, joint, strict=True))
    return State((red, blue))


def terminal(state: State) -> bool:
    red, blue = state.trails
    return red[-1] == blue[-1] or not all(legal(state))


def goals(state: State) -> list[int]:
    red, blue = (bool(moves) for moves in legal(state))
    return [50 + 50 * (red - blue), 50 + 50 * (blue - red)]


def facts(state: State) -> set[str]:
    trails = dict(zip(ROLES, state.trails, strict=True))
    cells = [(x + 1, y + 1) for x in range(SIZE) for y in range(SIZE)]
    found = {f"(cell {x} {y} {role})" for role, trail in trails.items() for x, y in cells if complex(x, y) in trail}
    found |= {f"(cell {x} {y} b)" for x, y in cells if not any(complex(x, y) in trail for trail in state.trails)}
    return found | {f"(head {role} {trail[-1].real:.0f} {trail[-1].imag:.0f})" for role, trail in trails.items()}
