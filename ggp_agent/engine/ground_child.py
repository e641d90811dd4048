"""The child process that makes rules ground, with clingo's grounder and an observer, and builds circuits."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import clingo

from ggp_agent.engine import exclusion
from ggp_agent.engine.build import Ground, build
from ggp_agent.engine.child import Message, serve
from ggp_agent.engine.circuit import BAD_GOAL
from ggp_agent.engine.circuit_file import save
from ggp_agent.engine.coding import CHOICES
from ggp_agent.errors import CannotGround, EngineError
from ggp_agent.gdl.check import is_goal_value
from ggp_agent.gdl.depend import components
from ggp_agent.gdl.terms import Term, spell

# Fluents that exclude each other make circuits smaller; to prove it may take this long, in games of this size.
PROOF_SECONDS = 0.6
MAX_PROOF_RULES = 30_000

OPEN = (("k_true", 1), ("k_does", 2))  # what rules leave open: the state and the moves

PART = re.compile(r"f(\d+)\(|(\d+)|,")


class Rules(clingo.Observer):
    """Collects ground rules, atoms as positive integers and negated ones as negative."""

    def __init__(self, max_rules: int) -> None:
        self.max_rules = max_rules
        self.count = 0
        self.facts: set[int] = set()
        self.bodies: dict[int, list[tuple[int, ...]]] = {}
        self.choices: list[tuple[int, tuple[int, ...]]] = []  # atom of a fluent or move, and what makes it possible

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        self.count += 1
        if self.count > self.max_rules:
            raise CannotGround(f"there are more than {self.max_rules:,} ground rules")
        if choice:
            self.choices.append((head[0], tuple(body)))
        elif body:
            self.bodies.setdefault(head[0], []).append(tuple(body))
        else:
            self.facts.add(head[0])


class Grounder:
    """Ground rules of one program, and the texts of its atoms in the names of the rulesheet."""

    def __init__(self, program: str, names: list[str], max_rules: int) -> None:
        self.program = program
        self.spelled = [spell(name) for name in names]
        self.plain = not any("(" in name or ")" in name for name in names)
        self.control = clingo.Control(["--warn=none"])
        self.rules = Rules(max_rules)
        self.control.register_observer(self.rules)
        self.control.add("base", [], program)
        self.control.ground([("base", [])])

    def text(self, symbol: str) -> str:
        """The text of a term: `f3(1,f2(5))` is a function of symbol 3 with two arguments."""
        if symbol.count("(") != 1 or not symbol.endswith(")"):
            return PART.sub(self.part, symbol)
        # The usual case, many times faster: a function of constants
        function, _, arguments = symbol[1:-1].partition("(")
        spelled = self.spelled
        return f"({' '.join([spelled[int(function)], *[spelled[int(arg)] for arg in arguments.split(',')]])})"

    def part(self, match: re.Match[str]) -> str:
        function, constant = match.groups()
        if function:
            return f"({self.spelled[int(function)]} "
        return self.spelled[int(constant)] if constant else " "

    def spaced(self, symbol: str) -> str:
        """The text that orders moves: a space around every parenthesis that is no part of a name."""
        if self.plain:
            return self.text(symbol).replace("(", "( ").replace(")", " )")
        return PART.sub(
            lambda match: "( " + self.spelled[int(match[1])] + " " if match[1] else self.part(match),
            symbol.replace(")", " )"),
        )

    def atoms(self, name: str, arity: int) -> Iterator[tuple[int, str]]:
        """The atoms of a keyword, each with the text of its arguments: `3,f5(1)`."""
        for atom in self.control.symbolic_atoms.by_signature(f"k_{name}", arity):
            yield atom.literal, str(atom.symbol)[len(name) + 3 : -1]

    def atom_name(self, symbol: clingo.Symbol) -> str:
        name = symbol.name[2:] if symbol.name.startswith("k_") else self.spelled[int(symbol.name[1:])]
        args = " ".join(self.text(str(arg)) for arg in symbol.arguments)
        return f"({name} {args})" if args else name

    def names(self) -> dict[int, str]:
        return {atom.literal: self.atom_name(atom.symbol) for atom in self.control.symbolic_atoms}

    def ground(self, roles: tuple[str, ...]) -> Ground:
        """The rules, with the atoms that say something of fluents, moves and goals sorted out.

        Symbols are slow to ask for, so the atoms of `does` and `true` are known by the choices that allow them.
        """
        texts: dict[str, str] = {}
        order: dict[str, str] = {}
        legal: dict[tuple[str, str], int] = {}
        known = {str(number): name for number, name in enumerate(self.spelled) if name in roles}  # roles are constants
        for atom, arguments in self.atoms("legal", 2):
            role, _, move = arguments.partition(",")
            if role not in known:
                continue  # what is legal for nobody
            if move not in texts:
                texts[move] = self.text(move)
                order[texts[move]] = self.spaced(move)
            legal[known[role], texts[move]] = atom
        following = {self.text(fluent): atom for atom, fluent in self.atoms("next", 1)}
        initial = {self.text(fluent): atom for atom, fluent in self.atoms("init", 1)}
        moves = {atom: move for move, atom in legal.items()}
        fluents = {atom: fluent for fluent, atom in [*initial.items(), *following.items()]}
        does: dict[tuple[str, str], int] = {}
        true: dict[str, int] = {}
        # What is certain is not mentioned in the choice that it allows.
        for atom, body in self.rules.choices:
            if body and body[0] in moves:
                does[moves[body[0]]] = atom
            elif body and body[0] in fluents:
                true[fluents[body[0]]] = atom
        for atom, arguments in self.atoms("true", 1) if len(true) < len({*initial, *following}) else ():
            true.setdefault(self.text(arguments), atom)
        for atom, arguments in self.atoms("does", 2) if len(does) < len(legal) else ():
            role, _, move = arguments.partition(",")
            if role in known and move in texts:  # some rules ask for moves that are never legal
                does.setdefault((known[role], texts[move]), atom)
        return Ground(
            roles=roles,
            facts=self.rules.facts,
            bodies=self.rules.bodies,
            true=true,
            next=following,
            initial=initial,
            does=does,
            legal=legal,
            goal=[
                (known[role], goal_value(self.text(value)), atom)
                for atom, arguments in self.atoms("goal", 2)
                for role, _, value in [arguments.partition(",")]
                if role in known
            ],
            terminal=next((atom for atom, _ in self.atoms("terminal", 0)), None),
            order=order,
            groups=self.exclusion(),
        )

    def exclusion(self) -> list[tuple[list[str], bool]]:
        """Groups of fluents that exclude each other, if the game is small enough to prove it in time."""
        if self.rules.count > MAX_PROOF_RULES:
            return []
        begin = list(self.atoms("init", 1))
        if any(atom not in self.rules.facts for atom, _ in begin):
            return []  # where the game begins is not settled by the grounder
        initial = {fluent for _, fluent in begin}
        fluents = [fluent for _, fluent in self.atoms("true", 1)]
        groups = exclusion.candidates(fluents, initial)
        if not groups:
            return []
        atoms = self.control.symbolic_atoms
        left_open = [str(atom.symbol) for name, arity in OPEN for atom in atoms.by_signature(name, arity)]
        proved = exclusion.prove(self.program.removesuffix(CHOICES), left_open, groups, initial, PROOF_SECONDS)
        return [([self.text(fluent) for fluent in group], exact) for group, exact in exclusion.choose(proved)]


def goal_value(text: str) -> int:
    """The number; BAD_GOAL for what is none from 0 to 100, which matters only if it is ever true."""
    return int(text) if is_goal_value(Term(text)) else BAD_GOAL


def negative_cycle(grounder: Grounder) -> list[str]:
    """The sentences of one ground cycle through a negation; empty without one."""
    bodies = grounder.rules.bodies
    graph = {head: {abs(atom) for body in found for atom in body} for head, found in bodies.items()}
    part_of = {atom: number for number, part in enumerate(components(graph)) for atom in part}
    for head, found in bodies.items():
        if any(atom < 0 and part_of[-atom] == part_of[head] for body in found for atom in body):
            names = grounder.names()
            return sorted(names[atom] for atom, number in part_of.items() if number == part_of[head] and atom in names)
    return []


def answer(message: Message) -> Iterator[Message]:
    try:
        grounder = Grounder(message["program"], message["names"], message["max_rules"])
        if "circuit" in message:
            ground = grounder.ground(tuple(message["roles"]))
            try:
                save(build(ground), Path(message["circuit"]))
            except EngineError:
                ground.names = grounder.names()  # the same again, with names for the message
                build(ground)
                raise
            yield {"circuit": message["circuit"]}
        else:
            yield {"cycle": negative_cycle(grounder)[:20]}
    except CannotGround as error:
        yield {"cannot": str(error)}
    except EngineError as error:
        yield {"error": str(error)}


if __name__ == "__main__":
    gc.disable()  # the child lives for one game, and looking for garbage among a million rules takes long
    serve(answer)
