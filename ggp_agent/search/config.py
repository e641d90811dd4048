"""Everything that a user can set about a search, checked.

Settings have short names, as in `d=1:0:1,c=0.4,groups=stages,lanes=64`, which is how players are written on the command
line, in tournament files and in match records.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from ggp_agent.errors import ConfigError

INFINITE = 1_000_000  # a depth without bound
MAX_DEPTH = 64  # of finite depths
PLAIN_DEPTHS, GROUP_DEPTHS = (1, 0, 1), (0, 0, 0)  # where they are not set
PARALLEL = ("tree", "leaf", "root")
# What `groups` may be; whether it fits a game is known when it meets one. `table` and `prior` need what only a caller
# in Python can give.
GROUPS = re.compile(
    r"none|stages|stages:auto|stages(:[0-9]+)+|near(:[0-9]+)?|ranked:(123|134):((once|every):[1-9][0-9]*|powers)"
    r"|prior(:[1-9][0-9]*)?|table"
)
GROUPS_TEXT = (
    "none, stages, stages:2:4, near, near:3, ranked:123:once:64, ranked:134:every:100, ranked:123:powers or prior"
)
MIN_MEGABYTES = 1
MAX_LANES = 512
MOST_LANES = 256  # where the number is not set
PLAYOUTS_PER_LANE = 100  # at least, one after the other, where the number of lanes is not set


def setting(name: str, default: Any) -> Any:
    """A field with the short name that users write."""
    return field(default=default, metadata={"name": name})


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchConfig:
    """How to search. Payoffs are goals divided by 100, so the exploration constant belongs to values from 0 to 1."""

    # (d1, d2, d3) of UCD, each 0, 1, 2, ... or INFINITE; not set: PLAIN_DEPTHS or GROUP_DEPTHS. Depths see through
    # groups, which takes layers that cost more than they give.
    depths: tuple[int, int, int] = setting("d", ())
    transpositions: bool = setting("transpositions", True)  # off: a tree, UCT0 of Childs et al.
    update_all: bool = setting("update_all", False)  # every ancestor gets the payoff: a baseline known to fail
    exploration: float = setting("c", 0.4)
    first_play_urgency: float = setting("fpu", math.inf)  # the worth of a move that was never tried
    ripe: int = setting("ripe", 2)  # the simulation through an edge, counted from 1, that adds the position behind it
    decisive: bool = setting("decisive", True)  # see `engine.decisive`; off: all legal moves are considered
    virtual_loss: int = setting("virtual_loss", 1)  # losses that a simulation counts as while it runs
    solve: bool = setting("solve", True)  # prove values from terminal positions
    rave: float = setting("rave", 0.0)  # the bias of RAVE, such as 0.001; 0 turns it off
    rave_depth: int = setting("rave_depth", 0)  # 0: values of the position; 1: those of its children mixed
    groups: str = setting("groups", "none")
    parallel: str = setting("parallel", "tree")  # how lanes share graphs
    lanes: int = setting("lanes", 0)  # simulations at once in each worker; 0: as many as `lanes_for` thinks good
    workers: int = setting("workers", 1)  # threads, each with a graph of its own
    megabytes: int = setting("megabytes", 1024)  # for the graphs of all workers
    max_plies: int = setting("max_plies", 2000)  # a simulation longer than this counts as a draw

    def __post_init__(self) -> None:
        if not self.depths:
            object.__setattr__(self, "depths", PLAIN_DEPTHS if self.groups == "none" else GROUP_DEPTHS)
        d = self.depths
        if len(d) != 3 or not all(isinstance(x, int) and (0 <= x <= MAX_DEPTH or x == INFINITE) for x in d):
            raise ConfigError(f"d is {depths_text(d)}: three depths are needed, each 0..{MAX_DEPTH} or inf")
        checks = [
            ("c", self.exploration >= 0 and math.isfinite(self.exploration), "a number that is not negative"),
            ("fpu", not math.isnan(self.first_play_urgency), "a number or inf"),
            ("ripe", self.ripe >= 1, "1 or more"),
            ("virtual_loss", self.virtual_loss >= 0, "0 or more"),
            ("rave", self.rave >= 0 and math.isfinite(self.rave), "a number that is not negative"),
            ("rave_depth", self.rave_depth in (0, 1), "0 or 1"),
            ("groups", GROUPS.fullmatch(self.groups), f"such as {GROUPS_TEXT}"),
            (
                "rave",
                self.rave == 0 or self.groups == "none",
                "0 where moves are grouped: groups have no moves to play",
            ),
            ("parallel", self.parallel in PARALLEL, f"one of {', '.join(PARALLEL)}"),
            ("lanes", 0 <= self.lanes <= MAX_LANES, f"1..{MAX_LANES}, or 0 for a number that suits the limit"),
            ("workers", 1 <= self.workers <= 256, "1..256"),
            ("megabytes", self.megabytes >= MIN_MEGABYTES, f"{MIN_MEGABYTES} or more"),
            ("max_plies", self.max_plies >= 1, "1 or more"),
        ]
        for name, sound, wanted in checks:
            if not sound:
                raise ConfigError(f"{name} must be {wanted}")

    def lanes_for(self, playouts: int | None) -> int:
        """Simulations at once in a search of so many in all: the more there are at once, the less each one knows."""
        if self.lanes or playouts is None:
            return self.lanes or MOST_LANES
        return min(MOST_LANES, 1 << max(1, playouts // PLAYOUTS_PER_LANE).bit_length() - 1)

    @classmethod
    def parse(cls, settings: Mapping[str, str]) -> Self:
        """A configuration from short names and texts; what is not named keeps its default."""
        values = {name: read(name, text) for name, text in settings.items()}
        return cls(**{FIELDS[name]: value for name, value in values.items()})

    def settings(self) -> dict[str, str]:
        """The other way: the texts of all settings that differ from their defaults."""
        default, mine = asdict(type(self)()), asdict(self)
        default["depths"] = type(self)(groups=self.groups).depths
        return {
            name: depths_text(mine[key]) if name == "d" else value_text(mine[key])
            for name, key in FIELDS.items()
            if mine[key] != default[key]
        }


FIELDS: dict[str, str] = {f.metadata["name"]: f.name for f in fields(SearchConfig)}


def value_text(value: object) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def depths_text(depths: tuple[int, ...]) -> str:
    return ":".join("inf" if depth == INFINITE else str(depth) for depth in depths)


def read(name: str, text: str) -> Any:
    """The value of one setting."""
    if name not in FIELDS:
        raise ConfigError(f"there is no setting {name}; there are: {', '.join(FIELDS)}")
    default = getattr(SearchConfig(), FIELDS[name])
    try:
        if name == "d":
            return tuple(INFINITE if part == "inf" else int(part) for part in text.split(":"))
        if isinstance(default, bool):
            return {"on": True, "off": False}[text]
        return type(default)(text)
    except (ValueError, KeyError) as error:
        wanted = {"d": "depths such as 1:0:1 or inf:0:1"}.get(name, "on or off" if isinstance(default, bool) else "")
        kind = wanted or {int: "an integer", float: "a number"}[type(default)]
        raise ConfigError(f"{name}={text} makes no sense: {kind} is needed") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """When to stop thinking: at the first of these that is reached. Playouts and nodes count from this search on."""

    seconds: float = math.inf
    playouts: int | None = None  # simulations
    nodes: int | None = None  # new positions in the graph, unless after many simulations there are still fewer

    @property
    def is_counted(self) -> bool:
        """Does it depend on simulations alone?"""
        return self.playouts is not None and self.nodes is None and self.seconds == math.inf

    def __post_init__(self) -> None:
        if not self.seconds >= 0:
            raise ConfigError("seconds must be 0 or more")
        for name in ("playouts", "nodes"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(f"{name} must be 1 or more")
        if self.seconds == math.inf and self.playouts is None and self.nodes is None:
            raise ConfigError("a search needs a limit: seconds, playouts or nodes")
