"""`ggp serve`, `ggp match` and `ggp replay`: play over the network, run a match, look at one."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from ggp_agent.cli.common import ERR, cli, engine_option, finished, json_option, seed_option, steps_option, tell
from ggp_agent.cli.play import Human
from ggp_agent.engine import Engine, JointMove, Move, Position, State, games, open_engine
from ggp_agent.errors import ConfigError
from ggp_agent.net import Master, PlayerConfig, Record, Terms, serve
from ggp_agent.net.config import default_file
from ggp_agent.net.own_servers import WARM_UP_SECONDS, started
from ggp_agent.play import Board
from ggp_agent.play.spec import PlayerSpec


@cli.command("serve")
@click.option("--port", type=click.IntRange(0, 65535), help="To listen on; 9147 unless told otherwise, 0 for any.")
@click.option("--host", help="The address to listen on; all addresses of this machine unless told otherwise.")
@click.option("--name", help="What servers call the player: one word.")
@click.option("--workers", type=click.IntRange(1), help="Threads that search.")
@click.option("--margin", type=click.FloatRange(0), help="Seconds kept in hand of every clock.")
@click.option("--silence", type=click.FloatRange(0), help="Seconds without a message after which a match is given up.")
@click.option("--playouts", type=click.IntRange(0), help="Simulations after which a move is played before its time.")
@click.option("--seed", type=int, help="Of everything random.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A search setting; may be repeated.")
@click.option("--config", type=click.Path(path_type=Path), help="A file of settings; options win over it.")
@click.option("--print-config", is_flag=True, help="Print the default file of settings, and do nothing else.")
@click.option("--quiet", is_flag=True, help="Tell only what goes wrong.")
def serve_command(
    port: int | None,
    host: str | None,
    name: str | None,
    workers: int | None,
    margin: float | None,
    silence: float | None,
    playouts: int | None,
    seed: int | None,
    settings: tuple[str, ...],
    config: Path | None,
    print_config: bool,
    quiet: bool,
) -> None:
    """Be a player that GGP servers can call, until interrupted."""
    if print_config:
        click.echo(default_file(), nl=False)
        return
    chosen: dict[str, Any] = {
        "port": port,
        "host": host,
        "name": name,
        "margin_seconds": margin,
        "silence_seconds": silence,
        "playouts": playouts,
        "seed": seed,
    }
    player = PlayerConfig() if config is None else PlayerConfig.load(config)
    player = replace(player, **{key: value for key, value in chosen.items() if value is not None})
    search = dict(parse_setting(text) for text in settings)
    if workers is not None:
        search["workers"] = str(workers)
    player = player.with_search(search)
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("ggp_agent.net").setLevel(logging.WARNING if quiet else logging.INFO)
    asyncio.run(serve_until_told(player))


def parse_setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ConfigError(f"{text!r} is not a setting: write --set name=value, such as --set d=1:0:1")
    return name, value


async def serve_until_told(player: PlayerConfig) -> None:
    """For a server, Ctrl-C and SIGTERM are the usual way to end."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await serve(player, stop)


class Prompted(Human):
    """A person, who can break off with Ctrl-C although an event loop runs."""

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            return super().choose(engine, state, position, role)
        finally:
            signal.signal(signal.SIGINT, handler)


@cli.command("match")
@click.argument("game", metavar="GAME")
@click.argument("players", nargs=-1, metavar="PLAYER...")
@click.option("--start-clock", type=click.IntRange(1), default=10, show_default=True, help="Seconds before the start.")
@click.option("--play-clock", type=click.IntRange(1), default=5, show_default=True, help="Seconds for a move.")
@click.option("--scramble", is_flag=True, help="Rename everything in the rules that players over HTTP get.")
@click.option("--wait", type=click.FloatRange(0), default=0.0, help="Seconds for HTTP players to become available.")
@click.option("--record", "path", type=click.Path(dir_okay=False, path_type=Path), help="Write the record to a file.")
@engine_option("auto")
@seed_option
@steps_option
@json_option
def match_command(
    game: str,
    players: tuple[str, ...],
    start_clock: int,
    play_clock: int,
    scramble: bool,
    wait: float,
    path: Path | None,
    engine_name: str,
    seed: int,
    max_steps: int,
    as_json: bool,
) -> int:
    """Play a match between players: one a role, in the order of the rulesheet.

    A PLAYER is ucd with any search settings (ucd,d=1:0:1,playouts=2000), random, legal, human, http://host:port, or
    server with any search settings: a server process that is started for this match and called over HTTP.
    """
    specs = [PlayerSpec.parse(text) for text in players]
    terms = Terms(start_clock=start_clock, play_clock=play_clock, seed=seed, scramble=scramble, max_steps=max_steps)
    if any(spec.kind == "server" for spec in specs):
        tell("starting servers; the very first time they compile kernels, which takes a minute or two")
        wait = max(wait, WARM_UP_SECONDS)
    with started(specs, seed) as specs, open_engine(games.load(game), engine_name, tell) as engine:
        board = Board(engine.possible(), engine.fluents(engine.initial()))

        def show(step: int, state: State, position: Position, joint: JointMove | None, errors: Sequence[str]) -> None:
            if not as_json:
                moves = [str(engine.moves[role][move]) for role, move in enumerate(joint or ())]
                print_step(step, master.record, moves, errors, board.draw(engine.fluents(state)))

        master = Master(engine, specs, terms, human=Prompted(board), show=show)
        try:
            asyncio.run(master.run(wait))
        finally:
            if path is not None and master.record.states:
                master.record.save(path)
        print_end(master.record, as_json)
        return finished(master.record.goals is not None, max_steps)


@cli.command("replay")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def replay_command(path: Path, as_json: bool) -> None:
    """Show a match record, ours or one of ggp-base, move by move."""
    record = Record.load(path)
    states = [record.fluents(step) for step in range(len(record.states))]
    if not as_json:
        board = Board([fluent for state in states for fluent in state], states[0])
        for step, fluents in enumerate(states):
            moves = record.moves[step - 1] if step else []
            print_step(step, record, moves, record.errors[step], board.draw(fluents))
    print_end(record, as_json)


def print_step(step: int, record: Record, moves: Sequence[str], errors: Sequence[str], picture: str) -> None:
    """A position, the moves that led there, and what went wrong with them."""
    if moves:
        click.echo(f"{step}. {', '.join(f'{role} {move}' for role, move in zip(record.roles, moves, strict=True))}")
    else:
        who = (f"{role} {name}".strip() for role, name in zip(record.roles, record.players, strict=True))
        click.echo(f"{record.game or record.match}: {', '.join(who)}")
    for role, error in zip(record.roles, errors, strict=True):
        if error:
            click.echo(f"   {role}: {error}")
    click.echo(picture + "\n")


def print_end(record: Record, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(record.to_json()))
    elif record.goals is not None:
        scores = (f"{role} {goal}" for role, goal in zip(record.roles, record.goals, strict=True))
        click.echo(f"result: {', '.join(scores)}")
    else:
        ERR.print(escape(f"{record.match}: the match was broken off"))
