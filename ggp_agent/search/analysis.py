"""What a search knows of its root, read from one graph or many: moves, values, the line it expects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import Engine, JointMove, Move, Position, State
from ggp_agent.engine.block import Block
from ggp_agent.search.graph import GROUP, PROVEN, SIMULTANEOUS, SOLVED
from ggp_agent.search.table import NONE

MAX_LINE = 20  # moves of a principal variation
LEAST_HOPE = 0.005  # of a move that is not proven; goals are multiples of 0.01

Root = tuple[Block, int]  # a pool, and the node at which one of its graphs begins


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A move of one role, and what the search thinks of it."""

    move: Move
    visits: int
    value: float  # for the role, 0..1
    proven: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """What a search knows of its root."""

    simulations: int  # of this think
    seconds: float
    nodes: int
    edges: int
    fill: float  # how much of the memory is used, 0..1
    variation: tuple[JointMove, ...]  # the joint moves it expects, as far as one role chooses at a time
    value: tuple[float, ...]  # of the root, a role each, 0..1
    proven: bool
    cut: int  # simulations that were cut off because the game lasted too long
    lines: tuple[tuple[Line, ...], ...]  # of each role, the best move first

    @property
    def per_second(self) -> float:
        return self.simulations / self.seconds if self.seconds > 0 else 0.0


@dataclass(slots=True)
class Tally:
    """What graphs know of one move, added up."""

    visits: int = 0
    total: float = 0.0  # visits times value
    proven: float | None = None

    @property
    def value(self) -> float:
        if self.proven is not None:
            return self.proven
        return self.total / self.visits if self.visits else 0.0


def tally(root: Root, role: int, found: dict[Move, Tally]) -> None:
    """Add what one graph knows of the moves of a role at a node, those in groups too."""
    g, node = root
    for edge in range(g["first"][node], g["first"][node] + g["edges"][node]):
        if g["role"][edge] != role:
            continue
        if g["move"][edge] < 0:
            if g["child"][edge] != NONE:
                tally((g, int(g["child"][edge])), role, found)
            continue
        mine = found.setdefault(int(g["move"][edge]), Tally())
        mine.visits += int(g["n"][edge])
        mine.total += float(means(g, edge)) * int(g["n"][edge])
        if g["trials"][edge] == PROVEN:
            mine.proven = float(g["gain"][edge])


def ranked_lines(roots: Sequence[Root], legal: Sequence[Move], role: int) -> list[Line]:
    """All legal moves of a role, the one to play first.

    That is the most visited one. But a move whose value is proven goes before all others if it is worth what they seem
    to be worth at best, and behind them if it is not. A proven 0 goes behind all that is not proven.
    """
    found = {move: Tally() for move in legal}
    for root in roots:
        tally(root, role, found)
    hope = max((max(t.value, LEAST_HOPE) for t in found.values() if t.proven is None), default=-inf)

    def key(move: Move) -> tuple[float, int, float]:
        mine = found[move]
        if mine.proven is None:
            return 0.0, mine.visits, mine.value
        return (1.0 + mine.proven if mine.proven >= hope else mine.proven - 2.0), mine.visits, mine.value

    return [
        Line(move=move, visits=found[move].visits, value=found[move].value, proven=found[move].proven is not None)
        for move in sorted(legal, key=key, reverse=True)
    ]


def root_value(roots: Sequence[Root], role: int) -> float:
    """The mean payoff of a role over all simulations, or what is proven of the best move; 0.5 before there are any."""
    total, visits = 0.0, 0
    for g, node in roots:
        if g["flags"][node] & SOLVED:
            return float(g["value"][node, role])
        edges = np.arange(g["first"][node], g["first"][node] + g["edges"][node])
        if len(edges) and g["trials"][best := expected(g, edges)] == PROVEN:
            return float(g["value"][g["child"][best], role])
        mine = edges[g["role"][edges] == g["role"][edges[:1]]]  # where several roles choose, the edges of one
        total += float(g["total"][mine, role].sum())
        visits += int(g["n"][mine].sum())
    return total / visits if visits else 0.5


def means(g: Block, edges: NDArray[np.int64] | int) -> NDArray[np.float64]:
    """mu_{d1} of edges, without the losses of simulations on their way, or what is proven; 0 where nothing is known."""
    losses = g["flying"][edges] * (g["virtual_loss"] if g["rave"] == 0 else 0)
    trials = np.where(g["trials"][edges] == PROVEN, 1, g["trials"][edges] - losses)
    return np.asarray(g["gain"][edges] / np.maximum(trials, 1))


def expected(g: Block, edges: NDArray[np.int64]) -> int:
    """The edge that the mover is expected to take, in the order of `ranked_lines`."""
    n, mean, proven = g["n"][edges], means(g, edges), g["trials"][edges] == PROVEN
    hope = max(mean[~proven].max(initial=-inf), LEAST_HOPE)
    if proven.any() and (proven.all() or mean[proven].max() >= hope):
        return int(edges[np.where(proven, mean, -inf).argmax()])
    return int(edges[np.where(proven, -1, n).argmax()])


def variation(engine: Engine, root: Root, state: State, position: Position) -> tuple[JointMove, ...]:
    """The joint moves that a graph expects, as far as one role chooses at a time."""
    g, node = root
    found: list[JointMove] = []
    while not position.terminal and len(found) < MAX_LINE and g["edges"][node] and g["mover"][node] != SIMULTANEOUS:
        edges = np.arange(g["first"][node], g["first"][node] + g["edges"][node])
        edge = expected(g, edges)
        if g["child"][edge] == NONE:
            break
        node = int(g["child"][edge])
        if g["kind"][node] != GROUP:
            joint = [moves[0] for moves in position.legal]
            joint[g["role"][edge]] = int(g["move"][edge])
            found.append(tuple(joint))
            state = engine.step(state, tuple(joint))
            position = engine.look(state)
    return tuple(found)
