"""Ground rules -> gates -> the arrays of a circuit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine.circuit import DECISIVE, GOALS, LEGAL, NEXT, POSITION, SUMS, Circuit, padded
from ggp_agent.engine.decisive import Rules, keep_decisive
from ggp_agent.engine.grouping import MANY_MOVES, conditions, group_moves
from ggp_agent.engine.network import FALSE, TRUE, Network
from ggp_agent.engine.packing import pack
from ggp_agent.errors import CannotGround, EngineError
from ggp_agent.gdl.depend import components

Atom = int
Body = tuple[int, ...]  # atoms, negative where they must not hold


@dataclass(kw_only=True, slots=True)
class Ground:
    """Ground rules, and which atoms stand for what. Texts are those of terms."""

    roles: tuple[str, ...]
    facts: set[Atom]
    bodies: dict[Atom, list[Body]]  # atom -> the bodies of its rules
    true: dict[str, Atom]  # fluent -> atom
    next: dict[str, Atom]
    initial: dict[str, Atom]
    moves: list[list[tuple[str, Atom, Atom]]]  # role -> move, what says that it is legal, and that it is made; in order
    goal: list[tuple[str, int, Atom]]  # role, value
    terminal: Atom | None
    names: dict[Atom, str] = field(default_factory=dict)  # of as many atoms as are known, for messages
    groups: list[tuple[list[str], bool]] = field(default_factory=list)  # fluents: at most one is true, or exactly one


@dataclass(slots=True)
class Loop:
    """Sentences that depend on each other."""

    end: int  # every gate of the loop has a lower node, every gate that uses its result a higher one
    latches: list[int]  # nodes
    renewals: list[tuple[int, int, tuple[int]]]  # gates with a lower node come first; latch node; what it takes over


class Item(NamedTuple):
    """Something to compute. Items are in the order in which they are computed."""

    phase: int
    place: int  # the node, or for all items of a loop the end of the loop
    outside: bool  # of a loop
    order: int  # within a loop
    node: int
    literals: tuple[int, ...]


class Builder:
    """Makes a network of the ground rules, one atom after those that it depends on."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.network = Network()
        self.fluents = sorted(ground.true)
        self.literal: dict[Atom, int] = dict.fromkeys(ground.facts, TRUE)
        self.loops: list[Loop] = []
        for fluent in self.fluents:
            self.literal[ground.true[fluent]] = self.network.input()
        for group, exactly_one in ground.groups:
            self.network.add_group([self.literal[ground.true[fluent]] for fluent in group], exactly_one)
        for moves in ground.moves:
            literals = [self.network.input() for _ in moves]
            self.literal.update(zip((does for _, _, does in moves), literals, strict=True))
            self.network.add_group(literals, exactly_one=True)

    def build(self) -> None:
        ground = self.ground
        legal_atoms = [legal for moves in ground.moves for _, legal, _ in moves]
        first = [
            *legal_atoms,
            *([ground.terminal] if ground.terminal else []),
            *(atom for _, _, atom in ground.goal),
        ]
        graph: dict[Atom, set[Atom]] = {}
        for atom in [*first, *ground.bodies]:
            if atom not in graph and atom not in self.literal:
                needs = set(map(abs, chain.from_iterable(ground.bodies.get(atom, ()))))
                graph[atom] = needs.difference(self.literal)
        waiting = {atom for atom in legal_atoms if atom in graph}
        if not waiting:
            self.know_legal_moves()
        for part in components(graph):
            if len(part) == 1:
                self.define(part[0])
            else:
                self.close_loop(part)
            if waiting:
                waiting.difference_update(part)
                if not waiting:
                    self.know_legal_moves()

    def product(self, body: Body) -> list[int]:
        """The literals of a body; an atom without rules never holds."""
        get = self.literal.get
        return [get(atom, FALSE) if atom > 0 else get(-atom, FALSE) ^ 1 for atom in body]

    def define(self, atom: Atom) -> None:
        bodies = self.ground.bodies.get(atom, ())
        if any(-atom in body for body in bodies):
            raise self.negated([atom])
        products = [self.product(body) for body in bodies if atom not in body]
        self.literal[atom] = self.network.sum_of_products(products)

    def close_loop(self, part: list[Atom]) -> None:
        """Atoms that depend on each other: a latch each, renewed by its rules."""
        inside = set(part)
        for atom in part:
            if any(-other in inside for body in self.ground.bodies[atom] for other in body if other < 0):
                raise self.negated(part)
        for atom in part:
            self.literal[atom] = self.network.input()
        latches = [self.literal[atom] >> 1 for atom in part]
        renewals = []
        for atom, latch in zip(part, latches, strict=True):
            bodies = [body for body in self.ground.bodies[atom] if atom not in body]
            value = self.network.sum_of_products([self.product(body) for body in bodies])
            renewals.append((len(self.network.gates), latch, (value,)))
        self.loops.append(Loop(len(self.network.gates), latches, renewals))

    def negated(self, part: Iterable[Atom]) -> EngineError:
        names = sorted(self.ground.names.get(atom, "an unnamed sentence") for atom in part)
        return EngineError(f"these sentences depend on their own negation: {' '.join(names[:20])}")

    def know_legal_moves(self) -> None:
        """From here on the network may use that a move that is made was legal."""
        for moves in self.ground.moves:
            self.network.legal_of.update({self.literal[does]: self.literal[legal] for _, legal, does in moves})


class Layout:
    """Chooses what is needed, in which phase and in which order, and writes the arrays."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.gates = list(builder.network.gates)
        ground = builder.ground

        def literal(atom: Atom | None) -> int:
            return FALSE if atom is None else builder.literal.get(atom, FALSE)

        self.legal = [[literal(legal) for _, legal, _ in moves] for moves in ground.moves]
        self.terminal = literal(ground.terminal)
        self.goals = [(ground.roles.index(role), value, literal(atom)) for role, value, atom in ground.goal]
        self.next = [literal(ground.next.get(fluent)) for fluent in builder.fluents]
        self.decisive = self.find_decisive()
        self.loop_of = self.find_loop_gates()
        self.replace_members()
        self.merge_single_uses()
        self.families = group_moves(self.legal, self.gates, self.conjunction)
        self.phase = self.find_phases()
        if self.families:
            self.set_apart()

    def find_decisive(self) -> list[list[int]]:
        """Role -> the literals that say which moves to consider; nothing if that would not pay."""
        builder, ground = self.builder, self.builder.ground
        if sum(map(len, self.legal)) >= MANY_MOVES:
            return []
        goals = [
            [goal[1:] for goal in self.goals if goal[0] == role and goal[2] != FALSE] or [(0, FALSE)]
            for role in range(len(self.legal))
        ]
        decisive = keep_decisive(
            builder.network,
            Rules(
                fluents=[builder.literal[ground.true[fluent]] for fluent in builder.fluents],
                next=self.next,
                does=[[builder.literal[does] for _, _, does in moves] for moves in ground.moves],
                legal=self.legal,
                terminal=self.terminal,
                best=[max(mine)[1] for mine in goals],
                worst=[min(mine)[1] for mine in goals],
                latches={latch for loop in builder.loops for latch in loop.latches},
            ),
        )
        self.gates += builder.network.gates[len(self.gates) :]
        return decisive

    def outputs(self) -> dict[int, list[int]]:
        """Phase -> the literals that it must compute."""
        return {
            POSITION: [*chain.from_iterable(self.legal), self.terminal],
            GOALS: [literal for _, _, literal in self.goals],
            NEXT: self.next,
            DECISIVE: [*chain.from_iterable(self.decisive)],
        }

    def count_uses(self) -> Counter[int]:
        """Node -> how many gates, outputs and latches use it, of those that are needed at all."""
        needed: dict[int, int] = {}
        uses: Counter[int] = Counter()
        for literals in self.outputs().values():
            self.reach(literals, POSITION, needed)
            uses.update(literal >> 1 for literal in literals)
        uses.update(value >> 1 for loop in self.builder.loops for _, _, (value,) in loop.renewals)
        uses.update(literal >> 1 for node in needed for literal in self.gates[node] or ())
        return uses

    def conjunction(self, literals: Iterable[int]) -> int:
        """A gate that the rules do not have."""
        literal = self.builder.network.conjunction(literals)
        self.gates += self.builder.network.gates[len(self.gates) :]
        return literal

    def replace_members(self) -> None:
        """Of fluents of which exactly one is true, the costliest one will be true if none of the others will be."""
        if not any(exactly_one for _, exactly_one in self.builder.ground.groups):
            return
        uses = self.count_uses()
        index = {fluent: number for number, fluent in enumerate(self.builder.fluents)}
        for group, exactly_one in self.builder.ground.groups:
            if not exactly_one:
                continue
            members = [index[fluent] for fluent in group]
            costs = {member: self.own_cost(self.next[member] >> 1, uses) for member in members}
            dearest = max(members, key=lambda member: costs[member])
            others = [self.next[member] for member in members if member != dearest]
            if costs[dearest] > len(others) and self.next[dearest] > FALSE:
                self.own_cost(self.next[dearest] >> 1, uses, keep=False)
                self.next[dearest] = self.conjunction(literal ^ 1 for literal in others)
                uses.update(literal >> 1 for literal in others)

    def own_cost(self, node: int, uses: Counter[int], keep: bool = True) -> int:
        """The literals of the gates that nothing but this use of a node needs; forget these uses unless `keep`."""
        touched: list[int] = []
        todo = [node]
        cost = 0
        while todo:
            node = todo.pop()
            uses[node] -= 1
            touched.append(node)
            gate = self.gates[node]
            if uses[node] == 0 and gate is not None:
                cost += len(gate)
                todo += [literal >> 1 for literal in gate]
        if keep:
            uses.update(touched)
        return cost

    def find_loop_gates(self) -> dict[int, int]:
        """Node -> the loop that it belongs to: latches, and gates between them that feel a latch."""
        found: dict[int, int] = {}
        for number, loop in enumerate(self.builder.loops):
            found.update(dict.fromkeys(loop.latches, number))
            for node in range(loop.latches[0], loop.end):
                gate = self.gates[node]
                if gate is not None and any(found.get(literal >> 1) == number for literal in gate):
                    found[node] = number
        return found

    def merge_single_uses(self) -> None:
        """A gate that one other gate uses, and not negated, becomes part of that gate."""
        uses = self.count_uses()
        for literals in self.outputs().values():
            uses.update(literal >> 1 for literal in literals)  # an output stays
        for loop in self.builder.loops:
            uses.update(value >> 1 for _, _, (value,) in loop.renewals)
        inside = {2 * node for node, gate in enumerate(self.gates) if gate is not None and uses[node] == 1}
        for node, gate in enumerate(self.gates):
            if gate is None or inside.isdisjoint(gate):
                continue
            merged: list[int] = []
            for literal in gate:
                inner = self.gates[literal >> 1]
                same_place = self.loop_of.get(literal >> 1) == self.loop_of.get(node)
                if inner is None or literal not in inside or not same_place:
                    merged.append(literal)
                else:
                    merged += inner
            self.gates[node] = tuple(dict.fromkeys(merged))

    def find_phases(self) -> dict[int, int]:
        """Node -> the first phase that needs it."""
        phase: dict[int, int] = {}
        self.reach(conditions(self.families), POSITION, phase)
        outputs = self.outputs()
        decisive: dict[int, int] = {}
        self.reach(outputs.pop(DECISIVE), DECISIVE, decisive)
        for number, literals in outputs.items():
            self.reach(literals, number, phase)
        # What searches need before moves are chosen, and others too, is computed for all
        phase.update({node: POSITION if node in phase else DECISIVE for node in decisive})
        return phase

    def reach(self, literals: Iterable[int], mark: int, marks: dict[int, int]) -> None:
        """Mark all nodes that these literals need and that have no mark yet."""
        todo = [literal >> 1 for literal in literals]
        while todo:
            node = todo.pop()
            if node in marks:
                continue
            marks[node] = mark
            gate = self.gates[node]
            if gate is not None:
                todo += [literal >> 1 for literal in gate]
            elif node in self.loop_of:
                loop = self.builder.loops[self.loop_of[node]]
                todo += loop.latches
                todo += [value >> 1 for _, _, (value,) in loop.renewals]

    def set_apart(self) -> None:
        """Find what playouts can do without, because they choose moves by groups."""
        needed: dict[int, int] = {}
        self.reach([*conditions(self.families), self.terminal, *self.outputs()[GOALS], *self.next], POSITION, needed)
        self.phase.update({node: LEGAL for node in self.phase if node not in needed})
        first = 1 + len(self.builder.fluents)
        # What says that no move is made of some, or of some sums of moves
        sums = {2 * node + 1 for node in range(first, first + sum(map(len, self.legal)))}
        for node in sorted(node for node, phase in self.phase.items() if phase == NEXT):
            gate = self.gates[node]
            if gate is not None and node not in self.loop_of and sums.issuperset(gate):
                self.phase[node] = SUMS
                sums.add(2 * node)

    def circuit(self) -> Circuit:
        builder, ground = self.builder, self.builder.ground
        blocks = [padded(len(moves)) for moves in ground.moves]
        move_starts = np.cumsum([1 + len(builder.fluents), *blocks])
        first_latch = int(move_starts[-1])
        row = {node: node for node in range(1 + len(builder.fluents))}
        for start, moves in zip(move_starts.tolist(), ground.moves, strict=False):
            row.update({len(row) + number: start + number for number in range(len(moves))})
        latches = [latch for loop in builder.loops if loop.latches[0] in self.phase for latch in loop.latches]
        row.update({node: first_latch + number for number, node in enumerate(latches)})
        first_gate = first_latch + len(latches)
        legal_starts = np.cumsum([first_gate, *blocks])
        next_start = int(legal_starts[-1])
        slots = [
            (LEGAL if self.families else POSITION, int(start) + number, literal)
            for start, literals in zip(legal_starts, self.legal, strict=False)
            for number, literal in enumerate(literals)
        ]
        slots += [(NEXT, next_start + number, literal) for number, literal in enumerate(self.next)]
        rows = next_start + len(builder.fluents)
        decisive_starts = np.cumsum([rows, *blocks]) if self.decisive else np.zeros(0)
        for start, literals in zip(decisive_starts.tolist(), self.decisive, strict=False):
            slots += [(DECISIVE, int(start) + number, literal) for number, literal in enumerate(literals)]
            rows += padded(len(literals))
        items = [*self.items(), *self.copies(slots, row)]
        items.sort()
        for item in items:
            if item.node not in row:
                row[item.node] = rows
                rows += 1

        def place(literals: Iterable[int]) -> list[int]:
            return [2 * row[literal >> 1] + (literal & 1) for literal in literals]

        offsets, literals = [0], []
        for item in items:
            literals += place(item.literals)
            offsets.append(len(literals))
        return Circuit(
            roles=ground.roles,
            fluents=tuple(builder.fluents),
            moves=tuple(tuple(move for move, _, _ in moves) for moves in ground.moves),
            move_starts=move_starts.astype(np.int64),
            legal_starts=legal_starts.astype(np.int64),
            next_start=next_start,
            decisive_starts=decisive_starts.astype(np.int64),
            initial=self.initial(),
            rows=rows,
            first_latch=first_latch,
            first_gate=first_gate,
            targets=np.array([row[item.node] for item in items], np.int32),
            offsets=np.array(offsets, np.int64),
            literals=np.array(literals, np.int32),
            segments=np.array(self.segments(items, row), np.int64).reshape(-1, 5),
            **pack(self.families or [{}] * len(ground.roles), place),
            terminal=place([self.terminal])[0],
            goal_literals=np.array(place(literal for _, _, literal in self.goals), np.int32),
            goal_roles=np.array([role for role, _, _ in self.goals], np.int32),
            goal_values=np.array([value for _, value, _ in self.goals], np.int32),
            ground_rules=sum(map(len, ground.bodies.values())),
            ground_literals=sum(len(body) for bodies in ground.bodies.values() for body in bodies),
        )

    def initial(self) -> NDArray[np.bool_]:
        """Where the game begins. That depends on no state, so that every literal is a constant."""
        builder = self.builder
        atoms = [builder.ground.initial.get(fluent) for fluent in builder.fluents]
        literals = [FALSE if atom is None else builder.literal.get(atom, FALSE) for atom in atoms]
        if any(literal > FALSE for literal in literals):
            raise CannotGround("where the game begins depends on a recursion that the grounder leaves open")
        return np.array([literal == TRUE for literal in literals], np.bool_)

    def copies(self, slots: list[tuple[int, int, int]], row: dict[int, int]) -> Iterator[Item]:
        """Give gates the rows where their results are wanted, and copy what is no gate, negated, or wanted twice."""
        for number, (phase, target, literal) in enumerate(slots):
            node = literal >> 1
            if self.gates[node] is not None and not literal & 1 and node not in row:
                row[node] = target
            elif literal != FALSE:  # a row that is never written stays false
                row[-1 - number] = target
                yield Item(phase, len(self.gates), True, number, -1 - number, (literal,))

    def items(self) -> list[Item]:
        """All that is computed, in order."""
        found = []
        for node, phase in self.phase.items():
            gate = self.gates[node]
            if gate is not None and node in self.loop_of:
                found.append(Item(phase, self.builder.loops[self.loop_of[node]].end, False, 2 * node, node, gate))
            elif gate is not None:
                found.append(Item(phase, node, True, 2 * node, node, gate))
        for loop in self.builder.loops:
            if loop.latches[0] in self.phase:
                phase = self.phase[loop.latches[0]]
                found += [
                    Item(phase, loop.end, False, 2 * after - 1, latch, value) for after, latch, value in loop.renewals
                ]
        return sorted(found)

    def segments(self, items: list[Item], row: dict[int, int]) -> list[list[int]]:
        """The runs of items of one phase that are computed once, and the loops between them."""
        found: list[list[int]] = []
        previous: tuple[int, int | None] | None = None
        for number, item in enumerate(items):
            loop = self.loop_of.get(item.node)
            if (item.phase, loop) != previous:
                latches = [] if loop is None else [row[latch] for latch in self.builder.loops[loop].latches]
                found.append([item.phase, number, number, min(latches, default=0), max(latches, default=-1) + 1])
                previous = (item.phase, loop)
            found[-1][2] = number + 1
        return found


def build(ground: Ground) -> Circuit:
    """The circuit of a game."""
    builder = Builder(ground)
    builder.build()
    return Layout(builder).circuit()
