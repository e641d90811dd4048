"""Small pools: they grow, they fill up, the search goes on, and what can still be reached survives a move exactly."""

from __future__ import annotations

from random import Random

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError
from ggp_agent.search import INFINITE, Limit, Searcher
from ggp_agent.search.graph import MIN_EDGES, MIN_NODES, TERMINAL, Pool
from ggp_agent.search.table import EDGES, JOINTS, NODES, NONE
from tests.engine.games import SHIPPED
from tests.search.checks import all_edges, audit, defined, engine_of, small, tried

CASES = [
    ("connect_four", {}),
    ("connect_four", {"transpositions": False}),
    ("connect_four", {"depths": (2, 1, 2)}),
    ("connect_four", {"depths": (INFINITE, INFINITE, INFINITE)}),
    ("connect_four", {"parallel": "root", "lanes": 10}),
    ("goofspiel", {}),
    ("goofspiel", {"transpositions": False}),
    ("tron", {"depths": (2, 2, 2)}),
    ("three_player_tic_tac_toe", {}),
    ("breakthrough_6x6", {"groups": "stages:2"}),
    ("breakthrough_6x6", {"groups": "stages:1:2", "depths": (2, 1, 2)}),
    ("tic_tac_toe", {"groups": "stages:1", "depths": (2, 2, 2)}),
]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_compaction_keeps_what_can_still_be_reached(name: str, settings: dict[str, object]) -> None:
    searcher = Searcher(engine_of(name), small(**{"lanes": 50, **settings}), seed=9)
    pool, random = searcher.workers[0].pool, Random(1)
    for _ in range(3):
        searcher.think(Limit(playouts=1_500))
        searcher.advance(tuple(random.choice(moves) for moves in searcher.position.legal))
        before, used = tried(pool), (pool.used(NODES), pool.used(EDGES), pool.used(JOINTS))
        pool.compact()
        assert tried(pool) == before
        assert pool.used(NODES) < used[0] and pool.used(EDGES) < used[1] and pool.used(JOINTS) <= used[2]
        audit(searcher)
        pool.compact()  # there is nothing more to throw away
        assert tried(pool) == before
        if "transpositions" not in settings:
            defined(pool, searcher.config.depths)
    searcher.think(Limit(playouts=1_000))
    audit(searcher)
    if "transpositions" not in settings:
        defined(pool, searcher.config.depths)


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_a_full_pool_goes_on_without_new_nodes(name: str, settings: dict[str, object]) -> None:
    searcher = Searcher(engine_of(name), small(**{"megabytes": 2, "lanes": 50, **settings}), seed=2)
    pool, random = searcher.workers[0].pool, Random(3)
    for playouts in (12_000, 3_000, 3_000, 3_000):
        found = searcher.think(Limit(playouts=playouts))
        assert found.simulations == playouts or found.proven
        assert pool.bytes(pool.room) <= pool.limit
        audit(searcher)
        if "transpositions" not in settings:
            defined(pool, searcher.config.depths)
        searcher.advance(tuple(random.choice(moves) for moves in searcher.position.legal))
        audit(searcher)
        if searcher.position.terminal:
            break


@pytest.mark.parametrize("parallel", ["tree", "root", "leaf"])
def test_a_full_pool_finds_room_for_a_position_it_does_not_know(parallel: str) -> None:
    """A match may go anywhere; with many graphs, all of them must find their way."""
    searcher = Searcher(engine_of("amazons_6x6"), small(megabytes=2, lanes=60, parallel=parallel), seed=2)
    pool, random, full = searcher.workers[0].pool, Random(3), False
    for _ in range(6):
        searcher.think(Limit(playouts=4_000))
        full |= bool(pool.block["wanting"][1])
        for _ in range(3):
            searcher.advance(tuple(random.choice(moves) for moves in searcher.position.legal))
            assert (pool.block["root"] >= 0).all() and (pool.block["root"] < pool.used(NODES)).all()
        audit(searcher)
    assert full or parallel == "leaf"


def test_a_pool_begins_small_and_grows() -> None:
    searcher = Searcher(engine_of("connect_four"), small(megabytes=16, lanes=50), seed=2)
    pool = searcher.workers[0].pool
    sizes = [dict(pool.room)]
    assert sizes[0][NODES] >= MIN_NODES and sizes[0][EDGES] >= MIN_EDGES
    for _ in range(4):
        searcher.think(Limit(playouts=4_000))
        sizes.append(dict(pool.room))
        audit(searcher)
    assert sizes[-1][NODES] > sizes[0][NODES] and sizes[-1][EDGES] > sizes[0][EDGES]


def test_growth_changes_no_result() -> None:
    """A pool that is large from the beginning and one that grows find the same, but for what was missed on the way."""
    large = Searcher(engine_of("tic_tac_toe"), small(megabytes=256, lanes=1), seed=2)
    little = Searcher(engine_of("tic_tac_toe"), small(megabytes=8, lanes=1), seed=2)
    for searcher in (large, little):
        searcher.think(Limit(playouts=300))
    assert tried(large.workers[0].pool) == tried(little.workers[0].pool)


def test_too_little_memory_for_anything_is_refused() -> None:
    with pytest.raises(ConfigError, match="megabytes"):
        Searcher(engine_of("connect_four"), small(megabytes=1, workers=64), seed=2)


def parents(pool: Pool, node: int) -> list[int]:
    """The edges into a node, in the order in which they were found."""
    found: list[int] = []
    edge = pool.block["parent"][node]
    while edge != NONE:
        found.insert(0, int(edge))
        edge = pool.block["next"][edge]
    return found


@pytest.mark.parametrize("ripe", [1, 2, 5])
@pytest.mark.parametrize("reference", [False, True])
def test_a_position_joins_the_graph_with_the_simulation_that_is_asked_for(ripe: int, reference: bool) -> None:
    game = Game.load(SHIPPED["connect_four"].rules)
    with PrologEngine(game) if reference else LanesEngine(game, native=False) as engine:
        searcher = Searcher(engine, small(lanes=1, ripe=ripe, megabytes=256), seed=2)
        searcher.think(Limit(playouts=150 if reference else 3_000))
        audit(searcher)
        pool = searcher.workers[0].pool
    g, edges = pool.block, all_edges(pool)
    assert (g["n"][edges][g["child"][edges] == NONE] < ripe).all()
    inner = [node for node in range(1, pool.used(NODES)) if not g["flags"][node] & TERMINAL]
    assert len(inner) > 10
    assert {int(g["end_n"][parents(pool, node)[0]]) for node in inner} == {ripe}


def test_deep_values_have_every_position_in_the_graph() -> None:
    graphs = []
    for ripe in (1, 5):
        searcher = Searcher(engine_of("connect_four"), small(lanes=1, ripe=ripe, depths=(2, 1, 2)), seed=2)
        graphs.append(searcher.think(Limit(playouts=500)).nodes)
    assert graphs[0] == graphs[1] > 400
