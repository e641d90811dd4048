"""Rules in the common syntax of Prolog and answer set programs, with numbers in place of the names of the rulesheet.

The constant `halt` is the integer 17, the function `halt` is `f17`, the relation `halt` is `p17`, a keyword such as
`legal` is `k_legal`, and a variable is `V3`. So nothing in a rulesheet can reach a built-in or break the syntax.
"""

from __future__ import annotations

from ggp_agent.gdl import Term, Variable
from ggp_agent.gdl.depend import Signature
from ggp_agent.gdl.sheet import KEYWORDS
from ggp_agent.gdl.terms import Expression

# What rules leave open in an answer set program: any fluent may be true that begins or comes next, any legal move done.
CHOICES = """
{k_true(F)} :- k_init(F).
{k_true(F)} :- k_next(F).
{k_does(R,M)} :- k_legal(R,M).
"""

Coded = int | list["Coded"]  # a ground term: a symbol's number, or [symbol of the function, argument, ...]


class Coder:
    """Names and their numbers, in the order in which they were met."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: dict[str, int] = {}
        self.functions: dict[Signature, None] = {}  # every function met, in order

    def number(self, name: str) -> int:
        found = self.numbers.setdefault(name, len(self.names))
        if found == len(self.names):
            self.names.append(name)
        return found

    def code(self, term: Expression) -> Coded:
        assert isinstance(term, Term), "only ground terms are coded"
        if not term.args:
            return self.number(term.name)
        return [self.number(term.name), *map(self.code, term.args)]

    def decode(self, coded: Coded) -> Term:
        if isinstance(coded, int):
            return Term(self.names[coded])
        head, *args = coded
        assert isinstance(head, int)
        return Term(self.names[head], tuple(map(self.decode, args)))

    def predicate(self, signature: Signature) -> str:
        name = signature[0]
        return f"k_{name}" if name in KEYWORDS else f"p{self.number(name)}"

    def term(self, term: Expression, variables: dict[str, str]) -> str:
        """The text of a term; `variables` gathers the variables of one rule."""
        if isinstance(term, Variable):
            return variables.setdefault(term.name, f"V{len(variables)}")
        if not term.args:
            return str(self.number(term.name))
        self.functions[term.signature] = None
        return f"f{self.number(term.name)}({self.arguments(term, variables)})"

    def sentence(self, sentence: Term, variables: dict[str, str]) -> str:
        args = self.arguments(sentence, variables)
        return self.predicate(sentence.signature) + (f"({args})" if args else "")

    def arguments(self, term: Term, variables: dict[str, str]) -> str:
        return ",".join(self.term(arg, variables) for arg in term.args)
