"""One edge more for many walks: what takes most of the time of a search.

A processor goes on with other walks while one waits for memory, a root or a quotient, if nothing tells it to wait: so
all walks look for their best edges before any of them takes one.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.engine.block import prefetch
from ggp_agent.engine.rowops import LANES
from ggp_agent.search.graph import EXPANDED, POSITION
from ggp_agent.search.largest import EDGES, FEW, TIE
from ggp_agent.search.select import any_of, breadth_at, find_largest
from ggp_agent.search.table import NONE, inlined
from ggp_agent.search.ucd import MOVES, STEP, WALK, on_path, position_of, push, walk_on

MOST_ASKED = 64  # edges of a node that are asked for before they are needed


@inlined
def walk_round(g, lanes, count, halts, far):  # type: ignore[no-untyped-def]
    """Let `count` walks take an edge. Some halt, because they need something else.

    How many go on, and how many have halted, after as many as `halts`. `far` is whether edges have to be asked for.
    """
    walking, halted, careful = lanes.walking, lanes.halted, lanes.careful
    plain, cautious = sort_walks(g, lanes, count, far)
    look_for_best(g, lanes, plain)
    kept, halts, cautious = take_best(g, lanes, plain, halts, cautious)
    for k in range(cautious):
        lane = careful[k]
        need = walk_on(g, lane)
        if need == WALK:
            prefetch(g.kind, g.at[lane])
            walking[kept] = lane
            kept += 1
        else:
            if need in (STEP, MOVES):
                prefetch(g.hash, position_of(g, g.at[lane]))
            lanes.need[lane] = need
            halted[halts & (LANES - 1)] = lane
            halts += 1
    return kept, halts


@inlined
def sort_walks(g, lanes, count, far):  # type: ignore[no-untyped-def]
    """Ask for the edges that walks choose from, and find the walks that have nothing else to think about.

    These are the first ones afterwards: all moves have edges, one role chooses, the position has not come before. The
    others are careful. How many are which.
    """
    walking, careful = lanes.walking, lanes.careful
    plain, cautious, never = 0, 0, g.rave > 0.0 or g.grouped
    for k in range(count):
        lane = walking[k]
        node, length = g.at[lane], g.length[lane]
        first, last = g.first[node], g.edges[node] - 1
        if far:
            prefetch(g.trials, first)
            prefetch(g.trials, first + 4)
            if last >= EDGES or lanes.wide:
                prefetch(g.trials, first + EDGES)
                prefetch(g.trials, first + EDGES + 4)
                for edge in range(first + FEW, first + min(last + 1, MOST_ASKED), 4):
                    prefetch(g.trials, edge)
        if (
            (g.flags[node] ^ EXPANDED)
            | (g.grouped and g.kind[node] ^ POSITION)
            | g.left[node]
            | (g.mover[node] < 0)
            | (length >= g.max_path)
            | never
        ) or ((length > 0) & (g.level[node] <= g.top[lane]) and on_path(g, lane, node)):
            careful[cautious] = lane
            cautious += 1
        else:
            walking[plain] = lane
            plain += 1
    return plain, cautious


@inlined
def best_of(g, lanes, node, skip):  # type: ignore[no-untyped-def]
    """What `largest` finds among the edges of a node."""
    first, count = np.int64(g.first[node]), np.int64(g.edges[node])
    return find_largest(g, first, count, breadth_at(g, node), skip, lanes.wide)


@inlined
def look_for_best(g, lanes, count):  # type: ignore[no-untyped-def]
    """Find the best edge for every walk, and note how many simulations are on their way through its node."""
    for k in range(count):
        lane = lanes.walking[k]
        node = g.at[lane]
        lanes.found[k] = best_of(g, lanes, node, g.length[lane] == 0)
        lanes.running[k] = g.running[node]


@inlined
def take_best(g, lanes, count, halts, cautious):  # type: ignore[no-untyped-def]
    """Let walks take the edges that were found, as `walk_on` does: it is left to that if there is none.

    How many walks go on, how many have halted, and how many are careful.
    """
    walking, halted, careful = lanes.walking, lanes.halted, lanes.careful
    kept = 0
    for k in range(count):
        lane = walking[k]
        node, found = g.at[lane], lanes.found[k]
        if g.running[node] != lanes.running[k]:  # another walk of this round was here
            found = best_of(g, lanes, node, g.length[lane] == 0)
        if found >> TIE == 0:  # all edges of the root are proven
            careful[cautious] = lane
            cautious += 1
            continue
        edge = any_of(g, node, found, g.length[lane] == 0)
        g.top[lane] = g.level[node] if g.length[lane] == 0 else max(g.level[node], g.top[lane])
        push(g, lane, edge)
        g.running[node] += 1
        child = g.child[edge]
        if child == NONE:
            lanes.need[lane] = STEP
            prefetch(g.origin, edge)
            prefetch(g.hash, node)
            halted[halts & (LANES - 1)] = lane
            halts += 1
            continue
        g.at[lane] = child
        prefetch(g.kind, child)
        walking[kept] = lane
        kept += 1
    return kept, halts, cautious
