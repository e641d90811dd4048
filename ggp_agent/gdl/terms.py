"""Terms: what KIF text is made of.

`Term("cell", (Term("1"), Variable("x")))` is `(cell 1 ?x)`, and a constant is a term without arguments, so that `(p)`
and `p` are the same thing. Numbers are names like any other: `1` and `01` differ. Terms know where they were read;
that place takes no part in comparisons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """Line and column of a term in its file, both from 1; zeros for a term that was not read from text."""

    line: int
    column: int


NOWHERE = Place(0, 0)


@dataclass(frozen=True, slots=True)
class Variable:
    """`?x`; the name is kept without its question mark."""

    name: str
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return "?" + self.name


@dataclass(frozen=True, slots=True)
class Term:
    """A name applied to arguments; a constant has none."""

    name: str
    args: tuple[Term | Variable, ...] = ()
    place: Place = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"({' '.join([spell(self.name), *map(str, self.args)])})" if self.args else spell(self.name)

    @property
    def signature(self) -> tuple[str, int]:
        return self.name, len(self.args)


Expression = Term | Variable

PLAIN = re.compile(r"[^\s()|;?][^\s();]*|\|")


def spell(name: str) -> str:
    """The name as KIF text: in bars, with escapes, where it could not be read back otherwise."""
    if PLAIN.fullmatch(name) and name.isprintable() and not name.startswith("#|"):
        return name
    escaped = name.replace("\\", "\\\\").replace("|", "\\|")
    # A bar before a space or a parenthesis stands alone, so such a first character is escaped too.
    return f"|\\{escaped}|" if escaped[:1].isspace() or escaped[:1] in ("(", ")") else f"|{escaped}|"


def spaced(term: Expression) -> str:
    """The text with a space around every parenthesis, `( f a b )`: the order of this text is the order of moves."""
    if isinstance(term, Term) and term.args:
        return f"( {' '.join([spell(term.name), *map(spaced, term.args)])} )"
    return str(term)


def variables(expression: Expression) -> Iterator[Variable]:
    """Every variable that occurs, from left to right, with repeats."""
    if isinstance(expression, Variable):
        yield expression
    else:
        for arg in expression.args:
            yield from variables(arg)


def unifiable(left: Expression, right: Expression) -> bool:
    """Could the two be made equal, if every occurrence of a variable stood for anything at all?"""
    if isinstance(left, Variable) or isinstance(right, Variable):
        return True
    return left.signature == right.signature and all(map(unifiable, left.args, right.args))
