"""LeftRight: what the paper found, with fewer games and wide margins, and an experiment that can be interrupted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggp_agent.cli import cli
from ggp_agent.errors import ConfigError
from ggp_agent.lab import leftright
from ggp_agent.lab.leftright import ALL, OFF, LeftRight, setting_config
from ggp_agent.search import INFINITE, Limit, Searcher
from tests.search.checks import engine_of


@pytest.fixture(scope="module")
def scores() -> dict[str, leftright.Score]:
    return leftright.run([OFF, ALL, "inf:0:1", "inf:0:0", "0:0:0", "0:0:1", "4:0:1"], runs=12, seed=1)


def test_the_paper_is_right(scores: dict[str, leftright.Score]) -> None:
    percent = {name: found.percent for name, found in scores.items()}
    assert abs(percent[OFF] - 81.5) < 2.5  # four standard errors of twelve games
    assert percent["inf:0:1"] > 98.5
    assert percent["0:0:0"] < percent["inf:0:0"] and percent["0:0:1"] < percent["4:0:1"] - 0.5
    assert percent["0:0:1"] > percent["0:0:0"] + 10
    assert percent["inf:0:1"] > percent["inf:0:0"] + 2
    assert percent[ALL] < percent["inf:0:1"] - 4


def test_games_have_their_own_seeds_and_resume(tmp_path: Path) -> None:
    whole = leftright.run(["1:0:1"], runs=6, seed=3)
    leftright.run(["1:0:1"], runs=2, seed=3, folder=tmp_path)
    assert leftright.run(["1:0:1"], runs=6, seed=3, folder=tmp_path) == whole
    lines = [json.loads(line) for line in (tmp_path / leftright.FILE).read_text().splitlines()]
    assert [len(line["shares"]) for line in lines] == [2, 4]
    assert leftright.run(["1:0:1"], runs=3, seed=4, folder=tmp_path) != leftright.run(["1:0:1"], runs=3, seed=3)
    with (tmp_path / leftright.FILE).open("a") as file:
        file.write("{")
    with pytest.raises(ConfigError, match="4 is damaged"):
        leftright.run(["1:0:1"], runs=6, seed=3, folder=tmp_path)


def test_limits() -> None:
    with pytest.raises(ConfigError):
        LeftRight(setting_config(OFF), steps=0)
    with pytest.raises(ConfigError):
        setting_config("1:0")
    assert LeftRight(setting_config("inf:0:1"), steps=20, playouts=3_000).play((1,)) == 1.0


def test_the_driver_searches_as_the_searcher_does() -> None:
    """One lane on the rulesheet, with the same configuration, finds LeftRight about as hard."""
    config = setting_config("inf:0:1")
    engine, lefts, moves = engine_of("leftright"), 0, 6
    for number in range(moves):
        searcher = Searcher(engine, replace(config, lanes=1, megabytes=8), number)
        searcher.think(Limit(playouts=100))
        lefts += str(engine.moves[0][searcher.lines(0)[0].move]) == "left"
    assert lefts >= moves - 1


def test_a_figure_is_drawn(tmp_path: Path, scores: dict[str, leftright.Score]) -> None:
    leftright.plot(scores, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_the_command_prints_a_table_and_keeps_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftright, "DEPTHS_1", (0, INFINITE))
    result = CliRunner().invoke(cli, ["lab", "leftright", "--runs", "2", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "d3 = 2" in result.output and "the paper's 81.5" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leftright.jsonl", "leftright.png"]
    lines = CliRunner().invoke(cli, ["lab", "leftright", "--runs", "1", "--out", str(tmp_path), "--json"]).output
    found = [json.loads(line) for line in lines.splitlines()]
    assert len(found) == 2 + 2 * 3 and all(entry["runs"] == 1 for entry in found)
