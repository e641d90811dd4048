"""Random games that show what the moves of a game look like, for whoever groups them."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from ggp_agent.engine import Move
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.search.config import SearchConfig
from ggp_agent.search.groups import make_groups

SAMPLES = 8  # games
SAMPLE_PLIES = 12  # of each


def groups_for(engine: LanesEngine, config: SearchConfig, seed: int) -> dict[str, Any]:
    """The groups that a configuration asks for, as a pool of graphs takes them."""
    samples = sample_moves(engine, seed) if config.groups.startswith("stages") else []
    return make_groups(config.groups, engine.circuit.moves, samples)


def sample_moves(engine: LanesEngine, seed: int) -> list[list[Move]]:
    """Legal moves of the role that has most of them, in positions of random games."""
    random, found = Random(seed), []
    offset = np.cumsum([0, *map(len, engine.moves)])
    for _ in range(SAMPLES):
        state = engine.initial()
        position = engine.look(state)
        for _ in range(SAMPLE_PLIES):
            if position.terminal:
                break
            role = max(range(len(position.legal)), key=lambda role: len(position.legal[role]))
            found.append([int(offset[role]) + move for move in position.legal[role]])
            state = engine.step(state, tuple(random.choice(moves) for moves in position.legal))
            position = engine.look(state)
    return found
