"""LeftRight: what the paper found, with fewer games and wide margins, and an experiment that can be interrupted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggp_agent.cli import cli
from ggp_agent.cli.lab import lab_group
from ggp_agent.errors import ConfigError
from ggp_agent.lab import leftrights
from ggp_agent.lab.experiments import EXPERIMENTS
from ggp_agent.lab.leftright import LeftRight
from ggp_agent.lab.leftrights import ALL, OFF, setting_config
from ggp_agent.lab.record import Record
from ggp_agent.search import INFINITE, Limit, Searcher
from tests.search.checks import engine_of


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, leftrights.Score]:
    record = Record(tmp_path_factory.mktemp("lab") / "leftright.jsonl", 1)
    return leftrights.run(record, [OFF, ALL, "inf:0:1", "inf:0:0", "0:0:0", "0:0:1", "4:0:1"], runs=12)


def test_the_paper_is_right(scores: dict[str, leftrights.Score]) -> None:
    percent = {name: found.percent for name, found in scores.items()}
    assert abs(percent[OFF] - 81.5) < 2.5  # four standard errors of twelve games
    assert percent["inf:0:1"] > 98.5
    assert percent["0:0:0"] < percent["inf:0:0"] and percent["0:0:1"] < percent["4:0:1"] - 0.5
    assert percent["0:0:1"] > percent["0:0:0"] + 10
    assert percent["inf:0:1"] > percent["inf:0:0"] + 2
    assert percent[ALL] < percent["inf:0:1"] - 4


def test_games_have_their_own_seeds_and_resume(tmp_path: Path) -> None:
    def played(name: str, runs: int, seed: int) -> leftrights.Score:
        return leftrights.run(Record(tmp_path / name, seed), ["1:0:1"], runs=runs)["1:0:1"]

    whole = played("whole.jsonl", 6, 3)
    played("parts.jsonl", 2, 3)
    assert played("parts.jsonl", 6, 3) == whole
    assert len((tmp_path / "parts.jsonl").read_text().splitlines()) == 6
    assert played("parts.jsonl", 3, 4) != played("parts.jsonl", 3, 3)


def test_limits() -> None:
    with pytest.raises(ConfigError):
        LeftRight(setting_config(OFF), steps=0)
    with pytest.raises(ConfigError):
        setting_config("1:0")
    assert LeftRight(setting_config("inf:0:1"), steps=20, playouts=3_000).play(1) == 1.0


def test_the_driver_searches_as_the_searcher_does() -> None:
    """One lane on the rulesheet, with the same configuration, finds LeftRight about as hard."""
    config = setting_config("inf:0:1")
    engine, lefts, moves = engine_of("leftright"), 0, 6
    for number in range(moves):
        searcher = Searcher(engine, replace(config, lanes=1, megabytes=8), number)
        searcher.think(Limit(playouts=100))
        lefts += str(engine.moves[0][searcher.lines(0)[0].move]) == "left"
    assert lefts >= moves - 1


def test_a_figure_is_drawn(tmp_path: Path, scores: dict[str, leftrights.Score]) -> None:
    leftrights.plot(scores, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 5_000


def test_the_command_prints_a_table_and_keeps_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftrights, "DEPTHS_1", (0, INFINITE))
    result = CliRunner().invoke(cli, ["lab", "leftright", "--runs", "2", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "d3 = 2" in result.output and "81.500" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leftright.json", "leftright.jsonl", "leftright.png"]
    kept = (tmp_path / "leftright.jsonl").read_text()
    lines = CliRunner().invoke(cli, ["lab", "leftright", "--runs", "2", "--out", str(tmp_path), "--json"]).output
    found = [json.loads(line) for line in lines.splitlines()]
    assert len(found) == 2 + 2 * 3 + 2 * 4 and all(0 <= entry["ours"] <= 100 for entry in found)
    assert (tmp_path / "leftright.jsonl").read_text() == kept  # nothing was played again


def test_experiments_are_commands(tmp_path: Path) -> None:
    assert set(lab_group.commands) == {*EXPERIMENTS, "all", "report"}
    (tmp_path / "file").write_text("")
    result = CliRunner().invoke(cli, ["lab", "pgame", "--out", str(tmp_path / "file")])
    assert result.exit_code != 0
