"""Perft, traces, and the comparison of an engine with a reference: for our engines and for anybody's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from random import Random
from typing import Any

from ggp_agent.engine.base import Engine, JointMove, Position, State
from ggp_agent.errors import EngineError

Policy = Callable[[Position], JointMove]


def first_policy(position: Position) -> JointMove:
    """Every role plays its smallest move, in the order of the moves' spaced text."""
    return tuple(moves[0] for moves in position.legal)


def random_policy(seed: int) -> Policy:
    """Every role plays any of its moves with the same chance."""
    random = Random(seed)
    return lambda position: tuple(random.choice(moves) for moves in position.legal)


def walk(engine: Engine, policy: Policy, max_steps: int) -> Iterator[tuple[State, Position, JointMove | None]]:
    """The positions of one match, each with the joint move played there: None at the end."""
    state = engine.initial()
    for _ in range(max_steps + 1):
        position = engine.look(state)
        joint = None if position.terminal else policy(position)
        yield state, position, joint
        if joint is None:
            return
        state = engine.step(state, joint)


def trace(engine: Engine, policy: Policy, max_steps: int) -> Iterator[dict[str, Any]]:
    """One record a position, the same for every engine that plays by the rules."""
    for step, (state, position, joint) in enumerate(walk(engine, policy, max_steps)):
        yield {
            "step": step,
            "facts": engine.facts(state),
            "legal": [
                sorted(str(engine.moves[role][move]) for move in moves) for role, moves in enumerate(position.legal)
            ],
            "terminal": position.terminal,
            "goals": None if position.goals is None else list(position.goals),
            "hash": f"{engine.hash(state):016x}",
            "move": None if joint is None else [str(engine.moves[role][move]) for role, move in enumerate(joint)],
        }


def perft(engine: Engine, depth: int) -> Iterator[int]:
    """The number of joint-move paths of length 1, 2, ... `depth` from the initial state.

    Paths that meet in a state are counted together, so that the work grows with states and not with paths.
    """
    frontier: dict[State, int] = {engine.initial(): 1}
    for ply in range(1, depth + 1):
        paths = 0
        after: Counter[State] = Counter()
        for state, count in frontier.items():
            position = engine.look(state)
            if position.terminal:
                continue
            paths += count * prod(map(len, position.legal))
            if ply < depth:
                for joint in product(*position.legal):
                    after[engine.step(state, joint)] += count
        yield paths
        frontier = after


def describe(engine: Engine, state: State) -> dict[str, Any]:
    """All that an engine says of a state, in words that any engine would use."""
    position = engine.look(state)
    return {
        "facts": engine.facts(state),
        "legal": [[str(engine.moves[role][move]) for move in moves] for role, moves in enumerate(position.legal)],
        "terminal": position.terminal,
        "goals": position.goals,
        "hash": engine.hash(state),
    }


def conform(engine: Engine, reference: Engine, positions: int, seed: int = 0, max_steps: int = 1_000) -> int:
    """Walk random games with two engines side by side; an EngineError names the first position where they differ.

    The number of positions compared is returned: at least as many as asked for.
    """
    random = Random(seed)
    compared = 0
    while compared < positions:
        state, other = engine.initial(), reference.initial()
        for _ in range(max_steps):
            ours, theirs = describe(engine, state), describe(reference, other)
            compared += 1
            if ours != theirs:
                parts = ", ".join(part for part in ours if ours[part] != theirs[part])
                raise EngineError(
                    f"{engine.game.name}: {engine.name} and {reference.name} differ on {parts} in the position "
                    + " ".join(theirs["facts"])
                )
            if ours["terminal"]:
                break
            choice = [random.randrange(len(moves)) for moves in ours["legal"]]
            state = engine.step(state, pick(engine.look(state), choice))
            other = reference.step(other, pick(reference.look(other), choice))
    return compared


def pick(position: Position, choice: list[int]) -> JointMove:
    return tuple(moves[index] for moves, index in zip(position.legal, choice, strict=True))
