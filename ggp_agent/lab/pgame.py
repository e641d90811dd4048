"""P-games (Smith and Nau; Childs et al., section IV-A): games that are won by the sum of random values of all moves.

MAX moves first and adds 0 to 127, MIN takes away as much; after a number of plies the sign of the sum decides. In a
graph instead of a tree, pairs of nearby positions of a level with like sums are combined. The games are searched with
the graph code of the agent, and every position that a simulation visits is added to the graph, as in the paper.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.lab.bandit import forget_graphs
from ggp_agent.search.config import SearchConfig
from ggp_agent.search.graph import TABLE, Pool
from ggp_agent.search.groups import expand, make_groups
from ggp_agent.search.select import mean_of
from ggp_agent.search.table import EDGES, LISTED, NODES, hash_state, kernel
from ggp_agent.search.ucd import KNOWN, MOVES, STEP, WALK, arrive, walk_on
from ggp_agent.search.update import update

MOST = 127  # that a move adds
WINDOW = 8  # positions on either side among which a partner is looked for
STEP_COST = 8.0  # a partner one position farther away must be closer by so much in its sum
GROUP_SIZE = 5
MEGABYTES = 2048
EXPLORATION = 2.0**0.5


@dataclass(frozen=True)
class PGame:
    """Positions by number, level after level; the first is the root."""

    children: NDArray[np.int32]  # int32[positions, branching], for positions that are no leaves
    starts: NDArray[np.int64]  # int64[plies + 2]: the first position of each level
    scores: NDArray[np.float64]  # float64[positions]: the sum at the end if both play for it
    values: NDArray[np.float64]  # float64[positions]: what MAX gets if both play well: 0, 0.5 or 1

    @property
    def plies(self) -> int:
        return len(self.starts) - 2


@kernel
def pair_up(sums, order, branching, wanted, partner):  # type: ignore[no-untyped-def]
    """Find partners for some positions of a level, each near and with a like sum, and with another parent."""
    made = 0
    for i in order:
        if made == wanted:
            return
        if partner[i] >= 0:
            continue
        best, least = -1, np.inf
        for j in range(max(0, i - WINDOW), min(len(sums), i + WINDOW + 1)):
            cost = abs(sums[i] - sums[j]) + STEP_COST * abs(i - j)
            if partner[j] < 0 and i // branching != j // branching and cost < least:
                best, least = j, cost
        if best >= 0:
            partner[i], partner[best] = best, i
            made += 1


def make_game(branching: int, plies: int, combination: float, seed: int) -> PGame:
    """A random game; `combination` is the share of the positions of a level that vanish in others."""
    random = np.random.default_rng(seed)
    sums, levels, starts = np.zeros(1), [], [0, 1]
    for level in range(plies):
        sign = 1.0 if level % 2 == 0 else -1.0
        count = len(sums) * branching
        new = np.repeat(sums, branching) + sign * random.integers(0, MOST + 1, count)
        partner = np.full(count, -1, np.int64)
        pair_up(new, random.permutation(count), branching, int(combination * count), partner)
        paired = partner >= 0
        # The better sum for the mover, so that no move costs its own player anything
        new[paired] = sign * np.maximum(sign * new[paired], sign * new[partner[paired]])
        stays = ~paired | (partner > np.arange(count))
        number = np.cumsum(stays) - 1
        number[~stays] = number[partner[~stays]]
        levels.append((starts[-1] + number).reshape(-1, branching))
        sums = new[stays]
        starts.append(starts[-1] + len(sums))
    found = [sums]
    for level in range(plies - 1, -1, -1):
        below = found[0][levels[level] - starts[level + 1]]
        found.insert(0, below.max(axis=1) if level % 2 == 0 else below.min(axis=1))
    scores = np.concatenate(found)
    return PGame(np.concatenate(levels).astype(np.int32), np.array(starts), scores, np.sign(scores) / 2 + 0.5)


@dataclass(frozen=True)
class Groups:
    """Two groups of the moves of every position: some that are likely to be good, and all, or all others."""

    bias: float  # the chance of a move of the first group to be a good one
    overlap: bool
    halves: bool = False  # are the better half of all moves good, instead of those that win?


def good_moves(game: PGame, halves: bool) -> NDArray[np.uint8]:
    """Is the move to a position a good one, of those that win or of the better half? uint8[positions]."""
    good = np.zeros(len(game.values), np.uint8)
    for level in range(game.plies):
        children = game.children[game.starts[level] : game.starts[level + 1]]
        sign = 1.0 if level % 2 == 0 else -1.0
        if halves:
            order = np.argsort(-sign * game.scores[children], axis=1, kind="stable")
            good[np.take_along_axis(children, order[:, : children.shape[1] // 2], axis=1)] = 1
        else:
            good[children] = sign * (game.values[children] - 0.5) == 0.5
    return good


@kernel
def choose_groups(children, good, bias, overlap, seed, table):  # type: ignore[no-untyped-def]
    """Put moves, known by where they lead, into the biased group 0 and the group 1 of all, or of all others."""
    np.random.seed(seed)
    branching = children.shape[1]
    for node in range(len(children)):
        order = np.random.permutation(branching)
        for _ in range(GROUP_SIZE):
            wanted = np.random.random() < bias
            for k in order:
                child = children[node, k]
                if good[child] == wanted and table[0, child] == 0:
                    table[0, child] = 1
                    break
    for child in range(table.shape[1]):
        table[1, child] = 1 if overlap else 1 - table[0, child]


@kernel
def simulate(g, children, values, plies, moves, counts, state):  # type: ignore[no-untyped-def]
    """One simulation to the end of the game."""
    g.at[0] = g.root[0]
    need = WALK
    while need != KNOWN:
        if need == WALK:
            need = walk_on(g, 0)
        elif need == MOVES:
            position = g.position[g.at[0]]
            mover = g.level[position] % 2
            counts[mover], counts[1 - mover] = children.shape[1], 1
            for k in range(children.shape[1]):
                moves[mover, k] = children[g.state[position, 0], k]
            expand(g, 0, moves, counts)
            need = WALK
        elif need == STEP:
            edge = g.path[0, g.length[0] - 1]
            child = g.move[edge]
            over = g.level[g.origin[edge]] + 1 == plies
            state[0] = np.uint64(child)
            g.payoff[0, 0], g.payoff[0, 1] = values[child], 1.0 - values[child]
            need = arrive(g, 0, state, hash_state(state, 0), over, g.payoff[0])
        else:
            need = WALK  # also from new positions
    update(g, 0)


@kernel
def is_wrong(g, node, values, best):  # type: ignore[no-untyped-def]
    """Does the move of the root with the best mean not lead to what the root is worth? `best` is scratch."""
    stack, chosen, high = [node], -1, -np.inf
    for k in range(len(best)):
        best[k, 0], best[k, 1], best[k, 2] = -1.0, 0.0, 0.0
    while len(stack):
        here = stack.pop()
        for edge in range(g.first[here], g.first[here] + g.edges[here]):
            if g.move[edge] < 0:
                if g.n[edge] > 0:
                    stack.append(g.child[edge])
                continue
            k = 0  # a move may be in several groups
            while best[k, 0] >= 0.0 and best[k, 0] != g.move[edge]:
                k += 1
            best[k, 0] = g.move[edge]
            if g.n[edge] > 0:
                best[k, 1] += g.n[edge]
                best[k, 2] += g.n[edge] * mean_of(g, edge)
            mean = best[k, 2] / best[k, 1] if best[k, 1] > 0.0 else -np.inf
            if mean > high:
                chosen, high = k, mean
    for k in range(len(best)):  # means may have sunk again
        if best[k, 1] > 0.0 and (best[chosen, 2] / best[chosen, 1] < best[k, 2] / best[k, 1]):
            chosen = k
    return values[np.int64(best[chosen, 0])] != values[0]


@kernel
def play(g, children, values, plies, runs, marks, found):  # type: ignore[no-untyped-def]
    """Add the errors of some searches at every mark."""
    branching = children.shape[1]
    moves, counts = np.zeros((2, branching), np.int32), np.zeros(2, np.int32)
    state, best = np.zeros(1, np.uint64), np.zeros((branching, 3))
    for _ in range(runs):
        state[0] = np.uint64(0)
        forget_graphs(g, state, 0)
        mark = 0
        for number in range(1, marks[-1] + 1):
            simulate(g, children, values, plies, moves, counts, state)
            if number == marks[mark]:
                found[mark] += is_wrong(g, g.root[0], values, best)
                mark += 1


def make_table(game: PGame, groups: Groups, seed: int) -> NDArray[np.uint8]:
    """The groups of a game's moves: uint8[group, position that a move leads to]."""
    table = np.zeros((2, len(game.values)), np.uint8)
    choose_groups(game.children, good_moves(game, groups.halves), groups.bias, groups.overlap, seed % 2**32, table)
    return table


class Searches:
    """Searches of games of one size with one configuration, all in the same memory."""

    def __init__(self, config: SearchConfig, game: PGame, plays: int, table: NDArray[np.uint8] | None = None) -> None:
        """Room for so many plays of games like this one; `table` has the groups of its moves."""
        groups = make_groups("none", [["m"], ["m"]], [])
        branching, per_play = game.children.shape[1], game.plies
        if table is not None:
            groups |= {"group_kind": TABLE, "group_count": len(table), "group_table": table}
            groups["group_offset"] = np.zeros(3, np.int64)
            per_play *= 3
        moves = plays * per_play * branching
        self.needs = {NODES: plays * per_play, EDGES: 2 * moves, LISTED: moves}
        self.pool = Pool(config, groups, np.ones(2), words=1, graphs=1, walks=1, megabytes=MEGABYTES, seed=0)

    def errors(
        self, game: PGame, runs: int, marks: list[int], seed: int, table: NDArray[np.uint8] | None = None
    ) -> list[int]:
        """How many of some searches would play the wrong move after so many simulations."""
        self.pool.restart(seed)
        for what, need in self.needs.items():
            while self.pool.room[what] < need and self.pool.grow(what):
                pass
        if table is not None:
            self.pool.block["group_table"] = table
        found = np.zeros(len(marks), np.int64)
        play(self.pool.block, game.children, game.values, game.plies, runs, np.array(marks), found)
        wrong: list[int] = found.tolist()
        return wrong
