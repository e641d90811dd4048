"""Lanes to trees: every simulation lives in a lane, and all lanes step together.

A lane holds the state of a position. Once the circuit has said what is legal there, the walk of the lane goes on: its
moves are listed, or one of them is forced and the lane steps to a new position, or the rest is played at random. A lane
whose simulation has ended takes up another one, from the root of its graph, at once.

The three parallelisations of Chaslot et al. are three maps from lanes to graphs: all lanes share one (tree); all lanes
play out from one leaf (leaf: blocks of lanes, of which the first one walks); each has its own (root).
"""

from __future__ import annotations

import numpy as np

from ggp_agent.engine import rowops as op
from ggp_agent.engine.block import prefetch
from ggp_agent.engine.by_group import choose_by_group, make_moves, turn_rows
from ggp_agent.engine.circuit import DECISIVE, GOALS, NEXT, POSITION
from ggp_agent.engine.kernels import DONE, RUNNING, choose_moves, commit, compute, report_no_move
from ggp_agent.engine.rowops import LANES, WORDS
from ggp_agent.search.edges import copy_row, set_row
from ggp_agent.search.graph import EXPANDED
from ggp_agent.search.groups import expand
from ggp_agent.search.lane_rows import (
    BEGUN,
    CUT,
    DRAW,
    ENDED,
    IDLE,
    PASSING,
    PLAYING,
    READY,
    STEPPED,
    WAITING,
    clear_bit,
    find_mover,
    hold_common,
    is_pending,
    later,
    load_state,
    play_forced,
    read_moves,
    read_payoff,
    read_played,
    read_state,
    set_bit,
    write_history,
    write_played,
)
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.table import NODES, NONE, hash_state, kernel
from ggp_agent.search.ucd import (
    KNOWN,
    MOVES,
    PLAYOUT,
    RANK,
    STEP,
    WALK,
    arrive,
    is_finished,
    is_ripe,
    leave_groups,
    position_of,
)
from ggp_agent.search.update import update
from ggp_agent.search.walk import walk_round


@kernel
def begin(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Take up another simulation: what it needs, or NONE if there is nothing more to do in this lane."""
    graph = g.lane_graph[lane]
    root = g.root[graph]
    if lanes.left[graph] <= 0 or is_finished(g, root) or g.used[NODES] >= lanes.max_nodes:
        lanes.phase[lane] = IDLE
        clear_bit(lanes.rows, lanes.active, lane)
        return NONE
    lanes.left[graph] -= 1
    lanes.progress[BEGUN] += 1
    g.at[lane] = root
    return WALK


@kernel
def force(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Note the moves of the last edges of a walk: they are played in this step."""
    last = g.length[lane] - 1
    node = g.nodes[lane, last]
    k = last
    while k >= 0 and g.nodes[lane, k] == node:
        edge = g.path[lane, k]
        set_bit(lanes.rows, lanes.forced + g.role[edge], lane)
        lanes.forced_move[lane, g.role[edge]] = g.move[edge]
        k -= 1
    lanes.phase[lane] = STEPPED
    later(lanes, lane)


@kernel
def wanted_position(g, lane, need):  # type: ignore[no-untyped-def]
    """The position that a walk needs a lane to hold."""
    if need == STEP:
        return position_of(g, g.nodes[lane, g.length[lane] - 1])
    return position_of(g, g.at[lane]) if g.at[lane] != NONE else NONE


@kernel
def play_out(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The lane is where its walk ends: play on at random, in all lanes of its block."""
    lanes.phase[lane] = PLAYING
    lanes.begun[lane] = lanes.progress[0]
    lanes.missing[lane] = lanes.block
    if lanes.block > 1:
        read_state(lanes, lane)
        for other in range(lane + 1, lane + lanes.block):
            load_state(lanes, other, lanes.states[lane])
            set_bit(lanes.rows, lanes.active, other)
            lanes.phase[other] = READY
            later(lanes, other)


@kernel
def hold(g, lanes, lane, position, need):  # type: ignore[no-untyped-def]
    """Let a lane take up a position, where its walk has this need."""
    lanes.here[lane] = position
    lanes.need[lane] = need
    lanes.phase[lane] = READY
    load_state(lanes, lane, g.state[position])
    later(lanes, lane)


@kernel
def proceed(g, lanes, lane, need):  # type: ignore[no-untyped-def]
    """Do what a walk needs, until it needs the circuit or has to walk on."""
    while need != NONE:
        if need == WALK:
            lanes.waiting[lanes.walkers[0]] = lane
            lanes.walkers[0] += 1
            return
        if need == KNOWN:
            update(g, lane)
            lanes.progress[ENDED] += 1
            lanes.phase[lane] = IDLE  # the next one may end as soon, so let the clock be looked at in between
            clear_bit(lanes.rows, lanes.active, lane)
            later(lanes, lane)
            return
        if need == RANK:
            form_groups(g, g.at[lane])
            need = WALK
            continue
        position = wanted_position(g, lane, need)
        if position != lanes.here[lane]:
            hold(g, lanes, lane, position, need)
            return
        if need == STEP:
            force(g, lanes, lane)
            return
        if need == PLAYOUT:
            play_out(g, lanes, lane)
            return
        node = g.at[lane]
        if not g.flags[node] & EXPANDED:
            read_moves(lanes, lane)
            if lanes.decisive:
                g.mover[node] = find_mover(lanes, lane)
            if not expand(g, lane, lanes.moves, lanes.counts):
                leave_groups(g, lane)
                need = PLAYOUT
                continue
        need = WALK


@kernel
def walk_all(g, lanes):  # type: ignore[no-untyped-def]
    """Let walks go on together, edge by edge.

    One walk more begins in every round, so walks are at different depths, and while one waits for memory or for a
    result, others go on. Those that need something else than an edge leave, and get it after the next round, when
    what they need from memory is there.
    """
    waiting, walking, walkers, halted = lanes.waiting, lanes.walking, lanes.walkers, lanes.halted
    late = 0
    while walkers[0] or walkers[1] or late:
        if walkers[0]:
            walkers[0] -= 1
            walking[walkers[1]] = waiting[walkers[0]]
            walkers[1] += 1
        halts = walk_round(g, lanes, late)
        for k in range(late, halts):
            lane = halted[k]
            if lanes.need[lane] in (STEP, MOVES):
                prefetch(g.hash, wanted_position(g, lane, lanes.need[lane]))
        for k in range(late):
            proceed(g, lanes, halted[k], lanes.need[halted[k]])
        for k in range(late, halts):
            halted[k - late] = halted[k]
        late = halts - late


@kernel
def read_arrivals(g, lanes):  # type: ignore[no-untyped-def]
    """Read the positions that walks have come to, and ask for their places in the table, if they may join the graph."""
    for word in range(WORDS):
        bits = np.int64(lanes.over[word] | lanes.pending[word])
        while bits:
            lane = 64 * word + op.lowest_bit(bits)
            bits &= bits - 1
            if lanes.phase[lane] == STEPPED:
                is_over = (lanes.over[word] >> np.uint64(lane % 64)) & np.uint64(1) != 0
                if is_over or is_ripe(g, lane):
                    read_state(lanes, lane)
                    lanes.hashes[lane] = hash_state(lanes.states[lane], g.lane_graph[lane])
                    prefetch(g.table, np.int64(lanes.hashes[lane] & np.uint64(len(g.table) - 1)))
                else:
                    lanes.phase[lane] = PASSING


@kernel
def ask_for_known(g, lanes):  # type: ignore[no-untyped-def]
    """Ask for the positions that the table has in these places."""
    for word in range(WORDS):
        bits = np.int64(lanes.over[word] | lanes.pending[word])
        while bits:
            lane = 64 * word + op.lowest_bit(bits)
            bits &= bits - 1
            if lanes.phase[lane] == STEPPED:
                node = g.table[np.int64(lanes.hashes[lane] & np.uint64(len(g.table) - 1))]
                if node != NONE:
                    prefetch(g.hash, node)


@kernel
def keep_line(g, lanes, lane, plies):  # type: ignore[no-untyped-def]
    """Remember the game of a lane if it is the best so far of a single role."""
    leader = lanes.leader[lane]
    if len(lanes.history) == 1 or lanes.ends[lane, 0] <= lanes.best[0]:
        return
    lanes.best[0], length = lanes.ends[lane, 0], 0
    for k in range(g.length[leader]):
        move = g.move[g.path[leader, k]]
        if move >= 0:
            lanes.line[length] = move
            length += 1
    for k in range(plies):
        lanes.line[length] = lanes.history[lane, k]
        length += 1
    lanes.best[1] = length


@kernel
def finish(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The playout of a lane has ended, and so may the simulation of its block."""
    leader = lanes.leader[lane]
    lanes.missing[leader] -= 1
    lanes.phase[lane] = IDLE if lane != leader else WAITING
    clear_bit(lanes.rows, lanes.active, lane)
    if lanes.missing[leader]:
        return
    set_bit(lanes.rows, lanes.active, leader)
    lanes.here[leader] = NONE
    length, at = g.length[leader], g.at[leader]
    for k in range(length if lanes.block > 1 else 0):  # each update takes one simulation off the path
        g.flying[g.path[leader, k]] += lanes.block - 1
        if k == 0 or g.nodes[leader, k - 1] != g.nodes[leader, k]:
            g.running[g.nodes[leader, k]] += lanes.block - 1
    for other in range(leader, leader + lanes.block):
        g.length[leader], g.at[leader] = length, at
        if g.rave > 0.0:
            read_played(g, lanes, other)
        copy_row(g.payoff[leader], lanes.ends[other])
        update(g, leader)
        lanes.progress[ENDED] += 1
    graph = g.lane_graph[leader]
    lanes.left[graph] -= min(lanes.block - 1, lanes.left[graph])
    proceed(g, lanes, leader, begin(g, lanes, leader))


@kernel
def attend(g, lanes, lane, over):  # type: ignore[no-untyped-def]
    """Go on with a lane, now that the circuit knows its position."""
    phase = lanes.phase[lane]
    if over and phase != IDLE:
        read_payoff(g, lanes, lane)
        if lanes.progress[3] != RUNNING:
            return
    if phase == PLAYING:
        if over:
            keep_line(g, lanes, lane, lanes.progress[0] - lanes.begun[lane])
            finish(g, lanes, lane)
    elif phase == STEPPED:
        need = arrive(g, lane, lanes.states[lane], lanes.hashes[lane], over, lanes.ends[lane])
        lanes.here[lane] = g.at[lane]
        if need == KNOWN:
            keep_line(g, lanes, lane, 0)
        proceed(g, lanes, lane, need)
    elif phase == PASSING:
        g.at[lane] = lanes.here[lane] = NONE
        proceed(g, lanes, lane, PLAYOUT)
    elif phase == READY:
        if lanes.leader[lane] != lane:
            lanes.phase[lane] = PLAYING
            lanes.begun[lane] = lanes.progress[0]
        else:
            proceed(g, lanes, lane, lanes.need[lane])
    elif phase == IDLE and lanes.leader[lane] == lane:
        set_bit(lanes.rows, lanes.active, lane)
        lanes.here[lane] = NONE
        proceed(g, lanes, lane, begin(g, lanes, lane))


@kernel
def cut_off(g, lanes):  # type: ignore[no-untyped-def]
    """End playouts that last too long, and note when to look again."""
    progress = lanes.progress
    oldest = progress[0]
    for lane in range(LANES):
        if lanes.phase[lane] == PLAYING:
            if progress[0] - lanes.begun[lane] >= lanes.max_plies:
                set_row(lanes.ends[lane], DRAW)
                progress[CUT] += 1
                finish(g, lanes, lane)
            else:
                oldest = min(oldest, lanes.begun[lane])
    progress[6] = oldest + lanes.max_plies


@kernel
def run_lanes(wiring, groups, g, lanes, steps):  # type: ignore[no-untyped-def]
    """Search for so many steps, or until nothing is left to do, memory is wanted, or the rules are found broken."""
    base, progress, ended, active = wiring.base, lanes.progress, wiring.ended, wiring.active
    over, due, by_group = lanes.over, lanes.due, len(groups.members) > 0
    for _ in range(steps):
        compute(wiring, POSITION)
        if wiring.decisive:
            compute(wiring, DECISIVE)
        if by_group:
            turn_rows(groups)
        op.conjoin(base, ended, wiring.terminal, 2 * active)
        for word in range(WORDS):
            over[word] = lanes.rows[ended, word]
        read_arrivals(g, lanes)
        if op.is_any(base, ended):
            compute(wiring, GOALS)
        ask_for_known(g, lanes)
        op.fill(base, ended, 0)
        hold_common(lanes)
        for word in range(WORDS):  # what lanes put off from now on is for the next step
            due[word] = lanes.pending[word] | over[word]
            lanes.pending[word] = np.uint64(0)
        for word in range(WORDS):
            bits = np.int64(due[word])
            while bits:
                bit = op.lowest_bit(bits)
                bits &= bits - 1
                is_over = (over[word] >> np.uint64(bit)) & np.uint64(1) != 0
                attend(g, lanes, 64 * word + bit, is_over)
        if progress[0] >= progress[6]:
            cut_off(g, lanes)
        walk_all(g, lanes)
        if progress[3] == RUNNING and not op.is_any(base, active) and not is_pending(lanes):
            progress[3] = DONE
        if progress[3] != RUNNING:
            return
        stuck = choose_by_group(groups) if by_group else choose_moves(wiring)
        if stuck >= 0:
            report_no_move(wiring, lanes, lanes.rows, stuck)
            return
        play_forced(g, lanes)
        if len(lanes.history) > 1:
            write_history(g, lanes)
        if g.rave > 0.0:
            write_played(lanes)
        if by_group:
            make_moves(groups)
        compute(wiring, NEXT)
        commit(wiring)
        progress[0] += 1
        if g.wanting[0] and not g.wanting[1]:
            return
