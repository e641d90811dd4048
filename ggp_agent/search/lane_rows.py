"""What lanes do, and what they read from and write to the rows of a circuit: states, moves, payoffs, lane by lane."""

from __future__ import annotations

import numpy as np

from ggp_agent.engine import rowops as op
from ggp_agent.engine.block import Block
from ggp_agent.engine.by_group import legal_moves
from ggp_agent.engine.circuit import Circuit
from ggp_agent.engine.kernels import read_goals
from ggp_agent.engine.lanes import Rows
from ggp_agent.engine.rowops import LANES, WORDS
from ggp_agent.search.edges import set_row
from ggp_agent.search.graph import MAX_PATH
from ggp_agent.search.largest import EDGES
from ggp_agent.search.rave import note_played
from ggp_agent.search.table import NONE, inlined, kernel

# What a lane does: nothing; it holds a position that was not looked at; it makes the move of its walk; so it does, to a
# position that does not join the graph yet, from where other lanes play out, too; it plays at random; it waits until
# other lanes of its block have played out.
IDLE, READY, STEPPED, PASSING, PLAYING, WAITING = range(6)

# What lanes need to know of the wiring.
PLACES = (
    *("base", "state_rows", "start", "active", "ended", "forced", "move_starts", "legal_starts", "decisive"),
    *("goal_literals", "goal_roles", "goal_values"),
)
# What they need to know of moves that are chosen by groups.
GROUPS = ("turned", "guard_words", "family_table", "group_table", "members", "open_families", "chosen")
DRAW = 0.5  # the payoff of a simulation that was cut off
BEGUN, ENDED, CUT = 7, 8, 9  # of the field `progress`


def make_lanes(circuit: Circuit, rows: Rows, *, graphs: int, block: int, max_plies: int, rave: bool) -> Block:
    """What the lanes of one block of rows do."""
    roles, words = len(circuit.roles), max(1, -(-len(circuit.fluents) // 64))
    history = (LANES, max_plies) if roles == 1 else (1, 1)
    wiring = rows.wiring
    return Block(
        {
            **{name: getattr(wiring, name) for name in PLACES},
            **{name: rows.groups[name] for name in GROUPS},
            "rows": rows.rows,
            "all_starts": circuit.legal_starts,  # int64[roles + 1]: rows of all legal moves, considered or not
            # int64[10]: steps, -, -, how it ended, lane, role, the step to look for overlong games; simulations begun,
            # ended, and cut off
            "progress": np.zeros(10, np.int64),
            "phase": np.full(LANES, IDLE, np.int8),  # int8[LANES]
            "need": np.zeros(LANES, np.int8),  # int8[LANES]: what the walk of a ready lane needs
            "here": np.full(LANES, NONE, np.int32),  # int32[LANES]: the position whose state the lane holds
            "begun": np.zeros(LANES, np.int64),  # int64[LANES]: the step at which its playout began
            "leader": np.arange(LANES, dtype=np.int32) // block * block,  # int32[LANES]: which lane walks for it
            "missing": np.zeros(LANES, np.int32),  # int32[LANES]: lanes of the block of a leader that still play
            "left": np.zeros(graphs, np.int64),  # int64[graphs]: simulations that may still begin
            "ends": np.zeros((LANES, roles)),  # float64[LANES, roles]: payoffs of playouts
            "goals": np.zeros((LANES, roles), np.int16),  # int16[LANES, roles]
            "states": np.zeros((LANES, words), np.uint64),  # uint64[LANES, words]: states that were read
            "common": np.zeros(words, np.uint64),  # uint64[words]: a state much like those that lanes take up
            "hashes": np.zeros(LANES, np.uint64),  # uint64[LANES]
            "moves": np.zeros((roles, max(map(len, circuit.moves)) or 1), np.int32),  # int32[roles, moves]: scratch
            "counts": np.zeros(roles, np.int32),  # int32[roles]: scratch
            "waiting": np.zeros(LANES, np.int32),  # int32[LANES]: lanes whose walks are to go on
            "walking": np.zeros(LANES, np.int32),  # int32[LANES]: lanes whose walks go on in this round
            "walkers": np.zeros(1, np.int64),  # int64[1]: how many wait
            "found": np.zeros(LANES, np.int64),  # int64[LANES]: scratch: the best edge of each walk
            "running": np.zeros(LANES, np.int32),  # int32[LANES]: scratch: simulations through its node
            "careful": np.zeros(LANES, np.int32),  # int32[LANES]: scratch: lanes whose walks are thought about
            "halted": np.zeros(LANES, np.int32),  # int32[LANES]: scratch: lanes whose walks need something else
            "pending": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes that want attention after this step
            "over": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes in which the game is over
            "arrived": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes in which a walk has come to a position
            "due": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes that get attention in this step
            "soon": np.zeros(WORDS, np.uint64),  # uint64[WORDS]: lanes that want attention after the step that follows
            # uint64[roles, WORDS]: lanes in which a search has chosen the move of the next step
            "planned": np.zeros((roles, WORDS), np.uint64),
            "forced_move": np.zeros((LANES, roles), np.int32),  # int32[LANES, roles]: what it has chosen
            "wide": int(max(map(len, circuit.moves)) > EDGES),  # may positions have more moves than that?
            "block": block,  # lanes that play out from one leaf
            "max_plies": max_plies,
            "max_nodes": 0,
            # The best game found by a single role: its moves as played so far in each lane, and the best of all
            "history": np.zeros(history, np.int32),  # int32[LANES, max_plies], or of length 1 if nobody asks
            # uint64[rows of moves, WORDS]: the moves that playouts have made so far; nothing unless RAVE asks
            "played": np.zeros((wiring.move_starts[-1] - wiring.move_starts[0] if rave else 1, WORDS), np.uint64),
            "line": np.zeros(max_plies + MAX_PATH, np.int32),  # int32[...]: moves
            "best": np.array([-1.0, 0.0]),  # float64[2]: payoff of the line, its length
        },
        steady=("rows", "planned"),
    )


@inlined
def set_bit(rows, row, lane):  # type: ignore[no-untyped-def]
    rows[row, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)


@inlined
def clear_bit(rows, row, lane):  # type: ignore[no-untyped-def]
    rows[row, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))


@inlined
def later(words, lane):  # type: ignore[no-untyped-def]
    """Attend to this lane after this step (`pending`) or after the next one (`soon`)."""
    words[lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)


@kernel
def is_pending(lanes):  # type: ignore[no-untyped-def]
    """Does any lane want attention?"""
    found = False
    for word in range(WORDS):
        found |= lanes.pending[word] != 0
    return found


@inlined
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
    """List the moves of all roles that are considered in a lane."""
    rows, moves, counts = lanes.rows, lanes.moves, lanes.counts
    if len(lanes.members):
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
def find_mover(lanes, lane):  # type: ignore[no-untyped-def]
    """The role that has several legal moves in a lane, considered or not; role 0 if none has."""
    rows, word, mask = lanes.rows, lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    for role in range(len(lanes.counts)):
        if lanes.counts[role] > 1:
            return role
    for role in range(len(lanes.counts)):
        count = 0
        for row in range(lanes.all_starts[role], lanes.all_starts[role + 1]):
            count += rows[row, word] & mask != 0
        if count > 1:
            return role
    return 0


@kernel
def hold_common(lanes):  # type: ignore[no-untyped-def]
    """Let the rows of `start` hold the common state in all lanes."""
    for fluent in range(lanes.state_rows):
        bit = (lanes.common[fluent >> 6] >> np.uint64(fluent & 63)) & np.uint64(1)
        op.fill(lanes.base, lanes.start + fluent, -np.int64(bit))


@inlined
def load_state(lanes, lane, state):  # type: ignore[no-untyped-def]
    """Let a lane take up this state when all lanes step; its bits in the rows of `start` are the common state.

    Most of a large board is as it was at the root, so what differs is less than what is true.
    """
    rows, word, mask = lanes.rows, lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    rows[lanes.ended, word] |= mask
    for k in range(len(state)):
        differs = np.int64(state[k] ^ lanes.common[k])
        while differs:
            rows[lanes.start + 64 * k + op.lowest_bit(differs), word] ^= mask
            differs &= differs - 1


@inlined
def read_payoff(g, lanes, lane):  # type: ignore[no-untyped-def]
    """The payoffs of a lane in which the game is over."""
    literals, roles, values = lanes.goal_literals, lanes.goal_roles, lanes.goal_values
    set_row(lanes.goals[lane], -1)
    read_goals(lane, lane, lanes.rows, literals, roles, values, lanes.goals, lanes.progress)
    for role in range(g.roles):
        lanes.ends[lane, role] = lanes.goals[lane, role] / 100.0


@kernel
def play_forced(g, lanes):  # type: ignore[no-untyped-def]
    """Put the moves of walks in the place of random ones; those of the next step take their turn."""
    for role in range(g.roles):
        if op.is_any(lanes.base, lanes.forced + role):
            put_moves(lanes, role)
        for word in range(WORDS):
            lanes.rows[lanes.forced + role, word] = lanes.planned[role, word]
            lanes.planned[role, word] = np.uint64(0)


@kernel
def put_moves(lanes, role):  # type: ignore[no-untyped-def]
    """Put the moves of walks in the place of random ones of a role."""
    base, rows, mask, by_group = lanes.base, lanes.rows, lanes.forced + role, len(lanes.members) > 0
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


@kernel
def is_playing(lanes, lane):  # type: ignore[no-untyped-def]
    """Does a lane play at random in this step?"""
    return lanes.phase[lane] == PLAYING and lanes.begun[lane] <= lanes.progress[0]


@kernel
def write_history(g, lanes):  # type: ignore[no-untyped-def]
    """Note the move of the only role in every lane that plays at random."""
    first, rows = lanes.move_starts[0], lanes.rows
    if len(lanes.members):
        for lane in range(LANES):
            if is_playing(lanes, lane):
                lanes.history[lane, lanes.progress[0] - lanes.begun[lane]] = lanes.chosen[0, lane]
        return
    for row in range(first, lanes.move_starts[1]):
        for word in range(WORDS):
            bits = np.int64(rows[row, word] & rows[lanes.active, word])
            while bits:
                lane = 64 * word + op.lowest_bit(bits)
                bits &= bits - 1
                if is_playing(lanes, lane):
                    lanes.history[lane, lanes.progress[0] - lanes.begun[lane]] = row - first


@kernel
def write_played(lanes):  # type: ignore[no-untyped-def]
    """Note the moves of all lanes that play at random."""
    first, rows, played = lanes.move_starts[0], lanes.rows, lanes.played
    for word in range(WORDS):
        playing = np.uint64(0)
        for bit in range(64):
            if is_playing(lanes, 64 * word + bit):
                playing |= np.uint64(1) << np.uint64(bit)
        if playing:
            for row in range(len(played)):
                played[row, word] |= rows[first + row, word] & playing


@kernel
def read_played(g, lanes, lane):  # type: ignore[no-untyped-def]
    """Take over the moves that the playout of a lane has made, and forget them here."""
    first, played = lanes.move_starts[0], lanes.played
    word, mask = lane >> 6, np.uint64(1) << np.uint64(lane & 63)
    for role in range(g.roles):
        start = lanes.move_starts[role] - first
        for move in range(g.group_offset[role + 1] - g.group_offset[role]):
            if played[start + move, word] & mask:
                played[start + move, word] &= ~mask
                note_played(g, role, move)
