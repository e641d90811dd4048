"""Who plays what: definitions that make no sense are refused, and rotation sets are fair."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.arena.schedule import Schedule, assignments, groups
from ggp_agent.arena.statistics import Sprt
from ggp_agent.arena.tally import Tally, comparisons, set_scores
from ggp_agent.arena.tournament import Tournament, read_settings
from ggp_agent.errors import ConfigError, GgpError

SOUND: dict[str, Any] = {"games": ["tic_tac_toe"], "players": ["random", "legal"]}


def make(**settings: Any) -> Tournament:
    return Tournament.parse({**SOUND, **settings})


def test_a_tournament_is_read_from_toml(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(
        'games = ["tic_tac_toe", "nim"]\nplayers = ["random", "legal"]\nkind = "gauntlet"\nsets = 7\nopening = 2\n'
        "seed = -3\nmax_plies = 50\nsprt = [0, 10.5]\nbeta = 0.1\n"
    )
    found = Tournament.parse(read_settings(path))
    assert found.games == ("tic_tac_toe", "nim") and [player.kind for player in found.players] == ["random", "legal"]
    assert (found.kind, found.sets, found.opening, found.seed, found.max_plies) == ("gauntlet", 7, 2, -3, 50)
    assert found.sprt == Sprt(elo0=0, elo1=10.5, beta=0.1)


@pytest.mark.parametrize(
    "settings",
    [
        {"games": []},
        {"games": "tic_tac_toe"},
        {"games": [1]},
        {"games": ["tic_tac_toe", "tic_tac_toe"]},
        {"players": ["random"]},
        {"players": ["random", "random"]},
        {"players": ["random", "minimax"]},
        {"players": ["random", "human"]},
        {"players": ["random", "ucd,c=1"]},
        {"players": {"a": "random"}},
        {"kind": "swiss"},
        {"kind": 1},
        {"sets": 0},
        {"sets": 1.5},
        {"sets": True},
        {"sets": 10**9},
        {"opening": -1},
        {"opening": "two"},
        {"seed": 2**70},
        {"max_plies": 0},
        {"sprt": 5},
        {"sprt": [5, 0]},
        {"sprt": ["a", "b"]},
        {"sprt": [0, 5], "alpha": 0.7},
        {"sprt": [0, 5], "alpha": "x"},
        {"alpha": 0.05},
        {"sprt": [0, 5], "players": ["random", "legal", "random,name=b"]},
        {"openings": 3},
        {"colour": "red"},
    ],
)
def test_definitions_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make(**settings)


def test_files_that_are_no_tournaments_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    (tmp_path / "worse.toml").write_text("games = [")
    for name in ("bad.toml", "worse.toml", "missing.toml", "."):
        with pytest.raises(ConfigError):
            read_settings(tmp_path / name)
    with pytest.raises(GgpError, match="did you mean tic_tac_toe"):
        Schedule(make(games=["tic_tac_to"]))


def test_everybody_meets_everybody_or_the_first_the_others() -> None:
    assert groups(2, 4, "round-robin") == list(combinations(range(4), 2))
    assert groups(2, 4, "gauntlet") == [(0, 1), (0, 2), (0, 3)]
    assert groups(3, 4, "gauntlet") == [(0, 1, 2), (0, 1, 3), (0, 2, 3)]
    assert groups(3, 2, "round-robin") == [(0, 1)]  # not enough players: two share the three roles
    assert groups(1, 4, "gauntlet") == [(0, 1, 2, 3)]


@pytest.mark.parametrize(("roles", "group"), [(2, (0, 1)), (3, (0, 1)), (3, (1, 2, 4)), (4, (0, 1)), (4, (0, 1, 2, 3))])
def test_in_a_set_everybody_has_every_role_equally_often(roles: int, group: tuple[int, ...]) -> None:
    for turn in range(7):
        seats = assignments(roles, group, turn)
        assert len(set(seats)) == len(seats) and all(set(chosen) == set(group) for chosen in seats)
        counts = Counter((role, player) for chosen in seats for role, player in enumerate(chosen))
        assert set(counts.values()) == {len(seats) // len(group)} and len(counts) == roles * len(group)


def test_sets_of_one_group_take_all_cyclic_orders_in_turn() -> None:
    seen = {chosen for turn in range(6) for chosen in assignments(4, (0, 1, 2, 3), turn)}
    assert len(seen) == 24


def test_sets_are_the_same_however_many_are_asked_for() -> None:
    games = ["tic_tac_toe", "three_player_tic_tac_toe", "eight_puzzle"]
    players = ["random", "legal", "random,name=b"]
    few, many = (Schedule(make(games=games, players=players, sets=sets, seed=4)) for sets in (2, 9))
    assert (len(few), len(many)) == (10, 45)  # 3 pairs, 1 group of three, 1 group of soloists
    assert list(few) == [many[number] for number in range(10)]
    jobs = [few.job(rotation, number) for rotation in few for number in range(len(rotation.seats))]
    assert jobs == [many.job(rotation, k) for rotation in list(many)[:10] for k in range(len(rotation.seats))]
    assert len({job.opening.seed for job in jobs}) == len(few)  # one opening a set
    assert len({(job.set_number, job.assignment) for job in jobs}) == len(jobs) == 2 * (3 * 2 + 3 + 3)
    other = Schedule(make(games=games, players=players, sets=2, seed=5))
    assert other.job(other[0], 0).seeds != jobs[0].seeds
    with pytest.raises(IndexError):
        few[10]


def test_points_are_counted_between_different_players() -> None:
    assert comparisons((0, 1), (100, 0)) == [(0, 1, 1.0)]
    assert comparisons((1, 0), (100, 0)) == [(0, 1, 0.0)]
    assert comparisons((2, 2, 5), (30, 40, 40)) == [(2, 5, 0.0), (2, 5, 0.5)]
    schedule = Schedule(make(games=["three_player_tic_tac_toe"]))
    first: tuple[int, ...] = (100, 0, 0)  # the first role wins, whoever it is
    assert set_scores(schedule[0], dict.fromkeys(range(6), first)) == {(0, 1): 0.5}
    alone = Schedule(make(games=["eight_puzzle"], players=["random", "legal", "random,name=b"]))
    assert set_scores(alone[0], {0: (10,), 1: (90,), 2: (90,)}) == {(0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.5}


def test_a_verdict_does_not_depend_on_the_order_in_which_matches_end() -> None:
    schedule = Schedule(make(sets=60, sprt=[0, 200]))
    matches = [(number, assignment) for number in range(60) for assignment in range(2)]

    def goals(number: int, assignment: int) -> tuple[int, int]:
        lucky = (number * 7) % 5 == 0
        return ((100, 0) if assignment == 0 else (0, 100)) if not lucky else (100, 0)

    tallies = [Tally(schedule) for _ in range(3)]
    for tally, order in zip(tallies, (matches, matches[::-1], sorted(matches, key=hash)), strict=True):
        for number, assignment in order:
            tally.add(number, assignment, goals(number, assignment), 0)
    assert tallies[0].verdict == "H1"
    assert tallies[0].counted() == tallies[1].counted() == tallies[2].counted()
    assert len(tallies[0].counted()) < 60
