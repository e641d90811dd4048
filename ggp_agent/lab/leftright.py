"""LeftRight: how much transpositions help where nearly every move order leads to the same position.

At each of 300 steps the only player goes to the left or to the right; the payoff is the share of steps to the left. A
position is the number of steps and how many of them went to the left. Every move is searched with few playouts in a
fresh graph, and the most visited move is played (Saffidine, Cazenave and Mehat, UCD, section 4.1 and figure 4).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine.block import Block
from ggp_agent.errors import ConfigError
from ggp_agent.search.config import INFINITE, SearchConfig, depths_text
from ggp_agent.search.graph import Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.table import EDGES, JOINTS, NODES, NONE, RANDOM, hash_state, kernel
from ggp_agent.search.ucd import KNOWN, MOVES, STEP, WALK, arrive, new_position, random_below, walk_on
from ggp_agent.search.update import update

STEPS, PLAYOUTS, RUNS, EXPLORATION = 300, 100, 200, 0.3
QUICK_RUNS = 10
CHUNK = 10  # runs between writes
LEFT = 0  # the number of the move
STEP_BITS = 16  # a state is one word: the steps made, and above them how many went to the left
MEGABYTES = 4
FILE = "leftright.jsonl"
DEPTHS_1 = (*range(9), INFINITE)
DEPTHS_3 = (0, 1, 2)
OFF, ALL = "transpositions off", "update-all"
PAPER = {OFF: 81.5, ALL: 77.7, "inf:0:1": 99.8}  # percent


@kernel
def count_lefts(g, steps):  # type: ignore[no-untyped-def]
    """How many of so many random steps go to the left."""
    lefts = 0
    while steps > 0:
        bits = random_below(g, 1 << 32)
        if steps < 32:
            bits &= (1 << steps) - 1
        while bits:
            bits &= bits - 1
            lefts += 1
        steps -= 32
    return lefts


@kernel
def simulate(g, steps, scratch):  # type: ignore[no-untyped-def]
    """One simulation from the root."""
    g.at[0] = g.root[0]
    need = WALK
    while need != KNOWN:
        if need == WALK:
            need = walk_on(g, 0)
        elif need == MOVES:
            expand(g, g.at[0], scratch.moves, scratch.counts)
            need = WALK
        elif need == STEP:
            last = g.length[0] - 1
            state = g.state[g.nodes[0, last], 0] + np.uint64(1)
            if g.move[g.path[0, last]] == LEFT:
                state += np.uint64(1 << STEP_BITS)
            scratch.state[0] = state
            scratch.payoff[0] = np.int64(state >> np.uint64(STEP_BITS)) / steps
            over = np.int64(state & np.uint64((1 << STEP_BITS) - 1)) == steps
            need = arrive(g, 0, scratch.state, hash_state(scratch.state, 0), over, scratch.payoff)
        else:
            state = g.state[g.at[0], 0]
            made = np.int64(state & np.uint64((1 << STEP_BITS) - 1))
            lefts = np.int64(state >> np.uint64(STEP_BITS))
            g.payoff[0, 0] = (lefts + count_lefts(g, steps - made)) / steps
            need = KNOWN
    update(g, 0)


@kernel
def choose(g, made, lefts, steps, playouts, scratch):  # type: ignore[no-untyped-def]
    """The most visited move after some playouts in an empty graph, ties at random."""
    for what in (NODES, EDGES, JOINTS):
        g.used[what] = 0
    for slot in range(len(g.table)):
        g.table[slot] = NONE
    scratch.state[0] = np.uint64(made + (lefts << STEP_BITS))
    g.root[0] = new_position(g, scratch.state, 0, hash_state(scratch.state, 0), made)
    for _ in range(playouts):
        simulate(g, steps, scratch)
    first = g.first[g.root[0]]
    one, other = g.n[first], g.n[first + 1]
    if one == other:
        return g.move[first + random_below(g, 2)]
    return g.move[first] if one > other else g.move[first + 1]


@kernel
def play(g, steps, playouts, scratch):  # type: ignore[no-untyped-def]
    """One game: how many steps went to the left."""
    lefts = 0
    for made in range(steps):
        lefts += choose(g, made, lefts, steps, playouts, scratch) == LEFT
    return lefts


def setting_config(setting: str, exploration: float = EXPLORATION) -> SearchConfig:
    """The search that a setting means: depths such as `inf:0:1`, or OFF, or ALL."""
    common: dict[str, Any] = {"exploration": exploration, "solve": False, "virtual_loss": 0}
    if setting in (OFF, ALL):
        return SearchConfig(depths=(0, 0, 0), transpositions=setting != OFF, update_all=setting == ALL, **common)
    return SearchConfig(depths=SearchConfig.parse({"d": setting}).depths, **common)


class LeftRight:
    """Plays games of LeftRight with one configuration of the search."""

    def __init__(self, config: SearchConfig, *, steps: int = STEPS, playouts: int = PLAYOUTS) -> None:
        if not (1 <= steps < 1 << STEP_BITS and playouts >= 1):
            raise ConfigError(f"LeftRight needs 1 to {(1 << STEP_BITS) - 1} steps and at least one playout")
        self.steps, self.playouts = steps, playouts
        groups = make_groups("none", [["left", "right"]], [])
        megabytes = max(MEGABYTES, 4 * playouts // 1000)
        self.pool = Pool(config, groups, np.ones(1), words=1, graphs=1, walks=1, megabytes=megabytes, seed=0)
        for what, room in ((NODES, playouts + 2), (EDGES, 2 * playouts + 2)):
            while self.pool.room[what] < room:
                if not self.pool.grow(what):
                    raise ConfigError(f"{playouts:,} playouts a move are too many")
        self.scratch = Block(
            {
                "moves": np.array([[0, 1]], np.int32),  # int32[1, 2]: left, right
                "counts": np.array([2], np.int32),  # int32[1]
                "state": np.zeros(1, np.uint64),  # uint64[1]: where a simulation goes
                "payoff": np.zeros(1),  # float64[1]: the share of steps to the left there
            }
        )

    def play(self, seed: Sequence[int]) -> float:
        """One game: the share of steps to the left."""
        word = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
        self.pool.block["used"][RANDOM] = word >> np.uint64(1) | np.uint64(1)
        return int(play(self.pool.block, self.steps, self.playouts, self.scratch)) / self.steps


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The games of one setting."""

    setting: str
    runs: int
    percent: float  # mean share of steps to the left
    error: float  # its standard error


def score(setting: str, shares: Sequence[float]) -> Score:
    values: NDArray[np.float64] = 100 * np.array(shares)
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return Score(setting=setting, runs=len(values), percent=float(values.mean()), error=error)


def settings() -> list[str]:
    """OFF, ALL, and the depths of the table, with d2 = 0."""
    return [OFF, ALL, *(depths_text((d1, 0, d3)) for d3 in DEPTHS_3 for d1 in DEPTHS_1)]


class Store:
    """Shares of games that were played with one seed, in a file that is written as they end, to go on from there."""

    def __init__(self, folder: Path | None, seed: int) -> None:
        self.path, self.seed = folder / FILE if folder else None, seed
        self.shares: dict[str, list[float]] = {}
        if self.path and self.path.exists():
            for number, line in enumerate(self.path.read_text().splitlines(), 1):
                try:
                    entry = json.loads(line)
                    if entry["seed"] == seed:
                        self.shares.setdefault(entry["setting"], []).extend(entry["shares"])
                except (ValueError, KeyError, TypeError) as error:
                    raise ConfigError(f"{self.path}:{number} is damaged; remove this line to go on") from error

    def add(self, setting: str, shares: list[float]) -> None:
        self.shares.setdefault(setting, []).extend(shares)
        if self.path:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                file.write(json.dumps({"setting": setting, "seed": self.seed, "shares": shares}) + "\n")


def run(
    wanted: Iterable[str] | None = None,
    *,
    runs: int = RUNS,
    seed: int = 0,
    folder: Path | None = None,
    tell: Callable[[Score], None] | None = None,
) -> dict[str, Score]:
    """Play so many games with every setting; those found in `folder` count, and new ones are kept there.

    `tell` hears of a setting when its games are done. Game k of a setting has a seed of its own, so the result does not
    depend on how often the experiment was interrupted.
    """
    store, scores = Store(folder, seed), {}
    for setting in settings() if wanted is None else wanted:
        done = store.shares.setdefault(setting, [])
        player = LeftRight(setting_config(setting)) if len(done) < runs else None
        while player and len(done) < runs:
            numbers = range(len(done), min(runs, len(done) + CHUNK))
            store.add(setting, [player.play((seed, crc32(setting.encode()), number)) for number in numbers])
        scores[setting] = score(setting, done[:runs])
        if tell:
            tell(scores[setting])
    return scores


def plot(scores: dict[str, Score], path: Path) -> None:
    """The scores over d1, a line for each d3, as in figure 4 of the paper."""
    try:
        import matplotlib
    except ImportError as error:
        raise ConfigError("a figure needs matplotlib: pip install 'ggp-agent[plot]'") from error
    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    for d3 in DEPTHS_3:
        names = [depths_text((d1, 0, d3)) for d1 in DEPTHS_1]
        known = [(k, scores[name]) for k, name in enumerate(names) if name in scores]
        places, percents, errors = (
            [k for k, _ in known],
            [found.percent for _, found in known],
            [found.error for _, found in known],
        )
        axes.errorbar(places, percents, yerr=errors, marker="o", capsize=3, label=f"d3 = {d3}")
    for name, style in ((OFF, "--"), (ALL, ":")):
        if name in scores:
            axes.axhline(scores[name].percent, color="black", linestyle=style, linewidth=1, label=name)
    axes.set_xticks(range(len(DEPTHS_1)), ["inf" if d1 == INFINITE else str(d1) for d1 in DEPTHS_1])
    axes.set_xlabel("d1")
    axes.set_ylabel("steps to the left, %")
    axes.set_title(f"LeftRight: {STEPS} steps, {PLAYOUTS} playouts a move, c = {EXPLORATION}, d2 = 0")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
