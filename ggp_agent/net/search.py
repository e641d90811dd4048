"""What a player needs of a search, and which search it gets for an engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ggp_agent.engine import Engine, JointMove, Move, State
from ggp_agent.search.config import Limit, SearchConfig


class Line(Protocol):
    """What a search thinks of one move."""

    @property
    def move(self) -> Move: ...
    @property
    def visits(self) -> int: ...
    @property
    def value(self) -> float: ...


class Analysis(Protocol):
    """What a search thinks of a position."""

    @property
    def simulations(self) -> int: ...
    @property
    def value(self) -> Sequence[float]: ...  # one a role, 0..1
    @property
    def lines(self) -> Sequence[Sequence[Line]]: ...  # lines[role]


class Search(Protocol):
    """Thinks about positions of one match. One thread thinks; `stop` may be called from any, the rest between."""

    def start(self, state: State | None = None) -> None:
        """Forget everything and begin from a state, or from the initial one."""

    def advance(self, joint: JointMove) -> None:
        """Play a joint move; IllegalMove if it is not legal."""

    def think(self, limit: Limit) -> Analysis:
        """Search until the limit, until `stop`, or until there is nothing left to find out."""

    def stop(self) -> None:
        """Let a running `think` return soon."""

    def best(self, role: int) -> Move:
        """The move to play, always a legal one."""

    def analyse(self) -> Analysis:
        """What is known of the position."""

    def close(self) -> None:
        """Give back what the search holds; the engine stays open."""


OpenSearch = Callable[[Engine, SearchConfig, int], Search]


def open_search(engine: Engine, config: SearchConfig, seed: int) -> Search:
    """The search for an engine, at the initial state."""
    from ggp_agent.search.searcher import Searcher  # numba takes a while

    return Searcher(engine, config, seed)
