"""A match between players, in one process and without clocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ggp_agent.engine import Engine, JointMove, Position, State
from ggp_agent.errors import ConfigError
from ggp_agent.play.players import Player


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """A position of a match, and the joint move that led there: None at the start."""

    step: int
    state: State
    position: Position
    joint: JointMove | None


def play(engine: Engine, players: Sequence[Player], max_steps: int) -> Iterator[Turn]:
    """The positions of one match, from the first to the last."""
    if len(players) != len(engine.game.roles):
        roles = len(engine.game.roles)
        raise ConfigError(f"{engine.game.name} has {roles} roles, and there are {len(players)} players")
    state, joint = engine.initial(), None
    for step in range(max_steps + 1):
        position = engine.look(state)
        yield Turn(step=step, state=state, position=position, joint=joint)
        if position.terminal:
            return
        joint = tuple(player.choose(engine, state, position, role) for role, player in enumerate(players))
        state = engine.step(state, joint)
