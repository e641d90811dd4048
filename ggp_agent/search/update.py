"""What a simulation leaves behind: statistics on the edges of its path, and adapted values wherever they change.

For an edge e into a position b, and f over the edges out of b (Saffidine et al., equations 9 to 13):

    n_d(e)        = n'(e) + sum of n_{d-1}(f)                          = n'(e) + counts[b, d-1]
    n(e) mu_d(e)  = n(e) (n' mu' + sum of n(f) mu_{d-1}(f)) / (n' + sum of n(f))

A node keeps the sums over its edges for every depth that is needed (its layers), so both cost nothing to compute.
Depths see through groups: for an edge into a group they are the sums over the moves of the group at the same depth. An
edge that does not lead deeper (back to a position that was seen as early, to a position with simultaneous moves, or
nowhere) has depth 0: so adapted values run through no circle.

When a simulation ends, layer 0 changes on its path; layer d changes where layer d - 1 of a child has changed. Depth inf
is one layer that feeds itself, brought up to date from the deepest position to the highest.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.graph import GROUP, PROVEN, SIMULTANEOUS
from ggp_agent.search.rave import update_amaf
from ggp_agent.search.table import NONE, STAMP, inlined, kernel

ON_PATH = 2  # of Graph.node_mark


@inlined
def add_row(target, source):  # type: ignore[no-untyped-def]
    """Add to the first elements of a row."""
    if len(source) == 2:  # in most games: a loop costs more than what it does
        target[0] += source[0]
        target[1] += source[1]
        return
    for k in range(len(source)):
        target[k] += source[k]


@inlined
def sees_through(g, edge):  # type: ignore[no-untyped-def]
    """Do depths look beyond this edge?"""
    return g.deeper[edge] and g.mover[g.child[edge]] != SIMULTANEOUS


@inlined
def see(g, node):  # type: ignore[no-untyped-def]
    """What all edges into a node see in it: whether depths look beyond them, n_{d3} and n below, where its sums are."""
    if node == NONE or g.mover[node] == SIMULTANEOUS:
        return False, 0.0, 0.0, 0
    lower = 0 if g.grouped and g.kind[node] == GROUP else 1
    trials = g.counts[node, g.d3 - lower if g.own_inf == NONE else g.own_inf] if g.d3 > 0 else 0.0
    place = (g.d1 - lower if g.sum_inf == NONE else g.sum_inf) * g.roles if g.d1 > 0 else 0
    return True, trials, g.counts[node, 0], place


@inlined
def renew(g, edge, node, open_, trials, weight, place):  # type: ignore[no-untyped-def]
    """What selection sees of an edge to a node that was seen: n_{d3} and mu_{d1}, and losses of walks."""
    # Everything is read and nothing is jumped over: what an edge is like is hard to guess.
    proven, n, role = g.trials[edge] == PROVEN, g.n[edge], g.role[edge]
    losses = g.virtual_loss * g.flying[edge] if g.rave == 0.0 else 0
    ended, old = g.end_n[edge], g.gain[edge]
    alone, own = g.total[edge, role], g.end_total[edge, role]
    below = g.sums[max(node, 0), place + role] if g.d1 > 0 else 0.0
    deeper = open_ and g.deeper[edge] and n > 0
    counted, mixed = deeper and g.d3 > 0, deeper and g.d1 > 0
    new = np.float64((ended if counted else n) + losses) + (trials if counted else 0.0)
    total = below + own if mixed else alone
    if not g.even:
        total *= (new - losses) / (weight + ended if mixed else max(n, 1))
    g.trials[edge] = PROVEN if proven else new
    g.gain[edge] = old if proven else total


@inlined
def refresh(g, edge):  # type: ignore[no-untyped-def]
    """What selection sees of an edge is brought up to date."""
    node = g.child[edge]
    open_, trials, weight, place = see(g, node)
    renew(g, edge, node, open_, trials, weight, place)


@inlined
def refresh_edges_into(g, node):  # type: ignore[no-untyped-def]
    edge = g.parent[node]
    open_, trials, weight, place = see(g, node)
    while edge != NONE:
        renew(g, edge, node, open_, trials, weight, place)
        edge = g.next[edge]


@kernel
def touch(g, node, side, stamp):  # type: ignore[no-untyped-def]
    """Put a node into one of the two lists, once."""
    if g.node_mark[node, side] != stamp:
        g.node_mark[node, side] = stamp
        for k in range(1 + g.roles):
            g.delta[node, side, k] = 0.0
        return True
    return False


@kernel
def spread(g, edge, layer, sum_layer, count_change, sum_change, side, stamp, length):  # type: ignore[no-untyped-def]
    """Add changes of n_d and n mu_d of an edge to its origin and, through groups, its position; the list's length."""
    node = g.origin[edge]
    while True:
        if touch(g, node, side, stamp):
            g.touched[length, side] = node
            length += 1
        g.delta[node, side, 0] += count_change
        if layer >= 0:
            g.counts[node, layer] += count_change
        for role in range(len(sum_change)):
            g.delta[node, side, 1 + role] += sum_change[role]
            if sum_layer >= 0:
                g.sums[node, sum_layer * g.roles + role] += sum_change[role]
        if g.kind[node] != GROUP:
            return length
        node = g.origin[g.parent[node]]


@kernel
def change(g, lane, edge, layer, sum_layer, side, stamp, last, sum_change):  # type: ignore[no-untyped-def]
    """How n_d and n mu_d of a move's edge change, given how layer d - 1 of its child has changed.

    `layer` and `sum_layer` are those of the child (NONE where no depth needs them), `last` is the path's last edge.
    """
    walked = g.edge_mark[edge] == stamp
    new = walked and g.n[edge] == 1
    payoff = g.payoff[lane]
    if not sees_through(g, edge):
        for role in range(len(sum_change)):
            sum_change[role] = payoff[role] if walked else 0.0
        return 1.0 if walked else 0.0
    child = g.child[edge]
    moved = g.node_mark[child, side] == stamp
    ended = 1.0 if edge == last else 0.0
    visits = g.counts[child, 0]
    old_visits = visits - (1.0 if g.node_mark[child, ON_PATH] == stamp else 0.0)
    weight, old_weight = g.end_n[edge] + visits, g.end_n[edge] - ended + old_visits
    for role in range(len(sum_change)):
        if sum_layer == NONE:
            sum_change[role] = 0.0
            continue
        total = g.end_total[edge, role] + g.sums[child, sum_layer * g.roles + role]
        sum_change[role] = g.n[edge] * total / weight
        if not new:
            old_total = total - ended * payoff[role] - (g.delta[child, side, 1 + role] if moved else 0.0)
            sum_change[role] -= (g.n[edge] - (1 if walked else 0)) * old_total / old_weight
    if layer == NONE:
        return 0.0
    if new:
        return g.end_n[edge] + g.counts[child, layer]
    return ended + (g.delta[child, side, 0] if moved else 0.0)


@inlined
def pay(g, edge, payoff):  # type: ignore[no-untyped-def]
    """A simulation that took this edge has ended."""
    g.n[edge] += 1
    add_row(g.total[edge], payoff)
    g.flying[edge] -= 1


@inlined
def count_walk(g, node, payoff):  # type: ignore[no-untyped-def]
    """A simulation that came through this node has ended: layer 0."""
    g.counts[node, 0] += 1.0
    g.running[node] -= 1
    if g.sum_layers > 0:
        add_row(g.sums[node], payoff)


@inlined
def update_path(g, lane):  # type: ignore[no-untyped-def]
    """n, mu, n', mu' on the path and layer 0, from the end to the root.

    Also what selection sees, unless there are layers that are not up to date yet.
    """
    length, payoff = g.length[lane], g.payoff[lane]
    adapted = (g.d1 > 0 or g.d3 > 0) and not g.deep
    edge, below = g.path[lane, length - 1], NONE
    g.end_n[edge] += 1
    add_row(g.end_total[edge], payoff)
    for k in range(length - 1, -1, -1):
        edge, node = g.path[lane, k], g.nodes[lane, k]
        pay(g, edge, payoff)
        if k == 0 or g.nodes[lane, k - 1] != node:  # else another role of a simultaneous move
            count_walk(g, node, payoff)
        if adapted and below != NONE and below != node:
            refresh_edges_into(g, below)
        if not g.deep and (not adapted or below == NONE or g.child[edge] == NONE):  # else it was one of these
            refresh(g, edge)
        below = node
    if adapted:
        refresh_edges_into(g, below)


@kernel
def mark_path(g, lane, stamp):  # type: ignore[no-untyped-def]
    """Put the nodes of the path into the first list, with what has changed in layer 0; how many they are."""
    payoff = g.payoff[lane]
    touched = 0
    for k in range(g.length[lane]):
        edge, node = g.path[lane, k], g.nodes[lane, k]
        g.edge_mark[edge] = stamp
        g.node_mark[node, ON_PATH] = stamp
        if touch(g, node, 0, stamp):
            g.touched[touched, 0] = node
            touched += 1
            g.delta[node, 0, 0] = 1.0
            for role in range(g.roles):
                g.delta[node, 0, 1 + role] = payoff[role]
    return touched


@kernel
def into_group(g, edge):  # type: ignore[no-untyped-def]
    return g.child[edge] != NONE and g.kind[g.child[edge]] == GROUP


@kernel
def refresh_into_all(g, side, touched):  # type: ignore[no-untyped-def]
    """Refresh the edges into all nodes of a list."""
    for k in range(touched):
        refresh_edges_into(g, g.touched[k, side])


@kernel
def update_layers(g, lane, stamp, touched):  # type: ignore[no-untyped-def]
    """The finite layers above layer 0, one after another."""
    last = g.path[lane, g.length[lane] - 1]
    sum_change = np.empty(g.roles)
    side = 0
    refresh_into_all(g, side, touched)
    for depth in range(1, max(g.count_layers, g.sum_layers)):
        layer = depth if depth < g.count_layers else NONE
        sum_layer = depth if depth < g.sum_layers else NONE
        below, sum_below = NONE if layer == NONE else layer - 1, NONE if sum_layer == NONE else sum_layer - 1
        other, length = 1 - side, 0
        stamp += 1  # the other list is empty again; marks of the path move on with it
        for k in range(g.length[lane]):
            g.edge_mark[g.path[lane, k]] = stamp
            g.node_mark[g.nodes[lane, k], ON_PATH] = stamp
        for k in range(touched):
            g.node_mark[g.touched[k, side], side] = stamp
        for k in range(g.length[lane]):
            edge = g.path[lane, k]
            if not into_group(g, edge):
                count = change(g, lane, edge, below, sum_below, side, stamp, last, sum_change)
                length = spread(g, edge, layer, sum_layer, count, sum_change, other, stamp, length)
        for k in range(touched):
            node = g.touched[k, side]
            edge = g.parent[node] if g.kind[node] != GROUP else NONE
            while edge != NONE:
                if g.edge_mark[edge] != stamp and g.n[edge] > 0 and sees_through(g, edge):
                    count = change(g, lane, edge, below, sum_below, side, stamp, last, sum_change)
                    length = spread(g, edge, layer, sum_layer, count, sum_change, other, stamp, length)
                edge = g.next[edge]
        side, touched = other, length
        refresh_into_all(g, side, touched)
    return stamp


@kernel
def update_endless(g, lane, stamp):  # type: ignore[no-untyped-def]
    """The layer of depth inf: every position above the path, from the deepest to the highest, each once."""
    path, length = g.path[lane], g.length[lane]
    last = path[length - 1]
    touched = 0
    for k in range(length):
        g.edge_mark[path[k]] = stamp
        g.node_mark[g.origin[path[k]], ON_PATH] = stamp
        if touch(g, g.origin[path[k]], 0, stamp):
            g.touched[touched, 0] = g.origin[path[k]]
            touched += 1
    if sees_through(g, last) and touch(g, g.child[last], 0, stamp):
        g.touched[touched, 0] = g.child[last]
        touched += 1
    at = 0
    while at < touched:
        edge = g.parent[g.touched[at, 0]]
        at += 1
        while edge != NONE:
            if g.n[edge] > 0 and sees_through(g, edge) and touch(g, g.origin[edge], 0, stamp):
                g.touched[touched, 0] = g.origin[edge]
                touched += 1
            edge = g.next[edge]
    sum_change = np.empty(g.roles)
    for k in range(length):
        if not sees_through(g, path[k]):
            count = change(g, lane, path[k], g.count_inf, g.sum_inf, 0, stamp, last, sum_change)
            spread(g, path[k], g.count_inf, g.sum_inf, count, sum_change, 0, stamp, touched)
    levels = np.empty(touched, np.int32)
    for k in range(touched):
        levels[k] = -g.level[g.touched[k, 0]]
    for k in np.argsort(levels):
        node = g.touched[k, 0]
        edge = g.parent[node] if g.kind[node] != GROUP else NONE
        while edge != NONE:
            if g.n[edge] > 0 and sees_through(g, edge):
                count = change(g, lane, edge, g.count_inf, g.sum_inf, 0, stamp, last, sum_change)
                spread(g, edge, g.count_inf, g.sum_inf, count, sum_change, 0, stamp, touched)
            edge = g.next[edge]
    refresh_into_all(g, 0, touched)


@kernel
def update_ancestors(g, lane, stamp):  # type: ignore[no-untyped-def]
    """Update-all (Saffidine et al., section 3.2): every edge from which the end can be reached gets the payoff once."""
    stack = [np.int32(NONE)]
    stack.pop()
    for k in range(g.length[lane]):
        edge = g.path[lane, k]
        g.edge_mark[edge] = stamp
        if k == 0 or g.nodes[lane, k - 1] != g.origin[edge]:
            stack.append(g.origin[edge])
            g.node_mark[g.origin[edge], 0] = stamp
    if g.child[edge] != NONE and g.node_mark[g.child[edge], 0] != stamp:
        stack.append(g.child[edge])
    while len(stack):
        edge = g.parent[stack.pop()]
        while edge != NONE:
            if g.n[edge] > 0 and g.edge_mark[edge] != stamp:
                g.edge_mark[edge] = stamp
                g.n[edge] += 1
                add_row(g.total[edge], g.payoff[lane])
                g.counts[g.origin[edge], 0] += 1.0
                refresh(g, edge)
                if g.node_mark[g.origin[edge], 0] != stamp:
                    g.node_mark[g.origin[edge], 0] = stamp
                    stack.append(g.origin[edge])
            edge = g.next[edge]


@kernel
def update(g, lane):  # type: ignore[no-untyped-def]
    """The simulation of a lane has ended with its payoff; the path is used up."""
    length = g.length[lane]
    if g.rave > 0.0:
        update_amaf(g, lane)
    g.at[lane] = NONE
    if length == 0:
        return
    update_path(g, lane)
    if g.deep:
        stamp = g.used[STAMP] + 1
        stamp = update_layers(g, lane, stamp, mark_path(g, lane, stamp))
        if g.count_inf != NONE or g.sum_inf != NONE:
            stamp += 1
            update_endless(g, lane, stamp)
        g.used[STAMP] = stamp
        for k in range(length):
            refresh(g, g.path[lane, k])
    elif g.update_all:
        g.used[STAMP] += 1
        update_ancestors(g, lane, g.used[STAMP])
    g.length[lane] = 0
