"""The experiments of Childs, Brodeur and Kocsis on P-games: figures 1 to 5.

The paper prints no numbers, so rows have ours only. It says that UCT1, UCT2 and UCT3 need fewer simulations than UCT0,
more so with more combination, that groups help if their bias is far from one half, and that with overlap only groups of
good moves help. It does not say what a good move is, but that a group usually has five: moves that win are rarely so
many, so groups are also made with the better half of all moves as the good ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from math import isfinite, nan
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ggp_agent.arena.statistics import Z95
from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab import pgame
from ggp_agent.lab.record import Order, Record, cores
from ggp_agent.lab.rows import Row, spread
from ggp_agent.search.config import INFINITE, SearchConfig

GAMES, RUNS = 200, 200  # random games, and searches of each
QUICK_GAMES, QUICK_RUNS = 12, 4
GAME_BLOCK, RUN_BLOCK = 20, 50  # games of one result, and searches of each: more of them repeat nothing
DEEP, WIDE = (2, 20), (10, 6)  # branching and plies
MARKS = [2**k for k in range(4, 13)]
QUICK_MARKS = MARKS[:7]
VARIANTS: dict[str, dict[str, Any]] = {
    "UCT0": {"depths": (0, 0, 0), "transpositions": False},
    "UCT1": {"depths": (0, 0, 0)},
    "UCT2": {"depths": (1, 0, 0)},
    "UCT3": {"depths": (INFINITE, 0, 0)},
}
COMBINATIONS = (0.05, 0.1, 0.2, 0.3, 0.4)
USUAL = 0.2
BIASES = (0.0, 0.25, 0.5, 0.75, 1.0)
HALVES = "4, better half"
GROUPED = {"4": (False, False), "5": (True, False), HALVES: (False, True)}  # figure -> overlap, halves
ERROR = "average error"
MOST_SHOWN = 8  # of the ratio of errors: where there are hardly any, it may be anything

Rates = NDArray[np.float64]  # of errors: float64[games, marks]
Curve = list[tuple[float, float]]  # mean and standard error at every mark


class PGames:
    """Results of searches of random games."""

    def __init__(self, record: Record, games: int, runs: int, marks: list[int]) -> None:
        self.record, self.games, self.runs, self.marks = record, games, runs, marks
        self.workers = ThreadPoolExecutor(cores())

    def rates(
        self, variant: str, size: tuple[int, int], combination: float, groups: pgame.Groups | None = None
    ) -> Rates:
        """The errors of a variant in all games; game k is the same for every variant."""
        config = SearchConfig(solve=False, virtual_loss=0, exploration=pgame.EXPLORATION, **VARIANTS[variant])
        grouped = ""
        if groups:
            grouped = f"bias and overlap {(groups.bias, groups.overlap)}, {'halves, ' if groups.halves else ''}"
        parts = [
            (range(game, min(game + GAME_BLOCK, self.games)), range(run, min(run + RUN_BLOCK, self.runs)))
            for run in range(0, self.runs, RUN_BLOCK)
            for game in range(0, self.games, GAME_BLOCK)
        ]

        def part(numbers: range, runs: range) -> NDArray[np.int64]:
            def compute(seed: int) -> dict[str, Any]:
                found, searches = [], None
                for number in numbers:
                    game = pgame.make_game(*size, combination, self.record.seed + number)
                    table = pgame.make_table(game, groups, self.record.seed + number) if groups else None
                    searches = searches or pgame.Searches(config, game, self.marks[-1], table)
                    found.append(searches.errors(game, len(runs), self.marks, seed + number, table))
                return {"wrong": found}

            key = (
                f"{size}, combination {combination}, {variant}, {grouped}{self.marks[-1]} plays, "
                f"games {numbers[0]} to {numbers[-1]}, runs {runs[0]} to {runs[-1]}"
            )
            return np.array(self.record.get(key, compute)["wrong"])

        wrong = np.zeros((self.games, len(self.marks)), np.int64)
        for (numbers, _), counts in zip(parts, self.workers.map(part, *zip(*parts, strict=True)), strict=True):
            wrong[numbers] += counts
        return wrong / self.runs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.shutdown(cancel_futures=True)


def curve(rates: Rates) -> Curve:
    """The mean over all games."""
    return [spread(some) for some in rates.T.tolist()]


def ratio(first: Rates, second: Rates) -> Curve:
    """The mean of the one over that of the other, as far as both are above 0; the games are the same."""
    found = []
    for some, others in zip(first.T, second.T, strict=True):
        if some.any() and others.any():
            quotient = float(some.mean() / others.mean())
            found.append((quotient, spread((some - quotient * others).tolist())[1] / float(others.mean())))
        else:
            found.append((nan, nan))
    return found


def rows_of(table: str, curves: Mapping[str, Curve], marks: list[int]) -> list[Row]:
    return [
        Row(table=table, row=name, column=str(mark), ours=mean, theirs=None, errors=None, interval=Z95 * error)
        for name, found in curves.items()
        for mark, (mean, error) in zip(marks, found, strict=True)
        if isfinite(mean)
    ]


def draw_curves(axes: Any, curves: Mapping[str, Curve], marks: list[int], what: str, title: str) -> None:
    for number, (name, found) in enumerate(curves.items()):
        places = [mark * 2 ** (0.07 * (number - len(curves) / 2)) for mark in marks]  # side by side, not over
        means, errors = [mean for mean, _ in found], [Z95 * error for _, error in found]
        axes.errorbar(places, means, yerr=errors, label=name, marker=".", capsize=2, elinewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("simulations")
    axes.set_ylabel(f"{what}, 95 % intervals")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def draw(
    path: Path, marks: list[int], sizes: Mapping[str, list[int]], figures: Mapping[str, Mapping[str, Curve]]
) -> None:
    """All five figures, and the fourth with the better half of the moves as the good ones."""
    figure, panels = pyplot().subplots(2, 3, figsize=(16, 9))
    for name, levels in sizes.items():
        panels[0, 0].plot(range(len(levels)), levels, label=name, marker=".")
    panels[0, 0].set_yscale("log")
    panels[0, 0].set_xticks(range(0, DEEP[1] + 1, 4))
    panels[0, 0].set_xlabel("level")
    panels[0, 0].set_ylabel("positions")
    panels[0, 0].set_title("figure 1: positions by level and combination", fontsize=10)
    panels[0, 0].legend(fontsize=8)
    panels[0, 0].grid(alpha=0.3)
    draw_curves(panels[0, 1], figures["2"], marks, ERROR, f"figure 2: combination {USUAL:.0%}")
    draw_curves(panels[0, 2], figures["3"], marks, "error of UCT0 / error of UCT2", "figure 3: by combination")
    panels[0, 2].set_ylim(0, MOST_SHOWN)
    panels[0, 2].axhline(1.0, color="black", linewidth=1)
    for axes, name, title in (
        (panels[1, 0], "4", "groups without overlap"),
        (panels[1, 1], "5", "groups with overlap"),
        (panels[1, 2], HALVES, "groups without overlap"),
    ):
        draw_curves(axes, figures[name], marks, ERROR, f"figure {name}: {title}")
    save(figure, path)


def pgame_experiment(order: Order) -> list[Row]:
    """P-games: `runs` searches of each of so many random games."""
    games, marks = (QUICK_GAMES, QUICK_MARKS) if order.quick else (GAMES, MARKS)
    sizes = {}
    for combination in (0.0, *COMBINATIONS):
        starts = pgame.make_game(*DEEP, combination, order.seed).starts
        sizes[f"{combination:.0%}"] = (starts[1:] - starts[:-1]).tolist()
    runs = order.pick(order.runs, QUICK_RUNS, RUNS)
    with PGames(order.record("pgame"), games, runs, marks) as results:
        deep = {(name, USUAL): results.rates(name, DEEP, USUAL) for name in VARIANTS}
        deep |= {(name, c): results.rates(name, DEEP, c) for c in COMBINATIONS for name in ("UCT0", "UCT2")}
        none = results.rates("UCT2", WIDE, 0.0)
        groups = {
            name: {
                f"bias {bias:.0%}": results.rates("UCT2", WIDE, 0.0, pgame.Groups(bias, overlap, halves))
                for bias in BIASES
            }
            for name, (overlap, halves) in GROUPED.items()
        }
    figures: dict[str, dict[str, Curve]] = {
        "2": {name: curve(deep[name, USUAL]) for name in VARIANTS},
        "3": {f"{c:.0%}": ratio(deep["UCT0", c], deep["UCT2", c]) for c in COMBINATIONS},
    }
    for name, found in groups.items():
        figures[name] = {"no groups": curve(none)} | {bias: curve(rates) for bias, rates in found.items()}
    draw(order.out / "pgame.png", marks, sizes, figures)
    # The games are the same, so differences are known better than errors.
    less = {name: curve(deep[name, USUAL] - deep["UCT0", USUAL]) for name in VARIANTS if name != "UCT0"}
    tables = {f"figure {number}": curves for number, curves in figures.items()}
    tables["figure 2: error less that of UCT0"] = less
    for name, found in groups.items():
        tables[f"figure {name}: error less that of no groups"] = {
            bias: curve(rates - none) for bias, rates in found.items()
        }
    return [row for table in sorted(tables) for row in rows_of(table, tables[table], marks)]
