"""The experiment of Saffidine, Cazenave and Mehat with LeftRight: section 4.1 and figure 4 of the UCD paper.

With update-all nearly every payoff reaches both moves of the root, 89 of 100 each, so that the choice hangs on a
difference of about four visits: playing left or right at ties alone gives 95.6 or 90.6 %, and counting a payoff once
for each way to an edge changes nothing. What matters is the constant, so update-all is run with others too: a small one
gives the paper's 77.7 %. Plain UCT, of which alone the paper says that it had 0.3, hardly changes from 0.03 to 0.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ggp_agent.arena.statistics import Z95
from ggp_agent.engine.picture import pyplot, save
from ggp_agent.lab.leftright import EXPLORATION, PLAYOUTS, STEPS, LeftRight
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, spread
from ggp_agent.search.config import INFINITE, SearchConfig, depths_text

RUNS, QUICK_RUNS = 200, 10
DEPTHS_1 = (*range(9), INFINITE)
DEPTHS_3 = (0, 1, 2)
OFF, ALL = "transpositions off", "update-all"
CONSTANTS = (0.03, 0.05, 0.1, EXPLORATION, 1.0)
PAPER = {OFF: 81.5, ALL: 77.7, "inf:0:1": 99.8}  # percent


def setting_config(setting: str) -> SearchConfig:
    """The search that a setting means: depths such as `inf:0:1`, or OFF, or ALL; and perhaps another constant."""
    name, _, constant = setting.partition(", c = ")
    common: dict[str, Any] = {"exploration": float(constant or EXPLORATION), "solve": False, "virtual_loss": 0}
    if name in (OFF, ALL):
        return SearchConfig(depths=(0, 0, 0), transpositions=name != OFF, update_all=name == ALL, **common)
    return SearchConfig(depths=SearchConfig.parse({"d": name}).depths, **common)


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The games of one setting."""

    setting: str
    runs: int
    percent: float  # mean share of steps to the left
    error: float  # its standard error


def score(setting: str, shares: Sequence[float]) -> Score:
    mean, error = spread(shares)
    return Score(setting=setting, runs=len(shares), percent=100 * mean, error=100 * error)


def settings() -> list[str]:
    """OFF and ALL with all constants, and the depths of the table, with d2 = 0."""
    plain = [name if c == EXPLORATION else f"{name}, c = {c}" for c in CONSTANTS for name in (OFF, ALL)]
    return [*plain, *(depths_text((d1, 0, d3)) for d3 in DEPTHS_3 for d1 in DEPTHS_1)]


def run(
    record: Record, wanted: Iterable[str] | None = None, *, runs: int = RUNS, steps: int = STEPS
) -> dict[str, Score]:
    """Play so many games with every setting. Game k of a setting is the same, however many there are."""
    scores = {}
    for setting in settings() if wanted is None else wanted:
        player = LeftRight(setting_config(setting), steps=steps)

        def play(seed: int, player: LeftRight = player) -> dict[str, Any]:
            return {"share": player.play(seed)}

        shares = [record.get(f"{setting}, {steps} steps, game {number}", play)["share"] for number in range(runs)]
        scores[setting] = score(setting, shares)
    return scores


def rows_of(scores: dict[str, Score]) -> list[Row]:
    """Rows in percent; the paper prints three of these numbers, and no errors, so we take ours for it."""
    rows = []
    for setting, found in scores.items():
        theirs, errors = PAPER.get(setting), None
        if theirs is not None and found.error > 0:
            errors = (found.percent - theirs) / (found.error * math.sqrt(1 + found.runs / RUNS))
        table, name, column = place(setting)
        rows.append(
            Row(
                table=table,
                row=name,
                column=column,
                ours=found.percent,
                theirs=theirs,
                errors=errors,
                interval=Z95 * found.error,
            )
        )
    return rows


def place(setting: str) -> tuple[str, str, str]:
    """Table, row and column of a setting."""
    if setting.startswith((OFF, ALL)):
        name, _, constant = setting.partition(", c = ")
        return "section 4.1, by constant", name, f"c = {constant or EXPLORATION}"
    d1, _, d3 = setting.split(":")
    return "figure 4", f"d1 = {d1}", f"d3 = {d3}"


def leftright_experiment(order: Order) -> list[Row]:
    """LeftRight: so many games of every setting."""
    scores = run(order.record("leftright"), runs=order.pick(order.runs, QUICK_RUNS, RUNS))
    plot(scores, order.out / "leftright.png")
    return rows_of(scores)


def plot(scores: dict[str, Score], path: Path) -> None:
    """The scores over d1, a line for each d3, as in figure 4 of the paper."""
    figure, axes = pyplot().subplots(figsize=(7, 4.5))
    for d3 in DEPTHS_3:
        names = [depths_text((d1, 0, d3)) for d1 in DEPTHS_1]
        known = [(k, scores[name]) for k, name in enumerate(names) if name in scores]
        places, percents, errors = (
            [k for k, _ in known],
            [found.percent for _, found in known],
            [Z95 * found.error for _, found in known],
        )
        axes.errorbar(places, percents, yerr=errors, marker="o", capsize=3, label=f"d3 = {d3}")
    for name, style in ((OFF, "--"), (ALL, ":")):
        if name in scores:
            axes.axhline(scores[name].percent, color="black", linestyle=style, linewidth=1, label=name)
    axes.set_xticks(range(len(DEPTHS_1)), ["inf" if d1 == INFINITE else str(d1) for d1 in DEPTHS_1])
    axes.set_xlabel("d1")
    axes.set_ylabel("steps to the left, %, 95 % intervals")
    axes.set_title(f"LeftRight: {STEPS} steps, {PLAYOUTS} playouts a move, c = {EXPLORATION}, d2 = 0")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.13))
    save(figure, path)
