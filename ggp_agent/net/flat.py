"""Flat Monte Carlo search: a bandit a role over the moves of one position, on playouts of any engine.

It keeps no graph, so it needs nothing of an engine but `step` and `playouts`. Games that only Prolog can play are
searched with it, and it plays while the lanes of a game are still being made.
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from random import Random

from ggp_agent.engine import Engine, JointMove, Move, Position, State
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.search.config import Limit, SearchConfig

BATCH = 256  # playouts from one joint move in lanes, which play them all at once; other engines play one
DRAW = 50  # the goal of a playout that was cut off


@dataclass(frozen=True, kw_only=True, slots=True)
class FlatLine:
    """What is known of one move of one role."""

    move: Move
    visits: int  # playouts that began with the move
    value: float  # their mean payoff, 0..1
    pv: tuple[JointMove, ...] = ()  # a flat search looks no further


@dataclass(frozen=True, kw_only=True, slots=True)
class FlatAnalysis:
    """What is known of the position."""

    simulations: int
    per_second: float
    seconds: float
    nodes: int
    value: tuple[float, ...]  # one a role
    proven: bool
    lines: tuple[tuple[FlatLine, ...], ...]  # lines[role], the most visited first


class Arms:
    """The moves of one role as arms of a bandit (UCB1)."""

    def __init__(self, moves: tuple[Move, ...]) -> None:
        self.moves = moves
        self.visits = [0] * len(moves)
        self.payoff = [0.0] * len(moves)

    def choose(self, exploration: float, random: Random) -> int:
        fresh = [index for index, visits in enumerate(self.visits) if visits == 0]
        if fresh:
            return random.choice(fresh)
        log = math.log(sum(self.visits))
        return max(
            range(len(self.moves)),
            key=lambda i: self.payoff[i] / self.visits[i] + exploration * math.sqrt(log / self.visits[i]),
        )

    def lines(self) -> tuple[FlatLine, ...]:
        order = sorted(range(len(self.moves)), key=lambda i: (-self.visits[i], -self.payoff[i], i))
        return tuple(
            FlatLine(move=self.moves[i], visits=self.visits[i], value=self.payoff[i] / max(1, self.visits[i]))
            for i in order
        )


class FlatSearch:
    """Keeps the contract of a searcher; see `ggp_agent.net.search.Search`."""

    def __init__(self, engine: Engine, config: SearchConfig, seed: int = 0) -> None:
        self.engine = engine
        self.config = config
        self.random = Random(seed)
        self.batch = BATCH if engine.name == "lanes" else 1
        self.halt = threading.Event()
        self.state: State
        self.position: Position
        self.start()

    def start(self, state: State | None = None) -> None:
        self.state = self.engine.initial() if state is None else state
        self.position = self.engine.look(self.state)
        self.arms = [Arms(moves) for moves in self.position.legal]
        self.simulations = 0
        self.seconds = 0.0
        self.payoffs = [0.0] * len(self.engine.game.roles)

    def advance(self, joint: JointMove) -> None:
        if not all(move in legal for move, legal in zip(joint, self.position.legal, strict=True)):
            raise IllegalMove(f"{joint} is not a legal joint move here")
        self.start(self.engine.step(self.state, joint))

    def think(self, limit: Limit) -> FlatAnalysis:
        if self.position.terminal:
            raise ConfigError("the game is over: there is nothing to think about")
        self.halt.clear()
        begun, simulations = time.monotonic(), self.simulations
        # Nothing can be learned where nobody has a choice.
        while any(len(moves) > 1 for moves in self.position.legal) and not self.halt.is_set():
            left = math.inf if limit.playouts is None else limit.playouts - (self.simulations - simulations)
            if left <= 0 or time.monotonic() - begun >= limit.seconds:
                break
            self.simulate(left)
        self.seconds += time.monotonic() - begun
        return self.analyse()

    def simulate(self, left: float) -> None:
        """Try one joint move with a batch of playouts, small enough that few playouts are shared among all moves."""
        count = int(max(1, min(self.batch, left // (4 * max(len(arms.moves) for arms in self.arms)))))
        chosen = [arms.choose(self.config.exploration, self.random) for arms in self.arms]
        joint = tuple(arms.moves[index] for arms, index in zip(self.arms, chosen, strict=True))
        after = self.engine.step(self.state, joint)
        ends = self.engine.playouts(after, count, self.random.getrandbits(63), self.config.max_plies)
        goals = ends.goals.astype(float)
        goals[goals < 0] = DRAW
        payoffs = goals.sum(axis=0) / 100
        for role, (arms, index) in enumerate(zip(self.arms, chosen, strict=True)):
            arms.visits[index] += count
            arms.payoff[index] += float(payoffs[role])
            self.payoffs[role] += float(payoffs[role])
        self.simulations += count

    def stop(self) -> None:
        self.halt.set()

    def best(self, role: int) -> Move:
        lines = self.arms[role].lines()
        return max(lines, key=lambda line: (line.visits, line.value)).move

    def analyse(self) -> FlatAnalysis:
        return FlatAnalysis(
            simulations=self.simulations,
            per_second=self.simulations / self.seconds if self.seconds else 0.0,
            seconds=self.seconds,
            nodes=1,
            value=tuple(payoff / max(1, self.simulations) for payoff in self.payoffs),
            proven=False,
            lines=tuple(arms.lines() for arms in self.arms),
        )

    def close(self) -> None:
        self.halt.set()
