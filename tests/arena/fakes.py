"""Runners that play nothing: results are made up from the job, so that they are the same wherever it is played."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from ggp_agent.arena.match import Done, MatchJob, MatchResult, Runner
from ggp_agent.engine import Game
from ggp_agent.errors import EngineError


def result(job: MatchJob) -> MatchResult:
    """A made-up result: the first role is better off, and players with a lower number are stronger."""
    random = Random(job.opening.seed + job.assignment)
    strengths = [random.gauss(10 * (role == 0) - 4 * player, 20) for role, player in enumerate(job.seats)]
    goals = tuple(100 * (value == max(strengths)) for value in strengths)
    return MatchResult(job=job, goals=goals, plies=1, errors=(), moves=(("a",) * len(goals),), seconds=0.0)


@dataclass(frozen=True)
class Fakes:
    """Runners that take `size` matches at once, play them last to first, and fail as told at one match."""

    size: int = 1
    fail_at: tuple[int, int] | None = None  # set number, assignment
    how: str = "error"  # or "die", "interrupt", "hang"
    log: Path | None = None  # gets a line a batch: process, matches

    def batch(self, job: MatchJob) -> int:
        return self.size

    def open(self, game: Game) -> Runner:
        return Fake(self)


class Fake:
    def __init__(self, plan: Fakes) -> None:
        self.plan = plan

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        assert len({job.game for job in jobs}) == 1
        if self.plan.log:
            with self.plan.log.open("a") as file:
                file.write(f"{os.getpid()} {len(jobs)}\n")
        for job in reversed(jobs):
            if (job.set_number, job.assignment) == self.plan.fail_at:
                self.fail()
            done([result(job)])

    def fail(self) -> None:
        if self.plan.how == "die":
            os._exit(3)
        if self.plan.how == "interrupt":
            raise KeyboardInterrupt
        while self.plan.how == "hang":
            time.sleep(1)
        raise EngineError("this match cannot be played")

    def close(self) -> None:
        pass
