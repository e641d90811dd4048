"""Legal moves in groups, found from the shape of the gates that say what is legal.

Where a role has very many moves, most of them share their conditions: this queen may move, she can go there, and from
there an arrow can fly that far. Such a gate is a *guard*, which the moves of a group share, and a *rest*, which other
groups and other roles have too. The guards of groups are gates as well, and fall apart in the same way, so that groups
come in families. What is left is few literals, and playouts compute these and no row for every move.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ggp_agent.engine.network import FALSE

Gates = Sequence[tuple[int, ...] | None]
Conjunction = Callable[[Iterable[int]], int]
Parts = dict[int, list[tuple[int, int]]]  # guard -> the parts that share it, each a number and the literal of its rest
Families = dict[int, list[tuple[int, list[tuple[int, int]]]]]  # guard -> groups: rest, and moves with their rests

MANY_MOVES = 4096  # of all roles; below this, rows for all moves are faster
MAX_PARTS = 256  # a guard that more of them share says little
WORTH = 4  # so many times fewer literals than moves


def group_moves(legal: list[list[int]], gates: Gates, conjunction: Conjunction) -> list[Families]:
    """The families of each role's moves, from the literals that say which are legal; nothing if that would not pay."""
    count = sum(map(len, legal))
    if count < MANY_MOVES:
        return []
    groups = take_apart(legal, gates, conjunction)
    families = take_apart([list(found) for found in groups], gates, conjunction)
    nested = [
        {guard: [(rest, moves[number]) for number, rest in parts] for guard, parts in found.items()}
        for found, moves in ((found, list(parts.values())) for found, parts in zip(families, groups, strict=True))
    ]
    return nested if WORTH * len(conditions(nested)) <= count else []


def conditions(families: list[Families]) -> set[int]:
    """All guards and rests."""
    found = {guard for role in families for guard in role}
    for groups in (groups for role in families for groups in role.values()):
        found.update(literal for rest, moves in groups for literal in (rest, *(rest for _, rest in moves)))
    return found


def family_arrays(families: list[Families], place: Callable[[Iterable[int]], list[int]]) -> dict[str, Any]:
    """The fields of a circuit; `place` tells the literals of rows."""
    guards = [guard for role in families for guard in role]
    groups = [groups for role in families for groups in role.values()]
    bounds: list[tuple[int, int]] = []
    known: dict[
        tuple[tuple[int, int], ...], tuple[int, int]
    ] = {}  # roles often have the same moves with the same rests
    members: list[tuple[int, int]] = []
    for moves in (tuple(moves) for family in groups for _, moves in family):
        if moves not in known:
            known[moves] = len(members), len(members) + len(moves)
            members += moves
        bounds.append(known[moves])
    return {
        "family_starts": np.cumsum([0, *map(len, families)], dtype=np.int64),
        "guards": np.array(place(guards), np.int32),
        "family_offsets": np.cumsum([0, *map(len, groups)], dtype=np.int64),
        "group_rests": np.array(place(rest for family in groups for rest, _ in family), np.int32),
        "group_bounds": np.array(bounds, np.int64).reshape(-1, 2),
        "members": np.array([move for move, _ in members], np.int32),
        "rests": np.array(place(rest for _, rest in members), np.int32),
    }


def take_apart(literals: list[list[int]], gates: Gates, conjunction: Conjunction) -> list[Parts]:
    """Find a guard for every literal of each role, and what else the literal says."""
    uses = [Counter(other for literal in mine for other in inside(literal, gates)) for mine in literals]
    roles_of = Counter(literal for counts in uses for literal in counts)
    found: list[Parts] = []
    for mine, counts in zip(literals, uses, strict=True):
        sharing: dict[int, list[tuple[int, tuple[int, ...]]]] = {}  # literal -> who share it: number, literals
        for number, literal in enumerate(mine):
            gate = inside(literal, gates)
            shared = [other for other in gate if 1 < counts[other] <= MAX_PARTS]
            if literal in counts or not shared:  # others rest on this one, or none has anything in common with it
                sharing.setdefault(literal, []).append((number, (literal,)))
            else:  # rests that roles have in common are computed once, so a guard is rather what they have not
                best = max(shared, key=lambda other: (-roles_of[other], counts[other], -other))
                sharing.setdefault(best, []).append((number, gate))
        sharing.pop(FALSE, None)
        parts: Parts = {}
        for members in sharing.values():
            common = set(members[0][1]).intersection(*(gate for _, gate in members))
            rests = [(number, conjunction(set(gate) - common)) for number, gate in members]
            parts.setdefault(conjunction(common), []).extend(rests)
        found.append(parts)
    return found


def inside(literal: int, gates: Gates) -> tuple[int, ...]:
    """The literals of which a literal is the AND; none if it is no gate."""
    gate = None if literal & 1 else gates[literal >> 1]
    return gate or ()
