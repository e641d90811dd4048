"""The experiments of Childs, Brodeur and Kocsis on P-games: figures 1 to 5.

The paper prints no numbers, so rows have ours only. It says that UCT1, UCT2 and UCT3 need fewer simulations than UCT0,
more so with more combination, that groups help if their bias is far from one half, and that with overlap only groups of
good moves help.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite, nan
from pathlib import Path
from typing import Any

from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab import pgame
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, spread
from ggp_agent.search.config import INFINITE, SearchConfig

GAMES, RUNS = 200, 200  # random games, and searches of each
QUICK_GAMES, QUICK_RUNS = 12, 4
BLOCK = 4  # games of one result
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

Curve = list[tuple[float, float]]  # mean and standard error at every mark


class PGames:
    """Results of searches of random games."""

    def __init__(self, record: Record, games: int, runs: int, marks: list[int]) -> None:
        self.record, self.games, self.runs, self.marks = record, games, runs, marks

    def curve(
        self, variant: str, size: tuple[int, int], combination: float, groups: tuple[float, bool] | None = None
    ) -> Curve:
        """The error of a variant over all games; game k is the same for every variant."""
        config = SearchConfig(solve=False, virtual_loss=0, exploration=pgame.EXPLORATION, **VARIANTS[variant])
        found: list[list[float]] = []
        for first in range(0, self.games, BLOCK):
            count = min(BLOCK, self.games - first)
            text = f"bias and overlap {groups}, " if groups else ""
            key = f"{size}, combination {combination}, {variant}, {text}{self.marks[-1]} plays, {self.runs} runs"

            def compute(seed: int, first: int = first, count: int = count) -> dict[str, Any]:
                rates = []
                for number in range(first, first + count):
                    game = pgame.make_game(*size, combination, self.record.seed + number)
                    rates.append(pgame.errors(config, game, self.runs, self.marks, seed + number, groups))
                return {"rates": rates}

            found += self.record.get(f"{key}, games {first} to {first + count - 1}", compute)["rates"]
        return [spread([rates[k] for rates in found]) for k in range(len(self.marks))]


def rows_of(figure: str, curves: Mapping[str, Curve], marks: list[int]) -> list[Row]:
    return [
        Row(table=figure, row=name, column=str(mark), ours=mean, theirs=None, errors=None)
        for name, curve in curves.items()
        for mark, (mean, _) in zip(marks, curve, strict=True)
        if isfinite(mean)
    ]


def draw_curves(axes: Any, curves: Mapping[str, Curve], marks: list[int], title: str) -> None:
    for name, curve in curves.items():
        axes.errorbar(
            marks, [m for m, _ in curve], yerr=[1.96 * e for _, e in curve], label=name, marker=".", capsize=2
        )
    axes.set_xscale("log", base=2)
    axes.set_xlabel("simulations")
    axes.set_ylabel("average error, 95 % intervals")
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
    panels[0, 0].set_xlabel("level")
    panels[0, 0].set_ylabel("positions")
    panels[0, 0].set_title("figure 1: positions by level and combination", fontsize=10)
    panels[0, 0].legend(fontsize=8)
    panels[0, 0].grid(alpha=0.3)
    draw_curves(panels[0, 1], figures["2"], marks, f"figure 2: combination {USUAL:.0%}")
    for name, curve in figures["3"].items():
        panels[0, 2].plot(marks, [mean for mean, _ in curve], label=name, marker=".")
    panels[0, 2].set_xscale("log", base=2)
    panels[0, 2].set_xlabel("simulations")
    panels[0, 2].set_ylabel("error of UCT0 / error of UCT2")
    panels[0, 2].axhline(1.0, color="black", linewidth=1)
    panels[0, 2].set_title("figure 3: by combination", fontsize=10)
    panels[0, 2].legend(fontsize=8)
    panels[0, 2].grid(alpha=0.3)
    draw_curves(panels[1, 0], figures["4"], marks, "figure 4: groups without overlap")
    draw_curves(panels[1, 1], figures["5"], marks, "figure 5: groups with overlap")
    panels[1, 2].axis("off")
    save(figure, path)


def ratios(first: Curve, second: Curve) -> Curve:
    """The ratio of two curves as far as both are above 0."""
    return [(a / b if a and b else nan, 0.0) for (a, _), (b, _) in zip(first, second, strict=True)]


def pgame_experiment(order: Order) -> list[Row]:
    """P-games: `runs` searches of each of so many random games."""
    games, marks = (QUICK_GAMES, QUICK_MARKS) if order.quick else (GAMES, MARKS)
    results = PGames(order.record("pgame"), games, order.pick(order.runs, QUICK_RUNS, RUNS), marks)
    sizes = {}
    for combination in (0.0, *COMBINATIONS):
        starts = pgame.make_game(*DEEP, combination, order.seed).starts
        sizes[f"{combination:.0%}"] = (starts[1:] - starts[:-1]).tolist()
    curve: Callable[..., Curve] = results.curve
    groups = {
        overlap: {f"bias {bias:.0%}": curve("UCT2", WIDE, 0.0, (bias, overlap)) for bias in BIASES}
        for overlap in (False, True)
    }
    none = {"no groups": curve("UCT2", WIDE, 0.0)}
    figures: dict[str, dict[str, Curve]] = {
        "2": {name: curve(name, DEEP, USUAL) for name in VARIANTS},
        "3": {f"{c:.0%}": ratios(curve("UCT0", DEEP, c), curve("UCT2", DEEP, c)) for c in COMBINATIONS},
        "4": none | groups[False],
        "5": none | groups[True],
    }
    draw(order.out / "pgame.png", marks, sizes, figures)
    return [row for number, curves in figures.items() for row in rows_of(f"figure {number}", curves, marks)]
