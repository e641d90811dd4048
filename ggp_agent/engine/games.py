"""The games that come with ggp_agent: rules.kif and meta.toml in one folder a game."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from ggp_agent.engine.base import Game
from ggp_agent.errors import ConfigError

MAX_SUGGESTIONS = 3
MAX_NAME = 4_000  # characters of a path


@dataclass(frozen=True, kw_only=True, slots=True)
class Shipped:
    """What meta.toml says of a game."""

    name: str
    rules: Path
    title: str
    summary: str  # one sentence
    origin: str  # where the rules of the game are from
    perft: tuple[int, ...]  # joint-move paths of length 1, 2, ..., counted by `perft_source`
    perft_source: str
    open_spiel: str | None  # what OpenSpiel calls the game, if it has it
    open_spiel_differs: str | None  # in what OpenSpiel's game differs, where it does


def folder() -> Path:
    """The folder of games, in a checkout or in an installed package."""
    return Path(str(files("gdl_games").joinpath("connect_four"))).parent


def shipped() -> list[Shipped]:
    """All our games, by name."""
    return [_read(path) for path in sorted(folder().glob("*/meta.toml"))]


def _read(path: Path) -> Shipped:
    meta = tomllib.loads(path.read_text(encoding="utf-8"))
    return Shipped(
        name=path.parent.name,
        rules=path.with_name("rules.kif"),
        title=meta["title"],
        summary=meta["summary"],
        origin=meta["origin"],
        perft=tuple(meta["perft"]["counts"]),
        perft_source=meta["perft"]["source"],
        open_spiel=meta.get("open_spiel"),
        open_spiel_differs=meta.get("open_spiel_differs"),
    )


def find(name: str) -> Path:
    """The rulesheet that a user means: the name of one of our games, or a path."""
    if len(name) > MAX_NAME:
        raise ConfigError(f"{name[:40]}... is neither a file nor one of our games: it has {len(name):,} characters")
    path = folder() / name / "rules.kif"
    if name.isidentifier() and path.is_file():
        return path
    if Path(name).is_dir() and (Path(name) / "rules.kif").is_file():
        return Path(name) / "rules.kif"
    if Path(name).exists():
        return Path(name)
    close = get_close_matches(name, [game.name for game in shipped()], MAX_SUGGESTIONS, 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else "'ggp games' lists our games."
    raise ConfigError(f"{name} is neither a file nor one of our games; {hint}")


def load(name: str) -> Game:
    """One of our games by its name, or the game in a file."""
    return Game.load(find(name))
