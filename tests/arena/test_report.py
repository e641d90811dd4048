"""Reports of standings at the edges: nothing played, everything won, names that are hard to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.arena.report import as_json, as_markdown, as_text, plot
from ggp_agent.arena.schedule import Schedule
from ggp_agent.arena.standing import Standing, stand
from ggp_agent.arena.tally import Tally
from ggp_agent.arena.tournament import Tournament


def standing(goals: list[tuple[int, int]], **settings: Any) -> Standing:
    """Of a tournament between two players, its matches having ended so one after the other."""
    given = {"games": ["tic_tac_toe"], "players": ["random", "legal"], "sets": 50, **settings}
    tally = Tally(Schedule(Tournament.parse(given)))
    for match, pair in enumerate(goals):
        tally.add(match // 2, match % 2, pair, errors=int(match == 3))
    return stand(tally)


def test_numbers_are_those_of_the_matches() -> None:
    found = standing([(100, 0), (100, 0), (50, 50), (0, 100), (100, 0)])  # the fifth belongs to a set not complete
    assert (found.sets, found.all_sets, found.matches) == (2, 50, 4)
    assert [(line.player, line.score.value, line.goal, line.errors) for line in found.players] == [
        ("random", 0.625, 62.5, 1),
        ("legal", 0.375, 37.5, 1),
    ]
    (pair,) = found.pairs
    assert (pair.player, pair.opponent, pair.score.value, pair.sets) == ("random", "legal", 0.625, 2)
    roles = {(line.role, line.player): (line.score, line.goal, line.matches) for line in found.by_role}
    assert roles == {
        ("x", "random"): (0.75, 75, 2),
        ("o", "random"): (0.5, 50, 2),
        ("x", "legal"): (0.5, 50, 2),
        ("o", "legal"): (0.25, 25, 2),
    }
    assert "errors" in as_text(found) and "2 of 50 sets" in as_text(found)


def test_the_strongest_comes_first_and_a_test_tells_where_it_stands() -> None:
    found = standing([(0, 100), (100, 0)] * 10 + [(50, 50)] * 4, sprt=[0, 10])
    assert [line.player for line in found.players] == ["legal", "random"]
    assert "no verdict yet" in as_text(found) and "12 sets" in as_text(found)
    done = standing([(0, 100), (100, 0), (100, 0), (100, 0)] * 25, sprt=[0, 100])
    assert "H0 accepted: not +100 Elo stronger" in as_text(done)


def test_everything_won_and_nothing_played(tmp_path: Path) -> None:
    won = standing([(100, 0), (0, 100)] * 50)
    assert "+inf" in as_text(won) and "> 99.9 %" in as_text(won) and "one imaginary draw" in as_text(won)
    record = json.loads(as_json(won))
    assert record["pairs"][0]["elo"]["value"] is None and record["pairs"][0]["elo"]["low"] > 300
    empty = standing([])
    assert "0 of 50 sets" in as_text(empty) and "-inf .. +inf" in as_text(empty)
    for number, found in enumerate((won, empty)):
        plot(found, tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.png").stat().st_size > 5_000


@pytest.mark.parametrize("name", ["a|b", "$x_{", "[red]", "x" * 300, "π ≠ 3"])
def test_names_that_are_hard_to_show(name: str, tmp_path: Path) -> None:
    found = standing([(100, 0), (100, 0), (50, 50), (0, 100)], players=[f"random,name={name}", "legal"])
    rows = [line for line in as_markdown(found).splitlines() if line.startswith("| ") and "errors" not in line]
    assert len({row.replace("\\|", "").count("|") for row in rows[:3]}) == 1
    assert name[:40] in as_text(found) and json.loads(as_json(found))["players"][0]["player"] == name
    plot(found, tmp_path / "plot.png")
