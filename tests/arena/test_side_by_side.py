"""Matches in lanes side by side: every game is played by its rules, and a batch repeats."""

from __future__ import annotations

import pytest

from ggp_agent.arena.match import MatchJob, MatchResult
from ggp_agent.arena.schedule import Schedule
from ggp_agent.arena.side_by_side import SideBySide, fits
from ggp_agent.arena.tournament import Tournament
from ggp_agent.play import make_player
from tests.search.checks import engine_of

STRONG = "ucd,playouts=100,lanes=1,megabytes=16,name=strong"
GAMES = ["connect_four", "tron", "three_player_tic_tac_toe", "goofspiel"]


def jobs(game: str, *players: str, sets: int = 4, opening: int = 1) -> list[MatchJob]:
    tournament = Tournament.parse({"games": [game], "players": list(players), "sets": sets, "opening": opening})
    schedule = Schedule(tournament)
    return [schedule.job(rotation, number) for rotation in schedule for number in range(len(rotation.seats))]


def played(game: str, todo: list[MatchJob]) -> list[MatchResult]:
    found: list[MatchResult] = []
    calls = 0

    def done(results: object) -> None:
        nonlocal calls
        calls += 1
        assert isinstance(results, list)
        found.extend(results)

    SideBySide(engine_of(game), make_player).run(todo, done)
    assert calls == 1  # stored together
    return found


@pytest.mark.parametrize("game", GAMES)
def test_matches_follow_the_rules_and_search_beats_chance(game: str) -> None:
    engine, todo = engine_of(game), jobs(game, STRONG, "random", sets=16)
    found = played(game, todo)
    assert [result.job for result in found] == todo
    points = [0.0, 0.0]
    for result in found:
        state = engine.initial()
        for texts in result.moves:
            legal = engine.look(state).legal
            named = [{str(engine.moves[role][move]): move for move in moves} for role, moves in enumerate(legal)]
            state = engine.step(state, tuple(named[role][text] for role, text in enumerate(texts)))
        position = engine.look(state)
        assert position.terminal and position.goals == result.goals
        assert not result.errors and result.plies == len(result.moves)
        for role, player in enumerate(result.job.seats):
            points[player] += result.goals[role]
    assert points[0] > points[1]


def test_a_batch_repeats_in_a_runner_that_has_played_and_in_a_fresh_one() -> None:
    todo = jobs("connect_four", STRONG, "ucd,playouts=60,lanes=2,megabytes=16", sets=5)
    runner = SideBySide(engine_of("connect_four"), make_player)
    first: list[MatchResult] = []
    second: list[MatchResult] = []
    fresh: list[MatchResult] = []
    runner.run(todo, first.extend)
    runner.run(todo[:3], lambda _: None)
    runner.run(todo, second.extend)
    SideBySide(engine_of("connect_four"), make_player).run(todo, fresh.extend)
    moves = [[result.moves for result in results] for results in (first, second, fresh)]
    assert moves[0] == moves[1] == moves[2]
    assert len(set(moves[0])) > 5  # the matches of a batch are not all the same


def test_who_plays_no_more_keeps_no_memory() -> None:
    runner = SideBySide(engine_of("connect_four"), make_player)
    found: list[MatchResult] = []
    for playouts in (4, 5, 6):
        runner.run(
            jobs("connect_four", f"ucd,playouts={playouts},lanes=1,megabytes=16", "random", sets=1), found.extend
        )
        assert [text for text in runner.searches if f"playouts={playouts}," in text] == list(runner.searches)
    assert len(found) == 6


def test_more_matches_than_fit_are_played_in_parts() -> None:
    found = played("connect_four", jobs("connect_four", "ucd,playouts=2000,lanes=128,megabytes=8", "random", sets=5))
    assert len(found) == 10 and not any(result.errors for result in found)


def test_a_match_that_lasts_too_long_ends() -> None:
    tournament = Tournament.parse(
        {"games": ["connect_four"], "players": [STRONG, "legal"], "sets": 1, "opening": 0, "max_plies": 5}
    )
    schedule = Schedule(tournament)
    found = played("connect_four", [schedule.job(schedule[0], number) for number in range(2)])
    assert [result.plies for result in found] == [5, 5]
    assert [result.errors for result in found] == [("not over after 5 plies",)] * 2


@pytest.mark.parametrize(
    ("player", "side_by_side"),
    [
        (STRONG, True),
        ("legal", True),
        ("ucd,seconds=1", False),
        ("ucd,playouts=10,seconds=1", False),
        ("ucd,nodes=10", False),
        ("ucd,playouts=10,workers=2", False),
        ("http://localhost:1", False),
    ],
)
def test_only_simulations_that_are_counted_go_side_by_side(player: str, side_by_side: bool) -> None:
    assert all(fits(job) == side_by_side for job in jobs("connect_four", player, "random", sets=1))
    assert not any(fits(job) for job in jobs("knights_tour", player, "random", sets=1))  # a role alone
