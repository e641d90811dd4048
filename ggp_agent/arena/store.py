"""Matches on disk: an SQLite file with one row a match, written as the match ends.

A process that is killed at any moment leaves a sound file with every match that had ended (SQLite's write-ahead log).
The file knows which tournament it belongs to, and one process at a time may write to it.
"""

from __future__ import annotations

import fcntl
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, Self

from ggp_agent.arena.match import MatchResult
from ggp_agent.errors import ConfigError

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS matches (
    set_number INTEGER NOT NULL,
    assignment INTEGER NOT NULL,
    game TEXT NOT NULL,
    players TEXT NOT NULL,       -- JSON: the name of the player in each role
    seeds TEXT NOT NULL,         -- JSON: one a role
    opening_plies INTEGER NOT NULL,
    opening_seed INTEGER NOT NULL,
    goals TEXT NOT NULL,         -- JSON: one a role
    plies INTEGER NOT NULL,
    errors TEXT NOT NULL,        -- JSON: texts
    moves TEXT NOT NULL,         -- JSON: joint moves, each a list of texts
    seconds REAL NOT NULL,
    PRIMARY KEY (set_number, assignment)
) WITHOUT ROWID;
"""


class Store:
    """The matches of one tournament. Close it, or use it in a `with` statement."""

    def __init__(self, path: Path, definition: dict[str, Any], *, writing: bool = True) -> None:
        """Open or make the file; ConfigError if it is not a store, is of another tournament, or is in use."""
        self.path = path
        with ExitStack() as opened:
            if writing:
                opened.enter_context(locked(path))
            try:
                self.database = opened.enter_context(closing(open_database(path)))
                self.check(definition)
            except sqlite3.DatabaseError as error:
                raise ConfigError(f"{path} is not a store of matches: {error}") from error
            self.opened = opened.pop_all()

    def check(self, definition: dict[str, Any]) -> None:
        """Is this the store of the tournament? A new one becomes so."""
        wanted = {"version": VERSION, **definition}
        with self.database:
            row = self.database.execute("SELECT value FROM meta WHERE key = 'definition'").fetchone()
            if row is None:
                self.database.execute("INSERT INTO meta VALUES ('definition', ?)", [json.dumps(wanted)])
                return
        found = json.loads(row[0])
        different = [key for key in wanted if found.get(key) != wanted[key]]
        if different:
            lines = [f"  {key}: {found.get(key)} there, {wanted[key]} now" for key in different]
            raise ConfigError(
                f"{self.path} holds the matches of another tournament, which differs in\n"
                + "\n".join(lines)
                + "\ngive this tournament a store of its own"
            )

    def add(self, results: Sequence[MatchResult]) -> None:
        """Keep matches for good: all of them, or none."""
        try:
            with self.database:
                for result in results:
                    row = self.row(result)
                    self.database.execute(f"INSERT INTO matches VALUES ({', '.join('?' * len(row))})", row)
        except sqlite3.OperationalError as error:  # the disk is full, and the like
            raise OSError(f"{self.path} cannot be written: {error}") from error

    @staticmethod
    def row(result: MatchResult) -> tuple[Any, ...]:
        job = result.job
        return (
            job.set_number,
            job.assignment,
            job.game,
            json.dumps([player.name for player in job.players]),
            json.dumps(job.seeds),
            job.opening.plies,
            job.opening.seed,
            json.dumps(result.goals),
            result.plies,
            json.dumps(result.errors),
            json.dumps(result.moves),
            result.seconds,
        )

    def outcomes(self) -> Iterator[tuple[int, int, tuple[int, ...], int]]:
        """(set number, assignment, goals, number of errors) of every match, in their order."""
        query = "SELECT set_number, assignment, goals, errors FROM matches ORDER BY set_number, assignment"
        for set_number, assignment, goals, errors in self.database.execute(query):
            yield set_number, assignment, tuple(json.loads(goals)), len(json.loads(errors))

    def close(self) -> None:
        self.opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else writes to this store meanwhile. However the process ends, the lock ends with it."""
    try:
        file = path.with_name(path.name + "-lock").open("w")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigError(f"{path} is in use by another process that plays this tournament") from error
        yield


def open_database(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # Enough against a process that is killed; only a machine that loses power may lose the last matches.
        database.execute("PRAGMA synchronous = NORMAL")
        with closing(database.executescript(SCHEMA)):
            return database
    except sqlite3.Error:
        database.close()
        raise
