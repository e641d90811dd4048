"""The experiments of Childs, Brodeur and Kocsis on P-games: figures 1 to 5.

The paper prints no numbers, so rows have ours only. It says that UCT1, UCT2 and UCT3 need fewer simulations than UCT0,
more so with more combination, that groups help if their bias is far from one half, and that with overlap only groups of
good moves help.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.arena.statistics import Z95
from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab import pgame
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, spread
from ggp_agent.search.config import INFINITE, SearchConfig

GAMES, RUNS = 200, 200  # random games, and searches of each
QUICK_GAMES, QUICK_RUNS = 12, 4
GAME_BLOCK, RUN_BLOCK = 20, 5  # games of one result, and searches of each: more of them repeat nothing
DEEP, WIDE = (2, 20), (10, 6)  # branching and plies
MARKS = [2**k for k in range(4, 14)]
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
ERROR = "average error"
MOST_SHOWN = 8  # of the ratio of errors: where there are hardly any, it may be anything

Rates = NDArray[np.float64]  # of errors: float64[games, marks]
Curve = list[tuple[float, float]]  # mean and standard error at every mark


class PGames:
    """Results of searches of random games."""

    def __init__(self, record: Record, games: int, runs: int, marks: list[int]) -> None:
        self.record, self.games, self.runs, self.marks = record, games, runs, marks

    def rates(
        self, variant: str, size: tuple[int, int], combination: float, groups: tuple[float, bool] | None = None
    ) -> Rates:
        """The errors of a variant in all games; game k is the same for every variant."""
        config = SearchConfig(solve=False, virtual_loss=0, exploration=pgame.EXPLORATION, **VARIANTS[variant])
        wrong: list[list[NDArray[np.int64]]] = [[] for _ in range(self.games)]  # of each game, by mark
        text = f"bias and overlap {groups}, " if groups else ""
        for run in range(0, self.runs, RUN_BLOCK):
            runs = min(RUN_BLOCK, self.runs - run)
            for first in range(0, self.games, GAME_BLOCK):
                numbers = range(first, min(first + GAME_BLOCK, self.games))

                def compute(seed: int, runs: int = runs, numbers: range = numbers) -> dict[str, Any]:
                    found = []
                    for number in numbers:
                        game = pgame.make_game(*size, combination, self.record.seed + number)
                        table = pgame.make_table(game, *groups, self.record.seed + number) if groups else None
                        found.append(pgame.errors(config, game, runs, self.marks, seed + number, table))
                    return {"wrong": found}

                key = (
                    f"{size}, combination {combination}, {variant}, {text}{self.marks[-1]} plays, "
                    f"games {numbers[0]} to {numbers[-1]}, runs {run} to {run + runs - 1}"
                )
                for number, counts in zip(numbers, self.record.get(key, compute)["wrong"], strict=True):
                    wrong[number].append(np.array(counts))
        return np.array([sum(counts) for counts in wrong]) / self.runs


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
    """All five figures."""
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
    draw_curves(panels[1, 0], figures["4"], marks, ERROR, "figure 4: groups without overlap")
    draw_curves(panels[1, 1], figures["5"], marks, ERROR, "figure 5: groups with overlap")
    panels[1, 2].axis("off")
    save(figure, path)


def pgame_experiment(order: Order) -> list[Row]:
    """P-games: `runs` searches of each of so many random games."""
    games, marks = (QUICK_GAMES, QUICK_MARKS) if order.quick else (GAMES, MARKS)
    results = PGames(order.record("pgame"), games, order.pick(order.runs, QUICK_RUNS, RUNS), marks)
    sizes = {}
    for combination in (0.0, *COMBINATIONS):
        starts = pgame.make_game(*DEEP, combination, order.seed).starts
        sizes[f"{combination:.0%}"] = (starts[1:] - starts[:-1]).tolist()
    deep = {(name, USUAL): results.rates(name, DEEP, USUAL) for name in VARIANTS}
    deep |= {(name, c): results.rates(name, DEEP, c) for c in COMBINATIONS for name in ("UCT0", "UCT2")}
    none = results.rates("UCT2", WIDE, 0.0)
    groups = {
        overlap: {f"bias {bias:.0%}": results.rates("UCT2", WIDE, 0.0, (bias, overlap)) for bias in BIASES}
        for overlap in (False, True)
    }
    figures: dict[str, dict[str, Curve]] = {
        "2": {name: curve(deep[name, USUAL]) for name in VARIANTS},
        "3": {f"{c:.0%}": ratio(deep["UCT0", c], deep["UCT2", c]) for c in COMBINATIONS},
        "4": {"no groups": curve(none)} | {name: curve(rates) for name, rates in groups[False].items()},
        "5": {"no groups": curve(none)} | {name: curve(rates) for name, rates in groups[True].items()},
    }
    draw(order.out / "pgame.png", marks, sizes, figures)
    # The games are the same, so differences are known better than errors.
    less = {name: curve(deep[name, USUAL] - deep["UCT0", USUAL]) for name in VARIANTS if name != "UCT0"}
    tables = {f"figure {number}": curves for number, curves in figures.items()}
    tables["figure 2: error less that of UCT0"] = less
    for overlap, number in ((False, "4"), (True, "5")):
        less = {name: curve(rates - none) for name, rates in groups[overlap].items()}
        tables[f"figure {number}: error less that of no groups"] = less
    return [row for table in sorted(tables) for row in rows_of(table, tables[table], marks)]
