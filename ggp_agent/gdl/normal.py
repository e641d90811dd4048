"""The normal form that every engine works on: rules whose bodies are plain lists of literals.

`and`, `or` and `not` are multiplied out (negation is pushed inwards by De Morgan's laws), so that one statement may
become several rules. A literal is a sentence or a `distinct`, positive or negated. Positive literals keep the order
their author gave them; a `not` or `distinct` that came too early waits until its variables are bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product

from ggp_agent.errors import Finding, GdlRuleError
from ggp_agent.gdl.reader import shorten
from ggp_agent.gdl.sheet import Sheet, Statement
from ggp_agent.gdl.terms import Place, Term, Variable, variables

MAX_ALTERNATIVES = 4096  # rules that the `or`s of one statement may multiply to


@dataclass(frozen=True, slots=True)
class Literal:
    """A sentence that must hold, or must not; the sentence `(distinct a b)` compares two terms."""

    sentence: Term
    positive: bool = True

    def __str__(self) -> str:
        return str(self.sentence) if self.positive else f"(not {self.sentence})"

    @property
    def binds(self) -> bool:
        """Does this literal give values to its variables, or only test them?"""
        return self.positive and self.sentence.name != "distinct"


@dataclass(frozen=True, slots=True)
class Rule:
    """`head` holds if every literal of `body` does; a fact has no body."""

    head: Term
    body: tuple[Literal, ...] = ()
    place: Place = field(default=Place(0, 0), compare=False)

    def __str__(self) -> str:
        return f"(<= {' '.join(map(str, (self.head, *self.body)))})" if self.body else str(self.head)


class TooManyAlternatives(Exception):
    """The `or`s of a statement multiply to more than MAX_ALTERNATIVES rules."""


Alternatives = list[tuple[Literal, ...]]


def alternatives(sentence: Term, positive: bool = True) -> Alternatives:
    """The ways in which a formula can hold: each one a list of literals that must hold together."""
    if sentence.name == "not" and len(sentence.args) == 1 and isinstance(sentence.args[0], Term):
        return alternatives(sentence.args[0], not positive)
    if sentence.name in ("and", "or"):
        parts = [alternatives(arg, positive) for arg in sentence.args if isinstance(arg, Term)]
        # A negated `or` is a conjunction of negated parts, and the other way round.
        return conjunction(parts) if (sentence.name == "and") == positive else disjunction(parts)
    return [(Literal(sentence, positive),)]


def disjunction(parts: Iterable[Alternatives]) -> Alternatives:
    found = [alternative for part in parts for alternative in part]
    if len(found) > MAX_ALTERNATIVES:
        raise TooManyAlternatives
    return found


def conjunction(parts: list[Alternatives]) -> Alternatives:
    size = 1
    for part in parts:
        size *= len(part)
        if size > MAX_ALTERNATIVES:
            raise TooManyAlternatives
    return [tuple(literal for part in choice for literal in part) for choice in product(*parts)]


def order(body: Iterable[Literal]) -> tuple[tuple[Literal, ...], tuple[Literal, ...]]:
    """The body with every test behind what binds its variables, and the tests that nothing binds."""
    ordered: list[Literal] = []
    waiting: list[Literal] = []
    bound: set[Variable] = set()
    for literal in dict.fromkeys(body):
        if literal.binds:
            ordered.append(literal)
            bound.update(variables(literal.sentence))
        else:
            waiting.append(literal)
        ready = [test for test in waiting if bound.issuperset(variables(test.sentence))]
        ordered += ready
        waiting = [test for test in waiting if test not in ready]
    return tuple(ordered), tuple(waiting)


def normalise_statement(statement: Statement) -> Iterator[Rule]:
    """The rules that one statement stands for, unsafe ones too."""
    for body in conjunction([alternatives(sentence) for sentence in statement.body]):
        ordered, unbound = order(body)
        yield Rule(statement.head, ordered + unbound, statement.place)


def normalise(sheet: Sheet) -> tuple[Rule, ...]:
    """Every rule and fact of a sheet in normal form, without repeats."""
    rules: dict[Rule, None] = {}
    findings: list[Finding] = []
    for statement in sheet.statements:
        try:
            rules.update(dict.fromkeys(normalise_statement(statement)))
        except TooManyAlternatives:
            message = f"the 'or's of this rule multiply to more than {MAX_ALTERNATIVES:,} rules: use relations"
            text = shorten(str(statement))
            findings.append(Finding(*statement.place, "error", "alternatives", message, text, sheet.source))
    if findings:
        raise GdlRuleError(findings)
    return tuple(rules)
