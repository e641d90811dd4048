"""Rules -> a game that can be stepped."""

from __future__ import annotations

from collections.abc import Callable

from ggp_agent.engine.base import Engine, Game, JointMove, Move, Playouts, Position, State
from ggp_agent.engine.prolog import PrologEngine
from ggp_agent.errors import CannotGround, ConfigError

ENGINES = ("auto", "lanes", "prolog")


def open_engine(game: Game, name: str = "auto", tell: Callable[[str], None] = lambda message: None) -> Engine:
    """An engine by name. `auto` is lanes, or Prolog for a game that cannot be made ground; `tell` hears which."""
    if name not in ENGINES:
        raise ConfigError(f"there is no engine {name}; there are: {', '.join(ENGINES)}")
    if name == "prolog":
        return PrologEngine(game)
    # Imported only here: numba takes a while, and Prolog does not need it.
    from ggp_agent.engine.lanes import LanesEngine, kernels_are_ready

    if not kernels_are_ready():
        tell("compiling kernels; this happens once and takes some seconds")
    try:
        return LanesEngine(game)
    except CannotGround as error:
        if name == "lanes":
            raise
        tell(f"{error}; playing with the Prolog engine instead, which is slower")
        return PrologEngine(game)


__all__ = [
    "ENGINES",
    "Engine",
    "Game",
    "JointMove",
    "Move",
    "Playouts",
    "Position",
    "PrologEngine",
    "State",
    "open_engine",
]
