"""Playing and storing: whatever goes wrong, what was played is kept, and nothing is played twice."""

from __future__ import annotations

import json
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.arena import InProcess, Runners, Standing, Store, Tournament, run, stand
from ggp_agent.arena.run import batches, interrupts_blocked
from ggp_agent.arena.schedule import Schedule
from ggp_agent.arena.tally import Tally
from ggp_agent.errors import ConfigError, EngineError
from tests.arena.fakes import Fakes, result

SETTINGS: dict[str, Any] = {
    "games": ["tic_tac_toe", "three_player_tic_tac_toe", "eight_puzzle"],
    "players": ["random", "legal", "random,name=b"],
    "sets": 12,
}
MATCHES = 12 * (6 + 3 + 3)


def play(path: Path, runners: Runners, workers: int = 1, **settings: Any) -> Standing:
    tournament = Tournament.parse({**SETTINGS, **settings})
    with Store(path, tournament.definition()) as store:
        tally = Tally(Schedule(tournament))
        for outcome in store.outcomes():
            tally.add(*outcome)
        run(tally, store, runners, workers, watch=lambda tally: None)
        return stand(tally)


def rows(path: Path) -> list[tuple[Any, ...]]:
    """The matches in a store, without the time they took."""
    with sqlite3.connect(path) as database:
        return [row[:-1] for row in database.execute("SELECT * FROM matches ORDER BY set_number, assignment")]


@pytest.mark.parametrize(("workers", "size"), [(1, 7), (2, 1), (2, 7), (3, 1_000)])
def test_the_result_does_not_depend_on_workers_and_batches(workers: int, size: int, tmp_path: Path) -> None:
    plain = play(tmp_path / "plain.sqlite", Fakes())
    assert plain.sets == 60 and plain.matches == MATCHES
    log = tmp_path / "log"
    assert play(tmp_path / "other.sqlite", Fakes(size=size, log=log), workers) == plain
    assert rows(tmp_path / "other.sqlite") == rows(tmp_path / "plain.sqlite")
    played = [line.split() for line in log.read_text().splitlines()]
    assert sum(int(count) for _, count in played) == MATCHES
    assert max(int(count) for _, count in played) <= size


def test_errors_of_workers_are_those_of_one_process(tmp_path: Path) -> None:
    for workers in (1, 2):
        with pytest.raises(ConfigError, match="http://localhost:1"):
            play(tmp_path / "store.sqlite", InProcess(), workers, players=["random", "http://localhost:1"], sets=1)


@pytest.mark.parametrize(("workers", "how"), [(1, "error"), (1, "interrupt"), (2, "error"), (2, "die")])
def test_what_ended_before_a_failure_is_kept(workers: int, how: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with pytest.raises((EngineError, KeyboardInterrupt)):
        play(path, Fakes(size=5, fail_at=(30, 1), how=how), workers)
    kept = rows(path)
    assert 0 < len(kept) < MATCHES
    log = tmp_path / "log"
    found = play(path, Fakes(size=5, log=log), workers)
    assert found == play(tmp_path / "plain.sqlite", Fakes())
    assert [row for row in rows(path) if row in kept] == kept
    assert sum(int(line.split()[1]) for line in log.read_text().splitlines()) == MATCHES - len(kept)
    log.unlink()
    assert play(path, Fakes(log=log)) == found and not log.exists()  # nothing is left to be played


def test_which_matches_go_together_depends_on_the_schedule_alone() -> None:
    tournament = Tournament.parse({**SETTINGS, "sets": 10})
    tally = Tally(Schedule(tournament))
    fresh = list(batches(tally, Fakes(size=6)))
    assert sum(map(len, fresh)) == sum(len(rotation.seats) for rotation in tally.schedule)
    assert all(
        len({(job.game, *sorted(job.seats)) for job in batch}) == 1 for batch in fresh if len(batch[0].seats) > 1
    )
    for batch in fresh[1::2]:  # what other processes may have played before a kill
        for job in batch:
            tally.add(job.set_number, job.assignment, (50,) * len(job.seats), 0)
    assert list(batches(tally, Fakes(size=6))) == fresh[::2]


def test_an_interrupt_waits_while_workers_are_started() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), interrupts_blocked():
        signal.raise_signal(signal.SIGINT)
        reached = True
    assert reached


def test_a_tournament_can_be_prolonged_and_looked_at_in_part(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    short = play(path, Fakes(), sets=5)
    log = tmp_path / "log"
    long = play(path, Fakes(log=log), sets=9)
    assert len(log.read_text().splitlines()) == 4 * 12
    assert long == play(tmp_path / "plain.sqlite", Fakes(), sets=9)
    assert play(path, Fakes(), sets=5) == short


@pytest.mark.parametrize("workers", [1, 2])
def test_a_verdict_ends_the_tournament(workers: int, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": ["tic_tac_toe"], "players": ["random", "legal"], "sets": 100_000}
    found = play(tmp_path / "store.sqlite", Fakes(size=10), workers, sprt=[-5, 100], **settings)
    assert found.test is not None and found.test.verdict and found.sets == found.test.sets < 2_000
    again = play(tmp_path / "again.sqlite", Fakes(size=3), sprt=[-5, 100], **settings)
    assert again == found  # whatever was played beyond the verdict does not count


def test_a_hanging_worker_does_not_hold_up_a_verdict(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": ["tic_tac_toe"], "players": ["random", "legal"], "sets": 2_000}
    fakes = Fakes(size=2_000, fail_at=(1_500, 0), how="hang")  # each of two workers has 1,000 sets; the second hangs
    found = play(tmp_path / "store.sqlite", fakes, 2, sprt=[-5, 100], **settings)
    assert found.test is not None and found.test.verdict and found.sets < 1_000


def test_another_tournament_is_refused_and_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    play(path, Fakes(), sets=1)
    with pytest.raises(ConfigError, match=r"another tournament(.|\n)*seed: 0 there, 1 now"):
        play(path, Fakes(), seed=1)
    with pytest.raises(ConfigError, match="players"):
        play(path, Fakes(), players=["random", "legal"])
    assert len(rows(path)) == 12
    (tmp_path / "game.kif").write_text(
        "(role r) (legal r a) (<= (next x) (does r a)) (<= terminal (true x)) (goal r 100)"
    )
    own: dict[str, Any] = {"games": [str(tmp_path / "game.kif")], "sets": 1}
    play(tmp_path / "own.sqlite", Fakes(), **own)
    (tmp_path / "game.kif").write_text(
        "(role r) (legal r a) (<= (next x) (does r a)) (<= terminal (true x)) (goal r 0)"
    )
    with pytest.raises(ConfigError, match="games"):  # the same name, but other rules
        play(tmp_path / "own.sqlite", Fakes(), **own)


def test_a_store_is_used_by_one_process_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    definition = Tournament.parse(SETTINGS).definition()
    with Store(path, definition):
        with pytest.raises(ConfigError, match="in use"):
            Store(path, definition)
        with Store(path, definition, writing=False) as other:
            assert not list(other.outcomes())
    Store(path, definition).close()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    definition = Tournament.parse(SETTINGS).definition()
    (tmp_path / "text.sqlite").write_text("a poem, not a database\n" * 100)
    for path in (tmp_path / "text.sqlite", tmp_path / "no" / "folder.sqlite", tmp_path):
        with pytest.raises(ConfigError):
            Store(path, definition)
    assert (tmp_path / "text.sqlite").read_text().startswith("a poem")


def test_a_match_is_stored_once(tmp_path: Path) -> None:
    tournament = Tournament.parse(SETTINGS)
    schedule = Schedule(tournament)
    with Store(tmp_path / "store.sqlite", tournament.definition()) as store:
        played = result(schedule.job(schedule[0], 0))
        store.add([played])
        with pytest.raises(sqlite3.IntegrityError):
            store.add([played])
        assert list(store.outcomes()) == [(0, 0, played.goals, 0)]


def test_players_in_this_process_play_all_kinds_of_games(tmp_path: Path) -> None:
    found = play(tmp_path / "store.sqlite", InProcess(engine_name="prolog"), sets=2, opening=1)
    assert found.matches == 24 and all(line.errors == 0 for line in found.players)
    for row in rows(tmp_path / "store.sqlite"):
        goals, plies, moves = json.loads(row[7]), row[8], json.loads(row[10])
        assert len(moves) == plies and len(goals) == len(json.loads(row[3])) == len(moves[0])
