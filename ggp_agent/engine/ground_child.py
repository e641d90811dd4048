"""The child process that makes rules ground, with clingo's grounder and an observer, and builds circuits."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import clingo

from ggp_agent.engine import exclusion, recorder
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

# What a circuit asks of the ground rules: name and number of arguments
KEYWORDS = (("true", 1), ("next", 1), ("init", 1), ("does", 2), ("legal", 2), ("goal", 2), ("terminal", 0))
OPEN = ("true", "does")  # what rules leave open: the state and the moves
FACT = 0  # the atom of all that is certain

PART = re.compile(r"f(\d+)\(|(\d+)|,")


class Grounder:
    """Ground rules of one program, and the texts of its atoms in the names of the rulesheet."""

    def __init__(self, program: str, names: list[str], max_rules: int) -> None:
        self.program = program
        self.spelled = [spell(name) for name in names]
        self.plain = not any("(" in name or ")" in name for name in names)
        self.control = clingo.Control(["--warn=none"])
        shown = "".join(f"#show k_{name}/{arity}.\n" for name, arity in KEYWORDS)
        self.record = recorder.ground(self.control, program + shown, max_rules)
        # Keyword -> the text of its arguments, as in `3,f5(1)` -> atom
        self.atoms: dict[str, dict[str, int]] = {name: {} for name, _ in KEYWORDS}
        for text, atom in self.record.atoms:
            name, _, arguments = text.partition("(")
            self.atoms[name[2:]][arguments[:-1]] = atom

    def bodies(self) -> dict[int, list[tuple[int, ...]]]:
        """Atom -> the bodies of its rules; facts and choices left out."""
        found: dict[int, list[tuple[int, ...]]] = {}
        record = self.record
        literals, end = record.bodies.tolist(), 0
        for head, size in zip(record.heads.tolist(), record.sizes.tolist(), strict=True):
            begin, end = end, end + size
            if size and head > 0:
                found.setdefault(head, []).append(tuple(literals[begin:end]))
        return found

    def facts(self) -> set[int]:
        record = self.record
        return {FACT, *record.heads[(record.sizes == 0) & (record.heads > 0)].tolist()}

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

    def spaced(self, symbol: str, text: str) -> str:
        """The text that orders moves: a space around every parenthesis that is no part of a name."""
        if self.plain:
            return text.replace("(", "( ").replace(")", " )")
        return PART.sub(
            lambda match: "( " + self.spelled[int(match[1])] + " " if match[1] else self.part(match),
            symbol.replace(")", " )"),
        )

    def atom_name(self, symbol: clingo.Symbol) -> str:
        name = symbol.name[2:] if symbol.name.startswith("k_") else self.spelled[int(symbol.name[1:])]
        args = " ".join(self.text(str(arg)) for arg in symbol.arguments)
        return f"({name} {args})" if args else name

    def names(self) -> dict[int, str]:
        return {atom.literal: self.atom_name(atom.symbol) for atom in self.control.symbolic_atoms}

    def ground(self, roles: tuple[str, ...]) -> Ground:
        """The rules, with the atoms that say something of fluents, moves and goals sorted out."""
        known = {str(number): name for number, name in enumerate(self.spelled) if name in roles}  # roles are constants
        legal: dict[str, dict[str, tuple[int, int]]] = {role: {} for role in roles}
        does = self.atoms["does"]
        for arguments, atom in self.atoms["legal"].items():
            role, _, move = arguments.partition(",")
            if role in known:  # else it is legal for nobody
                legal[known[role]][move] = atom, does[arguments]
        texts = {move: self.text(move) for move in set().union(*legal.values())}
        order = sorted(texts, key=lambda move: self.spaced(move, texts[move]))
        return Ground(
            roles=roles,
            facts=self.facts(),
            bodies=self.bodies(),
            true={self.text(fluent): atom for fluent, atom in self.atoms["true"].items()},
            next={self.text(fluent): atom for fluent, atom in self.atoms["next"].items()},
            initial={self.text(fluent): atom for fluent, atom in self.atoms["init"].items()},
            moves=[[(texts[move], *legal[role][move]) for move in order if move in legal[role]] for role in roles],
            goal=[
                (known[role], goal_value(self.text(value)), atom)
                for arguments, atom in self.atoms["goal"].items()
                for role, _, value in [arguments.partition(",")]
                if role in known
            ],
            terminal=self.atoms["terminal"].get(""),
            groups=self.exclusion(),
        )

    def exclusion(self) -> list[tuple[list[str], bool]]:
        """Groups of fluents that exclude each other, if the game is small enough to prove it in time."""
        if len(self.record.heads) > MAX_PROOF_RULES:
            return []
        begin = self.atoms["init"]
        if not self.facts().issuperset(begin.values()):
            return []  # where the game begins is not settled by the grounder
        initial = set(begin)
        groups = exclusion.candidates(list(self.atoms["true"]), initial)
        if not groups:
            return []
        left_open = [f"k_{name}({arguments})" for name in OPEN for arguments in self.atoms[name]]
        proved = exclusion.prove(self.program.removesuffix(CHOICES), left_open, groups, initial, PROOF_SECONDS)
        return [([self.text(fluent) for fluent in group], exact) for group, exact in exclusion.choose(proved)]


def goal_value(text: str) -> int:
    """The number; BAD_GOAL for what is none from 0 to 100, which matters only if it is ever true."""
    return int(text) if is_goal_value(Term(text)) else BAD_GOAL


def negative_cycle(grounder: Grounder) -> list[str]:
    """The sentences of one ground cycle through a negation; empty without one."""
    bodies = grounder.bodies()
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
