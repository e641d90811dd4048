"""The flat search, on both engines."""

from __future__ import annotations

import threading

import pytest

from ggp_agent.engine import Engine, games, open_engine
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.net.flat import FlatSearch
from ggp_agent.net.search import open_search
from ggp_agent.search import Limit, SearchConfig


def winning(engine: Engine) -> FlatSearch:
    """Tic-tac-toe where x wins at once with (mark 3 1)."""
    search = FlatSearch(engine, SearchConfig(), seed=1)
    for x, o in (("(mark 1 1)", "noop"), ("noop", "(mark 1 2)"), ("(mark 2 1)", "noop"), ("noop", "(mark 2 2)")):
        search.advance((engine.move(search.state, 0, x), engine.move(search.state, 1, o)))
    return search


@pytest.mark.parametrize("name", ["prolog", "lanes"])
def test_it_finds_a_win(name: str) -> None:
    with open_engine(games.load("tic_tac_toe"), name) as engine:
        search = winning(engine)
        assert search.best(0) in search.position.legal[0]
        analysis = search.think(Limit(playouts=400))
        assert str(engine.moves[0][search.best(0)]) == "(mark 3 1)"
        best = analysis.lines[0][0]
        assert best.move == search.best(0) and best.value == 1.0
        assert sum(line.visits for line in analysis.lines[0]) == analysis.simulations >= 400
        assert str(engine.moves[1][search.best(1)]) == "noop"


def test_it_repeats_with_its_seed_and_knows_what_is_legal() -> None:
    with open_engine(games.load("tic_tac_toe"), "prolog") as engine:
        runs = [FlatSearch(engine, SearchConfig(), seed=5).think(Limit(playouts=40)).lines for _ in range(2)]
        assert runs[0] == runs[1]
        search = FlatSearch(engine, SearchConfig())
        with pytest.raises(IllegalMove):
            search.advance((0, 99))
        while not search.position.terminal:
            search.advance((search.best(0), search.best(1)))
        with pytest.raises(ConfigError, match="over"):
            search.think(Limit(seconds=1))


def test_it_stops_when_told() -> None:
    with open_engine(games.load("connect_four"), "prolog") as engine:
        search = open_search(engine, SearchConfig(), 0)
        threading.Timer(0.2, search.stop).start()
        assert search.think(Limit(seconds=600)).simulations > 0
