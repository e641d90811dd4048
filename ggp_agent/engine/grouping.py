"""Legal moves in groups, found from the shape of the gates that say what is legal.

Where a role has very many moves, most of them share their conditions: this queen may move, she can go there, and from
there an arrow can fly that far. Such a gate is a *guard*, which the moves of a group share, and a *rest*, which other
groups and other roles have too. The guards of groups are gates as well, and fall apart in the same way, so that groups
come in families. What is left is few literals, and playouts compute these and no row for every move.

A rest may say "this, or that and more besides", because rules overlap. Then it says "this", which other moves often say
too: in Amazons rests become four times fewer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from ggp_agent.engine.network import FALSE, Gates, implied, inside

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


def take_apart(literals: list[list[int]], gates: Gates, conjunction: Conjunction) -> list[Parts]:
    """Find a guard for every literal of each role, and what else the literal says."""
    uses = [Counter(other for literal in mine for other in inside(literal, gates)) for mine in literals]
    roles_of = Counter(literal for counts in uses for literal in counts)
    shorter = Shorter(gates, conjunction)
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
            rests = [(number, conjunction(map(shorter, set(gate) - common))) for number, gate in members]
            parts.setdefault(conjunction(common), []).extend(rests)
        found.append(parts)
    return found


class Shorter:
    """Says a literal in fewer words: an OR without parts that imply another part."""

    def __init__(self, gates: Gates, conjunction: Conjunction) -> None:
        self.gates, self.conjunction = gates, conjunction
        self.known: dict[int, int] = {}

    def __call__(self, literal: int) -> int:
        gate = self.gates[literal >> 1] if literal & 1 else None
        if gate is None:
            return literal
        if literal not in self.known:
            parts = [other ^ 1 for other in gate]
            for part in gate:
                held = implied(part ^ 1, self.gates)
                if any(self.follows(other, held) for other in parts if other != part ^ 1):
                    parts.remove(part ^ 1)
            self.known[literal] = self.conjunction(part ^ 1 for part in parts) ^ 1
        return self.known[literal]

    def follows(self, literal: int, held: set[int]) -> bool:
        gate = inside(literal, self.gates)
        return literal in held or (bool(gate) and held.issuperset(gate))
