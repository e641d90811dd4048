"""How many transpositions a search finds: where there are hardly any, they cannot make a difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp_agent.engine import games, open_engine
from ggp_agent.lab.matches import SAME
from ggp_agent.lab.record import Record
from ggp_agent.lab.rows import Row
from ggp_agent.search import Limit, SearchConfig, Searcher
from ggp_agent.search.table import NODES, NONE


def shared_percent(record: Record, game: str, c: float, playouts: int) -> float:
    """Of the positions in the graph of a search from the start, the percentage to which several moves lead."""

    def count(seed: int) -> dict[str, Any]:
        same = dict(setting.split("=") for setting in SAME.split(","))
        config = SearchConfig.parse({"d": "0:0:0", "c": str(c), **same})
        with open_engine(games.load(game)) as engine:
            searcher = Searcher(engine, config, seed)
            searcher.think(Limit(playouts=playouts))
            pool = searcher.workers[0].pool
            ways = pool.block["parent"][: pool.used(NODES)]  # the first edge into each
            more = pool.block["next"][ways[ways != NONE]] != NONE
            return {"positions": pool.used(NODES), "shared": int(np.count_nonzero(more))}

    found = record.get(f"{game}, c={c}, {playouts} simulations: positions with several ways to them", count)
    return 100 * float(found["shared"]) / float(found["positions"])


def shared_row(record: Record, game: str, c: float, playouts: int) -> Row:
    percent = shared_percent(record, game, c, playouts)
    return Row(
        table="positions to which several moves lead, %",
        row=game,
        column=f"{playouts:,} simulations",
        ours=percent,
        theirs=None,
        errors=None,
    )
