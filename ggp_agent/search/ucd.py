"""UCD: walking down a graph, adding to it, proving values.

A simulation walks from a root along the edges that look best until it comes to something new. What it needs then is
told by the result of `descend`, because only an engine can list moves, play them and play games out.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.edges import copy_row, new_position, open_group
from ggp_agent.search.graph import EXPANDED, GROUP, POSITION, PROVEN, RANKED, SIMULTANEOUS, SOLVED, TERMINAL
from ggp_agent.search.select import NEW, is_new_best, lose, select, select_proven, try_new
from ggp_agent.search.table import JOINTS, NONE, enter_joint, find, inlined, joint_slot, kernel
from ggp_agent.search.update import refresh

# What a simulation needs next: nothing, it knows its payoff; the moves of its node; the position that its last edges
# lead to; a playout from its node; to walk on; that the moves of its node are ranked and grouped.
KNOWN, MOVES, STEP, PLAYOUT, WALK, RANK = range(6)


@inlined
def position_of(g, node):  # type: ignore[no-untyped-def]
    """The position of a node, without waiting for memory that says that a position is its own."""
    return node if not g.grouped or g.kind[node] == POSITION else g.position[node]


@inlined
def push(g, lane, edge):  # type: ignore[no-untyped-def]
    g.path[lane, g.length[lane]] = edge
    g.nodes[lane, g.length[lane]] = g.at[lane]
    g.length[lane] += 1
    lose(g, edge)


@kernel
def on_path(g, lane, node):  # type: ignore[no-untyped-def]
    """Has the walk of this lane been here?"""
    for k in range(g.length[lane]):  # noqa: SIM110 - numba knows no generators
        if g.nodes[lane, k] == node:
            return True
    return False


@kernel
def joint_number(g, lane):  # type: ignore[no-untyped-def]
    """The number of the joint move that the last edges of a path are, all with the same origin."""
    last = g.length[lane] - 1
    node = g.nodes[lane, last]
    number = np.int64(0)
    k = last
    while k >= 0 and g.nodes[lane, k] == node:
        number = number * g.edges[node] + g.path[lane, k] - g.first[node]
        k -= 1
    return number


@kernel
def choose_tried(g, node, role, skip):  # type: ignore[no-untyped-def]
    """An edge that is there, one that is not proven if `skip` says so and there is one."""
    edge = select(g, node, role, skip, 0)
    return select(g, node, role, False, 0) if edge == NONE and skip else edge


@inlined
def choose(g, lane, node):  # type: ignore[no-untyped-def]
    """The edge that a walk takes where one role chooses; NONE if there is none and no room for one."""
    # At the root there is nothing to learn from a move whose value is known. Below, others must reckon with it.
    skip = g.length[lane] == 0 or position_of(g, node) == g.nodes[lane, 0]
    role, left = g.mover[node], g.left[node]
    edge = NEW if left and is_new_best(g) else select(g, node, role, skip, left)
    if edge == NEW:
        edge = try_new(g, node)
    return choose_tried(g, node, role, skip) if edge == NONE else edge


@inlined
def walk_on(g, lane):  # type: ignore[no-untyped-def]
    """Take one edge from where the simulation of a lane stands; what it needs then."""
    node = g.at[lane]
    if g.length[lane] == 0 or g.level[node] > g.top[lane]:
        g.top[lane] = g.level[node]
    elif g.kind[node] == POSITION and on_path(g, lane, node):
        return PLAYOUT
    flags = g.flags[node]
    settled = flags & SOLVED != 0 and g.kind[node] == GROUP
    if flags & SOLVED and not settled and (g.length[lane] > 0 or flags & TERMINAL):
        copy_row(g.payoff[lane], g.value[node])
        return KNOWN
    if g.length[lane] >= g.max_path:
        leave_groups(g, lane)
        return PLAYOUT
    if not flags & EXPANDED:
        return MOVES
    if (
        g.group_kind == RANKED
        and g.kind[node] == POSITION
        and g.counts[node, 0] >= max(g.label[node, 0], g.group_first)
    ):
        return RANK
    if g.mover[node] == SIMULTANEOUS:
        for role in range(g.roles):
            edge = select(g, node, role, False, 0)
            if edge != NONE:
                push(g, lane, edge)
        g.running[node] += 1
        slot = joint_slot(g, node, joint_number(g, lane))
        if g.joint[slot, 0] == NONE:
            return STEP
        child = np.int32(g.joint[slot, 2])
    else:
        edge = select_proven(g, node) if settled else choose(g, lane, node)
        if edge == NONE:  # no room
            leave_groups(g, lane)
            return PLAYOUT
        push(g, lane, edge)
        g.running[node] += 1
        child = g.child[edge]
        if child == NONE:
            if not g.grouped or g.move[edge] >= 0:
                return STEP
            child = open_group(g, edge)
            if child == NONE:  # no room
                retreat(g, lane)
                leave_groups(g, lane)
                return PLAYOUT
    g.at[lane] = child
    return WALK


@kernel
def descend(g, lane):  # type: ignore[no-untyped-def]
    """Walk on until the simulation of a lane needs something."""
    need = WALK
    while need == WALK:
        need = walk_on(g, lane)
    return need


@kernel
def retreat(g, lane):  # type: ignore[no-untyped-def]
    """Undo the last edge of a path."""
    g.length[lane] -= 1
    g.at[lane] = g.nodes[lane, g.length[lane]]
    g.flying[g.path[lane, g.length[lane]]] -= 1
    g.running[g.at[lane]] -= 1
    refresh(g, g.path[lane, g.length[lane]])


@kernel
def leave_groups(g, lane):  # type: ignore[no-untyped-def]
    """A simulation that cannot go on ends at a position: a group has no payoffs of its own."""
    while g.kind[g.at[lane]] == GROUP:
        retreat(g, lane)


@inlined
def link(g, lane, child):  # type: ignore[no-untyped-def]
    """The last edges of a path turn out to lead to this position."""
    edge = g.path[lane, g.length[lane] - 1]
    node = g.nodes[lane, g.length[lane] - 1]
    if g.mover[node] == SIMULTANEOUS:
        if 2 * (g.used[JOINTS] + 1) > len(g.joint):
            g.wanting[0] = JOINTS + 1
        else:
            enter_joint(g, node, joint_number(g, lane), child)
    elif g.child[edge] == NONE:
        if g.deep and g.n[edge] > 0 and (g.counts[child, 0] > 0 or g.n[edge] > g.end_n[edge]):
            # Simulations took it when there was no room for the child, which has come by another way: to count what
            # lies below as well would change the layers of all positions above at once.
            return
        g.child[edge], g.deeper[edge] = child, g.level[child] > g.level[node]
        g.next[edge], g.parent[child] = g.parent[child], edge
        if g.solve and g.flags[child] & SOLVED:
            prove_edge(g, edge, child)


@inlined
def is_ripe(g, lane):  # type: ignore[no-untyped-def]
    """Have enough simulations taken the last edge of a path for the position where it leads to join the graph?"""
    last = g.length[lane] - 1
    return g.n[g.path[lane, last]] + 1 >= g.ripe or g.mover[g.nodes[lane, last]] == SIMULTANEOUS


@inlined
def arrive(g, lane, state, hash_value, terminal, payoff):  # type: ignore[no-untyped-def]
    """The last edges lead to this state, with this payoff if the game is over there. What the simulation needs next."""
    edge = g.path[lane, g.length[lane] - 1]
    origin = g.nodes[lane, g.length[lane] - 1]
    graph, level = g.lane_graph[lane], g.level[origin] + 1
    child, fresh = g.child[edge], False
    if child == NONE:
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
    return PLAYOUT if fresh else WALK


@kernel
def prove_edge(g, edge, child):  # type: ignore[no-untyped-def]
    """The child of an edge is solved: so is the edge, and perhaps its origin, and nodes above."""
    if not settles(g, edge, child):  # most end here, and a list costs more than all of that
        return
    stack = [g.origin[edge]]
    while len(stack):
        child = stack.pop()
        edge = g.parent[child]
        while edge != NONE:
            if settles(g, edge, child):
                stack.append(g.origin[edge])
            edge = g.next[edge]


@inlined
def settles(g, edge, child):  # type: ignore[no-untyped-def]
    """Does a solved child settle what the origin of an edge is worth? It settles what the edge is."""
    node = g.origin[edge]
    # The proven edges of a solved node lead to nodes that were solved before it: following them leads to the end of
    # the game, and never round in a circle.
    if g.trials[edge] == PROVEN or g.flags[node] & SOLVED:
        return False
    g.trials[edge] = PROVEN
    g.gain[edge] = g.value[child, g.role[edge]]
    g.open[node] -= 1
    if not is_solved(g, node, edge):
        return False
    g.flags[node] |= SOLVED
    return True


@kernel
def is_solved(g, node, edge):  # type: ignore[no-untyped-def]
    """Does this newly proven edge settle what its origin is worth? Then it is written down there."""
    role, best = g.mover[node], g.child[edge]
    settled = g.value[best, role] >= g.best[role]
    for k in range(g.roles):
        # If others share in a win, another way to win may leave them with less.
        settled &= k == role or g.value[best, k] <= g.worst[k]
    if not settled:
        if g.open[node] > 0:
            return False
        for other in range(g.first[node], g.first[node] + g.edges[node]):
            if g.value[g.child[other], role] > g.value[best, role]:
                best = g.child[other]
        for other in range(g.first[node], g.first[node] + g.edges[node]):
            # The mover may have equal choices that are not equal to the other roles: nothing is proven then.
            if g.value[g.child[other], role] == g.value[best, role]:
                for k in range(g.roles):
                    if g.value[g.child[other], k] != g.value[best, k]:
                        return False
    copy_row(g.value[node], g.value[best])
    return True


@inlined
def is_finished(g, node):  # type: ignore[no-untyped-def]
    """Is there nothing more to find out at a root?"""
    if not g.solve or not g.flags[node] & (SOLVED | EXPANDED):
        return False
    return g.flags[node] & SOLVED != 0 or g.open[node] == 0


@kernel
def forget_walks(g):  # type: ignore[no-untyped-def]
    """Give up all simulations on their way: nothing of them stays but the positions they found."""
    for lane in range(len(g.length)):
        for k in range(g.length[lane]):
            g.flying[g.path[lane, k]] -= 1
            refresh(g, g.path[lane, k])
            if k == 0 or g.nodes[lane, k] != g.nodes[lane, k - 1]:
                g.running[g.nodes[lane, k]] -= 1
        g.length[lane] = 0
        g.at[lane] = NONE
