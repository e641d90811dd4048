"""A rulesheet as statements: facts and rules, each a head and a body of terms, names folded to one case.

Case: keywords are read in any case. Any other name is folded to lower case when the sheet spells it in one way only;
names that differ in nothing but case stay as they are, and the checker warns of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ggp_agent.errors import Finding, GdlSyntaxError
from ggp_agent.gdl.reader import Atom, Group, Node, load_text, read, shorten
from ggp_agent.gdl.terms import Expression, Place, Term, Variable

# What each keyword takes: the number of arguments.
KEYWORDS = {
    "role": 1,
    "init": 1,
    "true": 1,
    "next": 1,
    "base": 1,
    "does": 2,
    "legal": 2,
    "goal": 2,
    "input": 2,
    "terminal": 0,
}
CONNECTIVES = frozenset({"<=", "=>", "and", "or", "not", "distinct"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact, or a rule as it was written: the body may hold `and`, `or` and `not` at any depth."""

    head: Term
    body: tuple[Term, ...] = ()
    place: Place = field(default=Place(0, 0), compare=False)
    is_rule: bool = field(default=False, compare=False)  # written with `<=` or `=>`, even if the body is empty

    def __str__(self) -> str:
        return f"(<= {' '.join(map(str, (self.head, *self.body)))})" if self.is_rule else str(self.head)


@dataclass(frozen=True)
class Sheet:
    """A rulesheet that could be read. Whether its rules make sense is for `check` to say."""

    statements: tuple[Statement, ...]
    source: str = "<text>"
    spelling: dict[str, str] = field(default_factory=dict, compare=False)  # folded name -> as the sheet spells it
    clashes: dict[str, Place] = field(default_factory=dict, compare=False)  # names that differ only in case

    @cached_property
    def roles(self) -> tuple[str, ...]:
        """The roles in the order of the sheet, without repeats."""
        facts = (s.head for s in self.statements if s.head.signature == ("role", 1) and not s.body)
        return tuple(dict.fromkeys(str(fact.args[0]) for fact in facts))

    def term(self, text: str) -> Term:
        """One term from outside, such as a move that a server sent, in the names of this sheet."""
        items = read(text, "<term>").items
        builder = Builder("<term>", {spelled: name for name, spelled in self.spelling.items()}, fold_unknown=True)
        terms = [builder.term(item) for item in items]
        if len(terms) != 1 or not isinstance(terms[0], Term):
            message = "exactly one term without variables is expected here"
            raise GdlSyntaxError([*builder.findings, Finding(1, 1, "error", "term", message, shorten(text), "<term>")])
        if builder.findings:
            raise GdlSyntaxError(builder.findings)
        return terms[0]

    def spelled(self, term: Expression) -> str:
        """The text of a term as the sheet itself would spell it."""
        if isinstance(term, Variable):
            return str(term)
        name = str(Term(self.spelling.get(term.name, term.name)))
        return f"({' '.join([name, *map(self.spelled, term.args)])})" if term.args else name


class Builder:
    """Turns what the reader found into terms and statements, and collects what is wrong with them."""

    def __init__(self, source: str, folded: dict[str, str], fold_unknown: bool = False) -> None:
        self.source = source
        self.folded = folded  # as spelled -> as used from here on
        self.fold_unknown = fold_unknown
        self.findings: list[Finding] = []

    def report(self, node: Node, message: str) -> None:
        self.findings.append(Finding(*node.place, "error", "form", message, shorten(str(node)), self.source))

    def name(self, atom: Atom) -> str:
        name = self.folded.get(atom.name)
        if name is None:
            lower = atom.name.lower()
            # A name the sheet does not have: another case of one that it has, or a name of the sender's own.
            name = lower if self.fold_unknown and lower in self.folded.values() else atom.name
        return name

    def term(self, node: Node) -> Expression | None:
        if isinstance(node, Atom):
            if node.name.startswith("?") and not node.quoted:
                return Variable(node.name[1:], node.place)
            return Term(self.name(node), (), node.place)
        head = node.items[0]
        if not isinstance(head, Atom) or (head.name.startswith("?") and not head.quoted):
            self.report(node, f"a term begins with a name, and this one with {shorten(str(head), 40)}")
            return None
        args = [self.term(item) for item in node.items[1:]]
        found = tuple(arg for arg in args if arg is not None)
        return Term(self.name(head), found, node.place) if len(found) == len(args) else None

    def statement(self, node: Node) -> Statement | None:
        term = self.term(node)
        if term is None:
            return None
        if isinstance(term, Variable):
            self.report(node, "a variable is no statement")
            return None
        if term.name not in ("<=", "=>"):
            return Statement(term, (), node.place)
        parts = term.args if term.name == "<=" else term.args[-1:] + term.args[:-1]
        if not parts:
            self.report(node, f"this rule has no head: write ({term.name} head body...)")
            return None
        for part, item in zip(parts, _parts_of(node, term.name), strict=True):
            if isinstance(part, Variable):
                self.report(item, "a variable cannot stand for a sentence")
        terms = tuple(part for part in parts if isinstance(part, Term))
        return Statement(terms[0], terms[1:], node.place, True) if len(terms) == len(parts) else None


def _parts_of(node: Node, connective: str) -> list[Node]:
    assert isinstance(node, Group)
    items = node.items[1:]
    return items if connective == "<=" else items[-1:] + items[:-1]


def _atoms(group: Group) -> Iterator[Atom]:
    for item in group.items:
        if isinstance(item, Group):
            yield from _atoms(item)
        elif item.quoted or not item.name.startswith("?"):
            yield item


def parse(text: str, source: str = "<text>") -> Sheet:
    """The statements of a rulesheet; a GdlSyntaxError holds everything that is wrong with its form."""
    top = read(text, source)
    spellings: dict[str, dict[str, Place]] = defaultdict(dict)
    for atom in _atoms(top):
        spellings[atom.name.lower()].setdefault(atom.name, atom.place)
    folded: dict[str, str] = {}
    clashes: dict[str, Place] = {}
    for lower, found in spellings.items():
        if lower in KEYWORDS or lower in CONNECTIVES or len(found) == 1:
            folded.update(dict.fromkeys(found, lower))
        else:
            folded.update({name: name for name in found})
            clashes.update(found)
    builder = Builder(source, folded)
    statements = tuple(filter(None, map(builder.statement, top.items)))
    if not builder.findings and not statements:
        message = "there are no rules in this text: a rulesheet begins with (role name)"
        builder.findings.append(Finding(1, 1, "error", "empty", message, source=source))
    if builder.findings:
        raise GdlSyntaxError(builder.findings)
    return Sheet(statements, source, {name: spelled for spelled, name in folded.items()}, clashes)


def load(path: str | Path) -> Sheet:
    """The rulesheet in a file."""
    return parse(load_text(Path(path)), str(path))
