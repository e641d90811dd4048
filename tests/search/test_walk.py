"""Walks that have nothing to think about choose as all others do."""

from __future__ import annotations

from typing import Any

import pytest

from ggp_agent.search import INFINITE, Limit, Searcher, graph
from tests.search.checks import audit, engine_of, small, tried

CASES: list[tuple[str, dict[str, Any]]] = [
    ("connect_four", {}),
    ("connect_four", {"ripe": 1, "decisive": False}),
    ("connect_four", {"virtual_loss": 0, "first_play_urgency": 0.6}),
    ("connect_four", {"depths": (2, INFINITE, 2)}),
    ("tic_tac_toe", {"transpositions": False}),
    ("breakthrough_6x6", {"solve": False}),
    ("three_player_tic_tac_toe", {}),
    ("tron", {}),
    ("lights_out", {}),
]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_plain_walks_and_careful_walks_make_the_same_graph(
    name: str, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = []
    for careful in (False, True):
        if careful:
            monkeypatch.setattr(graph, "FEW_ROLES", 0)  # kernels that know no rules
        searcher = Searcher(engine_of(name), small(**{"lanes": 1, **settings}), seed=4)
        if careful:
            searcher.workers[0].pool.block["grouped"] = 1  # groups there are none, but they are thought of
        searcher.think(Limit(playouts=1_500))
        audit(searcher)
        graphs.append(tried(searcher.workers[0].pool))
    assert graphs[0] == graphs[1]
