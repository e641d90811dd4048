"""Commands about rulesheets: check, format, trace, perft, games, circuit."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ggp_agent.cli.common import ERR, OUT, cli, engine_option, finished, json_option, seed_option, steps_option, tell
from ggp_agent.engine import games, open_engine
from ggp_agent.engine.base import Game
from ggp_agent.engine.conform import Policy, first_policy, perft, random_policy, trace
from ggp_agent.engine.ground import check_negation
from ggp_agent.errors import Finding, GdlError
from ggp_agent.gdl import check, format_text, load
from ggp_agent.gdl.reader import load_text

COLOURS = {"error": "red", "warning": "yellow"}


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
