"""UCD: walking down a graph, adding to it, proving values.

A simulation walks from a root along the edges that look best until it comes to something new. What it needs then is
told by the result of `descend`, because only an engine can list moves, play them and play games out.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ggp_agent.search.graph import EXPANDED, GROUP, MAX_PATH, POSITION, PROVEN, SIMULTANEOUS, SOLVED, TERMINAL
from ggp_agent.search.table import EDGES, JOINTS, NODES, NONE, RANDOM, enter, enter_joint, find, hash_state, joint_slot

# What a simulation needs next: nothing, it knows its payoff; the moves of its node; the position that its last edges
# lead to; a playout from its node; to walk on.
KNOWN, MOVES, STEP, PLAYOUT, WALK = range(5)


@njit(cache=True, nogil=True)
def copy_row(target, source):  # type: ignore[no-untyped-def]
    for k in range(len(target)):
        target[k] = source[k]


@njit(cache=True, nogil=True)
def set_row(target, value):  # type: ignore[no-untyped-def]
    for k in range(len(target)):
        target[k] = value


@njit(cache=True, nogil=True)
def random_below(g, count):  # type: ignore[no-untyped-def]
    """A random number below `count` (xorshift64*)."""
    x = np.uint64(g.used[RANDOM])
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    g.used[RANDOM] = np.int64(x)
    high = (x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    return np.int64((high * np.uint64(count)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def mixed_mean(g, edge, role):  # type: ignore[no-untyped-def]
    """The value of an edge with what RAVE knows (Gelly and Silver's schedule with a bias)."""
    n, later = g.trials[edge], g.amaf_n[edge]
    beta = later / (n + later + 4.0 * g.rave * n * later)
    return (1.0 - beta) * g.mean[edge, role] + beta * g.amaf_total[edge, role] / later


@njit(cache=True, nogil=True)
def worth(g, edge, role, log_parent):  # type: ignore[no-untyped-def]
    """u of an edge: Saffidine et al., section 3.3; a proven value has nothing to explore."""
    count = g.trials[edge]
    if count == PROVEN:
        return g.mean[edge, role]
    losses = g.virtual_loss * g.flying[edge]
    mean = g.mean[edge, role]
    if g.rave > 0.0 and g.amaf_n[edge] > 0:
        mean = mixed_mean(g, edge, role)
    elif count + losses == 0:
        return g.urgency
    if losses:
        mean *= count / (count + losses)
        count += losses
    if count == 0:
        return mean + g.exploration * math.sqrt(log_parent)
    return mean + g.exploration * math.sqrt(log_parent / count)


@njit(cache=True, nogil=True)
def select(g, node, role):  # type: ignore[no-untyped-def]
    """The edge of a role with the largest u, ties at random."""
    parent = g.counts[node, 0 if g.mover[node] == SIMULTANEOUS else g.parent_layer]
    parent += g.virtual_loss * g.running[node]
    log_parent = math.log(parent) if parent > 1.0 else 0.0
    best, chosen, ties = -np.inf, NONE, 0
    first = g.first[node]
    for edge in range(first, first + g.edges[node]):
        if g.role[edge] != role:
            continue
        u = worth(g, edge, role, log_parent)
        if u > best:
            best, chosen, ties = u, edge, 1
        elif u == best:
            ties += 1
            if random_below(g, ties) == 0:
                chosen = edge
    return chosen


@njit(cache=True, nogil=True)
def push(g, lane, edge):  # type: ignore[no-untyped-def]
    g.path[lane, g.length[lane]] = edge
    g.length[lane] += 1
    g.flying[edge] += 1


@njit(cache=True, nogil=True)
def on_path(g, lane, node):  # type: ignore[no-untyped-def]
    """Has the walk of this lane been here?"""
    for k in range(g.length[lane]):  # noqa: SIM110 - numba knows no generators
        if g.origin[g.path[lane, k]] == node:
            return True
    return False


@njit(cache=True, nogil=True)
def joint_number(g, lane):  # type: ignore[no-untyped-def]
    """The number of the joint move that the last edges of a path are, all with the same origin."""
    last = g.length[lane] - 1
    node = g.origin[g.path[lane, last]]
    number = np.int64(0)
    k = last
    while k >= 0 and g.origin[g.path[lane, k]] == node:
        number = number * g.edges[node] + g.path[lane, k] - g.first[node]
        k -= 1
    return number


@njit(cache=True, nogil=True)
def new_node(g, kind):  # type: ignore[no-untyped-def]
    """A blank node, or NONE if there is no room."""
    node = g.used[NODES]
    if node >= len(g.kind):
        g.wanting[0] = NODES + 1
        return NONE
    g.used[NODES] += 1
    g.kind[node], g.flags[node], g.mover[node] = kind, 0, 0
    g.first[node], g.edges[node], g.open[node], g.parent[node], g.running[node] = 0, 0, 0, NONE, 0
    set_row(g.counts[node], 0.0)
    set_row(g.sums[node], 0.0)
    return node


@njit(cache=True, nogil=True)
def new_position(g, state, graph, hash_value, level):  # type: ignore[no-untyped-def]
    """The node of a position that is not in the graph, or NONE."""
    node = new_node(g, POSITION)
    if node != NONE:
        copy_row(g.state[node], state)
        g.hash[node], g.graph[node], g.level[node], g.position[node] = hash_value, graph, level, node
        g.label[node, 0], g.label[node, 1] = 0, 0
        enter(g, node)
    return node


@njit(cache=True, nogil=True)
def open_group(g, edge):  # type: ignore[no-untyped-def]
    """The node of a group that a simulation enters for the first time, or NONE."""
    node = new_node(g, GROUP)
    if node != NONE:
        position = g.position[g.origin[edge]]
        g.graph[node], g.level[node], g.position[node] = g.graph[position], g.level[position], position
        g.label[node, 0] = -1 - g.move[edge]
        g.label[node, 1] = g.label[g.origin[edge], 1] + 1
        g.child[edge] = node
        g.parent[node], g.next[edge] = edge, NONE
    return node


@njit(cache=True, nogil=True)
def new_edges(g, node, count):  # type: ignore[no-untyped-def]
    """Room for the edges of a node: the first of them, or NONE."""
    first = g.used[EDGES]
    if first + count > len(g.origin):
        g.wanting[0] = EDGES + 1
        return NONE
    g.used[EDGES] += count
    for edge in range(first, first + count):
        g.origin[edge], g.child[edge], g.next[edge] = node, NONE, NONE
        g.n[edge], g.trials[edge], g.flying[edge] = 0, 0.0, 0
        set_row(g.total[edge], 0.0)
        set_row(g.mean[edge], 0.0)
        if len(g.end_n) > 1:
            g.end_n[edge] = 0
            set_row(g.end_total[edge], 0.0)
        if len(g.amaf_n) > 1:
            g.amaf_n[edge] = 0
            set_row(g.amaf_total[edge], 0.0)
    g.first[node], g.edges[node], g.open[node] = first, count, count
    g.flags[node] |= EXPANDED
    return first


@njit(cache=True, nogil=True)
def descend(g, lane):  # type: ignore[no-untyped-def]
    """Walk on from where the simulation of a lane stands, and say what it needs."""
    if g.length[lane] == 0:
        g.top[lane] = g.level[g.at[lane]]
    while True:
        node = g.at[lane]
        if g.flags[node] & SOLVED and (g.length[lane] > 0 or g.flags[node] & TERMINAL):
            copy_row(g.payoff[lane], g.value[node])
            return KNOWN
        if g.length[lane] >= MAX_PATH - len(g.best):
            return PLAYOUT
        if not g.flags[node] & EXPANDED:
            return MOVES
        if g.mover[node] == SIMULTANEOUS:
            for role in range(len(g.best)):
                edge = select(g, node, role)
                if edge != NONE:
                    push(g, lane, edge)
            g.running[node] += 1
            slot = joint_slot(g, node, joint_number(g, lane))
            if g.joint[slot, 0] == NONE:
                return STEP
            child = g.joint[slot, 2]
        else:
            edge = select(g, node, g.mover[node])
            push(g, lane, edge)
            g.running[node] += 1
            child = g.child[edge]
            if child == NONE:
                if g.move[edge] >= 0:
                    return STEP
                child = open_group(g, edge)
                if child == NONE:  # no room: stay where we are
                    retreat(g, lane)
                    return PLAYOUT
        g.at[lane] = child
        if g.level[child] > g.top[lane]:
            g.top[lane] = g.level[child]
        elif g.kind[child] == POSITION and on_path(g, lane, child):
            return PLAYOUT


@njit(cache=True, nogil=True)
def retreat(g, lane):  # type: ignore[no-untyped-def]
    """Undo the last edge of a path."""
    g.length[lane] -= 1
    edge = g.path[lane, g.length[lane]]
    g.flying[edge] -= 1
    g.running[g.origin[edge]] -= 1


@njit(cache=True, nogil=True)
def link(g, lane, child):  # type: ignore[no-untyped-def]
    """The last edges of a path turn out to lead to this position."""
    edge = g.path[lane, g.length[lane] - 1]
    node = g.origin[edge]
    if g.mover[node] == SIMULTANEOUS:
        if 2 * (g.used[JOINTS] + 1) > len(g.joint):
            g.wanting[0] = JOINTS + 1
        else:
            enter_joint(g, node, joint_number(g, lane), child)
    elif g.child[edge] == NONE:
        g.child[edge] = child
        g.next[edge], g.parent[child] = g.parent[child], edge
        if g.solve and g.flags[child] & SOLVED:
            prove_edge(g, edge, child)


@njit(cache=True, nogil=True)
def arrive(g, lane, state, terminal, payoff):  # type: ignore[no-untyped-def]
    """The last edges lead to this state, with this payoff if the game is over there. What the simulation needs next."""
    edge = g.path[lane, g.length[lane] - 1]
    origin = g.origin[edge]
    graph, level = g.graph[origin], g.level[origin] + 1
    child, fresh = g.child[edge], False
    if child == NONE:
        hash_value = hash_state(state, graph)
        if g.transpositions:
            child = find(g, hash_value, state, graph)
        elif g.mover[origin] == SIMULTANEOUS:
            slot = joint_slot(g, origin, joint_number(g, lane))
            child = g.joint[slot, 2] if g.joint[slot, 0] != NONE else NONE
        if child == NONE:
            child = new_position(g, state, graph, hash_value, level)
            fresh = True
            if child != NONE and terminal:
                g.flags[child] |= SOLVED | TERMINAL
                copy_row(g.value[child], payoff)
        if child != NONE:
            link(g, lane, child)
    g.at[lane] = child
    if terminal:
        copy_row(g.payoff[lane], payoff)
        return KNOWN
    if fresh or on_path(g, lane, child):
        return PLAYOUT
    g.top[lane] = max(g.top[lane], g.level[child])
    return WALK


@njit(cache=True, nogil=True)
def prove_edge(g, edge, child):  # type: ignore[no-untyped-def]
    """The child of an edge is solved: so is the edge, and perhaps its origin. The nodes above that this solves."""
    if g.trials[edge] == PROVEN:
        return
    stack = [(edge, child)]
    while len(stack):
        edge, child = stack.pop()
        if g.trials[edge] == PROVEN:
            continue
        g.trials[edge] = PROVEN
        copy_row(g.mean[edge], g.value[child])
        node = g.origin[edge]
        g.open[node] -= 1
        if g.flags[node] & SOLVED or not is_solved(g, node, edge):
            continue
        g.flags[node] |= SOLVED
        above = g.parent[node]
        while above != NONE:
            stack.append((above, node))
            above = g.next[above]


@njit(cache=True, nogil=True)
def is_solved(g, node, edge):  # type: ignore[no-untyped-def]
    """Does this newly proven edge settle what its origin is worth? Then it is written down there."""
    role = g.mover[node]
    if g.mean[edge, role] >= g.best[role]:
        copy_row(g.value[node], g.mean[edge])
        return True
    if g.open[node] > 0:
        return False
    best = g.first[node]
    for other in range(best, g.first[node] + g.edges[node]):
        if g.mean[other, role] > g.mean[best, role]:
            best = other
    for other in range(g.first[node], g.first[node] + g.edges[node]):
        # With several roles the mover may have equal choices that are not equal to the others: nothing is proven then.
        if g.mean[other, role] == g.mean[best, role]:
            for k in range(len(g.best)):
                if g.mean[other, k] != g.mean[best, k]:
                    return False
    copy_row(g.value[node], g.mean[best])
    return True


@njit(cache=True, nogil=True)
def forget(g, lane):  # type: ignore[no-untyped-def]
    """Give up a simulation: nothing of it stays but the positions it found."""
    for k in range(g.length[lane]):
        edge = g.path[lane, k]
        g.flying[edge] -= 1
        if k == 0 or g.origin[edge] != g.origin[g.path[lane, k - 1]]:
            g.running[g.origin[edge]] -= 1
    g.length[lane] = 0
    g.at[lane] = NONE
