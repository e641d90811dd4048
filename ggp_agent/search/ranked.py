"""Groups formed from statistics: the moves of a position are ranked by their means and grouped in threes.

A position begins without groups. When they are formed, its edges become those of group nodes; when they are formed
anew, edges change places among the same nodes. A group's statistics are those of its members, so nothing is lost, and
the paths of simulations on their way are rewritten: they lead through the groups in which their moves are now.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.edges import add_edge, begin_edges, new_node, set_row
from ggp_agent.search.graph import EXPANDED, GROUP, PROVEN, SIMULTANEOUS, SOLVED, UNTRIED
from ggp_agent.search.select import lose, mean_of, random_below
from ggp_agent.search.table import EDGES, NODES, NONE, copy_edge, kernel, rounded
from ggp_agent.search.ucd import is_solved
from ggp_agent.search.update import add_row, refresh, sees_through

SIZE = 3  # moves of a group
NEVER = 2**31 - 1
PATIENCE = 16  # simulations until room is looked for again
JITTER = 1e-15  # times a random number below MANY: equal means are ranked at random
MANY = 1 << 20
ORDER = 1e-8  # times a value of a move, if there are such: equal means are ranked by these
# of Graph.group_when: once, whenever so many simulations more have passed, at powers of two
ONCE, EVERY, POWERS = range(3)


@kernel
def form_groups(g, node):  # type: ignore[no-untyped-def]
    """Group the moves of a position by what is known of them now, or later if there is no room for that."""
    grouped = g.move[g.first[node]] < 0
    first = g.first[g.child[g.first[node]]] if grouped else g.first[node]
    count = g.edges[node]
    if grouped:
        count = 0
        for edge in range(g.first[node], g.first[node] + g.edges[node]):
            count += g.edges[g.child[edge]]
    if g.mover[node] == SIMULTANEOUS or count <= SIZE:
        g.label[node, 0] = NEVER
        return
    groups = 0 if grouped else (count + SIZE - 1) // SIZE
    lacks_nodes = g.used[NODES] + groups > g.room[NODES]
    if lacks_nodes or g.used[EDGES] + rounded(groups) + count > g.room[EDGES]:
        g.wanting[0] = (NODES if lacks_nodes else EDGES) + 1
        g.label[node, 0] = np.int64(g.counts[node, 0]) + PATIENCE
        return
    set_next_time(g, node)
    place = rearrange(g, first, count)
    if not grouped:
        make_group_nodes(g, node, first, count, groups)
    proven = 0
    for edge in range(g.first[node], g.first[node] + g.edges[node]):
        fill_group(g, edge)
        proven += g.trials[edge] == PROVEN
    g.open[node] = g.edges[node] - proven
    if g.running[node] > 0:
        rewrite_paths(g, node, first, count, place, grouped)


@kernel
def set_next_time(g, node):  # type: ignore[no-untyped-def]
    """Note how many simulations must have passed through a position before its groups are formed again."""
    seen = np.int64(g.counts[node, 0])
    if g.group_when == ONCE:
        g.label[node, 0] = NEVER
    elif g.group_when == EVERY:
        g.label[node, 0] = (seen // g.group_first + 1) * g.group_first
    else:
        target = np.int64(g.group_first)
        while target <= seen:
            target *= 2
        g.label[node, 0] = target


@kernel
def ranking(g, first, count):  # type: ignore[no-untyped-def]
    """These edges in the order in which they are put into groups."""
    worth, valued = np.empty(count), len(g.group_value) > 1
    for k in range(count):
        edge = first + k
        known = g.n[edge] > 0 or g.trials[edge] == PROVEN
        worth[k] = (-mean_of(g, edge) if known else 1.0) + JITTER * random_below(g, MANY)
        if valued:
            worth[k] -= ORDER * g.group_value[g.group_offset[g.role[edge]] + g.move[edge]]
    order = np.argsort(worth)
    if g.group_skip:  # the second best leaves its group to the fourth; the rest is arranged at random
        second = order[1]
        order[1], order[2] = order[2], order[3]
        order[3] = second
        for k in range(count - 1, SIZE, -1):
            other = SIZE + random_below(g, k + 1 - SIZE)
            order[k], order[other] = order[other], order[k]
    return order


@kernel
def rearrange(g, first, count):  # type: ignore[no-untyped-def]
    """Put edges into the order of their ranking; where each of them is now. There is room for copies of them."""
    order = ranking(g, first, count)
    place, spare = np.empty(count, np.int64), g.used[EDGES]
    for edge in range(first, first + count):
        unlink(g, edge)
        copy_edge(g, edge, spare + edge - first)
    for k in range(count):
        place[order[k]] = first + k
        copy_edge(g, spare + order[k], first + k)
        child = g.child[first + k]
        if child != NONE:
            g.next[first + k], g.parent[child] = g.parent[child], first + k
    return place


@kernel
def unlink(g, edge):  # type: ignore[no-untyped-def]
    """Take an edge out of the list of those into its child."""
    child = g.child[edge]
    if child == NONE:
        return
    if g.parent[child] == edge:
        g.parent[child] = g.next[edge]
        return
    before = g.parent[child]
    while g.next[before] != edge:
        before = g.next[before]
    g.next[before] = g.next[edge]


@kernel
def make_group_nodes(g, node, first, count, groups):  # type: ignore[no-untyped-def]
    """Let the edges of a position become those of groups, and let it have edges to these."""
    begin_edges(g, node, rounded(groups), groups)
    for k in range(groups):
        edge, group = add_edge(g, node, g.mover[node], -1 - k), new_node(g, GROUP)
        g.child[edge], g.deeper[edge] = group, 1
        g.parent[group] = edge
        g.graph[group], g.level[group], g.position[group] = g.graph[node], g.level[node], node
        g.label[group, 0], g.label[group, 1] = k, g.label[node, 1] + 1
        g.mover[group], g.first[group] = g.mover[node], first + SIZE * k
        g.edges[group] = min(SIZE, count - SIZE * k)
        for member in range(g.first[group], g.first[group] + g.edges[group]):
            g.origin[member] = group


@kernel
def fill_group(g, edge):  # type: ignore[no-untyped-def]
    """Add up what the members of a group know, on its node and on the edge into it; no simulation is on its way."""
    group = g.child[edge]
    g.n[edge], g.flying[edge], g.trials[edge], g.gain[edge] = 0, 0, UNTRIED, 0.0
    set_row(g.total[edge], 0.0)
    set_row(g.counts[group], 0.0)
    set_row(g.sums[group], 0.0)
    g.flags[group], g.running[group], g.open[group] = EXPANDED, 0, 0
    best = NONE
    for member in range(g.first[group], g.first[group] + g.edges[group]):
        g.n[edge] += g.n[member]
        add_row(g.total[edge], g.total[member])
        add_layers(g, group, member)
        if g.trials[member] != PROVEN:
            g.open[group] += 1
        elif best == NONE or g.gain[member] > g.gain[best]:
            best = member
    refresh(g, edge)
    if best != NONE and is_solved(g, group, best):
        g.flags[group] |= SOLVED
        g.trials[edge], g.gain[edge] = PROVEN, g.gain[best]


@kernel
def add_layers(g, node, edge):  # type: ignore[no-untyped-def]
    """Add n_d and n mu_d of a move's edge to all layers of a node; see `update`."""
    if g.n[edge] == 0:
        return
    child, deeper = g.child[edge], sees_through(g, edge)
    for layer in range(len(g.counts[node])):
        below = layer if layer == g.count_inf else layer - 1
        known = below >= 0 and deeper
        g.counts[node, layer] += g.end_n[edge] + g.counts[child, below] if known else g.n[edge]
    for layer in range(len(g.sums[node]) // g.roles):
        below = layer if layer == g.sum_inf else layer - 1
        for role in range(g.roles):
            total = g.total[edge, role]
            if below >= 0 and deeper:
                total = g.end_total[edge, role] + g.sums[child, below * g.roles + role]
                total *= g.n[edge] / (g.end_n[edge] + g.counts[child, 0])
            g.sums[node, layer * g.roles + role] += total


@kernel
def rewrite_paths(g, node, first, count, place, grouped):  # type: ignore[no-untyped-def]
    """Let simulations on their way through a position go through its groups as they are now."""
    for lane in range(len(g.length)):
        at = 0
        while at < g.length[lane] and g.nodes[lane, at] != node:
            at += 1
        if at == g.length[lane]:
            continue
        if not grouped:  # one edge becomes two
            for k in range(g.length[lane], at, -1):
                g.path[lane, k], g.nodes[lane, k] = g.path[lane, k - 1], g.nodes[lane, k - 1]
            g.length[lane] += 1
        if at + 1 < g.length[lane]:
            edge = place[g.path[lane, at + 1] - first]
            group = g.origin[edge]
            g.path[lane, at + 1], g.nodes[lane, at + 1] = edge, group
            g.path[lane, at] = g.parent[group]
            g.running[group] += 1
        lose(g, g.path[lane, at])
