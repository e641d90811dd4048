"""One match of a tournament: what is to be played, what came of it, and who plays it.

A runner plays jobs of one game and reports each match as it ends. `OneByOne` plays them one after the other with
players in this process. Which runner plays what is decided by an object that keeps the contract of `Runners`; it is
sent to worker processes, so it must be picklable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from ggp_agent.engine import Engine, Game, State, open_engine
from ggp_agent.play import Player, make_player
from ggp_agent.play.spec import Kind, PlayerSpec

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

    @property
    def kinds(self) -> frozenset[Kind]:
        return frozenset(player.kind for player in self.players)


@dataclass(frozen=True, kw_only=True, slots=True)
class MatchResult:
    """A match that was played."""

    job: MatchJob
    goals: tuple[int, ...]  # one a role; all 0 where the match was not over after max_plies
    plies: int
    errors: tuple[str, ...]  # what players did wrong, in the order in which they did it
    moves: tuple[tuple[str, ...], ...]  # joint moves as text, those of the opening included
    seconds: float


Done = Callable[[MatchResult], None]
MakePlayer = Callable[[PlayerSpec, Engine, int, int], Player]  # (spec, engine, role, seed)


class Runner(Protocol):
    """Plays matches of one game."""

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        """Play all jobs, in any order, and call `done` in this thread with each as it ends."""

    def close(self) -> None:
        """Give back what the runner holds."""


class Runners(Protocol):
    """Knows which runner plays what."""

    def batch(self, kinds: frozenset[Kind]) -> int:
        """How many matches between players of these kinds a runner would like to have at once."""

    def open(self, game: Game, kinds: frozenset[Kind]) -> Runner:
        """A runner for matches of one game between players of these kinds."""


def silent(message: str) -> None:
    """For whoever does not want to hear what engines tell."""


@dataclass(frozen=True, kw_only=True)
class InProcess:
    """Runners that play one match after the other in the process they are opened in."""

    engine_name: str = "auto"
    make_player: MakePlayer = make_player
    tell: Callable[[str], None] = silent

    def batch(self, kinds: frozenset[Kind]) -> int:
        return 1

    def open(self, game: Game, kinds: frozenset[Kind]) -> Runner:
        return OneByOne(open_engine(game, self.engine_name, self.tell), self.make_player)


class OneByOne:
    """The plain runner."""

    def __init__(self, engine: Engine, make_player: MakePlayer) -> None:
        self.engine = engine
        self.make_player = make_player

    def run(self, jobs: Sequence[MatchJob], done: Done) -> None:
        for job in jobs:
            done(play_match(self.engine, job, self.make_player))

    def close(self) -> None:
        self.engine.close()


def play_match(engine: Engine, job: MatchJob, make_player: MakePlayer) -> MatchResult:
    """One match. An illegal move is an entry in the record, and a random legal one takes its place."""
    started = time.monotonic()
    state, moves = play_opening(engine, job.opening)
    seats = list(enumerate(zip(job.players, job.seeds, strict=True)))
    players = [make_player(spec, engine, role, seed) for role, (spec, seed) in seats]
    substitute = Random(job.opening.seed)
    errors: list[str] = []
    while not (position := engine.look(state)).terminal and len(moves) < job.max_plies:
        joint = []
        for role, player in enumerate(players):
            move = player.choose(engine, state, position, role)
            if move not in position.legal[role]:
                errors.append(f"ply {len(moves) + 1}: {engine.game.roles[role]} chose move {move}, which is not legal")
                move = substitute.choice(position.legal[role])
            joint.append(move)
        moves.append(tuple(str(engine.moves[role][move]) for role, move in enumerate(joint)))
        state = engine.step(state, tuple(joint))
    if not position.terminal:
        errors.append(f"not over after {len(moves):,} plies")
    goals = position.goals if position.terminal else None
    return MatchResult(
        job=job,
        goals=goals or (0,) * len(players),
        plies=len(moves),
        errors=tuple(errors),
        moves=tuple(moves),
        seconds=time.monotonic() - started,
    )


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
