"""RAVE: its statistics by definition, edge for edge, on small worlds and from the playouts of lanes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.block import Block
from ggp_agent.errors import ConfigError
from ggp_agent.search import Limit, SearchConfig, Searcher
from ggp_agent.search.graph import SIMULTANEOUS, Pool
from ggp_agent.search.lane_rows import PLAYING
from ggp_agent.search.rave import note_played
from ggp_agent.search.select import mixed_mean
from ggp_agent.search.table import NONE
from ggp_agent.search.workers import LanesWorker
from tests.engine.games import SHIPPED
from tests.engine.test_by_group import Grouped
from tests.search.checks import all_edges, audit, engine_of, small
from tests.search.worlds import Copy, World

Made = set[tuple[int, int]]  # roles and moves
WORLDS = [World(1), World(2, back=0.3), World(3, positions=12, back=0.5), World(5, positions=22, moves=3, width=4)]


@dataclass
class Simulation:
    """One that has ended."""

    nodes: list[int]  # where each edge of its path begins
    walked: list[tuple[int, int]]  # the role and the move of each
    end: int  # where its playout began, or NONE
    payoff: list[float] = field(default_factory=list)
    made: Made = field(default_factory=set)  # in the playout
    links: dict[int, list[int]] = field(default_factory=dict)  # node -> nodes with an edge there, when it ended

    @classmethod
    def of(cls, g: Block, lane: int) -> Simulation:
        path = g["path"][lane, : g["length"][lane]]
        walked = list(zip(g["role"][path].tolist(), g["move"][path].tolist(), strict=True))
        return cls(g["nodes"][lane, : len(path)].tolist(), walked, int(g["at"][lane]))

    def later(self, k: int) -> Made:
        """What was played from the k-th node of the path on."""
        return {*self.walked[k:], *self.made}


def links(pool: Pool) -> dict[int, list[int]]:
    g, found = pool.block, dict[int, list[int]]()
    for edge in all_edges(pool).tolist():
        if g["child"][edge] != NONE:
            found.setdefault(int(g["child"][edge]), []).append(int(g["origin"][edge]))
    return found


def amaf(simulations: list[Simulation], node: int, role: int, move: int, *, mixed: bool) -> tuple[int, float]:
    """How many simulations count for an edge, and the sum of their payoffs: the definition."""
    n, total = 0, 0.0
    for some in simulations:
        times = 0
        if mixed:  # once for every edge from the node to a position on the way
            starts = [k for k, other in enumerate(some.nodes) if k == 0 or other != some.nodes[k - 1]]
            for k, position in [*((k, some.nodes[k]) for k in starts), (len(some.nodes), some.end)]:
                if (role, move) in some.later(k):
                    times += some.links.get(position, []).count(node)
        elif node in some.nodes:
            times = (role, move) in some.later(some.nodes.index(node))
        n += times
        total += times * some.payoff[role]
    return n, total


def compare(pool: Pool, simulations: list[Simulation], depth: int) -> int:
    """Every edge against the definition; how many know of simulations that did not take them."""
    g, others = pool.block, 0
    for edge in all_edges(pool).tolist():
        node = int(g["origin"][edge])
        mixed = depth == 1 and g["mover"][node] != SIMULTANEOUS
        n, total = amaf(simulations, node, int(g["role"][edge]), int(g["move"][edge]), mixed=mixed)
        assert g["amaf_n"][edge] == n
        assert g["amaf_total"][edge] == pytest.approx(total)
        others += n > g["n"][edge]
    return others


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("world", WORLDS)
def test_statistics_are_those_of_the_definition(world: World, depth: int) -> None:
    config = SearchConfig(rave=0.01, rave_depth=depth, solve=False, exploration=0.3, depths=(1, 0, 1))
    copy, simulations, others = Copy(world, config, seed=4), [], 0
    for number in range(60):
        copy.walk(0)
        mine = Simulation.of(copy.g, 0)
        mine.payoff, mine.links = copy.g["payoff"][0].tolist(), links(copy.pool)
        for _ in range(copy.random.randrange(4)):
            mine.made.add((copy.random.randrange(2), copy.random.randrange(world.moves)))
        for role, move in mine.made:
            note_played(copy.g, role, move)
        copy.end(0)
        simulations.append(mine)
        if number % 6 == 5:
            others += compare(copy.pool, simulations, depth)
    assert others > 0


class Watch:
    """Sees every step of lanes, and writes down what their playouts do."""

    def __init__(self, worker: LanesWorker) -> None:
        self.worker, self.found = worker, dict[tuple[int, int], Simulation]()
        self.open: dict[int, Simulation] = {}

    def __call__(self) -> bool:
        g, lanes = self.worker.pool.block, self.worker.lanes
        starts, rows = lanes["move_starts"], lanes["rows"]
        for lane in range(len(lanes["phase"])):
            key = (lane, int(lanes["begun"][lane]))
            if lane in self.open and (lanes["phase"][lane] != PLAYING or self.found.get(key) is not self.open[lane]):
                self.open.pop(lane).payoff = lanes["ends"][lane].tolist()
            if lanes["phase"][lane] == PLAYING and lanes["begun"][lane] < lanes["progress"][0]:
                if key not in self.found:
                    self.found[key] = self.open[lane] = Simulation.of(g, int(lanes["leader"][lane]))
                made = (rows[:, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)
                for role, (start, end) in enumerate(pairwise(starts.tolist())):
                    self.found[key].made.update((role, int(move)) for move in np.flatnonzero(made[start:end]))
        self.worker.steps = 1
        return True


@pytest.mark.parametrize("name", ["hex_5x5", "goofspiel"])
@pytest.mark.parametrize("settings", [{"lanes": 5}, {"lanes": 7, "parallel": "leaf"}], ids=str)
def test_lanes_note_what_they_play(name: str, settings: dict[str, Any]) -> None:
    searcher = Searcher(engine_of(name), small(rave=0.01, solve=False, **settings), seed=3)
    worker = searcher.workers[0]
    assert isinstance(worker, LanesWorker)
    for _ in range(2):  # nothing stays from the first
        watch = Watch(worker)
        worker.pool.clear()
        searcher.set_roots()
        worker.run([70], None, watch)
        for lane, some in watch.open.items():
            some.payoff = worker.lanes["ends"][lane].tolist()
        assert len(watch.found) == 70 and max(len(some.made) for some in watch.found.values()) > 8
        assert compare(worker.pool, list(watch.found.values()), 0) > 0
        assert not worker.lanes["played"].any()
        audit(searcher)


def test_what_a_move_is_worth() -> None:
    """Without simulations of its own it is what others say, with many it is what these say."""
    copy = Copy(WORLDS[0], SearchConfig(rave=0.01), seed=1)
    copy.walk(0)
    copy.end(0)
    copy.g["amaf_n"][0], copy.g["amaf_total"][0] = 10, 4.0
    assert mixed_mean(copy.g, 0, 0.9, 0.0) == pytest.approx(0.4)
    assert mixed_mean(copy.g, 0, 0.9, 5.0) == pytest.approx((0.9 * 5.5 + 0.4 * 10) / 15.5)  # 0.01 * 5 * 10 more
    assert mixed_mean(copy.g, 0, 0.9, 1e6) == pytest.approx(0.9, abs=1e-4)


@pytest.mark.parametrize("depth", [0, 1])
@pytest.mark.parametrize("name", ["connect_four", "goofspiel", "tron", "nim"])
def test_searches_hold_together(name: str, depth: int) -> None:
    searcher = Searcher(engine_of(name), small(rave=0.01, rave_depth=depth, lanes=32, megabytes=4), seed=2)
    for playouts in (1, 300, 3_000):
        searcher.think(Limit(playouts=playouts))
        audit(searcher)
        g, edges = searcher.workers[0].pool.block, all_edges(searcher.workers[0].pool)
        if depth == 0:
            assert (g["amaf_n"][edges] >= g["n"][edges]).all()
        searcher.advance(tuple(moves[0] for moves in searcher.position.legal))
        if searcher.position.terminal:
            break


def test_any_engine_will_do() -> None:
    with PrologEngine(Game.load(SHIPPED["tic_tac_toe"].rules)) as engine:
        searcher = Searcher(engine, small(rave=0.01, solve=False), seed=1)
        searcher.think(Limit(playouts=150))
        g, pool = searcher.workers[0].pool.block, searcher.workers[0].pool
        root = int(g["root"][0])
        edges = np.arange(g["first"][root], g["first"][root] + g["edges"][root])
        assert (g["amaf_n"][edges] > g["n"][edges]).all() and g["amaf_n"][edges].sum() > 4 * 150
        edges = all_edges(pool)
        assert (g["amaf_n"][edges] >= g["n"][edges]).all()


def test_what_does_not_go_together() -> None:
    for wrong in ({"rave": -1.0}, {"rave": np.inf}, {"rave": 0.1, "groups": "stages"}, {"rave_depth": 2}):
        with pytest.raises(ConfigError):
            SearchConfig(**wrong)
    with (
        Grouped(Game.load(SHIPPED["tic_tac_toe"].rules), native=False) as engine,
        pytest.raises(ConfigError, match="too many moves"),
    ):
        Searcher(engine, small(rave=0.1))
