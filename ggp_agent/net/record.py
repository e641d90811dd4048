"""Match records: JSON with all keys of ggp-base's, and under `ggpAgent` what only we know.

A record has one state more than joint moves; `stateTimes` and `errors` go with the states, and the first row of errors
belongs to START. States and moves are in the words of the rulesheet, whatever the players were sent.
"""

from __future__ import annotations

import json
import string
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Any, Self

from ggp_agent.errors import ConfigError, GdlSyntaxError
from ggp_agent.gdl import Term
from ggp_agent.gdl.reader import Group, read
from ggp_agent.gdl.sheet import Builder

MAX_BYTES = 100_000_000
TOKEN_CHARACTERS = string.ascii_letters + string.digits


def now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


@dataclass(kw_only=True, slots=True)
class Turn:
    """How one role came to its move; None where nobody tells."""

    seconds: float | None = None  # from the question to the answer
    value: float | None = None  # what the player thinks its move is worth, 0..1
    visits: int | None = None  # simulations that began with the move
    simulations: int | None = None


@dataclass(kw_only=True, slots=True)
class Record:
    """One match, written down as it is played."""

    match: str
    players: list[str]  # names, one a role
    human: list[bool]
    start_clock: int
    play_clock: int
    scrambled: bool
    token: str = field(default_factory=lambda: "".join(SystemRandom().choices(TOKEN_CHARACTERS, k=32)))
    start_time: int = field(default_factory=now_milliseconds)
    states: list[str] = field(default_factory=list)
    state_times: list[int] = field(default_factory=list)  # milliseconds since 1970
    errors: list[list[str]] = field(default_factory=list)  # "", "TO", "CE" or "IL move"
    moves: list[list[str]] = field(default_factory=list)
    turns: list[list[Turn]] = field(default_factory=list)  # as moves
    goals: list[int] | None = None  # once the match is over
    aborted: bool = False
    game: str = ""
    roles: list[str] = field(default_factory=list)
    specs: list[str] = field(default_factory=list)  # the players as the user wrote them
    seed: int | None = None
    tournament: str = ""

    def add_state(self, state: str, errors: list[str]) -> None:
        self.states.append(state)
        self.state_times.append(now_milliseconds())
        self.errors.append(errors)

    def to_json(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "matchId": self.match,
            "randomToken": self.token,
            "startTime": self.start_time,
            "isCompleted": self.goals is not None,
            "isAborted": self.aborted,
            "states": self.states,
            "moves": self.moves,
            "stateTimes": self.state_times,
            "errors": self.errors,
        }
        if self.goals is not None:
            record["goalValues"] = self.goals
        return record | {
            "previewClock": -1,
            "startClock": self.start_clock,
            "playClock": self.play_clock,
            "playerNamesFromHost": self.players,
            "isPlayerHuman": self.human,
            **({"tournamentNameFromHost": self.tournament} if self.tournament else {}),
            "scrambled": self.scrambled,
            "ggpAgent": {
                "game": self.game,
                "roles": self.roles,
                "players": self.specs,
                "seed": self.seed,
                "turns": [
                    [{name: getattr(turn, name) for name in Turn.__slots__} for turn in row] for row in self.turns
                ],
            },
        }

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """A record of ours or of ggp-base; ConfigError if the file holds none."""
        try:
            if path.stat().st_size > MAX_BYTES:
                raise ConfigError(f"{path} is no match record: it has more than {MAX_BYTES:,} bytes")
            data = json.loads(path.read_bytes())
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path} is no match record: {error}") from error
        try:
            return cls.from_json(data)
        except ConfigError as error:
            raise ConfigError(f"{path} is no match record: {error}") from error

    @classmethod
    def from_json(cls, data: object) -> Self:
        if not isinstance(data, dict):
            raise ConfigError("a JSON object is expected")
        mine = data.get("ggpAgent")
        mine = mine if isinstance(mine, dict) else {}
        states = texts(data, "states")
        moves = rows(data, "moves")
        width = len(moves[0]) if moves else len(texts(data, "playerNamesFromHost", ()))
        record = cls(
            match=text(data, "matchId"),
            token=text(data, "randomToken", ""),
            start_time=number(data, "startTime", 0),
            players=texts(data, "playerNamesFromHost", [""] * width),
            human=[human is True for human in _list(data, "isPlayerHuman", [False] * width)],
            start_clock=number(data, "startClock", 0),
            play_clock=number(data, "playClock", 0),
            scrambled=data.get("scrambled") is True,
            states=states,
            state_times=numbers(data, "stateTimes", [0] * len(states)),
            errors=rows(data, "errors", [[""] * width for _ in states]),
            moves=moves,
            goals=numbers(data, "goalValues") if "goalValues" in data else None,
            aborted=data.get("isAborted") is True,
            game=text(mine, "game", ""),
            roles=texts(mine, "roles", [f"role {number}" for number in range(1, width + 1)]),
            specs=texts(mine, "players", ()),
            tournament=text(data, "tournamentNameFromHost", ""),
            seed=number(mine, "seed", 0) if mine.get("seed") is not None else None,
        )
        record.turns = [[read_turn(cell) for cell in row] for row in _list(mine, "turns", ()) if isinstance(row, list)]
        record.check(width)
        return record

    def check(self, width: int) -> None:
        """ConfigError unless the parts fit together."""
        if len(self.states) != len(self.moves) + 1:
            raise ConfigError(
                f"{len(self.moves)} joint moves need {len(self.moves) + 1} states, not {len(self.states)}"
            )
        for name, rows_ in (("stateTimes", self.state_times), ("errors", self.errors)):
            if len(rows_) != len(self.states):
                raise ConfigError(f"there are {len(self.states)} states, and {len(rows_)} rows of {name}")
        widths = {len(row) for row in [*self.moves, *self.errors]}
        widths |= {len(self.roles), len(self.players), len(self.human)}
        if self.goals is not None:
            widths.add(len(self.goals))
        if widths - {width}:
            raise ConfigError("its rows do not all have one entry a role")

    def fluents(self, step: int) -> list[Term]:
        """What was true in a state; ConfigError if its text cannot be read."""
        try:
            (group,) = read(self.states[step], f"state {step}").items
            builder = Builder(f"state {step}", {})
            terms = [builder.term(item) for item in group.items] if isinstance(group, Group) else [None]
        except (GdlSyntaxError, ValueError) as error:
            raise ConfigError(f"state {step} cannot be read: {error}") from error
        fluents = [term for term in terms if isinstance(term, Term)]
        if len(fluents) != len(terms):
            raise ConfigError(f"state {step} is not a list of fluents")
        return fluents


# Reading JSON that anybody may have written


def _list(data: dict[str, Any], name: str, default: Any = None) -> list[Any]:
    value = data.get(name, default)
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{name} must be a list")
    return list(value)


def text(data: dict[str, Any], name: str, default: str | None = None) -> str:
    value = data.get(name, default)
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be a text")
    return value


def number(data: dict[str, Any], name: str, default: int | None = None) -> int:
    value = data.get(name, default)
    if not isinstance(value, int):
        raise ConfigError(f"{name} must be a whole number")
    return value


def texts(data: dict[str, Any], name: str, default: Any = None) -> list[str]:
    found = _list(data, name, default)
    return [text({name: item}, name) for item in found]


def numbers(data: dict[str, Any], name: str, default: Any = None) -> list[int]:
    found = _list(data, name, default)
    return [number({name: item}, name) for item in found]


def rows(data: dict[str, Any], name: str, default: Any = None) -> list[list[str]]:
    found = _list(data, name, default)
    return [texts({name: row}, name) for row in found]


def read_turn(cell: object) -> Turn:
    known = cell if isinstance(cell, dict) else {}
    return Turn(**{name: known[name] for name in Turn.__slots__ if isinstance(known.get(name), int | float)})
