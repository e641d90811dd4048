"""Groups that are listed when a position gets its edges: moves near the last ones, moves of like value, any table.

Groups may overlap. A move in two groups is an edge in each, and both lead to one position, a transposition.
"""

from __future__ import annotations

import numpy as np

from ggp_agent.search.edges import list_moves
from ggp_agent.search.graph import GROUP, NEAR, PRIOR
from ggp_agent.search.table import NONE, kernel

NOWHERE = 255  # where a coordinate would be
SHIFT = 256


@kernel
def expand_listed(g, lane, node, role, offset, moves, count):  # type: ignore[no-untyped-def]
    """Give edges to a position or group whose moves are these, or those among these; false without room."""
    ranks = rank_moves(g, offset, moves, count)
    if g.kind[node] == GROUP:
        group, place = g.label[node, 0], g.label[g.position[node], 0]
        kept = 0
        for k in range(count):
            if is_member(g, group, place, offset + moves[k], ranks[k], count):
                moves[kept] = moves[k]
                kept += 1
        return list_moves(g, node, role, moves, kept)
    if g.group_kind == NEAR:
        g.label[node, 0] = last_places(g, lane)
    place, found, sole = g.label[node, 0], 0, False
    members = np.zeros(g.group_count, np.int64)
    for group in range(g.group_count):
        for k in range(count):
            members[group] += is_member(g, group, place, offset + moves[k], ranks[k], count)
        found += members[group] > 0
    if g.group_kind == NEAR:
        sole = members[0] == count  # everything is near
    if found < 2 or sole:
        return list_moves(g, node, role, moves, count)
    groups = np.empty(found, np.int32)
    found = 0
    for group in range(g.group_count):
        if members[group]:
            groups[found] = -1 - group
            found += 1
    return list_moves(g, node, role, groups, found)


@kernel
def is_member(g, group, place, move, rank, count):  # type: ignore[no-untyped-def]
    """Is a move, counted over all roles, in this group of its position? `rank` is its rank among `count` moves."""
    if g.group_kind == NEAR:
        return group == 1 or is_near(g, place, move)
    if g.group_kind == PRIOR:
        return rank * g.group_count // count == group
    return g.group_table[group, move] != 0


@kernel
def rank_moves(g, offset, moves, count):  # type: ignore[no-untyped-def]
    """The rank of each move by the values that were given, the best first; only PRIOR asks."""
    ranks = np.zeros(count, np.int64)
    if g.group_kind == PRIOR:
        values = np.empty(count)
        for k in range(count):
            values[k] = -g.group_value[offset + moves[k]]
        order = np.argsort(values, kind="mergesort")
        for k in range(count):
            ranks[order[k]] = k
    return ranks


@kernel
def is_near(g, place, move):  # type: ignore[no-untyped-def]
    """Is a move near one of the two places that a number stands for?"""
    x, y = g.group_square[move, 0], g.group_square[move, 1]
    if x == NONE:
        return False
    for _ in range(2):
        other_x, other_y = place % SHIFT, place // SHIFT % SHIFT
        if other_x != NOWHERE and abs(x - other_x) + abs(y - other_y) <= g.group_distance:
            return True
        place //= SHIFT * SHIFT
    return False


@kernel
def last_places(g, lane):  # type: ignore[no-untyped-def]
    """Where the last two moves were that have a place, on the path of a lane and before the root, as one number."""
    number, factor, found = 0, 1, 0
    k = g.length[lane] - 1
    while k >= 0 and found < 2:
        edge = g.path[lane, k]
        if g.move[edge] >= 0:
            move = g.group_offset[g.role[edge]] + g.move[edge]
            if g.group_square[move, 0] != NONE:
                number += factor * (g.group_square[move, 0] + SHIFT * g.group_square[move, 1])
                factor *= SHIFT * SHIFT
                found += 1
        k -= 1
    for k in range(2 - found):
        x, y = g.last[k, 0], g.last[k, 1]
        number += factor * (x + SHIFT * y if x != NONE else NOWHERE)
        factor *= SHIFT * SHIFT
    return number
