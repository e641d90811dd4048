"""Players in this process, and how to make one from its text."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol

from ggp_agent.engine import Engine, Move, Position, State
from ggp_agent.errors import ConfigError
from ggp_agent.play.spec import PlayerSpec
from ggp_agent.search import Limit

if TYPE_CHECKING:
    from ggp_agent.search import Analysis, Searcher

DEFAULT_LIMIT = Limit(seconds=1.0)  # of a move, for players without a limit in matches without a clock


class Player(Protocol):
    """Chooses moves for one role."""

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        """One of `position.legal[role]`."""


class RandomPlayer:
    """Plays any legal move with the same chance."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        return self.random.choice(position.legal[role])


class LegalPlayer:
    """Plays the first legal move."""

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        return position.legal[role][0]


class SearchPlayer:
    """Thinks about every position in which it has a choice. `analysis` is what it last thought."""

    def __init__(self, searcher: Searcher, limit: Limit) -> None:
        self.searcher, self.limit = searcher, limit
        self.analysis: Analysis | None = None

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        if len(position.legal[role]) == 1:
            return position.legal[role][0]
        self.searcher.go_to(state)
        self.analysis = self.searcher.think(self.limit)
        return self.searcher.best(role)


def make_player(spec: PlayerSpec, engine: Engine, role: int, seed: int) -> Player:
    """The player that a text means, if it needs nothing but an engine."""
    if spec.kind == "random":
        return RandomPlayer(seed)
    if spec.kind == "legal":
        return LegalPlayer()
    if spec.kind == "ucd":
        from ggp_agent.search import Searcher  # numba takes a while

        return SearchPlayer(Searcher(engine, spec.config, seed), spec.limit or DEFAULT_LIMIT)
    raise ConfigError(f"{spec.text}: players of the kind {spec.kind} cannot play here")
