"""Choosing an edge: what selection thinks each is worth, and what a simulation leaves on it until it ends."""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.engine.wordops import find_bit
from ggp_agent.search.breadth import breadth_of
from ggp_agent.search.edges import add_edge
from ggp_agent.search.graph import PROVEN, SIMULTANEOUS, UNTRIED
from ggp_agent.search.largest import FEW, PLACE, TIE, largest
from ggp_agent.search.table import NONE, RANDOM, inlined, kernel

LOW = (1 << PLACE) - 1
FIRST_ONES = (1 << FEW) - 1
MANY = 64  # edges
NEW = -2  # instead of an edge: a move that has none yet


@inlined
def random_below(g, count):  # type: ignore[no-untyped-def]
    """A random number below `count` (xorshift64*)."""
    x = np.uint64(g.used[RANDOM])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    g.used[RANDOM] = np.int64(x)
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return np.int64((high * np.uint64(count)) >> np.uint64(32))


@kernel
def mixed_mean(g, edge, mean, n):  # type: ignore[no-untyped-def]
    """The value of an edge with what RAVE knows of it; the bias says how soon its own simulations count for more."""
    later = g.amaf_n[edge]
    beta = later / (n + later + g.rave * n * later)
    return (1.0 - beta) * mean + beta * g.amaf_total[edge] / later


@kernel
def rave_worth(g, edge, breadth):  # type: ignore[no-untyped-def]
    """u of an edge with RAVE, and losses for simulations on their way through it."""
    n, mean = np.float64(g.trials[edge]), np.float64(g.gain[edge])
    if n == PROVEN:
        return np.float32(mean)  # there is nothing to explore
    losses = g.virtual_loss * g.flying[edge]
    mean /= max(n, 1.0)
    if g.amaf_n[edge] > 0:
        mean = mixed_mean(g, edge, mean, n)
    elif n + losses == 0:
        return np.float32(g.urgency)
    if losses:
        least = max(n, 1.0)  # what others say of an untried move is worth a simulation
        mean *= least / (least + losses)
    return np.float32(mean + breadth / math.sqrt(max(n + losses, 1.0)))


@inlined
def worth(g, edge, breadth):  # type: ignore[no-untyped-def]
    """u of an edge (Saffidine et al., section 3.3)."""
    if g.rave > 0.0:
        return rave_worth(g, edge, breadth)
    trials, gain = g.trials[edge], g.gain[edge]
    if trials == PROVEN:
        return gain
    if trials == UNTRIED:
        return np.float32(g.urgency)
    return (gain + breadth * math.sqrt(trials)) * (np.float32(1.0) / trials)


@inlined
def breadth_at(g, node):  # type: ignore[no-untyped-def]
    """c sqrt(ln p) for the edges out of a node, with losses for simulations on their way through it."""
    layer = 0 if g.mover[node] == SIMULTANEOUS else g.parent_layer
    p = np.float32(g.counts[node, layer]) + np.float32(g.virtual_loss * g.running[node])
    return breadth_of(g, max(p, np.float32(1.0)))


@kernel
def mean_of(g, edge):  # type: ignore[no-untyped-def]
    """mu_{d1} of an edge in the graph, without the losses of simulations on their way, or the value that is proven."""
    trials, gain = g.trials[edge], g.gain[edge]
    if trials == PROVEN:
        return gain
    return gain / (trials - (g.virtual_loss * g.flying[edge] if g.rave == 0.0 else 0))


@kernel
def is_barred(g, edge, role, shared, skip):  # type: ignore[no-untyped-def]
    """Is an edge not to be chosen: another role's where several choose, or proven where those are skipped?"""
    return (shared and g.role[edge] != role) or (skip and g.trials[edge] == PROVEN)


@inlined
def find_largest(g, first, count, breadth, skip, wide):  # type: ignore[no-untyped-def]
    """What `largest` finds among some edges."""
    return largest(g.trials, first, count, breadth, np.float32(g.urgency), np.int64(skip), np.int64(wide))


@inlined
def best_edge(g, node, role, skip, breadth):  # type: ignore[no-untyped-def]
    """The first edge of a role with the largest u, and how many have it; `skip` those whose value is proven."""
    first, count = g.first[node], g.edges[node]
    if g.rave == 0.0 and g.mover[node] != SIMULTANEOUS:
        found = find_largest(g, np.int64(first), np.int64(count), breadth, skip, 0)
        return np.int64(first + (found & LOW)), found >> TIE
    best, chosen, ties, shared = np.float32(-np.inf), NONE, 0, g.mover[node] == SIMULTANEOUS
    for edge in range(first, first + count):
        if not is_barred(g, edge, role, shared, skip):
            u = worth(g, edge, breadth)
            if u > best:
                best, chosen, ties = u, edge, 1
            elif u == best:
                ties += 1
    return np.int64(chosen), ties


@kernel
def nth_best(g, node, role, skip, breadth, edge, number):  # type: ignore[no-untyped-def]
    """Of the edges that are as good as the best, the first of which is given, the one with this number."""
    best, shared, end = worth(g, edge, breadth), g.mover[node] == SIMULTANEOUS, g.first[node] + g.edges[node]
    while g.rave == 0.0 and not shared and end - edge > MANY:  # leave out many at once where there are many
        found = find_largest(g, edge, np.int64(MANY), breadth, skip, 0)
        ties = found >> TIE  # none, and no place, if all of them are barred
        if ties and worth(g, edge + (found & LOW), breadth) == best:
            if number < ties:
                break
            number -= ties
        edge += MANY
    for other in range(edge, end):
        if worth(g, other, breadth) == best and not is_barred(g, other, role, shared, skip):
            if number == 0:
                return other
            number -= 1
    return edge


@inlined
def any_of(g, node, found, skip):  # type: ignore[no-untyped-def]
    """One of the edges that `largest` found among all those of a node, at random."""
    first, ties = np.int64(g.first[node]), found >> TIE
    if ties <= 1:
        return first + (found & LOW)
    number = random_below(g, ties)
    if g.edges[node] <= FEW:
        return first + find_bit((found >> PLACE) & FIRST_ONES, number)
    return nth_best(g, node, g.mover[node], skip, breadth_at(g, node), first + (found & LOW), number)


@inlined
def select(g, node, role, skip, left):  # type: ignore[no-untyped-def]
    """The edge of a role with the largest u, ties at random; NEW if it is one of `left` moves without an edge.

    `skip` those whose value is proven; NONE if no others are there.
    """
    breadth = breadth_at(g, node)
    chosen, ties = best_edge(g, node, role, skip, breadth)
    if ties == 1 and not left:
        return chosen
    best = worth(g, chosen, breadth) if ties else np.float32(-np.inf)
    if left and g.urgency >= best:
        ties = left + (ties if g.urgency == best else 0)
        if random_below(g, ties) < left:
            return NEW
        ties -= left
    if ties <= 1:
        return chosen if ties else NONE
    return nth_best(g, node, role, skip, breadth, chosen, random_below(g, ties))


@inlined
def is_new_best(g):  # type: ignore[no-untyped-def]
    """Is a move without an edge better than all edges, whatever they are worth?"""
    return g.urgency == np.inf and g.virtual_loss > 0


@kernel
def try_new(g, node):  # type: ignore[no-untyped-def]
    """Give an edge to a random one of the moves that have none, or NONE if there is no room."""
    chosen = g.list[node] + random_below(g, g.left[node])
    edge = add_edge(g, node, g.mover[node], g.listed[chosen])
    if edge != NONE:
        g.left[node] -= 1
        g.listed[chosen] = g.listed[g.list[node] + g.left[node]]
    return edge


@kernel
def select_proven(g, node):  # type: ignore[no-untyped-def]
    """The best edge of a solved group: simulations end at positions, so they walk on to what solved it."""
    chosen = NONE
    for edge in range(g.first[node], g.first[node] + g.edges[node]):
        if g.trials[edge] == PROVEN and (chosen == NONE or g.gain[edge] > g.gain[chosen]):
            chosen = edge
    return chosen


@inlined
def lose(g, edge):  # type: ignore[no-untyped-def]
    """A simulation sets out through an edge: until it ends, it counts as lost there."""
    g.flying[edge] += 1
    if g.rave == 0.0:
        trials = g.trials[edge]
        g.trials[edge] = trials if trials == PROVEN else trials + np.float32(g.virtual_loss)
