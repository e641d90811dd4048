"""`ggp play`: a match in the terminal."""

from __future__ import annotations

import click

from ggp_agent.cli.common import cli, engine_option, finished, seed_option, steps_option, tell
from ggp_agent.engine import Engine, Move, Position, State, games, open_engine
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.play import Board, Player, PlayerSpec, SearchPlayer, make_player, play


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
@click.option("--role", help="The role that you play, against the agent.")
@click.option(
    "--player",
    "specs",
    multiple=True,
    metavar="SPEC",
    help="Who plays, in the order of the roles: ucd,NAME=VALUE,... random, legal or human. Without it and without"
    " --role, the agent plays the first role and the others play at random.",
)
@click.option("--seconds", type=click.FloatRange(0.01), default=1.0, show_default=True, help="The agent's, for a move.")
@engine_option("auto")
@seed_option
@steps_option
def play_command(
    game: str, role: str | None, specs: tuple[str, ...], seconds: float, engine_name: str, seed: int, max_steps: int
) -> int:
    """Play a match in the terminal, the board shown after every move."""
    with open_engine(games.load(game), engine_name, tell) as engine:
        roles = engine.game.roles
        board = Board(engine.possible(), engine.fluents(engine.initial()))
        players = [
            Human(board) if spec.kind == "human" else make_player(spec, engine, number, seed + number)
            for number, spec in enumerate(choose_specs(engine.game.name, roles, role, specs, seconds))
        ]
        for turn in play(engine, players, max_steps):
            moves = [
                f"{name} {engine.moves[number][move]}{thought(player)}"
                for number, (name, move, player) in enumerate(zip(roles, turn.joint or (), players, strict=False))
            ]
            click.echo(f"{turn.step}. {', '.join(moves)}" if moves else f"{engine.game.name}: {', '.join(roles)}")
            click.echo(board.draw(engine.fluents(turn.state)) + "\n")
        if turn.position.goals is not None and turn.position.terminal:
            scores = (f"{name} {goal}" for name, goal in zip(roles, turn.position.goals, strict=True))
            click.echo(f"result: {', '.join(scores)}")
        return finished(turn.position.terminal, max_steps)


def choose_specs(
    game: str, roles: tuple[str, ...], role: str | None, specs: tuple[str, ...], seconds: float
) -> list[PlayerSpec]:
    """Who plays which role."""
    agent = PlayerSpec.parse(f"ucd,seconds={seconds}")
    if role is not None and role not in roles:
        raise ConfigError(f"{role} is not a role of {game}; its roles are: {', '.join(roles)}")
    if specs and (role is not None or len(specs) != len(roles)):
        raise ConfigError(f"--player is needed once for each of the {len(roles)} roles of {game}, and without --role")
    if specs:
        return [PlayerSpec.parse(text) for text in specs]
    if role is not None:
        return [PlayerSpec.parse("human") if name == role else agent for name in roles]
    return [agent, *(PlayerSpec.parse("random") for _ in roles[1:])]


def thought(player: Player) -> str:
    """What an agent thought when it chose its last move."""
    if not isinstance(player, SearchPlayer) or player.analysis is None:
        return ""
    analysis, player.analysis = player.analysis, None
    best = analysis.lines[max(range(len(analysis.lines)), key=lambda role: len(analysis.lines[role]))][0]
    how = "proven" if best.proven else f"{analysis.simulations:,} simulations"
    return f" [{best.value:.2f}, {how}]"
