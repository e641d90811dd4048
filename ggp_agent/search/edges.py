"""Making nodes and edges: where there are many moves, one gets its edge when a simulation first takes it.

The edges of a node lie together, because selection looks at all of them. They begin in a place for a few and move to
one twice as large when it is full: most positions are left again after a few of their moves. Where moves are few, all
get their edges at once, which costs less than to think about what has none.
"""

from __future__ import annotations

from ggp_agent.search.graph import EXPANDED, GROUP, POSITION, RANKED, UNTRIED
from ggp_agent.search.largest import FEW
from ggp_agent.search.table import EDGES, LISTED, NODES, NONE, copy_edge, enter, inlined, kernel, rounded

FIRST_SPACE = 8  # edges: two lines of cache


@inlined
def copy_row(target, source):  # type: ignore[no-untyped-def]
    for k in range(len(target)):
        target[k] = source[k]


@inlined
def set_row(target, value):  # type: ignore[no-untyped-def]
    for k in range(len(target)):
        target[k] = value


@kernel
def new_node(g, kind):  # type: ignore[no-untyped-def]
    """A blank node, or NONE if there is no room."""
    node = g.used[NODES]
    if node >= g.room[NODES]:
        g.wanting[0] = NODES + 1
        return NONE
    g.used[NODES] += 1
    g.kind[node], g.flags[node], g.mover[node] = kind, 0, 0
    g.first[node], g.edges[node], g.space[node] = 0, 0, 0
    g.list[node], g.left[node], g.open[node] = 0, 0, 0
    g.parent[node], g.running[node] = NONE, 0
    set_row(g.counts[node], 0.0)
    set_row(g.sums[node], 0.0)
    return node


@kernel
def new_position(g, state, graph, hash_value, level):  # type: ignore[no-untyped-def]
    """The node of a position that is not in the graph, or NONE."""
    node = new_node(g, POSITION)
    if node != NONE:
        copy_row(g.state[node], state)
        g.hash[node], g.graph[node], g.level[node], g.position[node] = hash_value, graph, level, node
        g.label[node, 0], g.label[node, 1] = 0, 0
        enter(g, node)
    return node


@kernel
def open_group(g, edge):  # type: ignore[no-untyped-def]
    """The node of a group that a simulation enters for the first time, or NONE."""
    node = new_node(g, GROUP)
    if node != NONE:
        position = g.position[g.origin[edge]]
        g.graph[node], g.level[node], g.position[node] = g.graph[position], g.level[position], position
        g.label[node, 0] = -1 - g.move[edge]
        g.label[node, 1] = g.label[g.origin[edge], 1] + 1
        g.child[edge], g.deeper[edge] = node, 1
        g.parent[node], g.next[edge] = edge, NONE
    return node


@kernel
def size_of(space):  # type: ignore[no-untyped-def]
    """Which of the sizes 8, 16, 32, ... this is; NONE if it is none of them."""
    size, room = 0, FIRST_SPACE
    while room < space:
        size, room = size + 1, 2 * room
    return size if room == space else NONE


@kernel
def find_space(g, space):  # type: ignore[no-untyped-def]
    """A place for so many edges, a multiple of 4: where it begins, or NONE."""
    size = size_of(space)
    if size != NONE and g.free[size] != NONE:
        first = g.free[size]
        g.free[size] = g.next[first]
        return first
    first = g.used[EDGES]
    if first + space > g.room[EDGES]:
        g.wanting[0] = EDGES + 1
        return NONE
    g.used[EDGES] += space
    return first


@kernel
def find_more_space(g, node):  # type: ignore[no-untyped-def]
    """Let the edges of a node, which have filled their place, move to a larger one; false if there is none."""
    old, count = g.first[node], g.edges[node]
    space = min(max(2 * count, FIRST_SPACE), rounded(count + g.left[node]))
    new = find_space(g, space)
    if new == NONE:
        return False
    for k in range(count):
        copy_edge(g, old + k, new + k)
        g.origin[new + k], g.next[new + k] = node, g.next[old + k]
        child = g.child[old + k]
        if child != NONE:
            replace_parent(g, child, old + k, new + k)
    if g.running[node] > 0:
        for lane in range(len(g.length)):
            for k in range(g.length[lane]):
                if g.nodes[lane, k] == node:
                    g.path[lane, k] += new - old
    g.first[node], g.space[node] = new, space
    size = size_of(count)
    if size != NONE:
        g.next[old] = g.free[size]
        g.free[size] = old
    return True


@kernel
def replace_parent(g, child, old, new):  # type: ignore[no-untyped-def]
    """Put an edge in the place of another in the list of those into a node."""
    if g.parent[child] == old:
        g.parent[child] = new
        return
    before = g.parent[child]
    while g.next[before] != old:
        before = g.next[before]
    g.next[before] = new


@kernel
def add_edge(g, node, role, move):  # type: ignore[no-untyped-def]
    """An edge more for a node, or NONE if there is no room."""
    if g.edges[node] == g.space[node] and not find_more_space(g, node):
        return NONE
    edge = g.first[node] + g.edges[node]
    g.edges[node] += 1
    g.origin[edge], g.child[edge], g.next[edge], g.deeper[edge] = node, NONE, NONE, 0
    g.move[edge], g.role[edge] = move, role
    g.n[edge], g.trials[edge], g.gain[edge], g.flying[edge] = 0, UNTRIED, 0.0, 0
    set_row(g.total[edge], 0.0)
    g.end_n[edge] = 0
    set_row(g.end_total[edge], 0.0)
    if len(g.amaf_n) > 1:
        g.amaf_n[edge] = 0
        g.amaf_total[edge] = 0.0
    return edge


@kernel
def begin_edges(g, node, space, count):  # type: ignore[no-untyped-def]
    """Let a node have `count` moves, and space for so many edges; false without room."""
    first = find_space(g, space)
    if first == NONE:
        return False
    g.first[node], g.edges[node], g.space[node] = first, 0, space
    g.left[node], g.open[node] = 0, count
    g.flags[node] |= EXPANDED
    return True


@kernel
def list_moves(g, node, role, moves, count):  # type: ignore[no-untyped-def]
    """Let a node have the first `count` moves of a role, groups if negative; false without room."""
    if count <= FEW or g.rave > 0.0 or g.group_kind == RANKED:  # the last two want all edges, however many
        if not begin_edges(g, node, rounded(count), count):
            return False
        for k in range(count):
            add_edge(g, node, role, moves[k])
        return True
    first = g.used[LISTED]
    if first + count > g.room[LISTED]:
        g.wanting[0] = LISTED + 1
        return False
    if not begin_edges(g, node, min(FIRST_SPACE, rounded(count)), count):
        return False
    g.used[LISTED] += count
    for k in range(count):
        g.listed[first + k] = moves[k]
    g.list[node], g.left[node] = first, count
    return True
