"""`ggp tournament`: many matches between players, and what they say."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.live import Live
from rich.text import Text

from ggp_agent.arena import InProcess, Runners, Store, Tournament, run, stand
from ggp_agent.arena.over_http import OverHttp
from ggp_agent.arena.report import as_json, as_markdown, as_text, plot
from ggp_agent.arena.schedule import Schedule
from ggp_agent.arena.tally import Tally
from ggp_agent.arena.tournament import KINDS, read_settings
from ggp_agent.cli.common import ERR, cli, engine_option, json_option, tell
from ggp_agent.errors import ConfigError, GgpError

REFRESH_SECONDS = 0.5  # between pictures of the table so far
MAX_SHARE = 0.05  # of the time that making these pictures may take
TENTHS = 10  # lines of progress where there is no terminal

file_type = click.Path(dir_okay=False, path_type=Path)


@cli.command("tournament")
@click.argument("file", metavar="[FILE.toml]", type=file_type, required=False)
@click.option("--game", "games", multiple=True, help="A game; may be given several times.")
@click.option("--player", "players", multiple=True, help="A player, such as 'ucd,playouts=1000,name=a' or random.")
@click.option("--kind", type=click.Choice(KINDS), help="In a gauntlet, the first player meets the others.")
@click.option("--sets", type=int, help="Rotation sets of every pairing in every game.")
@click.option("--opening", type=int, help="Random joint moves before the players take over.")
@click.option("--seed", type=int, help="Of everything random.")
@click.option("--start-clock", type=int, help="Seconds before the start, for players over HTTP.")
@click.option("--play-clock", type=int, help="Seconds for a move, for players over HTTP.")
@click.option("--max-plies", type=int, help="A match longer than this is a draw.")
@click.option(
    "--sprt", type=float, nargs=2, metavar="ELO0 ELO1", help="Stop when one of the two is proven the likelier."
)
@click.option("--alpha", type=float, help="Chance of a wrong verdict for ELO1.")
@click.option("--beta", type=float, help="Chance of a wrong verdict for ELO0.")
@click.option(
    "--store", "store_path", type=file_type, help="Where matches are kept; FILE.sqlite unless told otherwise."
)
@click.option("--workers", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes that play.")
@click.option("--report", "only_report", is_flag=True, help="Play nothing, report what is there.")
@click.option("--markdown", type=file_type, help="Write the report here too.")
@click.option("--plot", "picture", type=file_type, help="Write a picture of the ratings.")
@engine_option("auto")
@json_option
def tournament_command(
    file: Path | None,
    store_path: Path | None,
    workers: int,
    only_report: bool,
    markdown: Path | None,
    picture: Path | None,
    engine_name: str,
    as_json: bool,
    **flags: Any,
) -> int:
    """Play a tournament, or go on with it, and report.

    It is described by a TOML file, by options, or by both, options first. Every match is kept as it ends: stopped at
    any moment, the same command goes on where it was.
    """
    settings = read_settings(file) if file else {}
    settings |= {name: value for name, value in flags.items() if value not in (None, ())}
    tournament = Tournament.parse(settings)
    path = store_path or (file.with_suffix(".sqlite") if file else Path("tournament.sqlite"))
    if only_report and not path.exists():
        raise ConfigError(f"there is nothing to report: {path} does not exist")
    with Store(path, tournament.definition(), writing=not only_report) as store:
        tally = Tally(Schedule(tournament))
        for outcome in store.outcomes():
            tally.add(*outcome)
        code = 0 if only_report else play(tally, store, choose_runners(engine_name, tournament), workers)
        report(tally, as_json_line=as_json, markdown=markdown, picture=picture)
    return code


def choose_runners(engine_name: str, tournament: Tournament) -> Runners:
    """Who plays which matches."""
    local = InProcess(engine_name=engine_name, tell=tell)
    return OverHttp.around(local, tournament, engine_name, tell)


def play(tally: Tally, store: Store, runners: Runners, workers: int) -> int:
    """Play what is missing; the exit code. Whatever goes wrong, the matches that ended are kept and reported."""
    try:
        with progress(tally) as watch:
            run(tally, store, runners, workers, watch)
        return 0
    except ConfigError:
        raise
    except KeyboardInterrupt:
        code = 130
        tell("interrupted")
    except GgpError as error:
        code = 1
        tell(str(error))
    tell(f"what follows is the result so far; this goes on from here: {shlex.join(['ggp', *sys.argv[1:]])}")
    return code


class Progress:
    """The table so far, on standard error: drawn again and again on a terminal, else a line every tenth of the way."""

    def __init__(self, live: Live | None) -> None:
        self.live = live
        self.next_look = 0.0
        self.tenth = 0

    def __call__(self, tally: Tally) -> None:
        if self.live is None:
            tenth = TENTHS * len(tally.scores) // len(tally.schedule)
            if tenth > self.tenth:
                self.tenth = tenth
                ERR.print(Text(line(tally)))
        elif (now := time.monotonic()) >= self.next_look:
            self.live.update(Text(as_text(stand(tally), brief=True)), refresh=True)
            cost = time.monotonic() - now
            self.next_look = now + max(REFRESH_SECONDS, cost / MAX_SHARE)


def line(tally: Tally) -> str:
    """The table so far in one line."""
    standing = stand(tally)
    ratings = (
        f"{row.player} {row.elo.value:+.0f} ± {(row.elo.high - row.elo.low) / 2:.0f}" for row in standing.players
    )
    return f"{standing.sets:,}/{standing.all_sets:,} sets: {', '.join(ratings)}"


@contextmanager
def progress(tally: Tally) -> Iterator[Progress]:
    if not ERR.is_terminal:
        yield Progress(None)
        return
    with Live(console=ERR, auto_refresh=False, transient=True) as live:
        yield Progress(live)


def report(tally: Tally, *, as_json_line: bool, markdown: Path | None, picture: Path | None) -> None:
    standing = stand(tally)
    click.echo(as_json(standing) if as_json_line else as_text(standing))
    if markdown is not None:
        markdown.write_text(as_markdown(standing), encoding="utf-8")
    if picture is not None:
        plot(standing, picture)
