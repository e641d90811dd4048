"""Merrills (nine men's morris) as a plain program, the independent check of gdl_games/merrills."""

from itertools import product
from typing import NamedTuple

Point = tuple[int, int]
ROLES = ("white", "black")
LIMIT = 200

# Three square rings around the middle (4, 4), eight points on each, joined by four spokes of three points.
RINGS = (1, 2, 3)
DIRECTIONS = [d for d in product((-1, 0, 1), repeat=2) if d != (0, 0)]
POINTS: list[Point] = [(4 + k * dx, 4 + k * dy) for k in RINGS for dx, dy in DIRECTIONS]
SPOKES = [[(4 + k * dx, 4 + k * dy) for k in RINGS] for dx, dy in DIRECTIONS if dx == 0 or dy == 0]
SIDES = [[(4 + k * dx, 4 + k * side) for dx in (-1, 0, 1)] for k in RINGS for side in (-1, 1)]
MILLS = SPOKES + SIDES + [[(y, x) for x, y in side] for side in SIDES]
NEIGHBOURS = {p: {q for m in MILLS for q in m if p in m and abs(m.index(p) - m.index(q)) == 1} for p in POINTS}


class State(NamedTuple):
    men: tuple[frozenset[Point], frozenset[Point]] = (frozenset(), frozenset())
    force: tuple[int, int] = (9, 9)  # men on the board or still in hand
    turn: int = 0
    taking: bool = False


def initial() -> State:
    return State()


def mover(state: State) -> int:
    return state.turn % 2


def mills_of(men: frozenset[Point]) -> list[list[Point]]:
    return [mill for mill in MILLS if men.issuperset(mill)]


def actions(state: State) -> list[str]:
    own, other = state.men[mover(state)], state.men[1 - mover(state)]
    if state.taking:
        loose = other.difference(*mills_of(other))
        return sorted(f"(take {x} {y})" for x, y in loose or other)
    free = set(POINTS) - own - other
    if state.turn < 18:
        return sorted(f"(place {x} {y})" for x, y in free)
    reach = {p: free if state.force[mover(state)] == 3 else free & NEIGHBOURS[p] for p in own}
    return sorted(f"(move {p[0]} {p[1]} {q[0]} {q[1]})" for p in own for q in reach[p])


def legal(state: State) -> list[list[str]]:
    return [actions(state) if side == mover(state) else ["noop"] for side in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    side = mover(state)
    name, *numbers = joint[side].strip("()").split()
    *origin, x, y = map(int, numbers)
    men = list(state.men)
    if name == "take":
        men[1 - side] -= {(x, y)}
        return State((men[0], men[1]), (state.force[0] - side, state.force[1] - 1 + side), state.turn + 1)
    men[side] = men[side] - {(origin[0], origin[1])} if origin else men[side]
    men[side] |= {(x, y)}
    closed = any((x, y) in mill for mill in mills_of(men[side]))
    return State((men[0], men[1]), state.force, state.turn + (not closed), closed)


def loser(state: State) -> int | None:
    for side in (0, 1):
        if state.force[side] < 3:
            return side
    return None if actions(state) else mover(state)


def terminal(state: State) -> bool:
    return state.turn == LIMIT or loser(state) is not None


def goals(state: State) -> list[int]:
    lost = loser(state)
    return [50, 50] if lost is None else [100 * (lost == 1), 100 * (lost == 0)]


def facts(state: State) -> set[str]:
    owner = {p: role for role, men in zip(ROLES, state.men, strict=True) for p in men}
    return (
        {f"(cell {x} {y} {owner.get((x, y), 'b')})" for x, y in POINTS}
        | {f"(men {role} {state.force[side]})" for side, role in enumerate(ROLES)}
        | {f"(control {ROLES[mover(state)]})", f"(tens {state.turn // 10})", f"(ones {state.turn % 10})"}
        | ({"taking"} if state.taking else set())
    )
