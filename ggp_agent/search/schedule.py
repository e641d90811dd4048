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
from ggp_agent.search.table import EDGES, NODES, NONE, hash_state, inlined, kernel
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

NEAR = 10_000  # edges of a graph that are near at hand without being asked for


@inlined
def begin(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Take up another simulation, unless there is nothing more to do in this lane."""
    graph = g.lane_graph[lane]
    root = g.root[graph]
    if lanes.left[graph] <= 0 or is_finished(g, root) or g.used[NODES] >= lanes.max_nodes:
        lanes.phase[lane] = IDLE
        clear_bit(lanes.rows, lanes.active, lane)
        return
    lanes.left[graph] -= 1
    lanes.progress[BEGUN] += 1
    g.at[lane] = root
    join_walkers(lanes, lane)


@inlined
def join_walkers(lanes, lane):  # type: ignore[no-untyped-def]
    """Let the walk of a lane go on together with others."""
    lanes.waiting[lanes.walkers[0]] = lane
    lanes.walkers[0] += 1


@inlined
def force(g, lanes, lane, at_once):  # type: ignore[no-untyped-def]
    """Note the moves of the last edges of a walk: they are played in this step, or else in the next one."""
    last = g.length[lane] - 1
    node = g.nodes[lane, last]
    k = last
    while k >= 0 and g.nodes[lane, k] == node:
        edge = g.path[lane, k]
        if at_once:
            set_bit(lanes.rows, lanes.forced + g.role[edge], lane)
        else:
            set_bit(lanes.planned, g.role[edge], lane)
        lanes.forced_move[lane, g.role[edge]] = g.move[edge]
        k -= 1
    ripe = is_ripe(g, lane)
    if ripe or lanes.block > 1:
        lanes.phase[lane] = STEPPED if ripe else PASSING
        later(lanes.pending if at_once else lanes.soon, lane)
        return
    # Nobody needs to know where the lane arrives.
    g.at[lane] = lanes.here[lane] = NONE
    lanes.phase[lane] = PLAYING
    lanes.begun[lane] = lanes.progress[0] + (1 if at_once else 2)


@inlined
def take_step(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Let a lane make the last move of its walk, from the position where that is made."""
    position = position_of(g, g.at[lane])
    is_held = position == lanes.here[lane]
    if not is_held:
        load_state(lanes, lane, g.state[position])
        lanes.here[lane] = position
    force(g, lanes, lane, is_held)


@inlined
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
            later(lanes.pending, other)


@kernel
def serve(g, lanes, lane, need):  # type: ignore[no-untyped-def]
    """Do what a walk needs beside edges and steps."""
    if need == KNOWN:
        update(g, lane)
        lanes.progress[ENDED] += 1
        lanes.phase[lane] = IDLE  # the next one may end as soon, so let the clock be looked at in between
        clear_bit(lanes.rows, lanes.active, lane)
        later(lanes.pending, lane)
        return
    node = g.at[lane]
    if need == RANK:
        form_groups(g, node)
        join_walkers(lanes, lane)
        return
    position = position_of(g, node) if node != NONE else NONE
    if position != lanes.here[lane]:
        load_state(lanes, lane, g.state[position])
        lanes.here[lane], lanes.need[lane], lanes.phase[lane] = position, need, READY
        later(lanes.pending, lane)
        return
    if need == MOVES and not g.flags[node] & EXPANDED:
        read_moves(lanes, lane)
        if lanes.decisive:
            g.mover[node] = find_mover(lanes, lane)
        if not expand(g, lane, lanes.moves, lanes.counts):
            leave_groups(g, lane)
            need = PLAYOUT
    if need == PLAYOUT:
        play_out(g, lanes, lane)
    else:
        join_walkers(lanes, lane)


@kernel
def walk_all(g, lanes):  # type: ignore[no-untyped-def]
    """Let walks go on together, edge by edge.

    One walk more begins in every round, so walks are at different depths, and while one waits for memory or for a
    result, others go on. Those that need something else than an edge leave, and get it after the next round, when
    what they need from memory is there: `halted` is a ring.
    """
    waiting, walking, halted, left = lanes.waiting, lanes.walking, lanes.halted, lanes.walkers
    count, served, halts, far = 0, 0, 0, g.used[EDGES] > NEAR
    while left[0] or count or served < halts:
        if left[0]:
            left[0] -= 1
            walking[count] = waiting[left[0]]
            count += 1
        before = halts
        count, halts = walk_round(g, lanes, count, halts, far)
        while served < before:
            lane = halted[served & (LANES - 1)]
            served += 1
            if lanes.need[lane] == STEP:
                take_step(g, lanes, lane)
            else:
                serve(g, lanes, lane, lanes.need[lane])


@inlined
def read_arrivals(g, lanes):  # type: ignore[no-untyped-def]
    """Read the positions that walks have come to, if they may join the graph, and ask for their places in the table.

    Also for the last edges of walks whose payoffs are known now.
    """
    for word in range(WORDS):
        bits, arrived = np.int64(lanes.over[word] | lanes.pending[word]), np.int64(0)
        while bits:
            lane, lowest = 64 * word + op.lowest_bit(bits), bits & -bits
            bits ^= lowest
            last = g.path[lane, max(g.length[lane], 1) - 1]
            prefetch(g.trials, last)
            prefetch(g.origin, last)
            phase, is_over = lanes.phase[lane], np.int64(lanes.over[word]) & lowest != 0
            if is_over and (phase == PASSING or (phase == PLAYING and lanes.begun[lane] == lanes.progress[0])):
                lanes.phase[lane] = phase = STEPPED  # it would pass, but terminal positions join at once
            if phase == STEPPED:
                arrived |= lowest
                read_state(lanes, lane)
                lanes.hashes[lane] = hash_state(lanes.states[lane], g.lane_graph[lane])
                prefetch(g.table, np.int64(lanes.hashes[lane] & np.uint64(len(g.table) - 1)))
        lanes.arrived[word] = np.uint64(arrived)


@inlined
def ask_for_known(g, lanes):  # type: ignore[no-untyped-def]
    """Ask for the positions that the table has in these places."""
    for word in range(WORDS):
        bits = np.int64(lanes.arrived[word])
        while bits:
            lane = 64 * word + op.lowest_bit(bits)
            bits &= bits - 1
            node = g.table[np.int64(lanes.hashes[lane] & np.uint64(len(g.table) - 1))]
            if node != NONE:
                prefetch(g.hash, node)


@inlined
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


@inlined
def finish(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The playout of a lane has ended, and so may the simulation of its block."""
    if lanes.block > 1:
        finish_in_block(g, lanes, lane)
        return
    lanes.here[lane] = NONE
    if g.rave > 0.0:
        read_played(g, lanes, lane)
    copy_row(g.payoff[lane], lanes.ends[lane])
    update(g, lane)
    lanes.progress[ENDED] += 1
    begin(g, lanes, lane)


@kernel
def finish_in_block(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The same where other lanes play out from the same leaf."""
    leader = lanes.leader[lane]
    lanes.missing[leader] -= 1
    lanes.phase[lane] = IDLE if lane != leader else WAITING
    clear_bit(lanes.rows, lanes.active, lane)
    if lanes.missing[leader]:
        return
    set_bit(lanes.rows, lanes.active, leader)
    lanes.here[leader] = NONE
    length, at = g.length[leader], g.at[leader]
    for k in range(length):  # each update takes one simulation off the path
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
    begin(g, lanes, leader)


@inlined
def attend_arrival(g, lanes, lane, over):  # type: ignore[no-untyped-def]
    """Go on with a walk that has come to a position, now that the circuit knows that."""
    if over:
        read_payoff(g, lanes, lane)
        if lanes.progress[3] != RUNNING:
            return
    need = arrive(g, lane, lanes.states[lane], lanes.hashes[lane], over, lanes.ends[lane])
    lanes.here[lane] = g.at[lane]
    if need == KNOWN:
        keep_line(g, lanes, lane, 0)
    if need == WALK:
        join_walkers(lanes, lane)
    else:
        serve(g, lanes, lane, need)


@inlined
def attend(g, lanes, lane, over):  # type: ignore[no-untyped-def]
    """Go on with another lane, now that the circuit knows its position."""
    phase = lanes.phase[lane]
    if over and phase != IDLE:
        read_payoff(g, lanes, lane)
        if lanes.progress[3] != RUNNING:
            return
    if phase == PLAYING:
        if over:
            keep_line(g, lanes, lane, lanes.progress[0] - lanes.begun[lane])
            finish(g, lanes, lane)
    elif phase == PASSING:
        g.at[lane] = lanes.here[lane] = NONE
        serve(g, lanes, lane, PLAYOUT)
    elif phase == READY:
        if lanes.leader[lane] != lane:
            lanes.phase[lane] = PLAYING
            lanes.begun[lane] = lanes.progress[0]
        else:
            serve(g, lanes, lane, lanes.need[lane])
    elif phase == IDLE and lanes.leader[lane] == lane:
        set_bit(lanes.rows, lanes.active, lane)
        lanes.here[lane] = NONE
        begin(g, lanes, lane)


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
            due[word] = (lanes.pending[word] | over[word]) & ~lanes.arrived[word]
            lanes.pending[word] = lanes.soon[word]
            lanes.soon[word] = np.uint64(0)
        for word in range(WORDS):  # one kind of lanes after the other: which comes next is hard to guess
            bits = np.int64(lanes.arrived[word])
            while bits:
                bit = op.lowest_bit(bits)
                bits &= bits - 1
                is_over = (over[word] >> np.uint64(bit)) & np.uint64(1) != 0
                attend_arrival(g, lanes, 64 * word + bit, is_over)
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
