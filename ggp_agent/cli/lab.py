"""`ggp lab ...`: experiments of the papers, ours beside theirs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from time import monotonic
from typing import Any

import click

from ggp_agent.cli.common import ERR, cli, json_option, seed_option, tell
from ggp_agent.errors import ConfigError
from ggp_agent.lab.record import Order, Tell
from ggp_agent.lab.rows import Row

QUIET_SECONDS = 10.0  # between lines of progress where there is no terminal
NAMES = 3  # columns that hold names


@cli.group("lab")
def lab_group() -> None:
    """Repeat experiments of the papers: our numbers beside theirs, and the difference in standard errors.

    Every part is written down when it is computed: stopped at any moment, the same command goes on where it was.
    """


@contextmanager
def progress() -> Iterator[Tell]:
    """A line on standard error that says what is computed; without a terminal, now and then."""
    if ERR.is_terminal:
        with ERR.status("") as status:
            yield status.update
        return
    told = monotonic()

    def say(text: str) -> None:
        nonlocal told
        if monotonic() - told >= QUIET_SECONDS:
            told = monotonic()
            ERR.print(text, markup=False)

    yield say


def run(name: str, order: Order, as_json: bool) -> None:
    from ggp_agent.lab.experiments import EXPERIMENTS
    from ggp_agent.lab.report import Finished

    if order.out.exists() and not order.out.is_dir():
        raise ConfigError(f"{order.out} is not a directory")
    try:
        with progress() as say:
            rows = EXPERIMENTS[name](replace(order, tell=say))
    except KeyboardInterrupt:
        tell(f"this goes on from here: {shlex.join(['ggp', *sys.argv[1:]])}")
        raise
    today = date.today().isoformat()
    Finished(name=name, command=command_line(name, order), seed=order.seed, date=today, rows=tuple(rows)).save(
        order.out
    )
    if as_json:
        for row in rows:
            click.echo(json.dumps(asdict(row)))
    else:
        print_rows(rows)


def command_line(name: str, order: Order) -> str:
    """The command that repeats an experiment."""
    words = ["ggp", "lab", name, *(["--quick"] if order.quick else [])]
    for option, value in (("--runs", order.runs), ("--playouts", order.playouts), ("--seconds", order.seconds)):
        words += [option, f"{value:g}"] if value is not None else []
    return shlex.join([*words, *(word for game in order.games for word in ("--game", game))])


def print_rows(rows: Sequence[Row]) -> None:
    lines = [("table", "row", "column", "ours", "+-", "theirs", "errors", ""), *map(texts, rows)]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for line in lines:
        parts = (
            text.ljust(width) if k < NAMES else text.rjust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        click.echo(" ".join(parts).rstrip())


def texts(row: Row) -> tuple[str, ...]:
    theirs = "-" if row.theirs is None else f"{row.theirs:.3f}"
    errors = "-" if row.errors is None else f"{row.errors:+.1f}"
    interval = "" if row.interval is None else f"{row.interval:.3f}"
    return row.table, row.row, row.column, f"{row.ours:.3f}", interval, theirs, errors, "best" if row.best else ""


def lab_options(command: Callable[..., None]) -> Callable[..., None]:
    """Options that all experiments have."""
    quick = click.option("--quick", is_flag=True, help="A small form that takes about a minute.")
    out = click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("lab"),
        show_default=True,
        help="Where raw results and pictures are kept; results that are there already are not computed again.",
    )
    return quick(out(seed_option(json_option(command))))


OPTIONS = {
    "runs": click.option(
        "--runs", type=click.IntRange(2), help="Runs of every setting; without it, as many as the paper has."
    ),
    "playouts": click.option("--playouts", type=click.IntRange(1), help="Of every player for a move."),
    "seconds": click.option("--seconds", type=click.FloatRange(0, min_open=True), help="Of every player for a move."),
    "games": click.option("--game", "games", metavar="GAME", multiple=True, help="This game only; may be repeated."),
}


def add(name: str, text: str, *options: str) -> None:
    """Add the command of an experiment, with options of its own."""

    def command(as_json: bool, **wanted: Any) -> None:
        run(name, Order(**wanted), as_json)

    command = lab_options(command)
    for option in ("runs", *options):
        command = OPTIONS[option](command)
    lab_group.command(name, help=text)(command)


@lab_group.command("all")
@lab_options
def all_command(as_json: bool, **wanted: Any) -> None:
    """Run all experiments, one after the other."""
    from ggp_agent.lab.experiments import EXPERIMENTS

    for name in EXPERIMENTS:
        tell(f"lab {name}")
        run(name, Order(**wanted), as_json)


@lab_group.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
def report_command(folder: Path) -> None:
    """Print one page of Markdown with the results of all experiments in DIR, ours beside theirs."""
    from ggp_agent.lab.experiments import EXPERIMENTS
    from ggp_agent.lab.report import report

    click.echo(report(folder, EXPERIMENTS), nl=False)


add("leftright", "How much transpositions help in LeftRight, for every d1 and d3 (figure 4 of the UCD paper).")
add("bandit9", "Groups of nine moves (chapters 3 and 4 of Van Eyck's thesis).")
add("bandit27", "Groups of twenty-seven moves (chapter 5 of Van Eyck's thesis).")
add("hex", "Depths in Hex 5x5 (figures 5 and 6 of the UCD paper).", "playouts")
add("go", "Depths and RAVE in Go 6x6 (tables 1 and 2 of the UCD paper).", "playouts")
add("ggp", "Depths in ten games (tables 3 to 12 of the UCD paper).", "games", "playouts", "seconds")
add("amazons", "Stages in Amazons (chapter 6 of Van Eyck's thesis).", "games", "playouts", "seconds")
add("parallel", "Leaf, root and tree parallelisation (Chaslot, Winands and van den Herik).", "playouts")
add("pgame", "Transpositions and groups in random games (Childs, Brodeur and Kocsis).")
add("defaults", "Every setting against the defaults, over many games.", "games", "playouts", "seconds")
