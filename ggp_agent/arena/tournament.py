"""What a tournament is: its games, its players, and who meets whom how often; read from TOML or flags, and checked.

games   = ["connect_four", "breakthrough_6x6"]
players = ["ucd,playouts=1000,name=new", "ucd,playouts=1000,c=0.5,name=old"]
sets    = 200        # rotation sets of every pairing in every game
opening = 2          # joint moves at random before the players take over
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from ggp_agent.arena.statistics import Sprt
from ggp_agent.engine import Game, games
from ggp_agent.errors import ConfigError
from ggp_agent.play.spec import PlayerSpec

KINDS = ("round-robin", "gauntlet")
MAX_SETS = 10_000_000
MAX_OPENING = 1_000
MAX_PLIES = 10_000
MAX_CLOCK = 86_400
MAX_ROLES = 8  # two players fill the roles of a game in 2 ** roles - 2 ways
MAX_SEED = 2**62


@dataclass(frozen=True, kw_only=True)
class Tournament:
    """A checked definition. Matches depend on all of it but `sets` and `sprt`, which only say when to stop."""

    games: tuple[str, ...]  # names of our games, or paths of rulesheets
    players: tuple[PlayerSpec, ...]
    kind: str = "round-robin"  # everybody meets everybody; in a gauntlet, the first meets the others
    sets: int = 100  # rotation sets of every pairing in every game, at most
    opening: int = 0  # random joint moves at the beginning, the same in all matches of a set
    seed: int = 0
    start_clock: int = 10  # seconds; this and
    play_clock: int = 5  # this hold for matches with players over HTTP
    max_plies: int = MAX_PLIES  # a match longer than this, its opening included, is a draw
    sprt: Sprt | None = None

    def __post_init__(self) -> None:
        if not self.games:
            raise ConfigError("a tournament needs a game")
        if len(self.players) < 2:
            raise ConfigError(f"a tournament needs two players or more; there are {len(self.players)}")
        for what, names in (("game", self.games), ("player", tuple(player.name for player in self.players))):
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                hint = "; give players different names with name=" if what == "player" else ""
                raise ConfigError(f"the {what} {twice[0]} is there twice{hint}")
        if self.kind not in KINDS:
            raise ConfigError(f"kind is {self.kind}; it must be one of {', '.join(KINDS)}")
        for name, low, high in (
            ("sets", 1, MAX_SETS),
            ("opening", 0, MAX_OPENING),
            ("seed", -MAX_SEED, MAX_SEED),
            ("start_clock", 1, MAX_CLOCK),
            ("play_clock", 1, MAX_CLOCK),
            ("max_plies", 1, MAX_PLIES),
        ):
            if not low <= getattr(self, name) <= high:
                raise ConfigError(f"{name} is {getattr(self, name):,}; it must be from {low:,} to {high:,}")
        if self.sprt is not None and len(self.players) != 2:
            raise ConfigError(f"a sequential test is between two players; there are {len(self.players)}")
        for player in self.players:
            if player.kind == "human":
                raise ConfigError("people do not play in tournaments; 'ggp play' is for them")
            if player.kind == "server":
                raise ConfigError(f"{player.text}: start it with 'ggp serve', and let its address play")
            if player.kind == "ucd" and player.limit is None:
                raise ConfigError(f"{player.text}: how long may it think? playouts=, nodes= or seconds= is needed")

    @cached_property
    def loaded(self) -> dict[str, Game]:
        """The games by the names that they have here. A rulesheet that is wrong raises what `load` raises."""
        found = {name: games.load(name) for name in self.games}
        for name, game in found.items():
            if len(game.roles) > MAX_ROLES:
                raise ConfigError(
                    f"{name} has {len(game.roles)} roles; tournaments can have games of up to {MAX_ROLES}"
                )
        return found

    def definition(self) -> dict[str, Any]:
        """All that matches depend on, as JSON can hold it; the rules of the games as digests."""
        remote = any(player.kind == "http" for player in self.players)
        return {
            "games": [[name, rules_digest(game)] for name, game in self.loaded.items()],
            "players": [player.text for player in self.players],
            "kind": self.kind,
            "opening": self.opening,
            "seed": self.seed,
            "max_plies": self.max_plies,
            **({"start_clock": self.start_clock, "play_clock": self.play_clock} if remote else {}),
        }

    @classmethod
    def parse(cls, settings: Mapping[str, Any]) -> Self:
        """A tournament from settings as TOML has them; `sprt = [elo0, elo1]` may have `alpha` and `beta` beside it."""
        settings = dict(settings)
        kinds = {field.name: field.default for field in fields(cls)}
        known = [*kinds, "alpha", "beta"]
        for name in settings:
            if name not in known:
                close = get_close_matches(name, known, 1)
                hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
                raise ConfigError(f"there is no setting {name} of a tournament; {hint}")
        for name, default in kinds.items():
            if name in settings and isinstance(default, int | str):
                check_type(name, settings[name], type(default))
            elif default is MISSING:
                check_texts(name, settings.setdefault(name, []))
        chances: dict[str, float] = {
            name: number(name, settings.pop(name)) for name in ("alpha", "beta") if name in settings
        }
        if settings.get("sprt") is not None:
            settings["sprt"] = parse_sprt(settings["sprt"], chances)
        elif chances:
            raise ConfigError(f"{next(iter(chances))} belongs to a sequential test: sprt = [elo0, elo1] is missing")
        settings["games"] = tuple(settings["games"])
        settings["players"] = tuple(PlayerSpec.parse(text) for text in settings["players"])
        return cls(**settings)


def parse_sprt(value: Any, chances: Mapping[str, float]) -> Sprt:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ConfigError(f"sprt is {value!r}; it must be two Elo differences, as in [0, 10]")
    return Sprt(elo0=number("sprt", value[0]), elo1=number("sprt", value[1]), **chances)


def number(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ConfigError(f"{name} is {value!r}; it must be a number")
    return float(value)


def check_type(name: str, value: Any, wanted: type) -> None:
    if type(value) is not wanted:
        raise ConfigError(f"{name} is {value!r}; it must be {'an integer' if wanted is int else 'a text'}")


def check_texts(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise ConfigError(f"{name} is {value!r}; it must be a list of texts")


def rules_digest(game: Game) -> str:
    """A name for the rules of a game, the same however they are laid out."""
    return blake2b("\n".join(map(str, game.rules)).encode(), digest_size=16).hexdigest()


def read_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file, not yet checked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise ConfigError(f"{path} is not a tournament file: {error}") from error
