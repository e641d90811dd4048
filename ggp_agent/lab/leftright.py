"""LeftRight: how much transpositions help where nearly every move order leads to the same position.

At each of 300 steps the only player goes to the left or to the right; the payoff is the share of steps to the left. A
position is the number of steps and how many of them went to the left. Every move is searched with few playouts in a
fresh graph, and the most visited move is played (Saffidine, Cazenave and Mehat, UCD, section 4.1 and figure 4).
"""

from __future__ import annotations

import numpy as np

from ggp_agent.engine.block import Block
from ggp_agent.errors import ConfigError
from ggp_agent.lab.bandit import forget_graphs
from ggp_agent.search.config import SearchConfig
from ggp_agent.search.graph import Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.select import random_below
from ggp_agent.search.table import EDGES, LISTED, NODES, RANDOM, hash_state, kernel
from ggp_agent.search.ucd import KNOWN, MOVES, STEP, WALK, arrive, walk_on
from ggp_agent.search.update import update

STEPS, PLAYOUTS, EXPLORATION = 300, 100, 0.3
LEFT = 0  # the number of the move
STEP_BITS = 16  # a state is one word: the steps made, and above them how many went to the left
MEGABYTES = 4


@kernel
def count_lefts(g, steps):  # type: ignore[no-untyped-def]
    """How many of so many random steps go to the left."""
    lefts = 0
    while steps > 0:
        bits = random_below(g, 1 << 32)
        if steps < 32:
            bits &= (1 << steps) - 1
        while bits:
            bits &= bits - 1
            lefts += 1
        steps -= 32
    return lefts


@kernel
def simulate(g, steps, scratch):  # type: ignore[no-untyped-def]
    """One simulation from the root."""
    g.at[0] = g.root[0]
    need = WALK
    while need != KNOWN:
        if need == WALK:
            need = walk_on(g, 0)
        elif need == MOVES:
            expand(g, 0, scratch.moves, scratch.counts)
            need = WALK
        elif need == STEP:
            last = g.length[0] - 1
            state = g.state[g.nodes[0, last], 0] + np.uint64(1)
            if g.move[g.path[0, last]] == LEFT:
                state += np.uint64(1 << STEP_BITS)
            scratch.state[0] = state
            scratch.payoff[0] = np.int64(state >> np.uint64(STEP_BITS)) / steps
            over = np.int64(state & np.uint64((1 << STEP_BITS) - 1)) == steps
            need = arrive(g, 0, scratch.state, hash_state(scratch.state, 0), over, scratch.payoff)
        else:
            state = g.state[g.at[0], 0]
            made = np.int64(state & np.uint64((1 << STEP_BITS) - 1))
            lefts = np.int64(state >> np.uint64(STEP_BITS))
            g.payoff[0, 0] = (lefts + count_lefts(g, steps - made)) / steps
            need = KNOWN
    update(g, 0)


@kernel
def choose(g, made, lefts, steps, playouts, scratch):  # type: ignore[no-untyped-def]
    """The most visited move after some playouts in an empty graph, ties at random."""
    scratch.state[0] = np.uint64(made + (lefts << STEP_BITS))
    forget_graphs(g, scratch.state, made)
    for _ in range(playouts):
        simulate(g, steps, scratch)
    first, known = g.first[g.root[0]], g.edges[g.root[0]]
    if known == 2 and g.n[first] == g.n[first + 1]:
        return g.move[first + random_below(g, 2)]
    return g.move[first + 1] if known == 2 and g.n[first + 1] > g.n[first] else g.move[first]


@kernel
def play(g, steps, playouts, scratch):  # type: ignore[no-untyped-def]
    """One game: how many steps went to the left."""
    lefts = 0
    for made in range(steps):
        lefts += choose(g, made, lefts, steps, playouts, scratch) == LEFT
    return lefts


class LeftRight:
    """Plays games of LeftRight with one configuration of the search."""

    def __init__(self, config: SearchConfig, *, steps: int = STEPS, playouts: int = PLAYOUTS) -> None:
        if not (1 <= steps < 1 << STEP_BITS and playouts >= 1):
            raise ConfigError(f"LeftRight needs 1 to {(1 << STEP_BITS) - 1} steps and at least one playout")
        self.steps, self.playouts = steps, playouts
        groups = make_groups("none", [["left", "right"]], [])
        megabytes = max(MEGABYTES, 4 * playouts // 1000)
        self.pool = Pool(config, groups, np.ones(1), words=1, graphs=1, walks=1, megabytes=megabytes, seed=0)
        for what, room in ((NODES, playouts + 2), (EDGES, 4 * playouts + 4), (LISTED, 2 * playouts + 2)):
            while self.pool.room[what] < room:
                if not self.pool.grow(what):
                    raise ConfigError(f"{playouts:,} playouts a move are too many")
        self.scratch = Block(
            {
                "moves": np.array([[0, 1]], np.int32),  # int32[1, 2]: left, right
                "counts": np.array([2], np.int32),  # int32[1]
                "state": np.zeros(1, np.uint64),  # uint64[1]: where a simulation goes
                "payoff": np.zeros(1),  # float64[1]: the share of steps to the left there
            }
        )

    def play(self, seed: int) -> float:
        """One game: the share of steps to the left."""
        word = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
        self.pool.block["used"][RANDOM] = word >> np.uint64(1) | np.uint64(1)
        return int(play(self.pool.block, self.steps, self.playouts, self.scratch)) / self.steps
