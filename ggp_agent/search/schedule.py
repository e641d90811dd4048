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
from ggp_agent.engine.block import Block, prefetch
from ggp_agent.engine.by_group import choose_by_group, legal_moves, make_moves
from ggp_agent.engine.circuit import GOALS, NEXT, POSITION, Circuit
from ggp_agent.engine.kernels import (
    DONE,
    RUNNING,
    choose_moves,
    commit,
    compute,
    read_goals,
    report_no_move,
)
from ggp_agent.engine.lanes import Rows
from ggp_agent.engine.rowops import LANES, WORDS
from ggp_agent.search.graph import EXPANDED, MAX_PATH, SOLVED
from ggp_agent.search.groups import expand
from ggp_agent.search.ranked import form_groups
from ggp_agent.search.table import NODES, NONE, hash_state, kernel
from ggp_agent.search.ucd import KNOWN, PLAYOUT, RANK, STEP, WALK, arrive, copy_row, set_row, walk_on
from ggp_agent.search.update import update

# What a lane does: nothing; it holds a position that was not looked at; it has made the move of its walk; it plays at
# random; it waits until other lanes of its block have played out.
IDLE, READY, STEPPED, PLAYING, WAITING = range(5)

# What lanes need to know of the wiring.
PLACES = (
    *("base", "state_rows", "start", "active", "ended", "forced", "move_starts", "legal_starts"),
    *("goal_literals", "goal_roles", "goal_values"),
)
# What they need to know of moves that are chosen by groups.
GROUPS = ("guards", "family_starts", "family_offsets", "group_rests", "group_bounds", "members", "rests", "chosen")
MOST_ASKED = 64  # edges of a node that are asked for before they are needed
DRAW = 0.5  # the payoff of a simulation that was cut off
BEGUN, ENDED, CUT = 7, 8, 9  # of Lanes.progress


def make_lanes(circuit: Circuit, rows: Rows, *, graphs: int, block: int, max_plies: int) -> Block:
    """What the lanes of one block of rows do."""
    roles, words = len(circuit.roles), max(1, -(-len(circuit.fluents) // 64))
    history = (LANES, max_plies) if roles == 1 else (1, 1)
    wiring = rows.wiring
    return Block(
        {
            **{name: getattr(wiring, name) for name in PLACES},
            **{name: getattr(rows.groups, name) for name in GROUPS},
            "rows": rows.rows,
            # int64[10]: steps, -, -, how it ended, lane, role, the step to look for overlong games; simulations begun,
            # ended, and cut off
            "progress": np.zeros(10, np.int64),
            "phase": np.full(LANES, IDLE, np.int8),  # int8[LANES]
            "need": np.zeros(LANES, np.int8),  # int8[LANES]: what the walk of a ready lane needs
            "here": np.full(LANES, NONE, np.int32),  # int32[LANES]: the position whose state the lane holds
            "begun": np.zeros(LANES, np.int64),  # int64[LANES]: the step at which its playout began
            "leader": np.arange(LANES, dtype=np.int32)
            // block
            * block,  # int32[LANES]: the lane that walks for this one
            "missing": np.zeros(LANES, np.int32),  # int32[LANES]: lanes of the block of a leader that still play
            "left": np.zeros(graphs, np.int64),  # int64[graphs]: simulations that may still begin
            "ends": np.zeros((LANES, roles)),  # float64[LANES, roles]: payoffs of playouts
            "goals": np.zeros((LANES, roles), np.int16),  # int16[LANES, roles]
            "states": np.zeros((LANES, words), np.uint64),  # uint64[LANES, words]: states that were read
            "hashes": np.zeros(LANES, np.uint64),  # uint64[LANES]
            "moves": np.zeros((roles, max(map(len, circuit.moves)) or 1), np.int32),  # int32[roles, moves]: scratch
            "counts": np.zeros(roles, np.int32),  # int32[roles]: scratch
            "walker": np.zeros(LANES + 1, np.int32),  # int32[LANES + 1]: lanes whose walks go on
            "walkers": np.zeros(1, np.int64),  # int64[1]: how many there are
            "pending": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes that want attention after this step
            "forced_move": np.zeros((LANES, roles), np.int32),  # int32[LANES, roles]
            "block": block,  # lanes that play out from one leaf
            "max_plies": max_plies,
            "max_nodes": 0,
            # The best game found by a single role: its moves as played so far in each lane, and the best of all
            "history": np.zeros(history, np.int32),  # int32[LANES, max_plies], or of length 1 if nobody asks
            "line": np.zeros(max_plies + MAX_PATH, np.int32),  # int32[...]: moves
            "best": np.array([-1.0, 0.0]),  # float64[2]: payoff of the line, its length
        }
    )


@kernel
def set_bit(rows, row, lane):  # type: ignore[no-untyped-def]
    rows[row, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)


@kernel
def clear_bit(rows, row, lane):  # type: ignore[no-untyped-def]
    rows[row, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))


@kernel
def later(lanes, lane):  # type: ignore[no-untyped-def]
    """Attend to this lane after the next step."""
    lanes.pending[lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)


@kernel
def read_state(lanes, lane):  # type: ignore[no-untyped-def]
    """Pack the state that a lane holds."""
    rows, fluents, state = lanes.rows, lanes.state_rows, lanes.states[lane]
    word, shift = lane >> 6, np.uint64(lane & 63)
    for k in range(len(state)):
        packed = np.uint64(0)
        for bit in range(min(64, fluents - 64 * k)):
            packed |= ((rows[1 + 64 * k + bit, word] >> shift) & np.uint64(1)) << np.uint64(bit)
        state[k] = packed


@kernel
def read_moves(lanes, lane):  # type: ignore[no-untyped-def]
    """List the legal moves of all roles in a lane."""
    rows, moves, counts = lanes.rows, lanes.moves, lanes.counts
    if len(lanes.guards):
        for role in range(len(counts)):
            counts[role] = legal_moves(lanes, role, lane, moves[role])
        return
    word, mask = lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    for role in range(len(counts)):
        first, count = lanes.legal_starts[role], 0
        for row in range(first, lanes.legal_starts[role + 1]):
            if rows[row, word] & mask:
                moves[role, count] = row - first
                count += 1
        counts[role] = count


@kernel
def load_state(lanes, lane, state):  # type: ignore[no-untyped-def]
    """Let a lane take up this state when all lanes step; its bits in the rows of `start` are clear."""
    rows, word, mask = lanes.rows, lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    rows[lanes.ended, word] |= mask
    for k in range(len(state)):
        packed = np.int64(state[k])
        while packed:
            rows[lanes.start + 64 * k + op.lowest_bit(packed), word] |= mask
            packed &= packed - 1


@kernel
def begin(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Take up another simulation: what it needs, or NONE if there is nothing more to do in this lane."""
    graph = g.lane_graph[lane]
    root = g.root[graph]
    if lanes.left[graph] <= 0 or (g.solve and g.flags[root] & SOLVED) or g.used[NODES] >= lanes.max_nodes:
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
        return g.position[g.nodes[lane, g.length[lane] - 1]]
    return g.position[g.at[lane]] if g.at[lane] != NONE else NONE


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
def proceed(g, lanes, lane, need):  # type: ignore[no-untyped-def]
    """Do what a walk needs, until it needs the circuit or has to walk on."""
    while need != NONE:
        if need == WALK:
            lanes.walker[lanes.walkers[0]] = lane
            lanes.walkers[0] += 1
            return
        if need == KNOWN:
            update(g, lane)
            lanes.progress[ENDED] += 1
            need = begin(g, lanes, lane)
            continue
        if need == RANK:
            form_groups(g, g.at[lane])
            need = WALK
            continue
        position = wanted_position(g, lane, need)
        if position != lanes.here[lane]:
            lanes.here[lane] = position
            lanes.need[lane] = need
            lanes.phase[lane] = READY
            load_state(lanes, lane, g.state[position])
            later(lanes, lane)
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
            if not expand(g, lane, lanes.moves, lanes.counts):
                need = PLAYOUT
                continue
        need = WALK


@kernel
def walk_all(g, lanes):  # type: ignore[no-untyped-def]
    """Let all walks go on together, edge by edge: while one waits for memory, others go on.

    A walk that comes to a node asks for its edges, and takes one of them in the next round.
    """
    walker, walkers = lanes.walker, lanes.walkers
    while walkers[0]:
        count, kept = walkers[0], 0
        for k in range(count):
            node = g.at[walker[k]]
            for edge in range(g.first[node], g.first[node] + min(g.edges[node], MOST_ASKED), 4):
                prefetch(g.doubt, edge)
        for k in range(count):
            lane = walker[k]
            need = walk_on(g, lane)
            if need == WALK:
                prefetch(g.kind, g.at[lane])
                walker[kept] = lane
                kept += 1
                continue
            walkers[0] = kept
            proceed(g, lanes, lane, need)
            kept = walkers[0]
        walkers[0] = kept


@kernel
def ask_for_memory(g, lanes, over):  # type: ignore[no-untyped-def]
    """Ask for the paths of simulations that are about to end, and for places in the table of positions that are new."""
    for word in range(WORDS):
        bits = np.int64(over[word] | lanes.pending[word])
        while bits:
            lane = 64 * word + op.lowest_bit(bits)
            bits &= bits - 1
            if lanes.phase[lane] == STEPPED:
                read_state(lanes, lane)
                lanes.hashes[lane] = hash_state(lanes.states[lane], g.lane_graph[lane])
                prefetch(g.table, np.int64(lanes.hashes[lane] & np.uint64(len(g.table) - 1)))
            elif lanes.phase[lane] == PLAYING:
                for k in range(g.length[lane]):
                    prefetch(g.origin, g.path[lane, k])
                    prefetch(g.doubt, g.path[lane, k])
                    prefetch(g.kind, g.nodes[lane, k])


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
    keep_line(g, lanes, lane, lanes.progress[0] - lanes.begun[lane])
    lanes.missing[leader] -= 1
    if lane != leader:
        lanes.phase[lane] = IDLE
        clear_bit(lanes.rows, lanes.active, lane)
    else:
        lanes.phase[lane] = WAITING
        lanes.here[lane] = NONE
    if lanes.missing[leader]:
        return
    length = g.length[leader]
    for k in range(length):  # each update takes one simulation off the path
        g.flying[g.path[leader, k]] += lanes.block - 1
        if k == 0 or g.nodes[leader, k - 1] != g.nodes[leader, k]:
            g.running[g.nodes[leader, k]] += lanes.block - 1
    for other in range(leader, leader + lanes.block):
        g.length[leader] = length
        copy_row(g.payoff[leader], lanes.ends[other])
        update(g, leader)
        lanes.progress[ENDED] += 1
    graph = g.lane_graph[leader]
    lanes.left[graph] -= min(lanes.block - 1, lanes.left[graph])
    proceed(g, lanes, leader, begin(g, lanes, leader))


@kernel
def read_payoff(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The payoffs of a lane in which the game is over."""
    literals, roles, values = lanes.goal_literals, lanes.goal_roles, lanes.goal_values
    set_row(lanes.goals[lane], -1)
    read_goals(lane, lane, lanes.rows, literals, roles, values, lanes.goals, lanes.progress)
    for role in range(g.roles):
        lanes.ends[lane, role] = lanes.goals[lane, role] / 100.0


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
            finish(g, lanes, lane)
    elif phase == STEPPED:
        need = arrive(g, lane, lanes.states[lane], lanes.hashes[lane], over, lanes.ends[lane])
        lanes.here[lane] = g.at[lane]
        if need == KNOWN:
            keep_line(g, lanes, lane, 0)
        proceed(g, lanes, lane, need)
    elif phase == READY:
        if lanes.leader[lane] != lane:
            lanes.phase[lane] = PLAYING
            lanes.begun[lane] = lanes.progress[0]
            if over:
                finish(g, lanes, lane)
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
def play_forced(g, lanes):  # type: ignore[no-untyped-def]
    """Put the moves of walks in the place of random ones."""
    base, rows, by_group = lanes.base, lanes.rows, len(lanes.guards) > 0
    for role in range(g.roles):
        mask = lanes.forced + role
        if not op.is_any(base, mask):
            continue
        first = lanes.move_starts[role]
        if not by_group:
            for row in range(first, lanes.move_starts[role + 1]):
                op.conjoin_into(base, row, 2 * mask + 1)
        for word in range(WORDS):
            bits = np.int64(rows[mask, word])
            while bits:
                lane = 64 * word + op.lowest_bit(bits)
                bits &= bits - 1
                if by_group:
                    lanes.chosen[role, lane] = lanes.forced_move[lane, role]
                else:
                    set_bit(rows, first + lanes.forced_move[lane, role], lane)
        op.fill(base, mask, 0)


@kernel
def write_history(g, lanes):  # type: ignore[no-untyped-def]
    """Note the move of the only role in every lane that plays at random."""
    first, rows = lanes.move_starts[0], lanes.rows
    if len(lanes.guards):
        for lane in range(LANES):
            if lanes.phase[lane] == PLAYING:
                lanes.history[lane, lanes.progress[0] - lanes.begun[lane]] = lanes.chosen[0, lane]
        return
    for row in range(first, lanes.move_starts[1]):
        for word in range(WORDS):
            bits = np.int64(rows[row, word] & rows[lanes.active, word])
            while bits:
                lane = 64 * word + op.lowest_bit(bits)
                bits &= bits - 1
                if lanes.phase[lane] == PLAYING:
                    lanes.history[lane, lanes.progress[0] - lanes.begun[lane]] = row - first


@kernel
def run_lanes(wiring, groups, rows, g, lanes, steps):  # type: ignore[no-untyped-def]
    """Search for so many steps, or until nothing is left to do, memory is wanted, or the rules are found broken."""
    base, progress, ended, active = wiring.base, lanes.progress, wiring.ended, wiring.active
    over, by_group = np.zeros(WORDS, np.uint64), len(groups.guards) > 0
    for _ in range(steps):
        compute(wiring, POSITION)
        op.conjoin(base, ended, wiring.terminal, 2 * active)
        for word in range(WORDS):
            over[word] = rows[ended, word]
        ask_for_memory(g, lanes, over)
        if op.is_any(base, ended):
            compute(wiring, GOALS)
        op.fill(base, ended, 0)
        for row in range(wiring.start, wiring.start + wiring.state_rows):
            op.fill(base, row, 0)
        for word in range(WORDS):
            bits = np.int64(lanes.pending[word] | over[word])
            lanes.pending[word] = np.uint64(0)
            while bits:
                bit = op.lowest_bit(bits)
                bits &= bits - 1
                is_over = (over[word] >> np.uint64(bit)) & np.uint64(1) != 0
                attend(g, lanes, 64 * word + bit, is_over)
        if progress[0] >= progress[6]:
            cut_off(g, lanes)
        walk_all(g, lanes)
        if progress[3] == RUNNING and not op.is_any(base, active):
            progress[3] = DONE
        if progress[3] != RUNNING:
            return
        stuck = choose_by_group(groups, rows) if by_group else choose_moves(wiring)
        if stuck >= 0:
            report_no_move(wiring, lanes, rows, stuck)
            return
        play_forced(g, lanes)
        if len(lanes.history) > 1:
            write_history(g, lanes)
        if by_group:
            make_moves(groups, rows)
        compute(wiring, NEXT)
        commit(wiring)
        progress[0] += 1
        if g.wanting[0] and not g.wanting[1]:
            return
