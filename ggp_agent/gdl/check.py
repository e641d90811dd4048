"""The checker: is a rulesheet GDL, and does it look as its author meant it?

Errors break a rule of the language; warnings point at what is usually a slip. `check` collects all of them.
Negation through a cycle is not judged here: only the ground rules can tell (`ggp_agent.engine.ground`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal as Choice

from ggp_agent.errors import Finding, GdlRuleError
from ggp_agent.gdl.depend import Signature, cycles, dependents, relation_graph
from ggp_agent.gdl.normal import Rule, normalise, order
from ggp_agent.gdl.reader import shorten
from ggp_agent.gdl.sheet import CONNECTIVES, KEYWORDS, Sheet, Statement
from ggp_agent.gdl.terms import Expression, Place, Term, Variable, spell, variables

USUAL = re.compile(r"[\w+\-*/<>=.]+")

# Errors that do not keep an engine from playing: a player plays what a server sends.
TOLERATED = frozenset({"recursion", "documentation"})


class Checker:
    """One sheet, its normal rules, and the findings so far."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.findings: dict[Finding, None] = {}

    def run(self) -> list[Finding]:
        for statement in self.sheet.statements:
            self.check_head(statement)
            for sentence in statement.body:
                self.check_formula(sentence, statement, "and")
            if statement.is_rule and not statement.body:
                self.warn(statement.place, "empty", "this rule has no body: write it as a fact", statement)
            self.check_variable_case(statement)
        self.check_presence()
        self.check_names()
        if not any(finding.severity == "error" for finding in self.findings):
            self.check_rules()
        return sorted(self.findings)

    def report(self, severity: Choice["error", "warning"], place: Place, code: str, message: str, text: object) -> None:
        finding = Finding(*place, severity, code, message, shorten(str(text)), self.sheet.source)
        self.findings[finding] = None

    def error(self, place: Place, code: str, message: str, text: object = "") -> None:
        self.report("error", place, code, message, text)

    def warn(self, place: Place, code: str, message: str, text: object = "") -> None:
        self.report("warning", place, code, message, text)

    # One statement at a time

    def check_head(self, statement: Statement) -> None:
        head = statement.head
        if head.name in CONNECTIVES:
            self.error(head.place, "keyword", f"'{head.name}' cannot be the head of a rule or a fact", statement)
            return
        if head.name in ("true", "does"):
            advice = {"true": "write init or next", "does": "write legal or input"}[head.name]
            self.error(head.place, "keyword", f"'{head.name}' is given by the match, not by rules: {advice}", statement)
        if head.name == "role" and statement.body:
            self.error(head.place, "role", "roles are facts, not rules: write (role name)", statement)
        if head.name == "role" and any(isinstance(arg, Term) and arg.args for arg in head.args):
            self.error(head.place, "role", "a role is a plain name: write (role name)", statement)
        self.check_sentence(head, statement)
        goal = head.args[1] if head.signature == ("goal", 2) else None
        if isinstance(goal, Term) and not is_goal_value(goal):
            self.error(goal.place, "goal", f"a goal is an integer from 0 to 100, and this is {goal}", statement)

    def check_formula(self, formula: Term, statement: Statement, inside: str) -> None:
        name, count = formula.signature
        if name in ("and", "or", "not"):
            if name == "not" and count != 1:
                self.error(formula.place, "arity", f"'not' takes one sentence, and here it has {count}", statement)
            if count == 0 and name != "not":
                truth = "true" if name == "and" else "false"
                self.warn(formula.place, "empty", f"an empty '{name}' is always {truth}", statement)
            if name == "or" and inside == "or":
                self.warn(formula.place, "nested", "an 'or' inside an 'or': one is enough", statement)
            for arg in formula.args:
                if isinstance(arg, Variable):
                    self.error(arg.place, "keyword", f"the variable {arg} cannot stand for a sentence", statement)
                else:
                    self.check_formula(arg, statement, name)
        elif name == "distinct":
            if count != 2:
                self.error(formula.place, "arity", f"'distinct' takes two terms, and here it has {count}", statement)
            if inside == "not":
                self.warn(formula.place, "negation", "(not (distinct a b)) says that two terms are equal", statement)
            for arg in formula.args:
                self.check_term(arg, statement)
        elif name in ("<=", "=>"):
            self.error(formula.place, "keyword", f"a rule cannot hold another rule: '{name}' is in a body", statement)
        else:
            if name in ("init", "next", "base", "input"):
                self.error(formula.place, "keyword", f"'{name}' may only be the head of a rule", statement)
            self.check_sentence(formula, statement)

    def check_sentence(self, sentence: Term, statement: Statement) -> None:
        name, count = sentence.signature
        if KEYWORDS.get(name, count) != count:
            message = f"'{name}' takes {KEYWORDS[name]} argument(s), and here it has {count}"
            if name in ("base", "input"):  # old sheets use these names in other ways; they only document
                self.warn(sentence.place, "arity", message + "; it is left out", statement)
            else:
                self.error(sentence.place, "arity", message, statement)
        elif name in ("legal", "does", "goal", "input"):
            role = sentence.args[0]
            if isinstance(role, Term) and str(role) not in self.sheet.roles:
                roles = ", ".join(self.sheet.roles) or "none"
                self.error(role.place, "role", f"{role} is not a role of this game; its roles are: {roles}", statement)
        for arg in sentence.args:
            self.check_term(arg, statement)

    def check_term(self, term: Expression, statement: Statement) -> None:
        if isinstance(term, Variable):
            return
        if term.name in CONNECTIVES:
            self.error(term.place, "keyword", f"'{term.name}' is reserved and cannot be part of a term", statement)
        elif term.name in KEYWORDS and term.args:
            self.error(term.place, "keyword", f"the keyword '{term.name}' cannot be a function", statement)
        elif term.name in KEYWORDS:
            self.warn(term.place, "keyword", f"the keyword '{term.name}' is used as a constant", statement)
        for arg in term.args:
            self.check_term(arg, statement)

    def check_variable_case(self, statement: Statement) -> None:
        spellings: dict[str, set[str]] = defaultdict(set)
        for sentence in (statement.head, *statement.body):
            for variable in variables(sentence):
                spellings[variable.name.lower()].add(variable.name)
        for names in spellings.values():
            if len(names) > 1:
                listed = " and ".join(sorted("?" + name for name in names))
                self.warn(statement.place, "case", f"{listed} are different variables", statement)

    # The sheet as a whole

    def check_presence(self) -> None:
        heads = {statement.head.name for statement in self.sheet.statements}
        for name in ("role", "legal", "goal", "terminal"):
            if name not in heads:
                self.error(Place(0, 0), "missing", f"the sheet says nothing of '{name}': every game needs it")

    def check_names(self) -> None:
        for name, place in self.sheet.clashes.items():
            others = sorted(other for other in self.sheet.clashes if other.lower() == name.lower() and other != name)
            self.warn(place, "case", f"{name} and {', '.join(others)} are different names here, but not elsewhere")
        relations: dict[str, dict[int, Place]] = defaultdict(dict)
        functions: dict[str, dict[int, Place]] = defaultdict(dict)
        unusual: dict[str, Place] = {}
        for term, is_relation in (pair for s in self.sheet.statements for pair in named_parts(s)):
            if not USUAL.fullmatch(term.name):
                unusual.setdefault(term.name, term.place)
            table = relations if is_relation else functions
            if is_relation or term.args:
                table[term.name].setdefault(len(term.args), term.place)
        for name, place in unusual.items():
            self.warn(place, "name", f"the name {shown(name)} has unusual characters")
        for kind, table in (("relation", relations), ("function", functions)):
            for name, arities in table.items():
                if len(arities) > 1 and name not in KEYWORDS:
                    counts = " and ".join(map(str, sorted(arities)))
                    self.warn(
                        max(arities.values()), "arity", f"the {kind} {shown(name)} is used with {counts} arguments"
                    )
        for name in relations.keys() & functions.keys():
            place = max(*relations[name].values(), *functions[name].values())
            self.warn(place, "name", f"{shown(name)} is both a relation and a function, which are two things")

    # The normal rules

    def check_rules(self) -> None:
        try:
            rules = normalise(self.sheet)
        except GdlRuleError as error:
            self.findings.update(dict.fromkeys(error.findings))
            return
        graph = relation_graph(rules)
        self.check_use(rules, graph)
        self.check_dependencies(rules, graph)
        recursive = {signature: part for part in cycles(graph) for signature in part}
        for rule in rules:
            self.check_safety(rule)
            self.check_recursion(rule, recursive.get(rule.head.signature, set()))

    def check_use(self, rules: tuple[Rule, ...], graph: dict[Signature, set[Signature]]) -> None:
        used = {signature for needs in graph.values() for signature in needs}
        places = {rule.head.signature: rule.head.place for rule in reversed(rules)}
        for name, count in graph.keys() - used:
            if name not in KEYWORDS:
                self.warn(places[name, count], "unused", f"the relation {shown(name)}/{count} is never used")
        for rule in rules:
            for literal in rule.body:
                name, count = literal.sentence.signature
                if name not in KEYWORDS and name != "distinct" and (name, count) not in graph:
                    message = f"the relation {shown(name)}/{count} has no rules or facts, so it never holds"
                    self.warn(literal.sentence.place, "undefined", message, literal)

    def check_dependencies(self, rules: tuple[Rule, ...], graph: dict[Signature, set[Signature]]) -> None:
        on_state = dependents(graph, [("true", 1)])
        on_moves = dependents(graph, [("does", 2)])
        for rule in rules:
            name = rule.head.name
            for what, where in (("the state", on_state), ("moves", on_moves)):
                if rule.head.signature not in where:
                    continue
                if name == "init" or (name in ("terminal", "legal", "goal") and where is on_moves):
                    self.error(rule.place, "dependency", f"'{name}' must not depend on {what}", rule)
                elif name in ("base", "input"):
                    self.error(rule.place, "documentation", f"'{name}' must not depend on {what}", rule)

    def check_safety(self, rule: Rule) -> None:
        bound = {variable for literal in rule.body if literal.binds for variable in variables(literal.sentence)}
        advice = "bind it with a positive sentence of the body"
        for variable in variables(rule.head):
            if variable not in bound:
                where = "the head" if rule.body else "a fact"
                self.error(variable.place, "unsafe", f"{variable} in {where} is not bound: {advice}", rule)
        for literal in order(rule.body)[1]:
            kind = "not" if literal.sentence.name != "distinct" else "distinct"
            for variable in variables(literal.sentence):
                if variable not in bound:
                    self.error(variable.place, "unsafe", f"{variable} under '{kind}' is not bound: {advice}", rule)

    def check_recursion(self, rule: Rule, part: set[Signature]) -> None:
        """The recursion restriction: what goes round a cycle must come from the head or from outside of the cycle."""
        outside = {
            variable
            for literal in rule.body
            if literal.binds and literal.sentence.signature not in part
            for variable in variables(literal.sentence)
        }
        for literal in rule.body:
            if literal.sentence.signature not in part or not literal.positive:
                continue
            for arg in literal.sentence.args:
                if not (arg in rule.head.args or outside.issuperset(variables(arg))):
                    message = f"{arg} may grow without end: it goes round a cycle, bound by nothing outside of it"
                    self.error(literal.sentence.place, "recursion", message, rule)


def shown(name: str) -> str:
    return shorten(spell(name))


def is_goal_value(term: Term) -> bool:
    return (
        not term.args and term.name.isascii() and term.name.isdigit() and len(term.name) <= 3 and int(term.name) <= 100
    )


def named_parts(statement: Statement) -> Iterator[tuple[Term, bool]]:
    """Every term of a statement, and whether it stands as a relation (else as a function or constant)."""

    def walk(term: Expression, as_formula: bool) -> Iterator[tuple[Term, bool]]:
        if isinstance(term, Variable):
            return
        connective = as_formula and term.name in CONNECTIVES
        if not connective:
            yield term, as_formula
        for arg in term.args:
            yield from walk(arg, connective and term.name != "distinct")

    for sentence in (statement.head, *statement.body):
        yield from walk(sentence, True)


def check(sheet: Sheet) -> list[Finding]:
    """Everything that is wrong or looks wrong with a sheet, in the order of its text."""
    return Checker(sheet).run()


def playable_rules(sheet: Sheet) -> tuple[Rule, ...]:
    """The normal rules of a sheet for an engine; a GdlRuleError if an error makes them meaningless.

    `input` is left out, and so is `base` where it is not a plain list of fluents: they only document.
    """
    findings = check(sheet)
    errors = [f for f in findings if f.severity == "error" and f.code not in TOLERATED]
    if errors:
        raise GdlRuleError(errors)
    left_out = {"input", "base"} if any(f.code == "documentation" for f in findings) else {"input"}
    kept = (rule for rule in normalise(sheet) if rule.head.name not in left_out)
    return tuple(rule for rule in kept if rule.head.name != "base" or rule.head.signature == ("base", 1))
