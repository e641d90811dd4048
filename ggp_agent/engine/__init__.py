"""Rules -> a game that can be stepped."""

from ggp_agent.engine.base import Engine, Game, JointMove, Move, Playouts, Position, State
from ggp_agent.engine.prolog import PrologEngine
from ggp_agent.errors import ConfigError

ENGINES: dict[str, type[PrologEngine]] = {"prolog": PrologEngine}


def open_engine(game: Game, name: str) -> Engine:
    """An engine by the name that `--engine` takes."""
    if name not in ENGINES:
        raise ConfigError(f"there is no engine {name}; there are: {', '.join(ENGINES)}")
    return ENGINES[name](game)


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
