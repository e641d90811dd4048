"""Runners for players that need nothing but this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ggp_agent.arena.match import Done, MakePlayer, MatchJob, OneByOne, Runner
from ggp_agent.arena.side_by_side import MATCHES, SideBySide, fits
from ggp_agent.engine import Engine, Game, open_engine
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.play import make_player


def silent(message: str) -> None:
    """For whoever does not want to hear what engines tell."""


@dataclass(frozen=True, kw_only=True)
class InProcess:
    """Plays matches side by side where that is possible, and else one after the other."""

    engine_name: str = "auto"
    make_player: MakePlayer = make_player
    tell: Callable[[str], None] = silent

    def batch(self, job: MatchJob) -> int:
        return MATCHES if fits(job) else 1

    def open(self, game: Game) -> Runner:
        return EitherWay(open_engine(game, self.engine_name, self.tell), self.make_player)


class EitherWay:
    """Knows which matches of a game go side by side."""

    def __init__(self, engine: Engine, make_player: MakePlayer) -> None:
        self.one_by_one = OneByOne(engine, make_player)
        self.side_by_side = SideBySide(engine, make_player) if isinstance(engine, LanesEngine) else None

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        if self.side_by_side is not None and all(map(fits, jobs)):
            self.side_by_side.run(jobs, done)
        else:
            self.one_by_one.run(jobs, done)

    def close(self) -> None:
        if self.side_by_side is not None:
            self.side_by_side.close()
        self.one_by_one.close()
