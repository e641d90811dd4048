"""Warming up: every kernel that a match may need is compiled, or loaded, before the player is available.

A kernel is compiled for the types of its arguments when it is first called, which takes seconds and holds up all of
Python. Some are called late in a match only, or only in some games: when moves are made at the same time, when a graph
is full and what is out of reach is dropped, when a game has thousands of moves, when rules cannot be made ground.
"""

from __future__ import annotations

import fcntl
from dataclasses import replace

from numba import typeof

from ggp_agent.engine import Engine, PrologEngine, cache, games
from ggp_agent.engine.by_group import legal_moves, make_moves
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.net.search import OpenSearch
from ggp_agent.search.config import Limit, SearchConfig
from ggp_agent.search.searcher import Searcher

# In turns, at the same time, and alone; with more roles, which have kernels of their own.
GAMES = (("tic_tac_toe", "rock_paper_scissors", "lights_out"), ("three_player_tic_tac_toe",))
MOMENT = 0.001  # seconds: simulations are given up when time is over
PLAYOUTS = 20_000  # in lanes, however long it takes to compile what they need
SECONDS = 0.2  # on Prolog
MEGABYTES = 1  # for each worker: so little that graphs must grow


def warm_up(config: SearchConfig, open_search: OpenSearch) -> None:
    """Use every kernel once, on tiny games. What one of several processes compiles, the others find in the cache: each
    begins with what no other one is at."""
    small = replace(config, megabytes=MEGABYTES * config.workers)
    for number in [number for number in range(len(GAMES)) if not use_all(number, small, open_search, wait=False)]:
        use_all(number, small, open_search, wait=True)


def use_all(number: int, config: SearchConfig, open_search: OpenSearch, *, wait: bool) -> bool:
    """Use some kernels, unless another process is at it and we are not to wait."""
    with (cache.folder() / f"warming_{number}").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        for name in GAMES[number]:
            with LanesEngine(games.load(name)) as lanes:
                lanes.wait()
                compile_groups(lanes)
                use(lanes, open_search, config)
            with PrologEngine(games.load(name)) as prolog:
                use(prolog, open_search, config)
    return True


def compile_groups(engine: LanesEngine) -> None:
    """Compile, without calling them, what only engines of games with thousands of moves call."""
    groups = engine.rows.groups
    legal_moves.compile((typeof(groups), typeof(0), typeof(0), typeof(groups["found"])))
    make_moves.compile((typeof(groups),))


def use(engine: Engine, open_search: OpenSearch, config: SearchConfig) -> None:
    """Think, move and think, and throw away what is out of reach."""
    limit = Limit(playouts=PLAYOUTS) if isinstance(engine, LanesEngine) else Limit(seconds=SECONDS)
    search = open_search(engine, config, 0)
    try:
        search.think(Limit(seconds=MOMENT))
        search.think(limit)
        search.advance(tuple(legal[0] for legal in engine.look(engine.initial()).legal))
        search.think(limit)
        if isinstance(search, Searcher):
            for worker in search.workers:
                worker.pool.compact()
    finally:
        search.close()
