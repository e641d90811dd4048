"""Matches as experiments: one player against another, side by side, each playing every role of every opening."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

from ggp_agent.arena import InProcess, MatchResult, Runner
from ggp_agent.arena.schedule import Schedule
from ggp_agent.arena.statistics import Z95
from ggp_agent.arena.tally import Tally
from ggp_agent.arena.tournament import Tournament
from ggp_agent.engine import games
from ggp_agent.lab.record import Record, cores
from ggp_agent.lab.rows import Row, percent_errors, spread

SETS = 50  # of a part that is written down as a whole
# Settings of players in experiments that have no others: results must mean the same when the agent's defaults change.
FIXED = {"c": "0.5", "d": "1:0:1", "ripe": "1", "decisive": "off"}
# Settings of the searches that the paper on UCD compares: sequential ones that prove nothing
SAME = "lanes=1,ripe=1,decisive=off,solve=off,virtual_loss=0"


def search_player(*settings: str) -> str:
    """A search with these settings, such as `lanes=16`, as text."""
    named = dict(setting.split("=", 1) for setting in settings)
    return ",".join(["ucd", *(f"{name}={value}" for name, value in (FIXED | named).items())])


@dataclass(frozen=True, kw_only=True, slots=True)
class Pairing:
    """A player whose strength is asked for, and its opponent, both as text."""

    game: str
    player: str
    opponent: str
    matches: int
    opening: int = 0  # random plies


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """What a player made of its matches, in percent of the points."""

    matches: int
    percent: float
    error: float  # the standard error, over rotation sets

    @property
    def interval(self) -> float:
        return Z95 * self.error

    def row(self, table: str, name: str, column: str, theirs: float | None = None, their_games: int = 1) -> Row:
        """As a row of a table, beside what a paper prints of so many games."""
        return Row(
            table=table,
            row=name,
            column=column,
            ours=self.percent,
            theirs=theirs,
            errors=percent_errors(self.percent, self.error, theirs, their_games),
            interval=self.interval,
        )


def score(sets: Sequence[float]) -> Score:
    """From the points of a player in each rotation set, 0..1."""
    mean, error = spread(sets)
    return Score(matches=2 * len(sets), percent=100 * mean, error=100 * error)


class Matches:
    """Plays pairings, several at once, and writes down what came of them."""

    def __init__(self, record: Record, workers: int | None = None) -> None:
        self.record = record
        self.pool = ThreadPoolExecutor(workers or cores())
        self.local = threading.local()
        self.stopping = threading.Event()
        self.opened: list[Runner] = []

    def scores(self, pairings: Iterable[Pairing]) -> dict[Pairing, Score]:
        """What all of them are worth. What is known already is not played again."""
        wanted = list(pairings)
        parts = [(pairing, first) for pairing in wanted for first in range(0, pairing.matches // 2, SETS)]
        found: dict[Pairing, list[float]] = {pairing: [] for pairing in wanted}
        for (pairing, _), points in zip(parts, self.pool.map(self.part, *zip(*parts, strict=True)), strict=True):
            found[pairing] += points
        return {pairing: score(points) for pairing, points in found.items()}

    def part(self, pairing: Pairing, first: int) -> list[float]:
        """The points of some sets, from number `first` on."""
        sets = min(SETS, pairing.matches // 2 - first)
        key = (
            f"{pairing.game}: {pairing.player} against {pairing.opponent}, opening {pairing.opening}, "
            f"sets {first} to {first + sets - 1}"
        )

        def compute(seed: int) -> dict[str, Any]:
            return {"points": self.play(pairing, sets, seed)}

        points: list[float] = self.record.get(key, compute)["points"]
        return points

    def play(self, pairing: Pairing, sets: int, seed: int) -> list[float]:
        tournament = Tournament.parse(
            {
                "games": [pairing.game],
                "players": [f"{pairing.player},name=player", f"{pairing.opponent},name=opponent"],
                "sets": sets,
                "opening": pairing.opening,
                "seed": seed,
            }
        )
        schedule = Schedule(tournament)
        tally = Tally(schedule)

        def done(results: Sequence[MatchResult]) -> None:
            for result in results:
                tally.add(result.job.set_number, result.job.assignment, result.goals, len(result.errors))

        jobs = [schedule.job(rotation, number) for rotation in schedule for number in range(len(rotation.seats))]
        self.runner(pairing.game).run(jobs, done)
        return [tally.scores[number][0, 1] for number in range(sets)]

    def runner(self, game: str) -> Runner:
        """One for every thread: an engine is used by one at a time."""
        mine: dict[str, Runner] = self.local.__dict__.setdefault("runners", {})
        if game not in mine:
            for other in mine.values():  # experiments go through one game after the other
                other.close()
                self.opened.remove(other)
            mine.clear()
            mine[game] = InProcess(stopped=self.stopping.is_set).open(games.load(game))
            self.opened.append(mine[game])
        return mine[game]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.pool.shutdown(cancel_futures=True)
        for runner in self.opened:
            runner.close()
