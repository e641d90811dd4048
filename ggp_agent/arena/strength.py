"""Strength beside OpenSpiel's C++ MCTS: matches at equal time a move, every random opening with both sides.

Both have one core in turns, the same time on the clock, one random playout a simulation, and prove what they can.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ggp_agent.arena.match import Opening, play_opening
from ggp_agent.arena.statistics import Estimate, score
from ggp_agent.engine import Engine, Game, Move, open_engine
from ggp_agent.engine.games import Shipped
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import ConfigError
from ggp_agent.search import Limit, SearchConfig, Searcher
from ggp_agent.search.bench import MEGABYTES, RANGE, open_rival

UCT_C = 2.0  # the constant of OpenSpiel's own examples, for payoffs from -1 to 1
MANY = 1 << 30  # simulations: the clock ends them
FILES = "abcdefgh"


def column_name(numbers: list[int]) -> str:
    return str(numbers[0] - 1)


def squares_name(numbers: list[int]) -> str:
    """OpenSpiel's first player moves down the board, ours up."""
    x1, y1, x2, y2 = numbers
    return f"{FILES[x1 - 1]}{9 - y1}{FILES[x2 - 1]}{9 - y2}"


# What a move is called if its numbers are these, and the same name from what OpenSpiel prints
Names = tuple[Callable[[list[int]], str], Callable[[str], str]]
NAMES: dict[str, Names] = {  # by game
    "connect_four": (column_name, lambda text: text[1:]),
    "breakthrough": (squares_name, lambda text: text.rstrip("*")),
}


@dataclass(kw_only=True, slots=True)
class Spent:
    """What a player has spent in all matches so far."""

    moves: int = 0
    seconds: float = 0.0
    simulations: int = 0  # as far as they are known

    def add(self, seconds: float, simulations: int = 0) -> None:
        self.moves += 1
        self.seconds += seconds
        self.simulations += simulations


class Table:
    """The same position in our engine and in OpenSpiel."""

    def __init__(self, engine: Engine, game: Any, names: Names) -> None:
        self.engine, self.names = engine, names
        self.theirs = game.new_initial_state()
        self.state = engine.initial()
        self.position = engine.look(self.state)

    @property
    def mover(self) -> int:
        return int(self.theirs.current_player())

    def actions(self) -> dict[Move, int]:
        """OpenSpiel's number of every legal move of ours."""
        theirs = {self.names[1](self.theirs.action_to_string(a)): a for a in self.theirs.legal_actions()}
        mine = self.position.legal[self.mover]
        found = {move: theirs.get(self.name(move)) for move in mine}
        if None in found.values() or len(found) != len(theirs):
            raise ConfigError(f"{self.engine.game.name} and OpenSpiel's game differ in {self.theirs}")
        return {move: action for move, action in found.items() if action is not None}

    def name(self, move: Move) -> str:
        return self.names[0]([int(number) for number in re.findall(r"\d+", str(self.engine.moves[self.mover][move]))])

    def play(self, move: Move) -> None:
        action, mover = self.actions()[move], self.mover
        joint = tuple(move if role == mover else legal[0] for role, legal in enumerate(self.position.legal))
        self.theirs.apply_action(action)
        self.state = self.engine.step(self.state, joint)
        self.position = self.engine.look(self.state)
        if self.position.terminal != self.theirs.is_terminal():
            raise ConfigError(f"{self.engine.game.name} and OpenSpiel's game differ in {self.theirs}")


@dataclass
class Contest:
    """Ours against OpenSpiel's on one game."""

    game: Shipped
    config: SearchConfig
    seconds: float  # of a move
    opening: int  # random plies
    seed: int
    scores: list[float] = field(default_factory=list)  # of each opening, with both sides: 0, 0.25, ... 1
    ours: Spent = field(default_factory=Spent)
    theirs: Spent = field(default_factory=Spent)

    @property
    def estimate(self) -> Estimate:
        return score(self.scores)

    @property
    def even(self) -> float:
        """The share of openings that gave each of both one point of two: perhaps the opening decides those."""
        return sum(points == 0.5 for points in self.scores) / max(1, len(self.scores))

    def play(self, openings: int) -> Iterator[Estimate]:
        """So many openings, each twice: the score after each of them."""
        rival = open_rival(self.game.open_spiel or "", UCT_C / RANGE, self.seed)
        if self.game.name not in NAMES or rival is None:
            raise ConfigError(f"moves of {self.game.name} have no names for OpenSpiel; {', '.join(NAMES)} have")
        with open_engine(Game.load(self.game.rules)) as engine:
            if isinstance(engine, LanesEngine):
                engine.wait()
            for number in range(self.seed, self.seed + openings):
                points = [self.match(engine, rival, number, role) for role in range(2)]
                self.scores.append(sum(points) / 2)
                yield self.estimate

    def match(self, engine: Engine, rival: Any, number: int, role: int) -> float:
        """Our points, 0 to 1, in this role."""
        table = Table(engine, rival.game, NAMES[self.game.name])
        _, moves = play_opening(engine, Opening(plies=self.opening, seed=number))
        for joint in moves:
            table.play(engine.move(table.state, table.mover, joint[table.mover]))
        with Searcher(engine, self.config, number) as searcher:
            while not table.position.terminal:
                table.play(self.think(table, searcher) if table.mover == role else self.ask(table, rival, number))
        goals = table.position.goals or (0, 0)
        return goals[role] / 100

    def think(self, table: Table, searcher: Searcher) -> Move:
        begun = perf_counter()
        searcher.go_to(table.state)
        found = searcher.think(Limit(seconds=self.seconds))
        self.ours.add(perf_counter() - begun, found.simulations)
        return searcher.best(table.mover)

    def ask(self, table: Table, rival: Any, number: int) -> Move:
        evaluator = rival.pyspiel.RandomRolloutEvaluator(1, number)
        bot = rival.pyspiel.MCTSBot(
            rival.game,
            evaluator,
            rival.exploration,
            MANY,
            MEGABYTES,
            True,
            number,
            False,
            max_wall_clock_time=self.seconds,
        )
        begun = perf_counter()
        action = bot.step(table.theirs)
        self.theirs.add(perf_counter() - begun)
        return next(move for move, other in table.actions().items() if other == action)
