"""Players as text: `ucd,d=1:0:1,playouts=2000,groups=stages`, `random`, `legal`, `human`, `http://host:port`.

`server,...` has the settings of `ucd`, but plays over HTTP, in a server process that is started for the match."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Self

from ggp_agent.errors import ConfigError
from ggp_agent.search.config import Limit, SearchConfig

Kind = Literal["ucd", "server", "random", "legal", "human", "http"]
LIMITS = {"seconds": float, "playouts": int, "nodes": int}


@dataclass(frozen=True, kw_only=True, slots=True)
class PlayerSpec:
    """Who plays. `text` is what the user wrote, and the name of the player in records unless `name=` gave one."""

    text: str
    kind: Kind
    name: str
    config: SearchConfig = field(default_factory=SearchConfig)
    limit: Limit | None = None  # of a move; None: what the clock of the match allows
    url: str = ""  # of an HTTP player

    @classmethod
    def parse(cls, text: str) -> Self:
        text = text.strip()
        if text.startswith(("http://", "https://")):
            return cls(text=text, kind="http", name=text, url=text)
        kind, *parts = text.split(",")
        if kind not in ("ucd", "server", "random", "legal", "human"):
            raise ConfigError(f"{text!r} is no player: it begins with ucd, server, random, legal, human or http://")
        settings: dict[str, str] = {}
        for part in parts:
            key, equals, value = part.partition("=")
            if not equals or not key or key in settings:
                raise ConfigError(f"{text!r}: {part!r} is not a setting of the form name=value, given once")
            settings[key] = value
        name = settings.pop("name", text)
        limits = {key: settings.pop(key) for key in LIMITS if key in settings}
        if kind not in ("ucd", "server") and (settings or limits):
            raise ConfigError(f"{text!r}: a {kind} player has no settings but name")
        if kind == "server" and limits.keys() - {"playouts"}:
            raise ConfigError(f"{text!r}: a server goes by the clock of the match, or by playouts=")
        try:
            numbers = {key: LIMITS[key](value) for key, value in limits.items()}
        except ValueError as error:
            raise ConfigError(f"{text!r}: {error}") from error
        return cls(
            text=text,
            kind=kind,  # type: ignore[arg-type]  # checked above
            name=name,
            config=SearchConfig.parse(settings),
            limit=Limit(**numbers) if numbers else None,
        )
