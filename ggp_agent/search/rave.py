"""RAVE: what is known of a move from simulations in which its role played it later (Gelly and Silver; AMAF).

The AMAF statistics of an edge out of a position are those of all simulations through that position in which its role
played its move there or later, in the walk or in the playout, once a simulation. With `rave_depth=1` they are those of
the positions that the edges of its origin lead to, edge by edge, mixed (Saffidine et al., section 4.3): simulations
that come there by other ways count as well, from the time on when the edge is known to lead there.

Whoever plays a simulation notes the moves of its playout just before its update; the walk is known.
"""

from __future__ import annotations

from ggp_agent.search.graph import SIMULTANEOUS
from ggp_agent.search.table import NONE, kernel


@kernel
def note_played(g, role, move):  # type: ignore[no-untyped-def]
    """A role has made this move in the simulation that is about to end."""
    g.played[g.group_offset[role] + move] = g.played[len(g.played) - 1]


@kernel
def feed(g, node, payoff):  # type: ignore[no-untyped-def]
    """Count a simulation on the edges out of a node whose moves were played."""
    stamp = g.played[len(g.played) - 1]
    for edge in range(g.first[node], g.first[node] + g.edges[node]):
        role = g.role[edge]
        if g.played[g.group_offset[role] + g.move[edge]] == stamp:
            g.amaf_n[edge] += 1
            g.amaf_total[edge] += payoff[role]


@kernel
def feed_parents(g, node, payoff):  # type: ignore[no-untyped-def]
    """Count a simulation through a position on the edges out of those that lead there."""
    above = g.parent[node]
    while above != NONE:
        feed(g, g.origin[above], payoff)
        above = g.next[above]


@kernel
def update_amaf(g, lane):  # type: ignore[no-untyped-def]
    """Count the simulation of a lane, which has ended and whose playout is noted, from its end to the root."""
    payoff, k = g.payoff[lane], g.length[lane] - 1
    if g.rave_depth > 0 and g.at[lane] != NONE:
        feed_parents(g, g.at[lane], payoff)
    while k >= 0:
        node = g.nodes[lane, k]
        while k >= 0 and g.nodes[lane, k] == node:  # several edges if several roles choose
            note_played(g, g.role[g.path[lane, k]], g.move[g.path[lane, k]])
            k -= 1
        if g.rave_depth == 0 or g.mover[node] == SIMULTANEOUS:
            feed(g, node, payoff)
        if g.rave_depth > 0:
            feed_parents(g, node, payoff)
    g.played[len(g.played) - 1] += 1
