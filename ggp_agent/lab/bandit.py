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

from ggp_agent.engine.block import Block
from ggp_agent.search.config import SearchConfig
from ggp_agent.search.edges import new_position
from ggp_agent.search.graph import Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.select import random_below
from ggp_agent.search.table import EDGES, JOINTS, LISTED, NODES, NONE, hash_state, inlined, kernel
from ggp_agent.search.ucd import MOVES, PLAYOUT, RANK, STEP, WALK, arrive, walk_on
from ggp_agent.search.update import update

MANY = 1 << 30  # random numbers are below it
MANY_PLAYS = 10_000_000  # are worth a minute in which kernels are compiled that know these rules
KNOWN_RULES = ("rave", "deep", "update_all", "transpositions", "solve", "virtual_loss", "d1", "d2", "d3", "even")
AT_ONCE = 8  # runs: a processor goes on with one while another waits
MEGABYTES = 128
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
    in_order: bool = False  # of moves with equal means the last ones are ranked first, and not any
    keys: tuple[tuple[int, ...], ...] = ()  # fixed groups: of each stage, the group of every move
    prior: int = FIXED
    noise: float = 0.0  # of the values from which groups are made, at most


@kernel
def forget_graphs(g, state, level):  # type: ignore[no-untyped-def]
    """Begin anew with roots of this state, after so many plies."""
    g.used[NODES], g.used[EDGES], g.used[JOINTS], g.used[LISTED] = 0, 0, 0, 0
    for size in range(len(g.free)):
        g.free[size] = NONE
    for slot in range(len(g.table)):
        g.table[slot] = NONE
    for graph in range(len(g.root)):
        g.root[graph] = new_position(g, state, graph, hash_state(state, graph), level)


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
def provide(g, lane, need, scratch):  # type: ignore[no-untyped-def]
    """Do what a play needs; what it needs then."""
    if need == RANK:
        form_groups(g, g.root[lane])
        return WALK
    if need == STEP:
        scratch.state[0] = np.uint64(1 + g.move[g.path[lane, g.length[lane] - 1]])
        return arrive(g, lane, scratch.state, hash_state(scratch.state, lane), False, g.payoff[lane])
    count = len(scratch.chances)
    scratch.counts[0] = count
    for k in range(count):
        scratch.moves[0, k] = k
    expand(g, lane, scratch.moves, scratch.counts)
    return WALK


@inlined
def walk_all(g, scratch, runs):  # type: ignore[no-untyped-def]
    """Let the plays of all runs walk until each has come to a move."""
    for lane in range(runs):
        g.at[lane] = g.root[lane]
        scratch.needs[lane] = WALK
    walking = runs
    while walking > 0:
        walking = 0
        for lane in range(runs):
            if scratch.needs[lane] == WALK:
                need = walk_on(g, lane)
                if need == MOVES and g.position[g.at[lane]] != g.root[lane]:
                    need = PLAYOUT
                elif need != WALK:
                    need = provide(g, lane, need, scratch)
                scratch.needs[lane] = need
                walking += need == WALK


@inlined
def simulate(g, scratch, runs):  # type: ignore[no-untyped-def]
    """One play of each of so many runs, and the chances that were missed by it."""
    walk_all(g, scratch, runs)
    for lane in range(runs):
        chance = scratch.chances[np.int64(g.state[g.at[lane], 0]) - 1]
        g.payoff[lane, 0] = random_below(g, MANY) < chance * MANY
        scratch.regret[lane] += scratch.best - chance
        update(g, lane)


@kernel
def most_visited(g, node, rule):  # type: ignore[no-untyped-def]
    """The move that is selected: that of the most visited group, and so on."""
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


@inlined
def look(g, scratch, lane, found):  # type: ignore[no-untyped-def]
    """Add what a mark sees of a run."""
    chosen = scratch.chances[most_visited(g, g.root[lane], BY_WINS)]
    found[0] += chosen == scratch.best
    found[1] += scratch.chances[most_visited(g, g.root[lane], AT_RANDOM)] == scratch.best
    found[2] += scratch.best - chosen
    found[3] += scratch.regret[lane]


@kernel
def play(g, scratch, runs, marks, prior, noise):  # type: ignore[no-untyped-def]
    """Add up what every mark sees over some runs, as many of them at once as there are lanes.

    found[mark] = the best move was selected with either rule for ties; its regret with the first; all regret so far.
    """
    for begun in range(0, runs, len(g.at)):
        together = min(len(g.at), runs - begun)
        scratch.state[0] = np.uint64(0)
        forget_graphs(g, scratch.state, 0)
        if prior != FIXED:
            make_prior(g, scratch.chances, prior, noise)
        for lane in range(together):
            scratch.regret[lane] = 0.0
        mark = 0
        for number in range(1, marks[-1] + 1):
            simulate(g, scratch, together)
            if number == marks[mark]:
                for lane in range(together):
                    look(g, scratch, lane, scratch.found[mark])
                mark += 1


def make_pool(problem: Problem, plays: int, seed: int) -> Pool:
    """Graphs for some runs of a problem at once; for one where every run has groups of its own."""
    texts = [[f"m{k}" for k in range(len(problem.chances))]]
    groups = make_groups(problem.groups, texts, [])
    keys = problem.keys if problem.prior == FIXED else ((0,) * len(problem.chances),)
    if keys:
        groups["group_key"] = np.array(keys, np.int32)
        groups["group_mark"] = np.zeros(len(problem.chances) + 1, np.int64)
    if problem.in_order:
        groups["group_value"] = np.arange(len(problem.chances), dtype=np.float64)
    config = SearchConfig(
        depths=(0, 0, 0), solve=False, virtual_loss=0, exploration=problem.exploration, groups=problem.groups
    )
    lanes = AT_ONCE if problem.prior == FIXED else 1
    pool = Pool(
        config,
        groups,
        np.ones(1),
        words=1,
        graphs=lanes,
        walks=lanes,
        megabytes=MEGABYTES,
        seed=seed,
        fixed=KNOWN_RULES if plays >= MANY_PLAYS else (),
    )
    pool.block["lane_graph"][:] = range(lanes)
    return pool


def run(problem: Problem, runs: int, marks: Sequence[int], seed: int) -> dict[str, Any]:
    """The mean over some runs of what is seen after so many plays: lists with a number for each mark."""
    plays = runs * marks[-1]
    pool = make_pool(problem, plays, seed)
    found: NDArray[np.float64] = np.zeros((len(marks), 4))
    moves, lanes = len(problem.chances), len(pool.block["at"])
    scratch = Block(
        {
            "chances": np.array(problem.chances),  # float64[moves]
            "best": max(problem.chances),
            "moves": np.zeros((1, moves), np.int32),  # int32[1, moves]
            "counts": np.zeros(1, np.int32),  # int32[1]
            "state": np.zeros(1, np.uint64),  # uint64[1]: where a play goes
            "needs": np.zeros(lanes, np.int64),  # int64[lanes]: of the plays
            "regret": np.zeros(lanes),  # float64[lanes]: of the runs so far
            "found": found,
        }
    )
    begun = perf_counter()
    play(pool.block, scratch, runs, np.array(marks), problem.prior, problem.noise)
    seconds = perf_counter() - begun
    assert not pool.block["wanting"].any()
    by_wins, at_random, simple, cumulative = (found / runs).round(9).T.tolist()
    return {
        "runs": runs,
        "plays": plays,
        "rates": by_wins,
        "at_random": at_random,
        "simple": simple,
        "cumulative": cumulative,
        "seconds": round(seconds, 6),
    }
