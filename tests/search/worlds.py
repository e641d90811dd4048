"""Artificial games for the graph code, one simulation at a time, and a copy of the graph in plain Python beside it."""

from __future__ import annotations

from collections.abc import Hashable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.config import SearchConfig
from ggp_agent.search.edges import FIRST_SPACE, new_position
from ggp_agent.search.graph import GROUP, Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.table import NONE, hash_state
from ggp_agent.search.ucd import KNOWN, MOVES, PLAYOUT, RANK, STEP, WALK, arrive, descend
from ggp_agent.search.update import update
from tests.search import plain_ucd as plain
from tests.search.checks import all_edges


class World:
    """A random game of some positions: moves lead to random positions, mostly deeper ones; two roles."""

    def __init__(
        self, seed: int, *, positions: int = 40, moves: int = 4, back: float = 0, tree: bool = False, width: int = 0
    ) -> None:
        """`width`: moves lead exactly one level deeper, and levels have so many positions."""
        random = Random(seed)
        self.moves, self.tree = moves, tree
        self.mover = [random.randrange(2) for _ in range(positions)]
        self.next: list[list[int]] = []
        for position in range(positions):
            first, last = position + 1, positions
            if width:
                first = 1 + (position + width - 1) // width * width
                last = first + width
            deeper = [min(random.randrange(first, last + 1 - bool(width)), positions - 1) for _ in range(moves)]
            self.next.append([random.randrange(position + 1) if random.random() < back else to for to in deeper])
        self.count = positions

    def step(self, state: int, move: int) -> int:
        if self.tree:  # a state that remembers all moves
            return state * (self.moves + 1) + move + 1
        return self.next[state][move]

    def who(self, state: int) -> int:
        return self.mover[state % self.count]

    def terminal(self, state: int) -> bool:
        return state == self.count - 1 and not self.tree


class Copy:
    """Drives the graph code on a world, and keeps the plain graph from what it does."""

    def __init__(
        self, world: World, config: SearchConfig, seed: int, *, lanes: int = 1, given: NDArray[Any] | None = None
    ) -> None:
        self.world, self.config, self.random = world, config, Random(seed)
        texts = [[f"(move {k // 2} {k})" for k in range(world.moves)] for _ in range(2)]
        groups = make_groups(config.groups, texts, [], given=given)
        self.pool = Pool(config, groups, np.ones(2), words=1, graphs=1, walks=lanes, megabytes=64, seed=seed)
        self.g = self.pool.block
        words = np.zeros(1, np.uint64)
        self.g["root"][0] = new_position(self.g, words, 0, np.uint64(hash_state(words, 0)), 0)
        self.nodes: dict[Hashable, plain.Node] = {}
        self.edges: dict[int, plain.Edge] = {}  # number of an edge -> the plain edge
        self.formed = 0  # how often groups were formed from statistics

    def node(self, number: int) -> plain.Node:
        """The plain node of a node."""
        g = self.g
        key = ("node", number)
        if key not in self.nodes:
            group = g["kind"][number] == GROUP
            self.nodes[key] = plain.Node(key, int(g["level"][number]), group=bool(group))
        return self.nodes[key]

    def edge(self, number: int) -> plain.Edge:
        g = self.g
        if number not in self.edges:
            origin = self.node(int(g["origin"][number]))
            origin.mover = int(g["mover"][g["origin"][number]])
            self.edges[number] = plain.Edge(origin, int(g["move"][number]))
            origin.edges.append(self.edges[number])
        edge = self.edges[number]
        if g["child"][number] != NONE:
            plain.link(edge, self.node(int(g["child"][number])))
        return edge

    def simulate(self) -> tuple[list[plain.Edge], plain.Payoff]:
        """One simulation: its path and payoff."""
        self.walk(0)
        return self.end(0)

    def walk(self, lane: int) -> None:
        """Let a simulation go on until it knows its payoff."""
        g = self.g
        g["at"][lane] = g["root"][0]
        need = WALK
        while need not in (KNOWN, PLAYOUT):
            if need == WALK:
                need = descend(g, lane)
            elif need == MOVES:
                self.expand(lane)
                need = WALK
            elif need == RANK:
                self.form_groups(int(g["at"][lane]))
                need = WALK
            else:
                assert need == STEP
                need = self.step(lane)
        if need == PLAYOUT:
            draw = self.random.choice((0.0, 0.5, 1.0))
            g["payoff"][lane] = draw, 1.0 - draw

    def renumber(self) -> None:
        """Edges have moved: know the plain ones by their new numbers."""
        g, plain_edges = self.g, {(edge.origin, edge.label): edge for edge in self.edges.values()}
        keys = {int(k): (self.node(int(g["origin"][k])), int(g["move"][k])) for k in all_edges(self.pool)}
        self.edges = {number: plain_edges[key] for number, key in keys.items() if key in plain_edges}

    def path(self, lane: int) -> list[plain.Edge]:
        if self.world.moves > FIRST_SPACE:
            self.renumber()
        return [self.edge(int(number)) for number in self.g["path"][lane, : self.g["length"][lane]]]

    def end(self, lane: int) -> tuple[list[plain.Edge], plain.Payoff]:
        path, payoff = self.path(lane), tuple(self.g["payoff"][lane].tolist())
        update(self.g, lane)
        return path, payoff

    def expand(self, lane: int) -> None:
        state = int(self.g["state"][self.g["position"][self.g["at"][lane]], 0])
        counts = np.array([1, 1], np.int32)
        counts[self.world.who(state)] = self.world.moves
        moves = np.tile(np.arange(self.world.moves, dtype=np.int32), (2, 1))
        assert expand(self.g, lane, moves, counts)

    def step(self, lane: int) -> Any:
        g = self.g
        edge = g["path"][lane, g["length"][lane] - 1]
        state = int(g["state"][g["position"][g["origin"][edge]], 0])
        new = self.world.step(state, int(g["move"][edge]))
        payoff = np.array([0.25, 0.75])
        words = np.array([new], np.uint64)
        return arrive(g, lane, words, np.uint64(hash_state(words, 0)), self.world.terminal(new), payoff)

    def members(self, number: int) -> list[int]:
        """The edges of a position's moves, in the order of its groups."""
        g, found = self.g, []
        for edge in range(g["first"][number], g["first"][number] + g["edges"][number]):
            found += self.members(int(g["child"][edge])) if g["move"][edge] < 0 else [edge]
        return found

    def form_groups(self, number: int) -> None:
        """Form groups in both graphs: the kernels rank the moves, the plain graph keeps its own statistics of them."""
        g, position = self.g, self.node(number)
        known = {self.edges[k].label: self.edges.pop(k) for k in self.members(number) if k in self.edges}
        for k in [k for k, edge in self.edges.items() if edge.origin is position]:
            del self.edges[k]
        position.edges = []
        form_groups(g, g["at"].dtype.type(number))
        self.formed += 1
        plain.changed()
        for above in range(g["first"][number], g["first"][number] + g["edges"][number]):
            if g["move"][above] >= 0:  # too few moves
                self.keep(position, [above], known)
                continue
            group = self.node(int(g["child"][above]))
            group.mover, group.parents = position.mover, []
            self.keep(group, self.members(int(g["child"][above])), known)
            edge = self.edge(above)
            edge.payoffs = [payoff for member in group.edges for payoff in member.payoffs]

    def keep(self, origin: plain.Node, numbers: list[int], known: dict[Hashable, plain.Edge]) -> None:
        """These are the edges of a node now; those of them that the plain graph knows keep what they know."""
        origin.edges = []
        for number in numbers:
            if (edge := known.get(int(self.g["move"][number]))) is not None:
                edge.origin = origin
                origin.edges.append(edge)
                self.edges[number] = edge
