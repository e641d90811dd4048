"""A network of AND gates with complemented edges.

A literal is twice the number of a node, plus one if it is negated; node 0 is the constant true. A node is the
constant, an input, a latch, or a gate: the AND of its literals. Equal gates are one gate (hash-consing). An OR is a
negated AND of negated literals.

What is known of the inputs makes gates smaller:
- *groups*: at most one input of a group is true, or exactly one. A role makes exactly one move, a cell holds one thing.
- *moves*: a move that is made was legal, and so was all that its legality rests on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

TRUE, FALSE = 0, 1

Product = frozenset[int]  # literals that must hold together
Gates = Sequence[tuple[int, ...] | None]  # node -> the literals of a gate; None for all other nodes


class Network:
    """Gates are only added, so that every gate has a higher number than its literals; latches close the loops."""

    def __init__(self) -> None:
        self.gates: list[tuple[int, ...] | None] = [None]  # node -> literals of a gate; None for all other nodes
        self.known: dict[tuple[int, ...], int] = {}
        self.group_of: dict[int, int] = {}  # input node -> its group
        self.grouped: set[int] = set()  # the literals of those inputs
        self.groups: list[tuple[list[int], bool]] = []  # inputs of the group; is exactly one of them true?
        self.legal_of: dict[int, int] = {}  # literal of a move -> the literal that says that it is legal
        self.implied: dict[int, frozenset[int]] = {}  # literal of a move -> literals that hold if it is made

    def input(self) -> int:
        """The positive literal of a new input or latch."""
        self.gates.append(None)
        return 2 * (len(self.gates) - 1)

    def add_group(self, literals: Iterable[int], exactly_one: bool) -> None:
        """At most one of these inputs is true, or exactly one. An input belongs to one group at most."""
        nodes = [literal >> 1 for literal in literals]
        self.group_of.update(dict.fromkeys(nodes, len(self.groups)))
        self.grouped.update(literal for node in nodes for literal in (2 * node, 2 * node + 1))
        self.groups.append((nodes, exactly_one))

    def conjunction(self, literals: Iterable[int]) -> int:
        """The literal that says that all of these hold."""
        found = self.simplify(literals)
        if found is None:
            return FALSE
        if len(found) < 2:
            return next(iter(found), TRUE)
        key = tuple(sorted(found))
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = len(self.gates)
            self.gates.append(key)
        return 2 * node

    def disjunction(self, literals: Iterable[int]) -> int:
        """The literal that says that some of these hold."""
        return self.conjunction([literal ^ 1 for literal in literals]) ^ 1

    def simplify(self, literals: Iterable[int]) -> set[int] | None:
        """The literals that say the same in fewer words; None if they cannot hold together."""
        found: set[int] = set()
        for literal in literals:
            if literal == FALSE or literal ^ 1 in found:
                return None
            if literal != TRUE:
                found.add(literal)
        if len(found) < 2:
            return found
        for literal in [literal for literal in found if literal in self.legal_of] if self.legal_of else ():
            for held in self.implied_by(literal):
                if held ^ 1 in found:
                    return None
                found.discard(held)
        return found if self.grouped.isdisjoint(found) else self.use_groups(found)

    def implied_by(self, move: int) -> frozenset[int]:
        """The literals that hold if a move is made."""
        found = self.implied.get(move)
        if found is None:
            found = self.implied[move] = frozenset(implied(self.legal_of[move], self.gates) - {TRUE})
        return found

    def use_groups(self, found: set[int]) -> set[int] | None:
        grouped: dict[int, list[int]] = {}
        for literal in found:
            group = self.group_of.get(literal >> 1)
            if group is not None:
                grouped.setdefault(group, []).append(literal)
        for group, members in grouped.items():
            if len(members) < 2:
                continue
            positive = [literal for literal in members if not literal & 1]
            if len(positive) > 1:
                return None
            if positive:
                found.difference_update(literal for literal in members if literal & 1)
                continue
            nodes, exactly_one = self.groups[group]
            rest = len(nodes) - len(members)
            if exactly_one and rest + 1 < len(members):
                # None of these means one of the others.
                found.difference_update(members)
                others = set(nodes).difference(literal >> 1 for literal in members)
                instead = self.disjunction(2 * node for node in others)
                if instead == FALSE or instead ^ 1 in found:
                    return None
                found.add(instead)
        return found

    def sum_of_products(self, products: list[list[int]]) -> int:
        """The literal that says that some product holds, with common literals taken out."""
        if len(products) == 1:
            return self.conjunction(products[0])
        if all(len(product) == 1 for product in products):
            return self.disjunction(literal for (literal,) in products)
        terms = set()
        for product in products:
            simple = self.simplify(product)
            if simple is not None:
                terms.add(frozenset(simple))
        return self.factor(terms)

    def factor(self, terms: set[Product]) -> int:
        parts: list[int] = []  # literals of which one must hold
        while True:
            terms = absorb(terms)
            if frozenset() in terms:
                return TRUE
            parts += [literal for term in terms if len(term) == 1 for literal in term]
            terms = {term for term in terms if len(term) > 1}
            counts = Counter(literal for term in terms for literal in term)
            # Of the most frequent literals take one that is no move: sums of moves stay together, and are short.
            best = max(
                counts, key=lambda literal: (counts[literal], literal not in self.legal_of, -literal), default=TRUE
            )
            if counts[best] < 2:
                return self.disjunction([*parts, *(self.conjunction(term) for term in terms)])
            inner = self.factor({term - {best} for term in terms if best in term})
            parts.append(self.conjunction([best, inner]))
            terms = {term for term in terms if best not in term}


def inside(literal: int, gates: Gates) -> tuple[int, ...]:
    """The literals of which a literal is the AND; none if it is no gate."""
    gate = None if literal & 1 else gates[literal >> 1]
    return gate or ()


def implied(literal: int, gates: Gates) -> set[int]:
    """A literal, those of which it is the AND, and those of which they are."""
    found, todo = {literal}, [literal]
    for one in todo:  # grows
        new = [other for other in inside(one, gates) if other not in found]
        found.update(new)
        todo += new
    return found


def absorb(terms: set[Product]) -> set[Product]:
    """Without terms that hold a single one, and without the negation of a single in the others."""
    singles = {literal for term in terms if len(term) == 1 for literal in term}
    while singles:
        kept = set()
        new: set[int] = set()
        for term in terms:
            if len(term) > 1:
                if not term.isdisjoint(singles):
                    continue
                shorter = frozenset(literal for literal in term if literal ^ 1 not in singles)
                if len(shorter) == 1:
                    new |= shorter
                term = shorter
            kept.add(term)
        terms = kept
        if any(literal ^ 1 in singles for literal in singles) or frozenset() in terms:
            return {frozenset()}
        singles = new
    return terms
