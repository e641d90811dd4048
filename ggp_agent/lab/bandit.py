"""The artificial game of Van Eyck's thesis: one choice among moves, each of which wins with a chance of its own.

It is searched with the graph code of the agent: the moves are edges of the root or of groups in it, and the positions
they lead to are always played out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.search.config import SearchConfig
from ggp_agent.search.edges import new_position
from ggp_agent.search.graph import Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.select import random_below
from ggp_agent.search.table import EDGES, JOINTS, LISTED, NODES, NONE, hash_state, kernel
from ggp_agent.search.ucd import KNOWN, MOVES, PLAYOUT, RANK, STEP, WALK, arrive, walk_on
from ggp_agent.search.update import update

MANY = 1 << 30  # random numbers are below it
MEGABYTES = 2
# Groups made anew for every run from values with noise: none, the best three, the best with the third and fourth
FIXED, BEST_THREE, FIRST_THIRD_FOURTH = range(3)
# Which of the most visited moves is selected: one with the most wins, or any
BY_WINS, AT_RANDOM = range(2)


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What to search and how."""

    chances: tuple[float, ...]  # of the moves
    exploration: float = 1.0
    groups: str = "none"  # of the search
    keys: tuple[tuple[int, ...], ...] = ()  # fixed groups: of each stage, the group of every move
    prior: int = FIXED
    noise: float = 0.0  # of the values from which groups are made, at most


@kernel
def forget_graph(g, state, level):  # type: ignore[no-untyped-def]
    """Begin anew with a root of this state, after so many plies."""
    g.used[NODES], g.used[EDGES], g.used[JOINTS], g.used[LISTED] = 0, 0, 0, 0
    for size in range(len(g.free)):
        g.free[size] = NONE
    for slot in range(len(g.table)):
        g.table[slot] = NONE
    g.root[0] = new_position(g, state, 0, hash_state(state, 0), level)


@kernel
def shuffle(g, items, first):  # type: ignore[no-untyped-def]
    """Put items from `first` on into a random order."""
    for k in range(len(items) - 1, first, -1):
        other = first + random_below(g, k + 1 - first)
        items[k], items[other] = items[other], items[k]


@kernel
def make_prior(g, chances, prior, noise):  # type: ignore[no-untyped-def]
    """Group moves in threes by their chances with noise: the main group first, the others at random."""
    values = np.empty(len(chances))
    for move in range(len(chances)):
        values[move] = -chances[move] + noise * (2.0 * random_below(g, MANY) / MANY - 1.0)
    order = np.argsort(values)
    if prior == FIRST_THIRD_FOURTH:
        second = order[1]
        order[1], order[2], order[3] = order[2], order[3], second
    shuffle(g, order, 3)
    for k in range(len(order)):
        g.group_key[0, order[k]] = k // 3


@kernel
def simulate(g, chances, moves, counts, state):  # type: ignore[no-untyped-def]
    """One play; the move that was chosen."""
    root, need = g.root[0], WALK
    g.at[0] = root
    while need != KNOWN:
        if need == WALK:
            need = walk_on(g, 0)
        elif need == RANK:
            form_groups(g, root)
            need = WALK
        elif need == MOVES:
            need = PLAYOUT
            if g.position[g.at[0]] == root:
                counts[0] = len(chances)
                for k in range(len(chances)):
                    moves[0, k] = k
                expand(g, 0, moves, counts)
                need = WALK
        elif need == STEP:
            state[0] = np.uint64(1 + g.move[g.path[0, g.length[0] - 1]])
            need = arrive(g, 0, state, hash_state(state, 0), False, g.payoff[0])
        else:
            move = np.int64(g.state[g.at[0], 0]) - 1
            g.payoff[0, 0] = 1.0 if random_below(g, MANY) < chances[move] * MANY else 0.0
            need = KNOWN
    update(g, 0)
    return move


@kernel
def most_visited(g, rule):  # type: ignore[no-untyped-def]
    """The move that is selected: that of the most visited group, and so on."""
    node = g.root[0]
    while True:
        best, ties = g.first[node], 1
        for edge in range(g.first[node] + 1, g.first[node] + g.edges[node]):
            more = g.n[edge] - g.n[best]
            if more == 0 and rule == BY_WINS:
                more = np.int64(g.total[edge, 0] - g.total[best, 0])
            if more > 0:
                best, ties = edge, 1
            elif more == 0:
                ties += 1
                if random_below(g, ties) == 0:
                    best = edge
        if g.move[best] >= 0:
            return g.move[best]
        node = g.child[best]


@kernel
def play(g, chances, runs, marks, prior, noise, found):  # type: ignore[no-untyped-def]
    """Add up what every mark sees over some runs.

    found[mark] = the best move was selected with either rule for ties; its regret with the first; all regret so far.
    """
    moves, counts = np.zeros((1, len(chances)), np.int32), np.zeros(1, np.int32)
    state = np.zeros(1, np.uint64)
    best = chances.max()
    for _ in range(runs):
        state[0] = np.uint64(0)
        forget_graph(g, state, 0)
        if prior != FIXED:
            make_prior(g, chances, prior, noise)
        regret, mark = 0.0, 0
        for number in range(1, marks[-1] + 1):
            regret += best - chances[simulate(g, chances, moves, counts, state)]
            if number == marks[mark]:
                chosen = chances[most_visited(g, BY_WINS)]
                found[mark, 0] += chosen == best
                found[mark, 1] += chances[most_visited(g, AT_RANDOM)] == best
                found[mark, 2] += best - chosen
                found[mark, 3] += regret
                mark += 1


def make_pool(problem: Problem, seed: int) -> Pool:
    """A graph for a problem."""
    texts = [[f"m{k}" for k in range(len(problem.chances))]]
    groups = make_groups(problem.groups, texts, [])
    keys = problem.keys if problem.prior == FIXED else ((0,) * len(problem.chances),)
    if keys:
        groups["group_key"] = np.array(keys, np.int32)
        groups["group_mark"] = np.zeros(len(problem.chances) + 1, np.int64)
    config = SearchConfig(
        depths=(0, 0, 0), solve=False, virtual_loss=0, exploration=problem.exploration, groups=problem.groups
    )
    return Pool(config, groups, np.ones(1), words=1, graphs=1, walks=1, megabytes=MEGABYTES, seed=seed)


def run(problem: Problem, runs: int, marks: Sequence[int], seed: int) -> dict[str, Any]:
    """The mean over some runs of what is seen after so many plays: lists with a number for each mark."""
    pool = make_pool(problem, seed)
    found: NDArray[np.float64] = np.zeros((len(marks), 4))
    begun = perf_counter()
    play(pool.block, np.array(problem.chances), runs, np.array(marks), problem.prior, problem.noise, found)
    seconds = perf_counter() - begun
    by_wins, at_random, simple, cumulative = (found / runs).round(9).T.tolist()
    return {
        "runs": runs,
        "plays": runs * marks[-1],
        "rates": by_wins,
        "at_random": at_random,
        "simple": simple,
        "cumulative": cumulative,
        "seconds": round(seconds, 6),
    }
