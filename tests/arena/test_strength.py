"""Matches against OpenSpiel: both sides must see the same game, and points must be ours."""

from __future__ import annotations

from random import Random

import pyspiel
import pytest

from ggp_agent.arena.strength import NAMES, Contest, Table
from ggp_agent.engine import games, open_engine
from ggp_agent.errors import ConfigError
from ggp_agent.search import SearchConfig

SHIPPED = {game.name: game for game in games.shipped()}


@pytest.mark.parametrize("name", NAMES)
def test_random_games_are_the_same_in_both(name: str) -> None:
    theirs = pyspiel.load_game(SHIPPED[name].open_spiel)
    with open_engine(games.load(name)) as engine:
        for seed in range(5):
            random, table = Random(seed), Table(engine, theirs, NAMES[name])
            while not table.position.terminal:
                table.play(random.choice(table.position.legal[table.mover]))
            goals = table.position.goals
            assert goals is not None
            assert table.theirs.returns() == [goals[0] / 50 - 1, goals[1] / 50 - 1]


def test_other_names_are_refused() -> None:
    names = (lambda numbers: "nowhere", lambda text: text)
    with open_engine(games.load("connect_four")) as engine, pytest.raises(ConfigError, match="differ"):
        Table(engine, pyspiel.load_game("connect_four"), names).actions()


def test_a_contest_counts_our_points() -> None:
    contest = Contest(SHIPPED["connect_four"], SearchConfig(), seconds=0.01, opening=4, seed=1)
    found = list(contest.play(2))
    assert len(found) == 2 and len(contest.scores) == 2 and all(4 * score % 1 == 0 for score in contest.scores)
    assert found[-1].low <= found[-1].value <= found[-1].high
    assert contest.ours.moves > 0 and contest.ours.simulations > 0 and contest.theirs.moves > 0


def test_games_without_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="hex_9x9"):
        next(Contest(SHIPPED["hex_9x9"], SearchConfig(), seconds=0.01, opening=4, seed=1).play(1))


def test_openings_with_a_point_each_are_even() -> None:
    contest = Contest(SHIPPED["connect_four"], SearchConfig(), seconds=0.01, opening=4, seed=1)
    assert contest.even == 0.0
    contest.scores += [0.5, 1.0, 0.75, 0.5]
    assert contest.even == 0.5
