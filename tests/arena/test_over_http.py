"""Tournaments with players over HTTP: played by the game master, one match at a time each, all errors kept."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.arena import InProcess, Runners, Tournament
from ggp_agent.arena.match import MatchJob, MatchResult, Opening
from ggp_agent.arena.over_http import OverHttp
from ggp_agent.engine import games
from ggp_agent.errors import ConfigError, ProtocolError
from tests.arena.test_match import job
from tests.arena.test_run import play, rows
from tests.net.fakes import MARKS, FakePlayer, respond, serving
from tests.test_cli import ggp


@contextmanager
def running(player: AbstractAsyncContextManager[Any]) -> Iterator[Any]:
    """A fake player in a thread of its own, as the runner has the event loop of this one."""
    entered, found, loop = threading.Event(), [], asyncio.new_event_loop()
    over = asyncio.Event()

    async def live() -> None:
        async with player as started:
            found.append(started)
            entered.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(live()))
    thread.start()
    assert entered.wait(60)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


@pytest.fixture
def marks(tmp_path: Path) -> str:
    (tmp_path / "marks.kif").write_text(MARKS)
    return str(tmp_path / "marks.kif")


class Marker:
    """Plays MARKS over HTTP: it says `move` whenever it is asked. It knows how many matches it was in at once."""

    def __init__(self, move: str = "( mark 1 )", status: str = "available") -> None:
        self.move, self.status = move, status
        self.matches: set[str] = set()
        self.most = self.count = 0

    async def __call__(self, body: str, writer: asyncio.StreamWriter) -> None:
        word, match = body.split()[1:3]
        if word == "INFO":
            respond(writer, f"( ( name marker ) ( status {self.status} ) )")
            return
        if word == "START":
            self.matches.add(match)
            self.count += 1
            self.most = max(self.most, len(self.matches))
            await asyncio.sleep(0.02)
        elif word in ("STOP", "ABORT"):
            self.matches.discard(match)
        # It is its turn as white in the first step, as black in the second.
        respond(writer, self.move)


def runners(**settings: Any) -> OverHttp:
    clocks = {"start_clock": 5, "play_clock": 5, "wait_seconds": 1.0, **settings}
    return OverHttp(local=InProcess(engine_name="prolog"), engine_name="prolog", **clocks)


def play_one(some: Runners, match: MatchJob) -> MatchResult:
    found: list[MatchResult] = []
    runner = some.open(games.load(match.game))
    try:
        runner.run([match], found.extend)
    finally:
        runner.close()
    return found[0]


def test_a_match_with_a_player_over_http(marks: str) -> None:
    with running(serving()) as server:
        url = f"http://127.0.0.1:{server.port}"
        found = play_one(runners(), job(marks, url, "legal"))
    assert found.moves == (("(mark 1)", "noop"), ("noop", "(mark 1)"))
    assert found.goals == (100, 100) and found.plies == 2 and found.errors == () and found.seconds > 0


def test_errors_are_kept_with_ply_and_role(marks: str) -> None:
    with running(FakePlayer(Marker("( mark 7 )"))) as player:
        found = play_one(runners(), job(marks, "legal", player.url))
        assert found.errors == ("ply 1: black IL (mark 7)", "ply 2: black IL (mark 7)")
        short = play_one(runners(), job(marks, "legal", player.url, max_plies=1))
        assert short.errors[-1] == "not over after 1 plies" and short.goals == (0, 0) and short.plies == 1


def test_an_opening_is_played_whatever_the_players_say(marks: str) -> None:
    with running(FakePlayer(Marker())) as player:
        firsts = set()
        for seed in range(8):
            match = replace(job(marks, player.url, "legal"), opening=Opening(plies=1, seed=seed))
            found = play_one(runners(), match)
            firsts.add(found.moves[0])
            assert found.plies == 2
        assert firsts == {("(mark 1)", "noop"), ("(mark 2)", "noop")}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_remote_player_has_one_match_at_a_time(workers: int, marks: str, tmp_path: Path) -> None:
    marker = Marker()
    with running(FakePlayer(marker)) as player:
        settings: dict[str, Any] = {"games": [marks], "players": [player.url, "legal", "random"], "sets": 4}
        standing = play(tmp_path / "store.sqlite", runners(wait_seconds=60), workers, **settings)
    assert standing.matches == 4 * 3 * 2 and marker.count == 4 * 2 * 2 and marker.most == 1


def test_a_player_that_is_not_available_ends_the_run_and_what_was_played_is_kept(marks: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    marker = Marker()
    with running(FakePlayer(marker)) as player:
        settings: dict[str, Any] = {"games": [marks], "players": ["legal", player.url], "sets": 3}
        play(path, runners(), **{**settings, "sets": 2})
        kept = rows(path)
        marker.status = "busy"
        with pytest.raises(ProtocolError, match="not available"):
            play(path, runners(wait_seconds=0.1), **settings)
        assert rows(path) == kept and len(kept) == 4
        marker.status = "available"
        assert play(path, runners(), **settings).matches == 6


def test_only_matches_with_remote_players_are_played_here(marks: str) -> None:
    local = InProcess()
    alone = Tournament.parse({"games": [marks], "players": ["random", "legal"]})
    assert OverHttp.around(local, alone, "prolog") is local
    mixed = Tournament.parse({"games": [marks], "players": ["random", "http://127.0.0.1:1"], "play_clock": 3})
    found = OverHttp.around(local, mixed, "prolog")
    assert isinstance(found, OverHttp) and found.play_clock == 3 and found.start_clock == 10
    assert found.batch(job(marks, "random", "http://127.0.0.1:1")) == 1
    assert found.batch(job(marks, "random", "legal")) == local.batch(job(marks, "random", "legal"))


def test_a_batch_may_have_matches_of_both_kinds(tmp_path: Path) -> None:
    (tmp_path / "alone.kif").write_text(
        "(role r) (legal r (mark 1)) (<= (next x) (does r (mark 1))) (<= terminal (true x)) (goal r 50)"
    )
    marker = Marker()
    with running(FakePlayer(marker)) as player:
        settings: dict[str, Any] = {"games": [str(tmp_path / "alone.kif")], "players": ["legal", player.url], "sets": 3}
        assert play(tmp_path / "store.sqlite", runners(), **settings).matches == 6 and marker.count == 3


@pytest.mark.parametrize(
    ("game", "players", "message"),
    [
        ("tic_tac_toe", ["http://localhost:1", "http://localhost:1/"], "two players are at localhost:1"),
        ("tic_tac_toe", ["http://local host", "random"], "no address"),
        ("three_player_tic_tac_toe", ["http://localhost:1", "random"], "several roles"),
    ],
)
def test_what_remote_players_cannot_play_is_refused(game: str, players: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        OverHttp.around(InProcess(), Tournament.parse({"games": [game], "players": players}), "prolog")


def test_clocks_belong_to_the_definition_only_of_remote_tournaments(marks: str) -> None:
    settings: dict[str, Any] = {"games": [marks], "start_clock": 7}
    assert "start_clock" not in Tournament.parse({**settings, "players": ["random", "legal"]}).definition()
    remote = Tournament.parse({**settings, "players": ["random", "http://localhost:1"]})
    assert remote.definition()["start_clock"] == 7 and remote.definition()["play_clock"] == 5
    for wrong in ({"play_clock": 0}, {"start_clock": 10**6}, {"play_clock": 1.5}):
        with pytest.raises(ConfigError, match="clock"):
            Tournament.parse({**settings, **wrong, "players": ["random", "legal"]})
    with pytest.raises(ConfigError, match="ggp serve"):
        Tournament.parse({**settings, "players": ["random", "server"]})


def test_the_command(marks: str, tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with running(FakePlayer(Marker())) as player:
        options = ["--game", marks, "--player", player.url, "--player", "legal", "--sets", "2", "--engine", "prolog"]
        done = ggp("tournament", *options, "--start-clock", "3", "--play-clock", "2", "--json", "--store", store)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["matches"] == 4
        other = ggp("tournament", *options, "--play-clock", "4", "--store", store)
        assert other.returncode == 2 and "play_clock: 2 there, 4 now" in other.stderr
    with sqlite3.connect(store) as database:
        errors = [json.loads(row[0]) for row in database.execute("SELECT errors FROM matches ORDER BY assignment")]
    # It marks even when it is not its turn, as white in the second step and as black in the first.
    assert errors == [["ply 2: white IL (mark 1)"]] * 2 + [["ply 1: black IL (mark 1)"]] * 2
