"""`ggp ...`: the commands. Results go to standard output, progress to standard error.

Exit codes: 0 all is well, 1 something was found wrong, 2 the question was wrong, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ggp_agent.engine import ENGINES, Engine, Move, Position, State, games, open_engine
from ggp_agent.engine.base import Game
from ggp_agent.engine.conform import Policy, first_policy, perft, random_policy, trace
from ggp_agent.engine.ground import check_negation
from ggp_agent.errors import ConfigError, Finding, GdlError, GgpError, IllegalMove
from ggp_agent.gdl import check, format_text, load
from ggp_agent.gdl.reader import load_text
from ggp_agent.play import Board, Player, RandomPlayer, play

OUT = Console(highlight=False, soft_wrap=True)
ERR = Console(highlight=False, soft_wrap=True, stderr=True)

MAX_STEPS = 10_000
COLOURS = {"error": "red", "warning": "yellow"}


def engine_option(default: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--engine", "engine_name", type=click.Choice(ENGINES), default=default, show_default=True)


seed_option = click.option("--seed", type=int, default=0, show_default=True, help="Of everything random.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
steps_option = click.option(
    "--max-steps", type=click.IntRange(1), default=MAX_STEPS, show_default=True, help="Joint moves before giving up."
)


def tell(message: str) -> None:
    """Something that the user should know, beside the result."""
    ERR.print(f"ggp: {escape(message)}")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="ggp-agent")
def cli() -> None:
    """General Game Playing: read the rules of any game in GDL, check them, play it."""


def print_finding(finding: Finding, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(finding)))
    else:
        colour = COLOURS[finding.severity]
        text = escape(str(finding))
        OUT.print(text.replace(f"{finding.severity}:", f"[bold {colour}]{finding.severity}:[/]", 1))


@cli.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@json_option
def check_command(files: tuple[str, ...], as_json: bool) -> int:
    """Say what is wrong, or looks wrong, in rulesheets (files, or names of our games)."""
    counts = {"error": 0, "warning": 0}
    for file in files:
        for finding in findings(file):
            counts[finding.severity] += 1
            print_finding(finding, as_json)
    if not as_json:
        files_text = "1 file" if len(files) == 1 else f"{len(files)} files"
        ERR.print(f"{files_text}: {counts['error']} errors, {counts['warning']} warnings")
    return 1 if counts["error"] else 0


def findings(file: str) -> list[Finding]:
    """What the checker says of one file, ground rules included."""
    try:
        sheet = load(games.find(file))
    except GdlError as error:
        return list(error.findings)
    found = check(sheet)
    try:
        game = Game.from_sheet(sheet, file)
    except GdlError:
        return found  # with errors in the rules there is nothing to ground
    return sorted([*found, *check_negation(game)])


@cli.command("format")
@click.argument("file", metavar="FILE")
@click.option("--write", is_flag=True, help="Change the file instead of printing.")
@click.option("--check", "only_check", is_flag=True, help="Print nothing; exit with 1 if the layout is not canonical.")
def format_command(file: str, write: bool, only_check: bool) -> int:
    """Print a rulesheet in the canonical layout, comments kept."""
    path = games.find(file)
    old = load_text(path)
    new = format_text(old, str(path))
    if only_check:
        if old != new:
            ERR.print(escape(f"{path}: not in canonical layout"))
        return int(old != new)
    if write:
        path.write_text(new, encoding="utf-8")
    else:
        click.echo(new, nl=False)
    return 0


@cli.command("trace")
@click.argument("file", metavar="FILE")
@engine_option("prolog")
@click.option("--policy", type=click.Choice(["first", "random"]), default="first", show_default=True)
@seed_option
@steps_option
@json_option
def trace_command(file: str, engine_name: str, policy: str, seed: int, max_steps: int, as_json: bool) -> int:
    """Play one match and print every position."""
    choose: Policy = first_policy if policy == "first" else random_policy(seed)
    with open_engine(games.load(file), engine_name, tell) as engine:
        record: dict[str, Any] = {"terminal": False}
        for record in trace(engine, choose, max_steps):
            if as_json:
                click.echo(json.dumps(record))
            else:
                click.echo(f"step {record['step']}  hash {record['hash']}  goals {record['goals']}")
                click.echo(f"  facts {' '.join(record['facts'])}")
                for role, legal in zip(engine.game.roles, record["legal"], strict=True):
                    click.echo(f"  legal {role}: {' '.join(legal)}")
                click.echo(f"  move  {' '.join(record['move']) if record['move'] else 'none: the game is over'}")
    return finished(record["terminal"], max_steps)


def finished(terminal: bool, max_steps: int) -> int:
    if not terminal:
        ERR.print(f"the game is not over after {max_steps:,} joint moves; --max-steps allows more")
    return 0 if terminal else 1


@cli.command("perft")
@click.argument("file", metavar="FILE")
@click.option("--depth", type=click.IntRange(1), required=True, help="Longest paths to count.")
@engine_option("prolog")
@json_option
def perft_command(file: str, depth: int, engine_name: str, as_json: bool) -> None:
    """Count the paths of 1, 2, ... joint moves from the start."""
    with open_engine(games.load(file), engine_name, tell) as engine:
        for ply, paths in enumerate(perft(engine, depth), start=1):
            click.echo(json.dumps({"depth": ply, "paths": paths}) if as_json else f"{ply} {paths}")


@cli.command("games")
@json_option
def games_command(as_json: bool) -> None:
    """List the games that come with ggp_agent."""
    table = Table(box=None, pad_edge=False)
    for heading in ("name", "game", "roles", "in short"):
        table.add_column(heading, no_wrap=heading != "in short")
    for game in games.shipped():
        roles = load(game.rules).roles
        if as_json:
            click.echo(json.dumps({**asdict(game), "roles": roles, "rules": str(game.rules)}))
        table.add_row(game.name, escape(game.title), str(len(roles)), escape(game.summary))
    if not as_json:
        Console(highlight=False).print(table)


@cli.command("circuit")
@click.argument("game", metavar="GAME")
@click.option("--draw", type=click.Path(dir_okay=False, path_type=Path), help="Write a picture of a small circuit.")
@json_option
def circuit_command(game: str, draw: Path | None, as_json: bool) -> None:
    """Show what the rules of a game become as a circuit."""
    from ggp_agent.engine.circuit import PHASES
    from ggp_agent.engine.lanes import LanesEngine

    with LanesEngine(games.load(game), native=False) as engine:
        circuit = engine.circuit
    phases: dict[str, int] = dict.fromkeys(PHASES, 0)
    for phase, first, last, _, _ in circuit.segments.tolist():
        phases[PHASES[phase]] += last - first
    facts = {
        "roles": len(circuit.roles),
        "fluents": len(circuit.fluents),
        "moves": sum(map(len, circuit.moves)),
        "ground rules": circuit.ground_rules,
        "their literals": circuit.ground_literals,
        "gates": circuit.gates,
        "literals": len(circuit.literals),
        "depth": int(circuit.depths().max(initial=0)),
        "latches": circuit.first_gate - circuit.first_latch,
        "loops": sum(low < high for *_, low, high in circuit.segments.tolist()),
        **{f"gates for {phase}": count for phase, count in phases.items()},
    }
    if as_json:
        click.echo(json.dumps({"game": engine.game.name, **facts}))
    else:
        for name, number in facts.items():
            click.echo(f"{name:18} {number:>9,}")
    if draw is not None:
        from ggp_agent.engine.picture import draw as draw_circuit

        draw_circuit(circuit, draw)


class Human:
    """A person at the terminal, who types a move or its number in the list."""

    def __init__(self, board: Board) -> None:
        self.board = board

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        legal = position.legal[role]
        if len(legal) == 1:
            return legal[0]
        while True:
            text = click.prompt(f"your move as {engine.game.roles[role]} (? lists them)", err=True).strip()
            if text == "?":
                for number, move in enumerate(legal, start=1):
                    click.echo(f"{number:4} {engine.moves[role][move]}", err=True)
                continue
            try:
                return engine.move(state, role, text)
            except IllegalMove as error:
                if text in map(str, range(1, len(legal) + 1)):
                    return legal[int(text) - 1]
                click.echo(str(error), err=True)


@cli.command("play")
@click.argument("game", metavar="GAME")
@click.option("--role", help="The role that you play; without it all roles play at random.")
@engine_option("auto")
@seed_option
@steps_option
def play_command(game: str, role: str | None, engine_name: str, seed: int, max_steps: int) -> int:
    """Play a match in the terminal, the board shown after every move."""
    with open_engine(games.load(game), engine_name, tell) as engine:
        roles = engine.game.roles
        if role is not None and role not in roles:
            raise ConfigError(f"{role} is not a role of {engine.game.name}; its roles are: {', '.join(roles)}")
        board = Board(engine.possible(), engine.fluents(engine.initial()))
        players: list[Player] = [
            Human(board) if name == role else RandomPlayer(seed + number) for number, name in enumerate(roles)
        ]
        for turn in play(engine, players, max_steps):
            moves = [
                f"{name} {engine.moves[number][move]}"
                for number, (name, move) in enumerate(zip(roles, turn.joint or (), strict=False))
            ]
            click.echo(f"{turn.step}. {', '.join(moves)}" if moves else f"{engine.game.name}: {', '.join(roles)}")
            click.echo(board.draw(engine.fluents(turn.state)) + "\n")
        if turn.position.goals is not None and turn.position.terminal:
            scores = (f"{name} {goal}" for name, goal in zip(roles, turn.position.goals, strict=True))
            click.echo(f"result: {', '.join(scores)}")
        return finished(turn.position.terminal, max_steps)


@cli.group("bench")
def bench_group() -> None:
    """Measure speed, as ratios in one run."""


@bench_group.command("playouts")
@click.argument("names", nargs=-1, metavar="[GAME]...")
@click.option(
    "--engine",
    "engine_names",
    type=click.Choice(["lanes", "interpreted", "prolog"]),
    multiple=True,
    default=["lanes"],
    show_default=True,
    help="May be given several times; 'interpreted' is lanes without machine code.",
)
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Write a picture of speed against size.")
@click.option("--against", type=click.Choice(["open_spiel"]), help="Measure this too, in turns, and print the ratio.")
@click.option("--seconds", type=click.FloatRange(0.1), default=4.0, show_default=True, help="For each contestant.")
@seed_option
@json_option
def bench_playouts(
    names: tuple[str, ...],
    engine_names: tuple[str, ...],
    plot: Path | None,
    against: str | None,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Random playouts a second on our games (all of them, or those named)."""
    from ggp_agent.engine.bench import bench

    known = {game.name: game for game in games.shipped()}
    if unknown := [name for name in names if name not in known]:
        raise ConfigError(f"{unknown[0]} is not one of our games; 'ggp games' lists them")
    layout = "{:24} {:11} {:>8} {:>7} {:>7} {:>6} {:>12} {:>12} {:>6} {:>11} {:>8}"
    if not as_json:
        titles = ("game", "engine", "set-up s", "code s", "gates", "MB", "playouts/s", "steps/s", "plies")
        click.echo(layout.format(*titles, "OpenSpiel/s", "ratio"))
    results = []
    for name in names or known:
        for engine_name in engine_names:
            result = bench(known[name], engine_name, seconds=seconds, seed=seed, against_open_spiel=against is not None)
            results.append(asdict(result))
            if as_json:
                click.echo(json.dumps(results[-1]))
                continue
            numbers = [
                f"{result.setup_seconds:.2f}",
                "-" if result.code_seconds is None else f"{result.code_seconds:.2f}",
                "-" if result.gates is None else f"{result.gates}",
                f"{result.peak_megabytes:.0f}",
                f"{result.playouts_per_second:,.0f}",
                f"{result.steps_per_second:,.0f}",
                f"{result.mean_plies:.1f}",
                "-" if result.open_spiel_per_second is None else f"{result.open_spiel_per_second:,.0f}",
                "-" if result.ratio is None else f"{result.ratio:.4g}",
            ]
            click.echo(layout.format(result.game, result.engine, *numbers))
    if plot is not None:
        from ggp_agent.engine.picture import plot_speed

        plot_speed(results, plot)


def run(command: Callable[..., Any]) -> int:
    """The exit code of a command, with every error of ours as a message."""
    try:
        result = command(standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.Abort:
        ERR.print("interrupted")
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ConfigError as error:
        ERR.print(f"ggp: {escape(str(error))}")
        return 2
    except OSError as error:  # a file that cannot be written, and the like
        ERR.print(f"ggp: {escape(str(error))}")
        return 1
    except GgpError as error:
        ERR.print(escape(str(error)))
        return 1


def main() -> None:
    sys.exit(run(cli.main))
