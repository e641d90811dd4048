"""`ggp analyse`: what the search thinks of a position, as it thinks."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import click

from ggp_agent.cli.common import cli, engine_option, json_option, read_settings, seed_option, set_option, tell
from ggp_agent.engine import Engine, JointMove, games, open_engine
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.gdl.reader import read
from ggp_agent.search import Limit

if TYPE_CHECKING:
    from ggp_agent.search import Analysis, Searcher

SHOWN = 5  # moves of each role in the table at the end


@cli.command("analyse")
@click.argument("game", metavar="GAME")
@click.option("--moves", default="", help="What was played so far: the moves of roles that had a choice, in order.")
@click.option("--seconds", type=click.FloatRange(0), help="Think so long; 5 seconds if no limit is given.")
@click.option("--playouts", type=click.IntRange(1), help="Think for so many simulations.")
@click.option("--nodes", type=click.IntRange(1), help="Think until there are so many new positions.")
@set_option
@engine_option("auto")
@seed_option
@json_option
def analyse_command(
    game: str,
    moves: str,
    seconds: float | None,
    playouts: int | None,
    nodes: int | None,
    settings: tuple[str, ...],
    engine_name: str,
    seed: int,
    as_json: bool,
) -> None:
    """Think about a position, and say what comes of it."""
    from ggp_agent.search import Searcher  # numba takes a while

    config = read_settings(settings)
    if seconds is None:
        seconds = 5.0 if playouts is None and nodes is None else math.inf
    limit = Limit(seconds=seconds, playouts=playouts, nodes=nodes)
    with open_engine(games.load(game), engine_name, tell) as engine, Searcher(engine, config, seed) as searcher:
        play_moves(searcher, moves)

        def report(analysis: Analysis) -> None:
            click.echo(json.dumps(as_record(engine, analysis)) if as_json else as_line(engine, analysis))

        final = searcher.think(limit, report)
        report(final)
        if not as_json:
            click.echo(table(engine, final))


def play_moves(searcher: Searcher, text: str) -> None:
    """Play the moves of a text: in each position, those of the roles that have a choice there."""
    engine, waiting = searcher.engine, list(map(str, read(text).items))
    while waiting:
        legal = searcher.position.legal
        choosers = [role for role, moves in enumerate(legal) if len(moves) > 1] or [0]
        if searcher.position.terminal:
            raise IllegalMove(f"the game is over before {waiting[0]}")
        if len(waiting) < len(choosers):
            raise ConfigError(f"--moves ends within a joint move: {len(choosers)} roles choose at once here")
        joint = [moves[0] for moves in legal]
        for role in choosers:
            joint[role] = engine.move(searcher.state, role, waiting.pop(0))
        searcher.advance(tuple(joint))


def joint_text(engine: Engine, joint: JointMove) -> str:
    return "+".join(str(engine.moves[role][move]) for role, move in enumerate(joint))


def as_line(engine: Engine, analysis: Analysis) -> str:
    value = " ".join(f"{value:.3f}" for value in analysis.value)
    line = " ".join(joint_text(engine, joint) for joint in analysis.variation)
    return (
        f"info simulations {analysis.simulations} per_second {analysis.per_second:.0f} nodes {analysis.nodes}"
        f" fill {analysis.fill:.3f} depth {len(analysis.variation)} value {value}"
        f"{' proven' if analysis.proven else ''} pv {line or '-'}"
    )


def as_record(engine: Engine, analysis: Analysis) -> dict[str, Any]:
    """The same for programs."""
    return {
        "simulations": analysis.simulations,
        "per_second": analysis.per_second,
        "seconds": analysis.seconds,
        "nodes": analysis.nodes,
        "edges": analysis.edges,
        "fill": analysis.fill,
        "cut": analysis.cut,
        "value": dict(zip(engine.game.roles, analysis.value, strict=True)),
        "proven": analysis.proven,
        "pv": [[str(engine.moves[role][move]) for role, move in enumerate(joint)] for joint in analysis.variation],
        "moves": {
            name: [
                {
                    "move": str(engine.moves[role][line.move]),
                    "visits": line.visits,
                    "value": line.value,
                    "proven": line.proven,
                }
                for line in lines
            ]
            for role, (name, lines) in enumerate(zip(engine.game.roles, analysis.lines, strict=True))
        },
    }


def table(engine: Engine, analysis: Analysis) -> str:
    """The best moves of every role that has a choice."""
    rows = []
    for role, lines in enumerate(analysis.lines):
        for line in lines[:SHOWN] if len(lines) > 1 else ():
            proven = " proven" if line.proven else ""
            move = str(engine.moves[role][line.move])
            rows.append(f"{engine.game.roles[role]:12} {move:24} {line.visits:>10,} {line.value:.3f}{proven}")
    return "\n".join(rows)
