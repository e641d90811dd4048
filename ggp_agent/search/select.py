"""Choosing an edge: what selection thinks each is worth, and what a simulation leaves on it until it ends."""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.search.graph import PROVEN, SIMULTANEOUS, UNTRIED
from ggp_agent.search.table import NONE, RANDOM, kernel


@kernel
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
    doubt, mean = g.doubt[edge], np.float64(g.mean[edge])
    if doubt == PROVEN:
        return np.float32(mean)  # there is nothing to explore
    losses = g.virtual_loss * g.flying[edge]
    n = 1.0 / (np.float64(doubt) * doubt)  # 0 if it is untried
    if g.amaf_n[edge] > 0:
        mean = mixed_mean(g, edge, mean, n)
    elif n + losses == 0:
        return np.float32(g.urgency)
    if losses:
        least = max(n, 1.0)  # what others say of an untried move is worth a simulation
        mean *= least / (least + losses)
    return np.float32(mean + breadth / math.sqrt(max(n + losses, 1.0)))


@kernel
def worth(g, edge, breadth):  # type: ignore[no-untyped-def]
    """u of an edge (Saffidine et al., section 3.3)."""
    if g.rave > 0.0:
        return rave_worth(g, edge, breadth)
    doubt = g.doubt[edge]
    return np.float32(g.urgency) if doubt == UNTRIED else g.mean[edge] + breadth * doubt


@kernel
def is_barred(g, edge, role, shared, skip):  # type: ignore[no-untyped-def]
    """Is an edge not to be chosen: another role's where several choose, or proven where those are skipped?"""
    return (shared and g.role[edge] != role) or (skip and g.doubt[edge] == PROVEN)


@kernel
def select(g, node, role, skip):  # type: ignore[no-untyped-def]
    """The edge of a role with the largest u, ties at random; `skip` those whose value is proven, or NONE."""
    parent = g.counts[node, 0 if g.mover[node] == SIMULTANEOUS else g.parent_layer]
    parent += g.virtual_loss * g.running[node]
    breadth = np.float32(0.0)
    if parent > 1.0:
        breadth = np.float32(g.exploration) * math.sqrt(math.log(np.float32(parent)))
    best, chosen, ties = np.float32(-np.inf), NONE, 0
    first, count, shared = g.first[node], g.edges[node], g.mover[node] == SIMULTANEOUS
    for edge in range(first, first + count):  # what is a matter of luck must not be a jump
        u = worth(g, edge, breadth)
        if is_barred(g, edge, role, shared, skip):
            u = np.float32(-np.inf)
        better = u > best
        ties = 1 if better else ties + (u == best)
        chosen = edge if better else chosen
        best = u if better else best
    if chosen == NONE or ties == 1:
        return chosen
    left = random_below(g, ties)
    for edge in range(chosen, first + count):
        if worth(g, edge, breadth) == best and not is_barred(g, edge, role, shared, skip):
            if left == 0:
                return edge
            left -= 1
    return chosen


@kernel
def select_untried(g, node):  # type: ignore[no-untyped-def]
    """A random edge that was never taken, found without a look at all; NONE without one, or if others may be better."""
    left = g.edges[node] - g.tried[node]
    if left == 0 or g.urgency < np.inf or g.rave > 0.0 or (g.virtual_loss == 0 and g.running[node] > 0):
        return NONE
    return g.first[node] + g.tried[node] + random_below(g, left)


@kernel
def take(g, node, edge):  # type: ignore[no-untyped-def]
    """An edge is chosen: those that were never taken stay behind all others. Where it is now."""
    front = g.first[node] + g.tried[node]
    if edge < front or g.rave > 0.0:
        return edge
    g.tried[node] += 1
    g.move[front], g.move[edge] = g.move[edge], g.move[front]  # they differ in nothing else
    return front


@kernel
def select_proven(g, node):  # type: ignore[no-untyped-def]
    """The best edge of a solved group: simulations end at positions, so they walk on to what solved it."""
    chosen = NONE
    for edge in range(g.first[node], g.first[node] + g.edges[node]):
        if g.doubt[edge] == PROVEN and (chosen == NONE or g.mean[edge] > g.mean[chosen]):
            chosen = edge
    return chosen


@kernel
def lose(g, edge):  # type: ignore[no-untyped-def]
    """A simulation sets out through an edge: until it ends, it counts as lost there."""
    g.flying[edge] += 1
    if g.virtual_loss == 0 or g.rave > 0.0:
        return
    doubt, loss = g.doubt[edge], np.float32(g.virtual_loss)
    if doubt == UNTRIED:
        g.doubt[edge] = np.float32(1.0) / math.sqrt(loss)
        return
    share = np.float32(1.0) / (np.float32(1.0) + loss * doubt * doubt)  # n / (n + loss)
    g.mean[edge] *= share
    g.doubt[edge] = doubt * math.sqrt(share)
