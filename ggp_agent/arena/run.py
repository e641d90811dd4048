"""Playing what is still to be played of a tournament, in this process or in several."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from ggp_agent.arena.match import Done, MatchJob, MatchResult, Runner, Runners
from ggp_agent.arena.store import Store
from ggp_agent.arena.tally import Tally
from ggp_agent.engine import games
from ggp_agent.errors import EngineError, GdlError, GgpError

Batch = list[MatchJob]  # of one game, between the same players


def run(tally: Tally, store: Store, runners: Runners, workers: int, watch: Callable[[Tally], None]) -> None:
    """Play all matches that `tally` lacks, or until its test has a verdict. `watch` is called when some have ended.

    Only this process writes to the store. An exception, KeyboardInterrupt included, ends the workers; whatever had
    ended by then is stored.
    """

    def done(results: Sequence[MatchResult]) -> None:
        store.add(results)
        for result in results:
            tally.add(result.job.set_number, result.job.assignment, result.goals, len(result.errors))
        watch(tally)

    waiting = batches(tally, runners)
    if workers == 1:
        with Opened(runners) as opened:
            for batch in waiting:
                opened.play(batch, done)
    else:
        with started(runners, workers) as crew:
            command(crew, waiting, tally, done)


def batches(tally: Tally, runners: Runners) -> Iterator[Batch]:
    """What is to be played, in the order of the schedule as far as the size of batches allows.

    Which matches go together depends on the schedule alone, and not on what has been played or on who plays: where
    matches are played side by side, that has an influence on them.
    """
    schedule, all_sets = tally.schedule, tally.schedule.tournament.sets
    pairings = schedule.first_round()
    sizes = [runners.batch(schedule.job(rotation, 0)) // len(rotation.seats) for rotation in pairings]  # in sets
    waiting: list[Batch] = [[] for _ in pairings]
    for rotation in schedule:
        turn, place = divmod(rotation.number, len(pairings))
        missing = (number for number in range(len(rotation.seats)) if not tally.has(rotation.number, number))
        waiting[place] += [schedule.job(rotation, assignment) for assignment in missing]
        if sizes[place] > 1 and (turn + 1) % sizes[place] and turn + 1 < all_sets:
            continue
        full, waiting[place] = waiting[place], []
        for batch in [full] if sizes[place] else [[job] for job in full]:
            if tally.verdict:
                return
            if batch:
                yield batch


class Opened:
    """The runners of one process, each opened when it is first needed."""

    def __init__(self, runners: Runners) -> None:
        self.runners = runners
        self.opened: dict[str, Runner] = {}  # by game

    def play(self, batch: Batch, done: Done) -> None:
        game = batch[0].game
        if game not in self.opened:
            self.opened[game] = self.runners.open(games.load(game))
        self.opened[game].run(batch, done)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        for runner in self.opened.values():
            runner.close()


Crew = dict[Connection, SpawnProcess]


def command(crew: Crew, waiting: Iterator[Batch], tally: Tally, done: Done) -> None:
    """Hand out batches and collect results until there is nothing left, or the test has a verdict."""
    busy = [connection for connection in crew if send_next(connection, waiting)]
    while busy and not tally.verdict:
        for connection in wait(busy):
            assert isinstance(connection, Connection)
            try:
                message = connection.recv()
            except (EOFError, OSError) as error:
                crew[connection].join()
                code = crew[connection].exitcode
                raise EngineError(f"a worker process ended by itself, with code {code}") from error
            if isinstance(message, list):
                done(message)
            elif isinstance(message, GgpError):
                raise message
            elif not send_next(connection, waiting):
                busy.remove(connection)


def send_next(connection: Connection, waiting: Iterator[Batch]) -> bool:
    batch = next(waiting, None)
    if batch is not None:
        connection.send(batch)
    return batch is not None


@contextmanager
def started(runners: Runners, workers: int) -> Iterator[Crew]:
    """Worker processes, one pipe to each, killed at the end."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of compiled engines badly
    crew: Crew = {}
    try:
        with interrupts_blocked():  # Ctrl-C is for this process, which then ends the workers
            for _ in range(workers):
                ours, theirs = context.Pipe()
                process = context.Process(target=work, args=(theirs, runners), daemon=True)
                process.start()
                theirs.close()
                crew[ours] = process
        yield crew
    finally:
        for connection, process in crew.items():
            process.kill()
            process.join()
            connection.close()


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Ctrl-C waits until the end of this, and for ever in processes that are started meanwhile."""
    resource_tracker.ensure_running()  # it is started along with the first process, and would lift the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(connection: Connection, runners: Runners) -> None:
    """A worker: batches come in; results go out, None at the end of a batch, an error if it cannot be played."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    threading.Thread(target=end_with, args=(parent.sentinel,), daemon=True).start()
    with Opened(runners) as opened:
        while True:
            batch: Batch = connection.recv()
            try:
                opened.play(batch, connection.send)
            except GgpError as error:
                # A GdlError carries findings and does not survive the pipe.
                connection.send(EngineError(str(error)) if isinstance(error, GdlError) else error)
                return
            connection.send(None)


def end_with(parent: int) -> None:
    """A parent that was killed cannot end its workers, so each waits for that in a thread."""
    wait([parent])
    os._exit(1)
