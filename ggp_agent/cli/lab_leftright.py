"""`ggp lab leftright`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ggp_agent.cli.common import ERR, OUT, json_option, lab_group, seed_option, tell
from ggp_agent.lab import leftright
from ggp_agent.search.config import depths_text

# Measured with 30 games each; the paper does not say who wins ties, nor any other detail of update-all.
NOTE = (
    "With update-all nearly every payoff reaches both moves of the root, 89 of 100 each, so that the choice hangs on a "
    "difference of about four visits: playing left or right at ties alone gives 95.6 or 90.6 %. No variant that we "
    "tried comes near the paper's 77.7 %."
)


@lab_group.command("leftright")
@click.option("--quick", is_flag=True, help=f"{leftright.QUICK_RUNS} games a setting.")
@click.option("--runs", type=click.IntRange(1), help=f"Games a setting; {leftright.RUNS} if nothing is said.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Keep games and a figure in this folder.")
@seed_option
@json_option
def leftright_command(quick: bool, runs: int | None, out: Path | None, seed: int, as_json: bool) -> None:
    """How much transpositions help in LeftRight, for every d1 and d3 (figure 4 of the UCD paper).

    With --out, games are written as they end: the same command goes on where it was interrupted.
    """

    def report(score: leftright.Score) -> None:
        if as_json:
            click.echo(json.dumps(asdict(score)))
        else:
            ERR.print(f"{score.setting}: {score.percent:.2f} +- {score.error:.2f} %")

    count = runs or (leftright.QUICK_RUNS if quick else leftright.RUNS)
    try:
        scores = leftright.run(runs=count, seed=seed, folder=out, tell=report)
    except KeyboardInterrupt:
        if out:
            tell(f"ggp lab leftright --runs {count} --seed {seed} --out {out} goes on from here")
        raise
    if not as_json:
        for line in table(scores):
            OUT.print(line)
        ERR.print(NOTE)
    if out:
        leftright.plot(scores, out / "leftright.png")


def table(scores: dict[str, leftright.Score]) -> list[str]:
    """The scores in percent with their standard errors: a row for each d1, a column for each d3; d2 is 0."""
    lines = ["d1  " + "".join(f"        d3 = {d3}" for d3 in leftright.DEPTHS_3)]
    for d1 in leftright.DEPTHS_1:
        found = [scores[depths_text((d1, 0, d3))] for d3 in leftright.DEPTHS_3]
        name = depths_text((d1,))
        lines.append(f"{name:4}" + "".join(f"{score.percent:8.2f} ±{score.error:4.2f}" for score in found))
    for name in (leftright.OFF, leftright.ALL):
        score = scores[name]
        lines.append(f"{name}: {score.percent:.2f} ±{score.error:.2f}, the paper's {leftright.PAPER[name]}")
    best = "inf:0:1"
    lines.append(f"{best}: {scores[best].percent:.2f} ±{scores[best].error:.2f}, the paper's {leftright.PAPER[best]}")
    return lines
