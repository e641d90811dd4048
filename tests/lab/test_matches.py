"""Matches as experiments: scores, what is played again and what is not, and the papers' numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ggp_agent.arena.statistics import expected_score
from ggp_agent.errors import ConfigError
from ggp_agent.lab import defaults
from ggp_agent.lab import matches as lab_matches
from ggp_agent.lab import ucd_paper as paper
from ggp_agent.lab.defaults import defaults_experiment
from ggp_agent.lab.matches import Matches, Pairing, Score, score
from ggp_agent.lab.parallel import trend
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.transpositions import shared_percent
from ggp_agent.lab.ucd import ggp_experiment, ggp_spent, limit

STRONG, WEAK = "ucd,playouts=60,lanes=1,megabytes=16", "ucd,playouts=4,lanes=1,megabytes=16"


def pairing(player: str, opponent: str, matches: int = 12) -> Pairing:
    return Pairing(game="connect_four", player=player, opponent=opponent, matches=matches, opening=1)


def test_the_stronger_one_wins_and_nothing_is_played_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_matches, "SETS", 2)
    path, wanted = tmp_path / "some.jsonl", [pairing(STRONG, WEAK), pairing(WEAK, STRONG)]
    with Matches(Record(path, 1), workers=2) as matches:
        first = matches.scores(wanted)
    assert first[wanted[0]].percent > 60 and first[wanted[1]].percent < 40
    assert first[wanted[0]].matches == 12
    lines = path.read_text().splitlines()
    assert len(lines) == 6
    path.write_text("\n".join(lines[:4]) + "\n")  # as if it had been killed
    with Matches(Record(path, 1), workers=1) as matches:
        again = matches.scores(wanted)
    assert again == first
    assert sorted(path.read_text().splitlines()) == sorted(lines)
    with Matches(Record(path, 1), workers=1) as matches:
        monkeypatch.setattr(matches, "play", None)  # would fail
        assert matches.scores(wanted) == first


def test_an_experiment_that_is_stopped_ends_soon(tmp_path: Path) -> None:
    with Matches(Record(tmp_path / "some.jsonl", 1), workers=1) as matches:
        matches.stopping.set()
        with pytest.raises(KeyboardInterrupt):
            matches.scores([pairing(STRONG, WEAK)])
    assert not (tmp_path / "some.jsonl").exists()


def test_scores_have_the_errors_of_sets() -> None:
    found = score([1.0, 0.5, 0.5, 0.0, 1.0, 0.75])
    assert found.matches == 12 and found.percent == pytest.approx(62.5)
    assert found.error == pytest.approx(100 * math.sqrt(0.14375 / 6))


def test_an_order_says_games_and_playouts(tmp_path: Path) -> None:
    rows = ggp_experiment(Order(out=tmp_path, games=("pawn_whopping",), playouts=4, runs=2))
    assert len(rows) == len(paper.SETTINGS) + 5 and sum(row.best for row in rows) == 1
    keys = [json.loads(line)["key"] for line in (tmp_path / "ggp.jsonl").read_text().splitlines()]
    assert len(keys) == len(paper.SETTINGS) + 1
    assert all("pawn_whopping: " in key and key.count("playouts=4,") == 2 for key in keys[:-1])
    with pytest.raises(ConfigError, match="no table for tron"):
        ggp_experiment(Order(out=tmp_path, games=("tron",)))


def test_transpositions_are_counted(tmp_path: Path) -> None:
    record = Record(tmp_path / "some.jsonl", 1)
    assert shared_percent(record, "tic_tac_toe", 0.4, 1) == 0  # the root and one more
    few, many = (shared_percent(record, "tic_tac_toe", 0.4, playouts) for playouts in (20, 2_000))
    assert 0 <= few < 10 < many < 100


def test_settings_meet_the_defaults_in_every_game(tmp_path: Path) -> None:
    rows = defaults_experiment(Order(out=tmp_path, games=("pawn_whopping", "nim"), playouts=4, seconds=0.002, runs=4))
    assert len(rows) == 3 * (len(defaults.SETTINGS) + len(defaults.FASTER) + len(defaults.LANES))
    assert [row.column for row in rows if row.best] == ["mean"] * 3
    for first, second, mean in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert first.row == second.row == mean.row and mean.ours == (first.ours + second.ours) / 2
        assert mean.interval == pytest.approx(math.hypot(first.interval or 0, second.interval or 0) / 2)


def test_players_may_get_time_instead() -> None:
    assert limit(Order(out=Path(), seconds=0.25), 1_000) == "seconds=0.25"
    assert limit(Order(out=Path()), 1_000) == "playouts=1000"
    assert limit(Order(out=Path(), quick=True), 1_000) == "playouts=100"
    assert ggp_spent(Order(out=Path()), "othello") != ggp_spent(Order(out=Path()), "connect_four")
    assert ggp_spent(Order(out=Path(), playouts=7), "othello") == "playouts=7"


def test_a_line_through_the_ratings_of_the_sequential_search() -> None:
    scores = {
        factor: Score(matches=10**6, percent=100 * expected_score(70 * math.log2(factor) - 150), error=0.1)
        for factor in (1, 2, 4, 16)
    }
    line = trend(scores)
    assert (line.slope, line.height, line.squared) == pytest.approx((70, -150, 1))
    assert line.speedup(scores[4]) == pytest.approx(4)


# What the text of the paper says of its tables: the best setting of each game and its score
BEST = {
    "breakthrough": ((2, 1, 1), 54.1),
    "capture_the_king": ((1, 0, 0), 56.5),
    "connect_four": ((2, 1, 2), 70.9),
    "crisscross": ((0, 2, 0), 62.0),
    "knightthrough": ((2, 1, 1), 56.9),
    "merrills": ((1, 2, 2), 55.8),
    "othello": ((1, 1, 1), 59.2),
    "pawn_whopping": ((1, 1, 1), 59.8),
    "pentago": ((0, 2, 1), 56.8),
    "quarto": ((0, 0, 0), 55.8),
}


@pytest.mark.parametrize("game", paper.TABLES)
def test_the_tables_are_those_that_the_paper_describes(game: str) -> None:
    best = max(paper.SETTINGS, key=lambda depths: paper.printed(game, depths))
    assert (best, paper.printed(game, best)) == BEST[game]
