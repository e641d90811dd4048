"""Rules with many variables, cut into rules with few, so that grounding does not explode.

A rule is grounded for every way to bind its variables: a chain of eight steps over thirty places has 30^8 of them. But
a variable that does not occur in the head can be projected out: the literals that mention it become a rule of their
own, whose head keeps only the variables that are shared with the rest. One variable at a time, and always the one whose
literals join to the least, which is estimated from the sizes of the relations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from ggp_agent.gdl import Literal, Rule, Term, Variable
from ggp_agent.gdl.depend import Signature
from ggp_agent.gdl.terms import Expression, variables

MANY = 20_000.0  # ways to bind the variables of a rule that are too many
USUAL_DOMAIN = 12.0  # values of an argument of which nothing is known


def names(literals: Iterable[Literal]) -> set[str]:
    return {variable.name for literal in literals for variable in variables(literal.sentence)}


class Sizes:
    """What the facts tell of relations: how many facts, and how many values each argument takes."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        facts: dict[Signature, set[tuple[Expression, ...]]] = defaultdict(set)
        derived: set[Signature] = set()
        for rule in rules:
            if rule.body or any(variables(rule.head)):
                derived.add(rule.head.signature)
            else:
                facts[rule.head.signature].add(rule.head.args)
        self.counts = {signature: len(found) for signature, found in facts.items() if signature not in derived}
        self.values = {
            signature: [len(set(column)) for column in zip(*facts[signature], strict=True)] for signature in self.counts
        }

    def growth(self, literal: Literal, bound: set[str]) -> float:
        """By what a literal multiplies the ways to bind variables, once some are bound."""
        sentence = literal.sentence
        if sentence.signature not in self.counts:
            return USUAL_DOMAIN ** len(names([literal]) - bound)
        size = float(self.counts[sentence.signature])
        for argument, values in zip(sentence.args, self.values[sentence.signature], strict=True):
            if {variable.name for variable in variables(argument)} <= bound:
                size /= values
        return max(1.0, size) if names([literal]) - bound else 1.0

    def ways(self, body: Iterable[Literal]) -> float:
        """About how many ways there are to bind the variables of a body, if the smallest joins are made first."""
        waiting = [literal for literal in body if literal.binds]
        bound: set[str] = set()
        total = most = 1.0
        while waiting:
            literal = min(waiting, key=lambda literal: self.growth(literal, bound))
            total *= self.growth(literal, bound)
            most = max(most, total)
            bound |= names([literal])
            waiting.remove(literal)
        return most


class Splitter:
    """Cuts the rules of one game."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.sizes = Sizes(rules)
        self.taken = {rule.head.name for rule in rules}
        self.count = 0

    def split(self) -> Iterator[Rule]:
        for rule in self.rules:
            yield from self.cut(rule)

    def cut(self, rule: Rule) -> Iterator[Rule]:
        """The rules that say the same with fewer variables at a time, if the rule has too many."""
        while (ways := self.sizes.ways(rule.body)) > MANY:
            parts = self.best_part(rule, ways)
            if parts is None:
                break
            part, rest = parts
            shared = names(part) & (names(rest) | {variable.name for variable in variables(rule.head)})
            head = Term(self.new_name(), tuple(Variable(name) for name in sorted(shared)))
            yield from self.cut(Rule(head, tuple(part), rule.place))
            rule = Rule(rule.head, (Literal(head), *rest), rule.place)
        yield rule

    def best_part(self, rule: Rule, ways: float) -> tuple[list[Literal], list[Literal]] | None:
        """The literals to cut out, and the others: those of the variable whose literals join to the least."""
        kept = {variable.name for variable in variables(rule.head)}
        best: tuple[float, list[Literal], list[Literal]] = (inf, [], [])
        for name in sorted(names(rule.body) - kept):
            part = [literal for literal in rule.body if name in names([literal])]
            rest = [literal for literal in rule.body if literal not in part]
            # A test needs its variables bound on its side of the cut; what binds them may stand on both.
            for side, other in ((part, rest), (rest, part)):
                bound = names(literal for literal in side if literal.binds)
                missing = names(literal for literal in side if not literal.binds) - bound
                side += [literal for literal in other if literal.binds and names([literal]) & missing]
            ordered = [sorted(side, key=lambda literal: not literal.binds) for side in (part, rest)]
            size = self.sizes.ways(part)
            if rest and len(names(part)) < len(names(rule.body)) and size < min(ways, best[0]):
                best = (size, ordered[0], ordered[1])
        return None if best[0] == inf else (best[1], best[2])

    def new_name(self) -> str:
        self.count += 1
        while (name := f"part {self.count}") in self.taken:
            self.count += 1
        return name


def split(rules: Sequence[Rule]) -> list[Rule]:
    """The same rules, with those cut that have too many variables at once."""
    return list(Splitter(rules).split())
