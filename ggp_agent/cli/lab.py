"""`ggp lab ...`: experiments of the papers, ours beside theirs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ggp_agent.cli.common import ERR, cli, json_option, seed_option
from ggp_agent.errors import ConfigError

NAMES = ("bandit9", "bandit27", "pgame")


@cli.command("lab")
@click.argument("name", type=click.Choice(NAMES))
@click.option("--quick", is_flag=True, help="A small form that takes about a minute.")
@click.option("--runs", type=click.IntRange(2), help="Runs of every setting; without it, as many as the paper has.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("lab"),
    show_default=True,
    help="Where raw results and pictures are kept; results that are there already are not computed again.",
)
@seed_option
@json_option
def lab_command(name: str, quick: bool, runs: int | None, out: Path, seed: int, as_json: bool) -> None:
    """Repeat an experiment: print our numbers beside the paper's and the difference in standard errors."""
    from ggp_agent.lab.experiments import EXPERIMENTS

    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is not a directory")

    def tell(text: str) -> None:
        ERR.print(text, markup=False)

    layout = "{:<8} {:<28} {:<10} {:>9} {:>9} {:>7}"
    if not as_json:
        click.echo(layout.format("table", "row", "column", "ours", "theirs", "errors"))
    for row in EXPERIMENTS[name](out, runs=runs, quick=quick, seed=seed, tell=tell):
        if as_json:
            click.echo(json.dumps(asdict(row)))
            continue
        theirs = "-" if row.theirs is None else f"{row.theirs:.3f}"
        errors = "-" if row.errors is None else f"{row.errors:+.1f}"
        click.echo(layout.format(row.table, row.row, row.column, f"{row.ours:.3f}", theirs, errors))
