"""The experiments of Chaslot, Winands and van den Herik with leaf, root and tree parallelisation, on lanes.

The paper gives each method the same time on 1, 2, 4 and 16 threads. Here n lanes get n times the simulations of one, as
if each were a thread of its own. Strength-speedup is the paper's: a line through the ratings of the sequential search
over the logarithm of its budget says how many times the budget of one lane it needs to be as strong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ggp_agent.arena.statistics import elo_of
from ggp_agent.engine import Engine, games, open_engine
from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab.matches import FIXED, Matches, Pairing, Score, search_player
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row
from ggp_agent.search import Limit, SearchConfig, Searcher

GAME = "connect_four"
PLAYOUTS, OPPONENT = 200, 4  # of one lane, and how many times as many the opponent has
LANES = (2, 4, 16, 64)  # and threads
MATCHES, QUICK_MATCHES = 600, 20
OPENING = 2
SECONDS, QUICK_SECONDS = 2.0, 0.2  # in which simulations are counted
METHODS: dict[str, dict[str, str]] = {
    "leaf": {"parallel": "leaf"},
    "root": {"parallel": "root"},
    "tree": {"parallel": "tree", "virtual_loss": "0"},
    "tree, virtual loss": {"parallel": "tree", "virtual_loss": "1"},
}
# Games a second and strength-speedup in 13x13 Go for 2, 4 and 16 threads: tables 1, 2, 4 (local mutexes) and 5
PAPER: dict[str, tuple[str, dict[int, tuple[float, float]]]] = {
    "leaf": ("table 1", {2: (1.8, 1.2), 4: (3.3, 1.7), 16: (7.6, 2.4)}),
    "root": ("table 2", {2: (2.0, 3.0), 4: (4.0, 6.5), 16: (16.0, 14.9)}),
    "tree": ("table 4", {2: (1.9, 1.9), 4: (3.6, 3.0), 16: (8.0, 3.3)}),
    "tree, virtual loss": ("table 5", {2: (1.9, 2.0), 4: (3.6, 3.6), 16: (9.1, 8.5)}),
}
PAPER_SLOPE, PAPER_SQUARED = 56.7, 0.9922  # of the line in figure 4


def player(playouts: int, lanes: int, settings: Mapping[str, str]) -> str:
    listed = (f"{name}={value}" for name, value in settings.items())
    return search_player(f"playouts={playouts}", f"lanes={lanes}", *listed)


def parallel_experiment(order: Order) -> list[Row]:
    """Tables 1 to 6: how much faster and how much stronger lanes make a search, and threads how much faster."""
    matches = order.pick(order.runs, QUICK_MATCHES, MATCHES)
    playouts = order.playouts or PLAYOUTS
    lanes = LANES[:2] if order.quick else LANES
    record = order.record("parallel")

    def pairing(factor: int, lanes: int, settings: Mapping[str, str]) -> Pairing:
        return Pairing(
            game=GAME,
            player=player(playouts * factor, lanes, settings),
            opponent=player(playouts * OPPONENT, 1, {}),
            matches=matches,
            opening=OPENING,
        )

    pairings = {("one lane", factor): pairing(factor, 1, {}) for factor in (1, *lanes)}
    for method, settings in METHODS.items():
        for count in lanes:
            pairings[method, count] = pairing(count, count, settings)
    with Matches(record) as played:
        found = played.scores(pairings.values())
    scores = {key: found[pairing] for key, pairing in pairings.items()}
    line = trend({factor: scores["one lane", factor] for factor in (1, *lanes)})
    rates = speeds(record, (1, *lanes), QUICK_SECONDS if order.quick else SECONDS)
    draw(scores, (1, *lanes), playouts, order.out / "parallel.png")
    return rows_of(scores, rates, line)


@dataclass(frozen=True, slots=True)
class Trend:
    """The line through the ratings of the sequential search over log2 of its budget."""

    slope: float  # Elo for twice the budget
    height: float  # Elo of one lane
    squared: float  # R^2: the share of the spread of the ratings that the line explains

    def speedup(self, score: Score) -> float:
        """How many times the budget of one lane the sequential search needs for this score."""
        return float(2 ** ((rating(score) - self.height) / self.slope))


def trend(scores: Mapping[int, Score]) -> Trend:
    """By linear regression, as in figure 4 of the paper."""
    doublings, ratings = [math.log2(factor) for factor in scores], [rating(score) for score in scores.values()]
    slope, height = np.polyfit(doublings, ratings, 1)
    return Trend(float(slope), float(height), float(np.corrcoef(doublings, ratings)[0, 1] ** 2))


def rating(score: Score) -> float:
    """Elo against the opponent; somebody who won or lost everything counts as having half a point less or more."""
    least = 0.5 / score.matches
    return elo_of(min(max(score.percent / 100, least), 1 - least))


def speeds(record: Record, lanes: Sequence[int], seconds: float) -> dict[tuple[str, int], float]:
    """Simulations a second of every method and number of lanes, and of every number of threads."""

    def measure(seed: int) -> dict[str, Any]:
        found = {}
        with open_engine(games.load(GAME)) as engine:
            for name, settings in METHODS.items():
                for count in lanes:
                    found[f"{name}/{count}"] = rate(engine, {**settings, "lanes": str(count)}, seed, seconds)
            for workers in lanes:
                found[f"threads/{workers}"] = rate(engine, {"workers": str(workers)}, seed, seconds)
        return {"rates": found}

    rates = record.get(f"simulations a second, {seconds} seconds each", measure)["rates"]
    return {(name, int(count)): value for key, value in rates.items() for name, _, count in [key.partition("/")]}


def rate(engine: Engine, settings: Mapping[str, str], seed: int, seconds: float) -> float:
    """Simulations a second from the start of the game."""
    searcher = Searcher(engine, SearchConfig.parse(FIXED | dict(settings)), seed)
    searcher.think(Limit(seconds=seconds / 10))
    searcher.start()
    return searcher.think(Limit(seconds=seconds)).per_second


def rows_of(scores: Mapping[tuple[str, int], Score], rates: Mapping[tuple[str, int], float], line: Trend) -> list[Row]:
    rows = []

    def add(
        table: str, name: str, column: str, ours: float, theirs: float | None = None, interval: float | None = None
    ) -> None:
        found = Row(table=table, row=name, column=column, ours=ours, theirs=theirs, errors=None, interval=interval)
        rows.append(found)

    for (method, count), score in scores.items():
        table, printed = PAPER.get(method, ("figure 3", {}))
        name = f"{count} times the simulations" if method == "one lane" else f"{method}, {count} lanes"
        add(table, name, "score, %", score.percent, interval=score.interval)
        if method == "one lane":
            continue
        speed, strength = printed.get(count, (None, None))
        add(table, name, "speed", rates[method, count] / rates[method, 1], speed)
        add(table, name, "strength", line.speedup(score), strength)
        # The ends of the interval of the score, on the same line
        add(table, name, "from", line.speedup(replace(score, percent=score.percent - score.interval)))
        add(table, name, "to", line.speedup(replace(score, percent=score.percent + score.interval)))
    add("figure 4", "ratings of one lane", "Elo for twice the simulations", line.slope, PAPER_SLOPE)
    add("figure 4", "ratings of one lane", "R^2 of the line", line.squared, PAPER_SQUARED)
    threads = [count for name, count in rates if name == "threads"]
    for count in threads[1:]:
        add("threads", f"{count} threads", "speed", rates["threads", count] / rates["threads", 1])
    return rows


def draw(scores: Mapping[tuple[str, int], Score], lanes: Sequence[int], playouts: int, path: Path) -> None:
    """Scores over the number of lanes, as in figure 5."""
    figure, axes = pyplot().subplots(figsize=(7.5, 5))
    for shift, method in enumerate(("one lane", *METHODS)):
        counts = [count for count in lanes if (method, count) in scores]
        places = [count * 2 ** (0.06 * (shift - 2)) for count in counts]  # side by side, not over
        percents = [scores[method, count].percent for count in counts]
        errors = [scores[method, count].interval for count in counts]
        name = "one lane, so many times the simulations" if method == "one lane" else method
        axes.errorbar(places, percents, yerr=errors, marker="o", capsize=3, label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(lanes, [str(count) for count in lanes])
    axes.set_xlabel(f"lanes, each with {playouts} simulations a move")
    axes.set_ylabel(f"score against {OPPONENT * playouts} sequential simulations, %")
    axes.set_title(f"{GAME}: with 95 % intervals")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    save(figure, path)
