"""Normal rules -> a Prolog program in which no name of the rulesheet occurs (`coding.py` says how).

Relations go to one of three modules by what they depend on, which tells when their tables have to be forgotten:

    rigid   nothing: tables are kept for ever
    state   the fluents that are true now (module `now`)
    moves   the joint move (`now:does/2`)

Relations that recurse are tabled. Where a circle of rules holds a negation, it is negation under the well-founded
semantics (`tnot`), which is exact if the ground rules are stratified and says "undefined" if they are not.
"""

from __future__ import annotations

from collections.abc import Sequence

from ggp_agent.engine.coding import Coder
from ggp_agent.gdl import Literal, Rule, Variable
from ggp_agent.gdl.depend import Signature, dependents, negates_within, relation_graph, rule_cycles
from ggp_agent.gdl.sheet import KEYWORDS
from ggp_agent.gdl.terms import Expression

ASKED = ("base", "init", "legal", "next", "goal", "terminal")  # keywords that the runtime asks for


class Program:
    """The text of each module, made from the rules of one game."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.coder = Coder()
        found = dict.fromkeys(rule.head.args[0] for rule in rules if rule.head.signature == ("role", 1))
        self.roles = [self.coder.number(role.name) for role in found]
        self.rules = rules
        self.defined = {rule.head.signature for rule in rules}
        graph = relation_graph(rules)
        self.on_state = dependents(graph, [("true", 1)])
        self.on_moves = dependents(graph, [("does", 2)])
        self.tabled: set[Signature] = set()
        self.undefinable: set[Signature] = set()  # relations whose circle of rules holds a negation
        for part in rule_cycles(rules):
            signatures = {rules[index].head.signature for index in part}
            self.tabled |= signatures
            if negates_within(rules, part):
                self.undefinable |= signatures

    def module(self, signature: Signature) -> str:
        return "moves" if signature in self.on_moves else "state" if signature in self.on_state else "rigid"

    def literal(self, literal: Literal, variables: dict[str, str]) -> str:
        sentence = literal.sentence
        if sentence.name == "distinct":
            left, right = (self.coder.term(arg, variables) for arg in sentence.args)
            return left + (r" \== " if literal.positive else " == ") + right
        if sentence.name == "true":
            goal = self.fluent(sentence.args[0], variables)
        elif sentence.name == "does":
            goal = f"now:does({self.coder.arguments(sentence, variables)})"
        elif sentence.signature not in self.defined:
            return "fail" if literal.positive else "true"
        else:
            goal = f"{self.module(sentence.signature)}:{self.coder.sentence(sentence, variables)}"
            if not literal.positive and sentence.signature in self.undefinable:
                return f"tnot({goal})"
        return goal if literal.positive else f"\\+ {goal}"

    def fluent(self, fluent: Expression, variables: dict[str, str]) -> str:
        text = self.coder.term(fluent, variables)
        if isinstance(fluent, Variable):
            return f"now:any({text})"
        return f"now:{text}" if fluent.args else f"now:c({text})"

    def clause(self, rule: Rule) -> str:
        variables: dict[str, str] = {}
        head = self.coder.sentence(rule.head, variables)
        body = ", ".join(self.literal(literal, variables) for literal in rule.body)
        return f"{head} :- {body}." if body else f"{head}."

    def modules(self) -> dict[str, str]:
        """Module -> its text."""
        clauses: dict[str, dict[Signature, list[str]]] = {"rigid": {}, "state": {}, "moves": {}}
        for rule in self.rules:
            signature = rule.head.signature
            clauses[self.module(signature)].setdefault(signature, []).append(self.clause(rule))
        texts = {name: [f":- module({name}, []).", ":- style_check(-singleton)."] for name in clauses}
        for name, relations in clauses.items():
            for signature, lines in relations.items():
                if signature in self.tabled:
                    texts[name].append(f":- table {self.coder.predicate(signature)}/{signature[1]}.")
                texts[name] += lines
        for name in ASKED:  # the runtime asks in `state` (`next` in `moves`), wherever the relation really is
            signature = (name, KEYWORDS[name])
            asked_in = "moves" if name == "next" else "state"
            args = ",".join(f"V{number}" for number in range(signature[1]))
            head = f"k_{name}" + (f"({args})" if args else "")
            if signature not in self.defined:
                texts[asked_in].append(f"{head} :- fail.")
            elif self.module(signature) != asked_in:
                texts[asked_in].append(f"{head} :- {self.module(signature)}:{head}.")
        return {**{name: "\n".join(lines) + "\n" for name, lines in texts.items()}, "now": self.now()}

    def now(self) -> str:
        """The module of facts that change: one predicate for each function, `c/1` for constants, `does/2`."""
        lines = [":- module(now, []).", ":- dynamic c/1, does/2."]
        any_clauses = []
        symbol_clauses = []
        for name, arity in self.coder.functions:
            function = f"f{self.coder.number(name)}"
            args = ",".join(f"V{number}" for number in range(arity))
            lines.append(f":- dynamic {function}/{arity}.")
            any_clauses.append(f"any({function}({args})) :- {function}({args}).")
            symbol_clauses.append(f"symbol({function}, {self.coder.number(name)}).")
        tables = {self.module(signature) for signature in self.tabled} - {"rigid"}
        flags = [f"tables({name})." for name in sorted(tables)] or ["tables(_) :- fail."]
        careful = "careful." if self.undefinable else "careful :- fail."
        symbols = list(dict.fromkeys(symbol_clauses)) or ["symbol(_, _) :- fail."]
        return "\n".join([*lines, *any_clauses, "any(V) :- c(V).", *symbols, *flags, careful]) + "\n"
