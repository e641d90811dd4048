"""Many searches side by side: each does what it would do alone, and none disturbs another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ggp_agent.engine import State
from ggp_agent.search.many import Searches
from ggp_agent.search.table import NODES
from tests.search.checks import audit_pool, engine_of, small

SETTINGS: list[dict[str, Any]] = [
    {"lanes": 1},
    {"lanes": 4},
    {"lanes": 8, "parallel": "leaf"},
    {"lanes": 3, "parallel": "root"},
    {"lanes": 1, "depths": (2, 1, 2)},
    {"lanes": 1, "transpositions": False},
]


def lines(searches: Searches, number: int) -> list[list[tuple[int, int, float]]]:
    """What every graph of a search knows of the moves at its root."""
    g, first = searches.worker.pool.block, searches.graphs * number
    return [
        [
            (int(g["move"][edge]), int(g["n"][edge]), float(g["gain"][edge]))
            for edge in range(g["first"][root], g["first"][root] + g["edges"][root])
        ]
        for root in g["root"][first : first + searches.graphs]
    ]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_every_search_gets_its_simulations(settings: dict[str, Any]) -> None:
    engine = engine_of("connect_four")
    searches = Searches(engine, small(solve=False, **settings), 240)
    states: dict[int, State] = {}
    for number in range(6):
        states[number] = engine.initial()
        for _ in range(number):
            legal = engine.look(states[number]).legal
            states[number] = engine.step(states[number], tuple(moves[-1] for moves in legal))
    searches.think(states, 0)
    for number in states:
        assert sum(n for graph in lines(searches, number) for _, n, _ in graph) == 240
    audit_pool(searches.worker.pool)
    before = [lines(searches, number) for number in states]
    searches.think({2: states[2]}, 0)
    after = [lines(searches, number) for number in states]
    assert [number for number in states if before[number] != after[number]] == [2]
    assert sum(n for graph in after[2] for _, n, _ in graph) == 480


def test_searches_repeat_whatever_was_before() -> None:
    engine = engine_of("tron")  # simultaneous moves
    searches, found = Searches(engine, small(lanes=2), 100), []
    for many in (40, 40, 3):
        searches.restart(seed=7)
        searches.think(dict.fromkeys(range(3), engine.initial()), 0)
        found.append([lines(searches, number) for number in range(3)])
        searches.think(dict.fromkeys(range(many), engine.initial()), 0)  # what follows must not matter
    assert found[0] == found[1] == found[2]


def test_a_search_that_has_ended_gives_its_memory_back() -> None:
    engine = engine_of("connect_four")
    searches = Searches(engine, small(lanes=1), 200)
    searches.think(dict.fromkeys(range(4), engine.initial()), 0)
    searches.end(1)
    searches.worker.pool.compact()
    graphs = searches.worker.pool.block["graph"][: searches.worker.pool.used(NODES)]
    assert np.unique(graphs).tolist() == [0, 2, 3]
    audit_pool(searches.worker.pool)


def test_searches_take_turns_where_there_are_not_enough_lanes() -> None:
    engine = engine_of("connect_four")
    searches = Searches(engine, small(lanes=200, solve=False), 300)
    searches.think(dict.fromkeys(range(5), engine.initial()), 0)
    assert [sum(n for graph in lines(searches, number) for _, n, _ in graph) for number in range(5)] == [300] * 5
    audit_pool(searches.worker.pool)


def test_no_more_searches_than_memory_allows() -> None:
    engine = engine_of("connect_four")
    assert Searches.room(engine, small(lanes=1, megabytes=1024), 1000) > 256
    assert Searches.room(engine, small(lanes=1, megabytes=1024), 100_000) < 20
    assert Searches.room(engine, small(lanes=1, megabytes=1), 10**9) == 1


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("connect_four", {}),
        ("breakthrough_6x6", {}),
        ("hex_9x9", {"rave": 0.001}),
        ("hex_9x9", {"groups": "ranked:123:once:64"}),
        ("amazons_6x6", {}),
        ("amazons_6x6", {"groups": "stages"}),
        ("amazons_6x6", {"groups": "stages", "depths": (1, 0, 1)}),
    ],
    ids=str,
)
def test_as_many_searches_as_there_is_room_for_find_room(game: str, settings: dict[str, Any]) -> None:
    engine, playouts = engine_of(game), 500
    searches = Searches(engine, small(lanes=4, megabytes=40, **settings), playouts)
    assert searches.count > 5
    states = dict.fromkeys(range(searches.count), engine.initial())
    for ply in range(3):
        searches.think(states, ply)
        assert not searches.worker.pool.block["wanting"][1]
        for number, state in states.items():
            legal = engine.look(state).legal
            joint = tuple(searches.best(number, moves, role) for role, moves in enumerate(legal))
            states[number] = engine.step(state, joint)
