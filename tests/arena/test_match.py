"""One match: repeatable, fair openings, and players that break the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ggp_agent.arena.match import MatchJob, OneByOne, Opening, play_opening
from ggp_agent.engine import Engine, Move, Position, PrologEngine, State, games
from ggp_agent.errors import ConfigError
from ggp_agent.play import Player, make_player
from ggp_agent.play.spec import PlayerSpec


def job(game: str, *players: str, plies: int = 0, **settings: Any) -> MatchJob:
    given: dict[str, Any] = {"max_plies": 1_000, "set_number": 3, "assignment": 1, **settings}
    return MatchJob(
        game=game,
        players=tuple(map(PlayerSpec.parse, players)),
        seeds=tuple(range(len(players))),
        opening=Opening(plies=plies, seed=8),
        seats=tuple(range(len(players))),
        **given,
    )


class Cheat:
    """Plays moves that do not exist."""

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        return 10_000


def cheat(spec: PlayerSpec, engine: Engine, role: int, seed: int) -> Player:
    return Cheat() if role == 0 else make_player(spec, engine, role, seed)


def test_a_match_repeats_with_its_seeds() -> None:
    with PrologEngine(games.load("tic_tac_toe")) as engine:
        one = OneByOne(engine, make_player).play(job("tic_tac_toe", "random", "legal", plies=3))
        two = OneByOne(engine, make_player).play(job("tic_tac_toe", "random", "legal", plies=3))
        other = OneByOne(engine, make_player).play(replace(one.job, seeds=(5, 6)))
        assert replace(one, seconds=0) == replace(two, seconds=0)
        assert one.moves[:3] == other.moves[:3] and one.moves != other.moves
        assert sum(one.goals) == 100 and len(one.moves) == one.plies and not one.errors


def test_a_game_is_not_over_after_its_opening() -> None:
    with PrologEngine(games.load("tic_tac_toe")) as engine:
        for seed in range(20):
            state, moves = play_opening(engine, Opening(plies=8, seed=seed))
            assert not engine.look(state).terminal and 7 <= len(moves) <= 8
        state, moves = play_opening(engine, Opening(plies=30, seed=1))  # the game has nine moves
        assert not engine.look(state).terminal and len(moves) == 8


def test_an_illegal_move_is_recorded_and_replaced() -> None:
    with PrologEngine(games.load("tic_tac_toe")) as engine:
        found = OneByOne(engine, cheat).play(job("tic_tac_toe", "random", "legal"))
        assert len(found.errors) == found.plies and "ply 1: x chose move 10000" in found.errors[0]
        assert sum(found.goals) == 100


def test_a_match_that_does_not_end_is_a_draw_and_an_error() -> None:
    with PrologEngine(games.load("tic_tac_toe")) as engine:
        found = OneByOne(engine, make_player).play(job("tic_tac_toe", "random", "legal", max_plies=4))
        assert found.goals == (0, 0) and found.plies == 4 and found.errors == ("not over after 4 plies",)


def test_players_that_cannot_be_made_are_refused() -> None:
    with PrologEngine(games.load("tic_tac_toe")) as engine, pytest.raises(ConfigError):
        OneByOne(engine, make_player).play(job("tic_tac_toe", "http://localhost:1", "random"))
