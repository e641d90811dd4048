"""Matches in which somebody plays over HTTP: run by the game master of `net`, with the clocks of the tournament.

A remote player has one match at a time, in one role, however many processes play the tournament. What it does wrong
stands in the result as it stands in the record of a match: `ply 3: red TO`. A player that is not available when its
match is to begin ends the run, since its defeats would say nothing; what was played is kept.
"""

from __future__ import annotations

import asyncio
import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cached_property

from ggp_agent.arena.in_process import silent
from ggp_agent.arena.match import Done, MatchJob, MatchResult, Runner, Runners, play_opening
from ggp_agent.arena.tournament import Tournament
from ggp_agent.engine import Engine, Game, JointMove, Position, State, cache, open_engine
from ggp_agent.errors import ConfigError, ProtocolError
from ggp_agent.net.client import Address
from ggp_agent.net.master import NATURE, Master, Terms
from ggp_agent.play.spec import PlayerSpec

WAIT_SECONDS = 120.0  # for a player to become available before a match


@dataclass(frozen=True, kw_only=True)
class OverHttp:
    """Runners for matches with remote players; `local` has those for all others."""

    local: Runners
    start_clock: int
    play_clock: int
    engine_name: str = "auto"
    wait_seconds: float = WAIT_SECONDS
    tell: Callable[[str], None] = silent

    @classmethod
    def around(
        cls, local: Runners, tournament: Tournament, engine_name: str, tell: Callable[[str], None] = silent
    ) -> Runners:
        """These runners if the tournament has remote players, else `local`; ConfigError if they cannot play it."""
        places = [place(player) for player in tournament.players if player.kind == "http"]
        if not places:
            return local
        for number, found in enumerate(places):
            if found in places[:number]:
                raise ConfigError(f"two players are at {found}; a player can only be in one match at a time")
        for name, game in tournament.loaded.items():
            if len(game.roles) > max(2, len(tournament.players)):
                raise ConfigError(
                    f"{name} has {len(game.roles)} roles, and there are {len(tournament.players)} players: one would"
                    " have several roles, which players over HTTP cannot have"
                )
        clocks = {"start_clock": tournament.start_clock, "play_clock": tournament.play_clock}
        return cls(local=local, engine_name=engine_name, tell=tell, **clocks)

    def batch(self, job: MatchJob) -> int:
        return 1 if is_remote(job) else self.local.batch(job)

    def open(self, game: Game) -> Runner:
        return HttpRunner(game, self)


class HttpRunner:
    """Plays one match after the other, or lets a local runner play those without remote players."""

    def __init__(self, game: Game, terms: OverHttp) -> None:
        self.game, self.terms = game, terms
        self.opened = ExitStack()

    @cached_property
    def engine(self) -> Engine:
        return self.opened.enter_context(open_engine(self.game, self.terms.engine_name, self.terms.tell))

    @cached_property
    def local(self) -> Runner:
        return self.opened.enter_context(closing(self.terms.local.open(self.game)))

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        if others := [job for job in jobs if not is_remote(job)]:
            self.local.run(others, done)
        for job in filter(is_remote, jobs):
            with reserved(job.players):
                done([asyncio.run(self.play(job))])

    async def play(self, job: MatchJob) -> MatchResult:
        engine, begun = self.engine, time.monotonic()
        _, opening = play_opening(engine, job.opening)
        moves: list[tuple[str, ...]] = []

        def note(step: int, state: State, position: Position, joint: JointMove | None, errors: Sequence[str]) -> None:
            if joint is not None:
                moves.append(tuple(str(engine.moves[role][move]) for role, move in enumerate(joint)))

        terms = Terms(
            start_clock=self.terms.start_clock,
            play_clock=self.terms.play_clock,
            seed=job.opening.seed,
            max_steps=job.max_plies,
        )
        asked = [spec for role, spec in zip(engine.game.roles, job.players, strict=True) if role != NATURE]
        joints = [read_joint(engine, texts) for texts in opening]
        master = Master(engine, asked, terms, opening=joints, seeds=job.seeds, show=note)
        try:
            record = await master.run(self.terms.wait_seconds)
        except ConfigError as error:
            raise ProtocolError(str(error)) from error
        errors = [
            f"{f'ply {step}' if step else 'START'}: {engine.game.roles[role]} {error}"
            for step, row in enumerate(record.errors)
            for role, error in enumerate(row)
            if error
        ]
        if record.goals is None:
            errors.append(f"not over after {len(moves):,} plies")
        return MatchResult(
            job=job,
            goals=tuple(record.goals or (0,) * len(job.players)),
            plies=len(moves),
            errors=tuple(errors),
            moves=tuple(moves),
            seconds=time.monotonic() - begun,
        )

    def close(self) -> None:
        self.opened.close()


def is_remote(job: MatchJob) -> bool:
    return any(player.kind == "http" for player in job.players)


def read_joint(engine: Engine, texts: Sequence[str]) -> JointMove:
    terms = map(engine.game.sheet.term, texts)
    return tuple(moves.index(term) for moves, term in zip(engine.moves, terms, strict=True))


def place(player: PlayerSpec) -> str:
    address = Address.parse(player.url)
    return f"{address.host}:{address.port}"


@contextmanager
def reserved(players: Sequence[PlayerSpec]) -> Iterator[None]:
    """No other process of this user lets the remote players among these play meanwhile.

    However a process ends, its locks end with it. All take them in the same order, so that nobody waits in a circle.
    """
    with ExitStack() as held:
        for name in sorted({place(player) for player in players if player.kind == "http"}):
            file = held.enter_context((cache.folder() / f"player-{cache.digest(name)}").open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
