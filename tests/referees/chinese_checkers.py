"""Chinese checkers for three on a star of 73 holes, the independent check of gdl_games/chinese_checkers."""

from itertools import product
from typing import NamedTuple

Cube = tuple[int, int, int]  # hexagonal cube coordinates, three numbers with sum 0
ROLES = ("red", "green", "blue")
SIDE = 3  # length of the side of a tip; 4 makes the common board of 121 holes
ROUNDS = 40
UNITS = [(a, b, -a - b) for a, b in product((-1, 0, 1), repeat=2) if abs(a + b) <= 1 and (a, b) != (0, 0)]


def star(side: int) -> set[Cube]:
    """The union of two triangles, one of them upside down."""
    reach = range(-2 * side, 2 * side + 1)
    every = [(a, b, -a - b) for a, b in product(reach, repeat=2)]
    return {c for c in every if max(c) <= side or min(c) >= -side}


HOLES = star(SIDE)
# Each role has an axis: it starts in the tip where that coordinate is above SIDE, its target is the tip below -SIDE.
STARTS = [frozenset(c for c in HOLES if c[axis] > SIDE) for axis in (0, 1, 2)]
TARGETS = [frozenset(c for c in HOLES if c[axis] < -SIDE) for axis in (0, 1, 2)]


class State(NamedTuple):
    pegs: tuple[frozenset[Cube], ...] = tuple(STARTS)
    side: int = 0
    rounds: int = 0
    trail: tuple[Cube, ...] = ()  # holes of the running series of hops, the last is where the peg stands


def initial() -> State:
    return State()


def show(cube: Cube) -> tuple[int, int]:
    """Column and row: rows from the bottom, the holes of a row two columns apart."""
    a, b, c = cube
    return 3 * SIDE + 1 + b - c, 2 * SIDE + 1 + a


SHOWN = {show(c): c for c in HOLES}


def shift(cube: Cube, unit: Cube, times: int) -> Cube:
    return cube[0] + times * unit[0], cube[1] + times * unit[1], cube[2] + times * unit[2]


def text(name: str, start: Cube, end: Cube) -> str:
    return "({} {} {} {} {})".format(name, *show(start), *show(end))


def hops(state: State, start: Cube, seen: tuple[Cube, ...]) -> list[str]:
    taken = frozenset().union(*state.pegs)
    ends = [shift(start, unit, 2) for unit in UNITS if shift(start, unit, 1) in taken]
    return [text("hop", start, end) for end in ends if end in HOLES and end not in taken and end not in seen]


def actions(state: State) -> list[str]:
    if state.trail:
        return sorted([*hops(state, state.trail[-1], state.trail), "stop"])
    taken = frozenset().union(*state.pegs)
    own = state.pegs[state.side]
    steps = [(peg, shift(peg, unit, 1)) for peg in own for unit in UNITS]
    found = [text("move", start, end) for start, end in steps if end in HOLES and end not in taken]
    return sorted(found + [hop for peg in own for hop in hops(state, peg, ())]) or ["stop"]


def legal(state: State) -> list[list[str]]:
    return [actions(state) if side == state.side else ["noop"] for side in range(3)]


def step(state: State, joint: tuple[str, ...]) -> State:
    passed = state._replace(side=(state.side + 1) % 3, rounds=state.rounds + (state.side == 2), trail=())
    name, *numbers = joint[state.side].strip("()").split()
    if name == "stop":
        return passed
    x, y, u, v = map(int, numbers)
    start, end = SHOWN[x, y], SHOWN[u, v]
    pegs = tuple(p - {start} | {end} if side == state.side else p for side, p in enumerate(state.pegs))
    trail = (*(state.trail or (start,)), end)
    after = state._replace(pegs=pegs, trail=trail)
    return after if name == "hop" and hops(after, end, trail) else passed._replace(pegs=pegs)


def won(state: State, side: int) -> bool:
    return state.pegs[side] == TARGETS[side]


def terminal(state: State) -> bool:
    return state.rounds == ROUNDS or (not state.trail and any(won(state, side) for side in range(3)))


def advance(state: State, side: int) -> int:
    """Rows gained towards the target by all pegs together."""
    return sum(c[side] for c in STARTS[side]) - sum(c[side] for c in state.pegs[side])


def goals(state: State) -> list[int]:
    return [100 if won(state, side) else advance(state, side) for side in range(3)]


def facts(state: State) -> set[str]:
    owner = {c: role for role, pegs in zip(ROLES, state.pegs, strict=True) for c in pegs}
    known = {f"(cell {x} {y} {owner.get(c, 'b')})" for (x, y), c in SHOWN.items()}
    known |= {f"(advance {role} {advance(state, side)})" for side, role in enumerate(ROLES)}
    known |= {f"(control {ROLES[state.side]})", f"(round {state.rounds})"}
    known |= {"(hopper {} {})".format(*show(c)) for c in state.trail[-1:]}
    return known | {"(visited {} {})".format(*show(c)) for c in state.trail[:-1]}
