"""The figures of Van Eyck's thesis, drawn from our results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from typing import Any

from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab import thesis
from ggp_agent.lab.bandit import Problem

Result = dict[str, Any]
AT = thesis.MARKS.index(128)  # where groups are compared
PLAYS = "simulations"
RATE = "rate of the best move"


def lines(axes: Any, curves: Mapping[str, Result], marks: Sequence[int], what: str, title: str) -> None:
    """A curve over the marks for every result, rates with 95 % intervals."""
    for name, result in curves.items():
        errors = None
        if what == "rates":
            errors = [1.96 * sqrt(rate * (1 - rate) / result["runs"]) for rate in result[what]]
        axes.errorbar(marks, result[what], yerr=errors, label=name, marker=".", linewidth=1, capsize=2)
    axes.set_xscale("log", base=2)
    axes.set_xlabel(PLAYS)
    axes.set_ylabel(f"{RATE}, 95 % intervals" if what == "rates" else f"{what} regret")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    axes.grid(alpha=0.3)


def clouds(
    axes: Any, groups: Mapping[tuple[int, ...], Result], base: Result, chances: Sequence[float], what: str
) -> None:
    """The mean value of the three groups of each grouping against how well it does."""
    points: dict[str, tuple[list[float], list[float]]] = {
        "group of the best move": ([], []),
        "better other group": ([], []),
        "worse other group": ([], []),
    }
    for grouping, result in groups.items():
        means = [sum(p for p, g in zip(chances, grouping, strict=True) if g == k) / 3 for k in range(3)]
        mine = means.pop(grouping[-1])
        for (xs, ys), mean in zip(points.values(), (mine, *sorted(means, reverse=True)), strict=True):
            xs.append(mean)
            ys.append(result[what][AT])
    for (name, (xs, ys)), marker in zip(points.items(), "^o.", strict=True):
        axes.scatter(xs, ys, s=10, marker=marker, label=name)
    axes.axhline(base[what][AT], color="black", linewidth=1, label="no groups")
    axes.set_xlabel("mean value of the group")
    axes.set_ylabel(f"{RATE if what == 'rates' else 'simple regret'} after 128")
    axes.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    axes.grid(alpha=0.3)


def draw_nine(
    result: Callable[..., Result],
    groupings: Callable[..., list[Result]],
    difficulty: Callable[[float, float], Result],
    tried: Sequence[tuple[int, ...]],
    out: Path,
) -> None:
    """Figures 3.2 to 3.13."""
    plot = pyplot()

    def bases(chances: tuple[float, ...]) -> dict[str, Result]:
        return {f"c = {c}": result("none", Problem(chances=chances, exploration=c)) for c in thesis.CONSTANTS}

    easy, hard = bases(thesis.EASY), bases(thesis.HARD)
    figure, axes = plot.subplots(1, 3, figsize=(15, 4.5))
    lines(axes[0], easy, thesis.MARKS, "rates", "figure 3.2: no groups, best move 0.9")
    lines(axes[1], easy, thesis.MARKS, "simple", "figure 3.5: no groups, best move 0.9")
    lines(axes[2], hard, thesis.MARKS, "rates", "figure 3.9: no groups, best move 0.81")
    save(figure, out / "bandit9_base.png")

    figure, axes = plot.subplots(2, 3, figsize=(15, 9))
    panels = [
        ("3.3", thesis.EASY, 1.0, "rates"),
        ("3.4", thesis.EASY, 5.0, "rates"),
        ("3.6", thesis.EASY, 1.0, "simple"),
        ("3.10", thesis.HARD, 1.0, "rates"),
        ("3.11", thesis.HARD, 5.0, "rates"),
    ]
    for (number, chances, c, what), panel in zip(panels, axes.flat, strict=False):
        found = dict(zip(tried, groupings(tried, chances, c), strict=True))
        clouds(panel, found, result("none", Problem(chances=chances, exploration=c)), chances, what)
        panel.set_title(f"figure {number}: best move {chances[-1]}, c = {c:g}", fontsize=10)
    axes.flat[-1].axis("off")
    save(figure, out / "bandit9_groups.png")

    figure, axes = plot.subplots(1, 2, figsize=(11, 4.5))
    for panel, number, mark in zip(axes, ("3.7", "3.8"), (512, 8192), strict=True):
        at = thesis.MARKS.index(mark)
        for k, c in enumerate(thesis.CONSTANTS):
            some = [result["cumulative"][at] for result in groupings(tried, thesis.EASY, c)]
            panel.plot([k, k], [min(some), max(some)], linewidth=6, alpha=0.5, color="tab:blue")
            panel.plot(k, easy[f"c = {c}"]["cumulative"][at], "x", color="black")
        panel.set_xticks(range(len(thesis.CONSTANTS)), [f"{c:g}" for c in thesis.CONSTANTS])
        panel.set_xlabel("exploration constant")
        panel.set_ylabel("cumulative regret")
        panel.set_title(f"figure {number}: after {mark}; bars: groups, crosses: none", fontsize=10)
        panel.grid(alpha=0.3)
    save(figure, out / "bandit9_regret.png")

    figure, axes = plot.subplots(1, 2, figsize=(11, 4.5))
    for panel, number, c in zip(axes, ("3.12", "3.13"), (1.0, 5.0), strict=True):
        curves = {f"best move {best}": difficulty(best, c) for best in thesis.DIFFICULTIES}
        lines(panel, curves, thesis.MARKS, "rates", f"figure {number}: one grouping, c = {c:g}")
    save(figure, out / "bandit9_difficulty.png")


def draw_twenty_seven(bases: Mapping[float, Result], marks: Sequence[int], runs: int, out: Path) -> None:
    """Figure 5.1."""
    figure, axes = pyplot().subplots(figsize=(7, 5))
    lines(axes, {f"c = {c}": base for c, base in bases.items()}, marks, "rates", f"figure 5.1: no groups, {runs} runs")
    save(figure, out / "bandit27_base.png")
