"""What the tests of engines need of our games: the referees, which were written without looking at the rulesheets."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from math import prod
from random import Random
from typing import Any

from ggp_agent.engine import Engine, games

SHIPPED = {game.name: game for game in games.shipped()}


def referee(name: str) -> Any:
    """The module that plays a game without GDL: roles, initial, legal, step, terminal, goals, facts."""
    return import_module(f"tests.referees.{name}")


def referee_perft(rules: Any, depth: int) -> list[int]:
    """Joint-move paths by a referee, state by state, as `ggp_agent.engine.conform.perft` counts them."""
    counts = []
    frontier = {rules.initial(): 1}
    for _ in range(depth):
        paths = 0
        after: dict[Any, int] = {}
        for state, ways in frontier.items():
            if rules.terminal(state):
                continue
            legal = rules.legal(state)
            paths += ways * prod(map(len, legal))
            for joint in product(*legal):
                following = rules.step(state, joint)
                after[following] = after.get(following, 0) + ways
        counts.append(paths)
        frontier = after
    return counts


def compare(engine: Engine, rules: Any, seed: int, max_positions: int) -> int:
    """Walk one random game with an engine and a referee side by side; the number of positions in which they agreed."""
    assert engine.game.roles == rules.ROLES
    random = Random(seed)
    state, other = engine.initial(), rules.initial()
    for count in range(1, max_positions + 1):
        position = engine.look(state)
        legal = [[str(engine.moves[role][move]) for move in moves] for role, moves in enumerate(position.legal)]
        assert engine.facts(state) == sorted(rules.facts(other))
        assert position.terminal == rules.terminal(other)
        if position.terminal:
            assert position.goals == tuple(rules.goals(other))
            return count
        assert [sorted(moves) for moves in legal] == rules.legal(other)
        choice = [random.randrange(len(moves)) for moves in legal]
        state = engine.step(state, tuple(moves[i] for i, moves in zip(choice, position.legal, strict=True)))
        other = rules.step(other, tuple(moves[i] for i, moves in zip(choice, legal, strict=True)))
    return max_positions
