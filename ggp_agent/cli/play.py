"""`ggp play`: a match in the terminal."""

from __future__ import annotations

import click

from ggp_agent.cli.common import cli, engine_option, finished, seed_option, steps_option, tell
from ggp_agent.engine import Engine, Move, Position, State, games, open_engine
from ggp_agent.errors import ConfigError, IllegalMove
from ggp_agent.play import Board, Player, RandomPlayer, play


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
