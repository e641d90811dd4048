"""The settings of a player: `serve.toml` beside this file holds the defaults, one commented line each."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from ggp_agent.errors import ConfigError
from ggp_agent.search.config import SearchConfig

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,19}")  # what all known servers accept
MAX_BYTES = 100_000  # of a settings file


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayerConfig:
    """Who the player is, where it listens, how it keeps the clock, how it searches."""

    name: str = "ggp_agent"
    host: str = "0.0.0.0"
    port: int = 9147
    margin_seconds: float = 1.0
    silence_seconds: float = 600.0
    playouts: int = 0  # after which a move is played without waiting for the clock; 0: never
    seed: int = 0
    search: SearchConfig = field(default_factory=SearchConfig)

    def __post_init__(self) -> None:
        checks = [
            ("name", bool(NAME.fullmatch(self.name)), "2 to 20 letters, digits, - or _, a letter first"),
            ("name", self.name.lower() != "random", "another word than random, which servers keep for themselves"),
            ("port", 0 <= self.port <= 65535, "0..65535"),
            ("margin_seconds", 0 <= self.margin_seconds < math.inf, "0 or more"),
            ("playouts", self.playouts >= 0, "0 or more"),
            ("silence_seconds", 0 < self.silence_seconds < math.inf, "more than 0"),
        ]
        for name, sound, wanted in checks:
            if not sound:
                raise ConfigError(f"{name} is {getattr(self, name)!r}: it must be {wanted}")

    @classmethod
    def load(cls, path: Path) -> Self:
        """The settings in a file; what it does not name keeps its default."""
        try:
            data = path.read_bytes()
            if len(data) > MAX_BYTES:
                raise ConfigError(f"{path} has {len(data):,} bytes; settings may have {MAX_BYTES:,}")
            table = tomllib.loads(data.decode())
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
        except ValueError as error:  # bad TOML and bad UTF-8 are both of this kind
            raise ConfigError(f"{path} is not a settings file: {error}") from error
        try:
            return cls.parse(table)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from error

    @classmethod
    def parse(cls, table: Mapping[str, Any]) -> Self:
        """Settings from a table as TOML gives it."""
        kinds = {f.name: type(getattr(cls(), f.name)) for f in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in table.items():
            if name not in kinds:
                raise ConfigError(f"there is no setting {name}; there are: {', '.join(kinds)}")
            if name == "search":
                if not isinstance(value, Mapping):
                    raise ConfigError("search must be a table: write [search] and its settings below")
                values[name] = SearchConfig.parse({key: text(value) for key, value in value.items()})
            elif type(value) is kinds[name] or (kinds[name] is float and type(value) is int):
                values[name] = kinds[name](value)
            else:
                kind = {str: "a text", int: "a whole number", float: "a number"}[kinds[name]]
                raise ConfigError(f"{name} is {value!r}: {kind} is needed")
        return replace(cls(), **values)

    def with_search(self, settings: Mapping[str, str]) -> Self:
        """The same with some search settings changed, given by short names and texts."""
        return replace(self, search=SearchConfig.parse({**self.search.settings(), **settings}))


def text(value: object) -> str:
    """A search setting as text, whether TOML has it as text, number or truth value."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def default_file() -> str:
    """The settings file with all defaults and their comments."""
    return files("ggp_agent.net").joinpath("serve.toml").read_text(encoding="utf-8")
