"""LeftRight: what the paper found, with fewer games and wide margins, and an experiment that can be interrupted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ggp_agent.engine import open_engine
from ggp_agent.engine.base import Game
from ggp_agent.errors import ConfigError
from ggp_agent.lab import leftright
from ggp_agent.lab.leftright import ALL, OFF, LeftRight, setting_config
from ggp_agent.search import Limit, Searcher
from tests.engine.games import SHIPPED


@pytest.fixture(scope="module")
def scores() -> dict[str, leftright.Score]:
    return leftright.run([OFF, ALL, "inf:0:1", "inf:0:0", "0:0:0", "0:0:1", "2:0:1", "8:0:1"], runs=12, seed=1)


def test_the_paper_is_right(scores: dict[str, leftright.Score]) -> None:
    percent = {name: found.percent for name, found in scores.items()}
    assert abs(percent[OFF] - 81.5) < 2.5  # four standard errors of twelve games
    assert percent["inf:0:1"] > 98.5
    assert percent["0:0:1"] < percent["2:0:1"] < percent["8:0:1"] < percent["inf:0:1"]
    assert percent["inf:0:1"] > percent["inf:0:0"] + 2
    assert percent[ALL] < percent["inf:0:1"] - 10


def test_games_have_their_own_seeds_and_resume(tmp_path: Path) -> None:
    whole = leftright.run(["1:0:1"], runs=6, seed=3)
    leftright.run(["1:0:1"], runs=2, seed=3, folder=tmp_path)
    assert leftright.run(["1:0:1"], runs=6, seed=3, folder=tmp_path) == whole
    lines = [json.loads(line) for line in (tmp_path / leftright.FILE).read_text().splitlines()]
    assert [len(line["shares"]) for line in lines] == [2, 4]
    with (tmp_path / leftright.FILE).open("a") as file:
        file.write("{")
    with pytest.raises(ConfigError, match="3 is damaged"):
        leftright.run(["1:0:1"], runs=6, folder=tmp_path)


def test_limits() -> None:
    with pytest.raises(ConfigError):
        LeftRight(setting_config(OFF), steps=0)
    with pytest.raises(ConfigError):
        setting_config("1:0")
    assert LeftRight(setting_config("inf:0:1"), steps=20, playouts=3_000).play((1,)) == 1.0


def test_the_driver_searches_as_the_searcher_does() -> None:
    """One lane on the rulesheet, with the same configuration, finds LeftRight about as hard."""
    config = setting_config("inf:0:1")
    with open_engine(Game.load(SHIPPED["leftright"].rules)) as engine:
        lefts, moves = 0, 40
        for number in range(moves):
            searcher = Searcher(engine, replace(config, lanes=1, megabytes=8), number)
            searcher.think(Limit(playouts=100))
            lefts += str(engine.moves[0][searcher.lines(0)[0].move]) == "left"
    assert lefts >= 0.9 * moves


def test_a_figure_is_drawn(tmp_path: Path, scores: dict[str, leftright.Score]) -> None:
    leftright.plot(scores, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000
