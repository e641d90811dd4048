"""Move groups on real games: what settings mean, what does not fit, and that searches with groups hold together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ggp_agent.engine import Game, games
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError
from ggp_agent.gdl import parse
from ggp_agent.search import Limit, SearchConfig, Searcher
from ggp_agent.search.graph import GROUP
from ggp_agent.search.groups import make_groups
from ggp_agent.search.squares import ordered_constants
from ggp_agent.search.table import NODES, NONE
from tests.search.checks import audit, engine_of, small

MOVES = [["(mark a 2)", "(mark c 1)", "noop", "(go 1 1 b 3)", "(bid 5)"]]
ORDER = {"a": 0, "b": 1, "c": 2}


def shipped(name: str) -> Game:
    return Game.load(next(game for game in games.shipped() if game.name == name).rules)


def test_coordinates_are_the_last_two_ordered_arguments() -> None:
    tables = make_groups("near", MOVES, [], order=ORDER)
    assert tables["group_distance"] == 2
    assert np.array_equal(tables["group_square"], [[0, 2], [2, 1], [NONE, NONE], [1, 3], [NONE, NONE]])
    sheet = "(role r) (next_to a b) (next_to c d) (next_to b c) (round x y) (round y z) (round z x) (likes p q)"
    rules = Game.from_sheet(parse(sheet + "(legal r (put a b)) (<= terminal (true q)) (goal r 0)"), "g").rules
    assert ordered_constants(rules) == {"a": 0, "b": 1, "c": 2, "d": 3}


@pytest.mark.parametrize(
    "setting, given",
    [
        ("near", None),  # no coordinates without an order of constants
        ("stages:9", None),
        ("prior", None),
        ("prior", np.zeros(4)),
        ("prior", np.full(5, np.nan)),
        ("table", None),
        ("table", np.zeros((2, 5), np.bool_)),  # moves in no group
        ("table", np.ones((2, 4), np.bool_)),
        ("table", np.ones((2, 5))),
        ("none", np.zeros(5)),
    ],
)
def test_what_does_not_fit_is_refused(setting: str, given: Any) -> None:
    moves = [["(mark a x)", "noop", "(mark c x)", "(mark b x)", "(mark d x)"]]
    with pytest.raises(ConfigError):
        make_groups(setting, moves, [], given=given)


@pytest.mark.parametrize("groups", ["near:", "near:x", "ranked", "ranked:123", "ranked:132:powers", "prior:0"])
def test_settings_are_checked(groups: str) -> None:
    with pytest.raises(ConfigError):
        SearchConfig(groups=groups)
    with pytest.raises(ConfigError):
        SearchConfig(groups="ranked:123:every:0")


def test_near_groups_surround_the_last_two_moves() -> None:
    with LanesEngine(shipped("hex_5x5")) as engine:
        searcher = Searcher(engine, SearchConfig(groups="near:1", lanes=16), seed=1)
        black, white = (engine.moves[role] for role in range(2))
        assert len(white) == len(black)
        place = {str(term): move for move, term in enumerate(white)}
        for text in ("(place 4 4)", "(place 3 1)"):
            legal = searcher.position.legal
            joint = [moves[0] for moves in legal]
            mover = max(range(2), key=lambda role: len(legal[role]))
            joint[mover] = place[text]
            searcher.advance(tuple(joint))
        searcher.think(Limit(playouts=400))
        g = searcher.workers[0].pool.block
        root = int(g["root"][0])
        first = int(g["first"][root])
        assert g["edges"][root] == 2
        near = next(int(g["child"][edge]) for edge in (first, first + 1) if g["move"][edge] == -1)
        assert g["kind"][near] == GROUP and g["left"][near] == 0
        edges = range(g["first"][near], g["first"][near] + g["edges"][near])
        expected = {(3, 4), (5, 4), (4, 3), (4, 5), (2, 1), (4, 1), (3, 2)}
        assert {str(white[g["move"][edge]]) for edge in edges} == {f"(place {x} {y})" for x, y in expected}


def test_moves_that_led_to_a_state_are_found() -> None:
    """Players are told states, not moves."""
    with LanesEngine(shipped("hex_5x5")) as engine:
        told, shown = (Searcher(engine, SearchConfig(groups="near:1", lanes=4, megabytes=16), seed=1) for _ in range(2))
        for count in (1, 2, 2):
            for _ in range(count):
                role = max(range(2), key=lambda role: len(told.position.legal[role]))
                joint = [moves[0] for moves in told.position.legal]
                joint[role] = told.position.legal[role][len(told.position.legal[role]) // 2]
                shown.last_move = joint[role] if shown.last_move is None else shown.last_move
                told.advance(tuple(joint))
            shown.go_to(told.state)
            shown.last_move = None
            assert np.array_equal(*(searcher.workers[0].pool.block["last"] for searcher in (told, shown)))
        shown.go_to(engine.initial())
        assert (shown.workers[0].pool.block["last"] == NONE).all()


@pytest.mark.parametrize("name", ["connect_four", "tron", "goofspiel", "three_player_tic_tac_toe"])
@pytest.mark.parametrize(
    "settings",
    [{"lanes": 64}, {"lanes": 30, "parallel": "leaf", "depths": (1, 0, 1)}, {"lanes": 8, "depths": (2, 1, 2)}],
)
def test_graphs_with_new_groups_are_sound(name: str, settings: dict[str, Any]) -> None:
    config = small(groups="ranked:134:every:20", megabytes=4, **settings)
    searcher = Searcher(engine_of(name), config, seed=4)
    for playouts in (1, 200, 6_000):
        searcher.think(Limit(playouts=playouts))
        audit(searcher)
        searcher.advance(tuple(moves[-1] for moves in searcher.position.legal))
        searcher.workers[0].pool.compact()
        audit(searcher)


@pytest.mark.parametrize("groups", ["ranked:134:every:20", "ranked:123:powers", "near"])
def test_searches_with_groups_hold_together(groups: str) -> None:
    with LanesEngine(shipped("hex_5x5")) as engine:
        config = SearchConfig(groups=groups, lanes=64, depths=(2, 0, 1))
        searchers = [Searcher(engine, config, seed=2) for _ in range(2)]
        for _ in range(3):
            for searcher in searchers:
                searcher.think(Limit(playouts=1500))
            lines = [searcher.lines(1 - searchers[0].level % 2) for searcher in searchers]
            assert lines[0] == lines[1]  # the same seed, the same graph
            g, used = searchers[0].workers[0].pool.block, searchers[0].workers[0].pool.used(NODES)
            assert (g["kind"][:used] == GROUP).any()
            audit(searchers[0])
            joint = [moves[0] for moves in searchers[0].position.legal]
            joint[1 - searchers[0].level % 2] = lines[0][0].move
            for searcher in searchers:
                searcher.advance(tuple(joint))


def test_values_that_a_caller_gives_make_groups() -> None:
    with LanesEngine(shipped("hex_5x5")) as engine:
        count = sum(map(len, engine.moves))
        searcher = Searcher(engine, SearchConfig(groups="prior:4", lanes=8), seed=3, given=np.arange(count) / count)
        searcher.think(Limit(playouts=300))
        g = searcher.workers[0].pool.block
        root = int(g["root"][0])
        groups = [int(g["child"][edge]) for edge in range(g["first"][root], g["first"][root] + 4)]
        sizes = [int(g["edges"][group] + g["left"][group]) for group in groups]
        assert sizes == [6, 6, 6, 6]
