"""Finding positions and joint moves in a graph, and throwing away what can no longer be reached."""

from __future__ import annotations

import numpy as np
from numba import njit

from ggp_agent.engine import kernels as _kernels  # noqa: F401 - says where compiled kernels are kept

kernel = njit(cache=True, nogil=True, error_model="numpy", forceinline=False)  # or it is as its first caller is
inlined = njit(cache=True, nogil=True, error_model="numpy", forceinline=True)  # what walks call for every edge

NONE = -1  # no node, no edge
NODES, EDGES, JOINTS, LISTED, STAMP, RANDOM = range(6)  # of Graph.used

# Odd constants with bits spread evenly, from the golden ratio and from MurmurHash3's finaliser.
SPREAD = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xFF51AFD7ED558CCD)
MIX_2 = np.uint64(0xC4CEB9FE1A85EC53)


@inlined
def mix(word):  # type: ignore[no-untyped-def]
    """Every bit of the result depends on every bit of the word."""
    word ^= word >> np.uint64(33)
    word *= MIX_1
    word ^= word >> np.uint64(33)
    word *= MIX_2
    return word ^ (word >> np.uint64(33))


@inlined
def hash_state(state, graph):  # type: ignore[no-untyped-def]
    """A hash of a packed state in one of the graphs."""
    total = mix(np.uint64(graph) + SPREAD)
    for k in range(len(state)):
        total = mix(total ^ state[k]) + SPREAD
    return total


@inlined
def find(g, hash_value, state, graph):  # type: ignore[no-untyped-def]
    """The node of a position, or NONE. The state itself is compared, not only its hash."""
    mask = len(g.table) - 1
    slot = np.int64(hash_value & np.uint64(mask))
    while g.table[slot] != NONE:
        node = g.table[slot]
        if g.hash[node] == hash_value and g.graph[node] == graph:
            same = True
            for k in range(len(state)):
                same &= g.state[node, k] == state[k]
            if same:
                return node
        slot = (slot + 1) & mask
    return NONE


@kernel
def find_below(g, root, hash_value, state, joints):  # type: ignore[no-untyped-def]
    """The node of a position below a node of a tree, or NONE: the nearest, and of these the one most visited.

    `joints` is in the order of its nodes.
    """
    found, most, first, last = NONE, -1.0, 0, 1
    owners = joints[:, 0].copy()
    layer = np.empty(g.used[NODES], np.int32)
    layer[0] = root
    while first < last and found == NONE:
        end = last
        for k in range(first, end):
            node = layer[k]
            if g.kind[node] == 0 and g.hash[node] == hash_value and g.counts[node, 0] > most:
                same = True
                for word in range(len(state)):
                    same &= g.state[node, word] == state[word]
                if same:
                    found, most = node, g.counts[node, 0]
            for edge in range(g.first[node], g.first[node] + g.edges[node]):
                if g.child[edge] != NONE:
                    layer[last] = g.child[edge]
                    last += 1
            at = np.searchsorted(owners, node) if g.mover[node] < 0 else len(owners)
            while at < len(owners) and owners[at] == node:
                layer[last] = joints[at, 2]
                last += 1
                at += 1
        first = end
    return found


@kernel
def enter(g, node):  # type: ignore[no-untyped-def]
    """Put a node into the table."""
    mask = len(g.table) - 1
    slot = np.int64(g.hash[node] & np.uint64(mask))
    while g.table[slot] != NONE:
        slot = (slot + 1) & mask
    g.table[slot] = node


@kernel
def fill_table(g):  # type: ignore[no-untyped-def]
    """Put all positions into an empty table."""
    for node in range(g.used[NODES]):
        if g.kind[node] == 0:
            enter(g, node)


@kernel
def joint_slot(g, node, number):  # type: ignore[no-untyped-def]
    """The slot of a joint move of a position: where it is, or where it belongs."""
    mask = len(g.joint) - 1
    slot = np.int64(mix(np.uint64(number) * SPREAD + np.uint64(node)) & np.uint64(mask))
    while g.joint[slot, 0] != NONE and (g.joint[slot, 0] != node or g.joint[slot, 1] != number):
        slot = (slot + 1) & mask
    return slot


@kernel
def enter_joint(g, node, number, child):  # type: ignore[no-untyped-def]
    """Remember where a joint move leads."""
    slot = joint_slot(g, node, number)
    if g.joint[slot, 0] == NONE:
        g.used[JOINTS] += 1
    g.joint[slot, 0], g.joint[slot, 1], g.joint[slot, 2] = node, number, child


@kernel
def copy_joints(g, old):  # type: ignore[no-untyped-def]
    """Put the joint moves of an old table into the new one, which is empty."""
    g.used[JOINTS] = 0
    for slot in range(len(old)):
        if old[slot, 0] != NONE:
            enter_joint(g, old[slot, 0], old[slot, 1], old[slot, 2])


@kernel
def rounded(count):  # type: ignore[no-untyped-def]
    """The places that so many edges take: whole lines of cache."""
    return (count + 3) // 4 * 4


@kernel
def mark_reachable(g, joints, new_node):  # type: ignore[no-untyped-def]
    """new_node[node] = 0 for all nodes that the roots reach, NONE for others; `joints` is in the order of its nodes."""
    stack = np.empty(len(new_node), np.int32)
    owners = joints[:, 0].copy()
    high = 0
    for k in range(len(g.root)):
        root = g.root[k]
        if root != NONE and new_node[root] == NONE:
            new_node[root] = 0
            stack[high] = root
            high += 1
    while high:
        high -= 1
        node = stack[high]
        for edge in range(g.first[node], g.first[node] + g.edges[node]):
            child = g.child[edge]
            if child != NONE and new_node[child] == NONE:
                new_node[child] = 0
                stack[high] = child
                high += 1
        if g.mover[node] < 0:
            at = np.searchsorted(owners, node)
            while at < len(owners) and owners[at] == node:
                child = joints[at, 2]
                if new_node[child] == NONE:
                    new_node[child] = 0
                    stack[high] = child
                    high += 1
                at += 1
        if g.kind[node] != 0 and new_node[g.position[node]] == NONE:
            new_node[g.position[node]] = 0
            stack[high] = g.position[node]
            high += 1


@kernel
def pack_graph(g, joints):  # type: ignore[no-untyped-def]
    """Move what the roots reach to the beginning of the arrays; the hash tables are empty."""
    nodes, edges, listed = g.used[NODES], g.used[EDGES], g.used[LISTED]
    new_node = np.full(nodes, NONE, np.int32)
    kept, space, listing = np.zeros(edges, np.int32), np.zeros(edges, np.int32), np.zeros(listed, np.int32)
    mark_reachable(g, joints, new_node)
    node_count, edge_count, listed_count = 0, 0, 0
    for node in range(nodes):  # new numbers keep the order, so everything moves towards the beginning
        if new_node[node] != NONE:
            new_node[node] = node_count
            node_count += 1
            if g.space[node]:  # else its edges, if any, lie in the place of another node
                g.space[node] = rounded(g.edges[node])
            if g.edges[node]:
                kept[g.first[node]] = g.edges[node]
                space[g.first[node]] = max(g.edges[node], g.space[node])
            if g.left[node]:
                listing[g.list[node]] = g.left[node]
    new_edge, new_list = np.empty(edges, np.int32), np.empty(listed, np.int32)
    for first in range(edges):
        if kept[first]:
            new_edge[first] = edge_count
            for k in range(kept[first]):
                move_edge(g, first + k, edge_count + k, new_node)
            edge_count += space[first]
    for first in range(listed):
        if listing[first]:
            new_list[first] = listed_count
            for k in range(listing[first]):
                g.listed[listed_count + k] = g.listed[first + k]
            listed_count += listing[first]
    for node in range(nodes):
        if new_node[node] != NONE:
            if g.edges[node]:
                g.first[node] = new_edge[g.first[node]]
            if g.left[node]:
                g.list[node] = new_list[g.list[node]]
            move_node(g, node, new_node[node], new_node)
    for k in range(len(g.root)):
        if g.root[k] != NONE:
            g.root[k] = new_node[g.root[k]]
    g.used[NODES], g.used[EDGES], g.used[LISTED], g.used[JOINTS] = node_count, edge_count, listed_count, 0
    for k in range(len(g.free)):
        g.free[k] = NONE
    for k in range(len(joints)):
        if new_node[joints[k, 0]] != NONE:
            enter_joint(g, new_node[joints[k, 0]], joints[k, 1], new_node[joints[k, 2]])
    fill_table(g)
    for node in range(node_count):
        g.parent[node] = NONE
    for node in range(node_count):
        for edge in range(g.first[node], g.first[node] + g.edges[node]):
            if g.child[edge] != NONE:
                g.next[edge] = g.parent[g.child[edge]]
                g.parent[g.child[edge]] = edge


@kernel
def move_row(column, old, new):  # type: ignore[no-untyped-def]
    for k in range(len(column[old])):
        column[new, k] = column[old, k]


@kernel
def move_edge(g, old, new, new_node):  # type: ignore[no-untyped-def]
    g.origin[new] = new_node[g.origin[old]]
    copy_edge(g, old, new)
    g.child[new] = NONE if g.child[old] == NONE else new_node[g.child[old]]


@kernel
def copy_edge(g, old, new):  # type: ignore[no-untyped-def]
    """Everything but the origin and the list of edges into the child."""
    g.child[new] = g.child[old]
    g.move[new], g.role[new], g.n[new] = g.move[old], g.role[old], g.n[old]
    g.trials[new], g.gain[new], g.flying[new] = g.trials[old], g.gain[old], g.flying[old]
    move_row(g.total, old, new)
    g.end_n[new], g.deeper[new] = g.end_n[old], g.deeper[old]
    move_row(g.end_total, old, new)
    if len(g.amaf_n) > 1:
        g.amaf_n[new] = g.amaf_n[old]
        g.amaf_total[new] = g.amaf_total[old]


@kernel
def move_node(g, old, new, new_node):  # type: ignore[no-untyped-def]
    g.hash[new], g.graph[new], g.position[new] = g.hash[old], g.graph[old], new_node[g.position[old]]
    g.kind[new], g.flags[new], g.mover[new], g.level[new] = g.kind[old], g.flags[old], g.mover[old], g.level[old]
    g.first[new], g.edges[new], g.space[new] = g.first[old], g.edges[old], g.space[old]
    g.list[new], g.left[new], g.open[new] = g.list[old], g.left[old], g.open[old]
    g.running[new] = g.running[old]
    move_row(g.state, old, new)
    move_row(g.label, old, new)
    move_row(g.value, old, new)
    move_row(g.counts, old, new)
    move_row(g.sums, old, new)
