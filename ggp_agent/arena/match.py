"""One match of a tournament: what is to be played, what came of it, and who plays it.

A runner plays jobs of one game and reports what has ended. `OneByOne` plays them one after the other with players in
this process. Which runner plays what is decided by an object that keeps the contract of `Runners`; it is sent to worker
processes, so it must be picklable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from ggp_agent.engine import Engine, Game, Move, State
from ggp_agent.play import Player
from ggp_agent.play.spec import PlayerSpec

OPENING_TRIES = 50  # openings drawn before a shorter one is taken, in case games tend to end within them


@dataclass(frozen=True, kw_only=True, slots=True)
class Opening:
    """The random joint moves with which a match begins."""

    plies: int
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchJob:
    """A match to be played. Nothing else may have an influence on its result but time, where players are timed."""

    game: str
    players: tuple[PlayerSpec, ...]  # one a role
    seeds: tuple[int, ...]  # one a role, for whatever its player draws
    opening: Opening
    max_plies: int
    set_number: int  # this and
    assignment: int  # this name the match within the tournament
    seats: tuple[int, ...]  # the number of the player in each role


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchResult:
    """A match that was played."""

    job: MatchJob
    goals: tuple[int, ...]  # one a role; all 0 where the match was not over after max_plies
    plies: int
    errors: tuple[str, ...]  # what players did wrong, in the order in which they did it
    moves: tuple[tuple[str, ...], ...]  # joint moves as text, those of the opening included
    seconds: float


Done = Callable[[Sequence[MatchResult]], None]
MakePlayer = Callable[[PlayerSpec, Engine, int, int], Player]  # (spec, engine, role, seed)


class Runner(Protocol):
    """Plays matches of one game."""

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        """Play all jobs, in any order, and call `done` in this thread with results that are to be stored together."""

    def close(self) -> None:
        """Give back what the runner holds."""


class Runners(Protocol):
    """Knows which runner plays what."""

    def batch(self, job: MatchJob) -> int:
        """How many matches like this one a runner would like to have at once."""

    def open(self, game: Game) -> Runner:
        """A runner for matches of one game."""


class Progress:
    """A match that is being played. An illegal move is an entry in the record, and a random legal one replaces it."""

    def __init__(self, engine: Engine, job: MatchJob) -> None:
        self.engine, self.job = engine, job
        self.state, self.moves = play_opening(engine, job.opening)
        self.position = engine.look(self.state)
        self.substitute = Random(job.opening.seed)
        self.errors: list[str] = []

    @property
    def over(self) -> bool:
        return self.position.terminal or len(self.moves) >= self.job.max_plies

    def play(self, chosen: Sequence[Move]) -> None:
        """Go on with what the players have chosen."""
        engine, joint = self.engine, []
        for role, move in enumerate(chosen):
            if move not in self.position.legal[role]:
                what = f"{engine.game.roles[role]} chose move {move}, which is not legal"
                self.errors.append(f"ply {len(self.moves) + 1}: {what}")
                move = self.substitute.choice(self.position.legal[role])
            joint.append(move)
        self.moves.append(tuple(str(engine.moves[role][move]) for role, move in enumerate(joint)))
        self.state = engine.step(self.state, tuple(joint))
        self.position = engine.look(self.state)

    def result(self, seconds: float) -> MatchResult:
        position, errors = self.position, list(self.errors)
        if not position.terminal:
            errors.append(f"not over after {len(self.moves):,} plies")
        goals = position.goals if position.terminal else None
        return MatchResult(
            job=self.job,
            goals=goals or (0,) * len(self.job.players),
            plies=len(self.moves),
            errors=tuple(errors),
            moves=tuple(self.moves),
            seconds=seconds,
        )


class OneByOne:
    """The plain runner: one match after the other."""

    def __init__(self, engine: Engine, make_player: MakePlayer) -> None:
        self.engine, self.make_player = engine, make_player

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        for job in jobs:
            done([self.play(job)])

    def close(self) -> None:
        self.engine.close()

    def play(self, job: MatchJob) -> MatchResult:
        started, engine = time.monotonic(), self.engine
        match = Progress(engine, job)
        seats = enumerate(zip(job.players, job.seeds, strict=True))
        players = [self.make_player(spec, engine, role, seed) for role, (spec, seed) in seats]
        while not match.over:
            match.play([p.choose(engine, match.state, match.position, role) for role, p in enumerate(players)])
        return match.result(time.monotonic() - started)


def play_opening(engine: Engine, opening: Opening) -> tuple[State, list[tuple[str, ...]]]:
    """The state after the opening, and its joint moves as text.

    The game is never over after an opening: another is drawn, and if they all end the game, a shorter one.
    """
    random = Random(opening.seed)
    plies = opening.plies
    while plies > 0:
        longest = 0
        for _ in range(OPENING_TRIES):
            state = engine.initial()
            moves: list[tuple[str, ...]] = []
            while not (position := engine.look(state)).terminal and len(moves) < plies:
                joint = tuple(random.choice(legal) for legal in position.legal)
                moves.append(tuple(str(engine.moves[role][move]) for role, move in enumerate(joint)))
                state = engine.step(state, joint)
            if not position.terminal:
                return state, moves
            longest = max(longest, len(moves))
        plies = min(plies, longest) - 1
    return engine.initial(), []
