"""The compiled inner loops of the lanes engine: all lanes step together.

Every kernel gets a `Wiring` as a `Block`, the arrays of one circuit as numbers and rows, and works on one set of rows.
After the rows of the circuit come rows for scratch; `Wiring` names where they begin. Straight-line code for the gates,
when there is some, is called by its address; before that, the gates are interpreted. Both compute the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ggp_agent.engine import rowops as op
from ggp_agent.engine.by_group import choose_by_group, make_moves, turn_rows
from ggp_agent.engine.circuit import BLOCK, GOALS, LEGAL, NEXT, POSITION, SUMS, padded
from ggp_agent.engine.native import VECTOR

WORDS = op.WORDS
LANES = op.LANES
BLOCK_BITS = 4  # rows for a number from 0 to BLOCK
NO_PLAYOUT = -1  # a lane that has nothing to do

# How `run_playouts` ends.
RUNNING, DONE, NO_MOVE, NO_SINGLE_GOAL = range(4)


class Wiring(NamedTuple):
    """A circuit for kernels. Rows and gates as in `Circuit`."""

    base: int  # address of row 0
    targets: NDArray[np.int32]
    offsets: NDArray[np.int64]
    literals: NDArray[np.int32]
    segments: NDArray[np.int64]
    first_gate: int
    state_rows: int  # one for each fluent, from row 1 on
    move_starts: NDArray[np.int64]  # int64[roles + 1]: the first row of the moves of each role
    legal_starts: NDArray[np.int64]  # int64[roles + 1]: the first row that says whether they are legal
    decisive: int  # 1 if these rows only say so of moves worth considering (see `decisive`), else 0
    next_start: int
    terminal: int
    goal_literals: NDArray[np.int32]
    goal_roles: NDArray[np.int32]
    goal_values: NDArray[np.int32]
    # Scratch rows
    random: int  # 4 rows: the random generators
    active: int  # lanes in which a playout runs
    ended: int  # lanes in which it has come to its end
    start: int  # a row for each fluent: where the next playout of each lane begins
    choices: int  # a row for each role: lanes in which it has a choice; and one more
    forced: int  # a row for each role: lanes in which a search chose its move
    tree: int  # rows for choosing moves
    # Straight-line code
    used_bytes: int  # of every row: where the lanes begin that nobody uses
    code_starts: NDArray[np.int64]  # int64[segments + 1]: the functions of each segment; none if it is interpreted
    code: NDArray[np.int64]  # int64[functions]: addresses


@njit(cache=True, nogil=True)
def interpret(wiring, first, last):  # type: ignore[no-untyped-def]
    """Compute some gates; 1 if a latch changed, else 0."""
    base, literals, offsets = wiring.base, wiring.literals, wiring.offsets
    changed = 0
    for gate in range(first, last):
        target = wiring.targets[gate]
        at, end = offsets[gate], offsets[gate + 1]
        if target < wiring.first_gate:
            changed |= op.renew(base, target, literals[at])
        elif end - at == 1:
            op.copy(base, target, literals[at])
        else:
            op.conjoin(base, target, literals[at], literals[at + 1])
            for k in range(at + 2, end):
                op.conjoin_into(base, target, literals[k])
    return changed


@njit(cache=True, nogil=True)
def run_segment(wiring, segment):  # type: ignore[no-untyped-def]
    """Compute the gates of a segment once; 1 if a latch changed, else 0."""
    start, end = wiring.code_starts[segment], wiring.code_starts[segment + 1]
    if start < end:
        changed = 0
        for offset in range(0, wiring.used_bytes, 8 * VECTOR):
            for number in range(start, end):
                changed |= op.call(wiring.code[number], wiring.base + offset)
        return changed
    return interpret(wiring, wiring.segments[segment, 1], wiring.segments[segment, 2])


@njit(cache=True, nogil=True)
def compute(wiring, phase):  # type: ignore[no-untyped-def]
    """Compute the gates of one phase."""
    for segment in range(len(wiring.segments)):
        if wiring.segments[segment, 0] != phase:
            continue
        low, high = wiring.segments[segment, 3], wiring.segments[segment, 4]
        if low >= high:
            run_segment(wiring, segment)
        else:
            for latch in range(low, high):
                op.fill(wiring.base, latch, 0)
            while run_segment(wiring, segment):
                pass


@njit(cache=True, nogil=True)
def evaluate(wiring, phase):  # type: ignore[no-untyped-def]
    """Compute POSITION, GOALS or NEXT, with rows for all legal moves, and from rows for all moves."""
    if phase == NEXT:
        compute(wiring, SUMS)
    compute(wiring, phase)
    if phase == POSITION:
        compute(wiring, LEGAL)


@njit(cache=True, nogil=True)
def add_up(base, row, count):  # type: ignore[no-untyped-def]
    """Add up the numbers of blocks in a tree, in every lane; the levels of the tree and its root row.

    A node of level k is a number of BLOCK_BITS + k rows, lowest bit first; the leaves, from `row` on, are blocks.
    """
    bits = BLOCK_BITS
    while count > 1:
        above = row + count * bits
        for node in range(count // 2):
            left, right, total = row + 2 * node * bits, row + (2 * node + 1) * bits, above + node * (bits + 1)
            carry = total + bits
            op.half_add(base, total, carry, left, right)
            for bit in range(1, bits):
                op.full_add(base, total + bit, carry, left + bit, right + bit)
        if count & 1:
            alone, total = row + (count - 1) * bits, above + (count // 2) * (bits + 1)
            for bit in range(bits):
                op.copy(base, total + bit, 2 * (alone + bit))
            op.fill(base, total + bits, 0)
        row = above
        count = (count + 1) // 2
        bits += 1
    return bits - BLOCK_BITS, row


@njit(cache=True, nogil=True)
def draw_below(wiring, count, bits, drawn, scratch):  # type: ignore[no-untyped-def]
    """In every active lane, a random number below `count`, each with the same chance; 0 where count is 0.

    Numbers with as many bits as count - 1 are drawn until they are not above it, which takes less than two tries on
    the average. `drawn` gets the number; `scratch` has room for 2 * bits + 4 rows.
    """
    base = wiring.base
    top, mask = scratch, scratch + bits
    todo, above, one, candidate = mask + bits, mask + bits + 1, mask + bits + 2, mask + bits + 3
    op.fill(base, one, -1)  # top = count - 1, or 0
    for bit in range(bits):
        op.fill(base, drawn + bit, 0)
        op.copy(base, top + bit, 2 * (count + bit))
    for bit in range(bits):  # borrow from the lowest set bit: all bits up to it flip
        op.copy(base, candidate, 2 * (top + bit))
        op.flip(base, top + bit, one)
        op.conjoin_into(base, one, 2 * candidate + 1)
    for bit in range(bits):  # where count was 0 all bits have flipped
        op.conjoin_into(base, top + bit, 2 * one + 1)
    op.copy(base, mask + bits - 1, 2 * (top + bits - 1))
    for bit in range(bits - 2, -1, -1):
        op.either(base, mask + bit, mask + bit + 1, top + bit)
    op.copy(base, todo, 2 * wiring.active)
    while op.is_any(base, todo):
        op.fill(base, above, 0)
        for bit in range(bits):
            op.random_bits(base, candidate, wiring.random)
            op.try_bit(base, drawn + bit, above, candidate, mask + bit, top + bit, todo)
        op.copy(base, todo, 2 * above)
    return 0


@njit(cache=True, nogil=True)
def descend(wiring, blocks):  # type: ignore[no-untyped-def]
    """Draw a number below the sum of all blocks, in every lane, and find its block.

    The lanes that reach each block, and the row of what is left of the number there.
    """
    base = wiring.base
    levels, root = add_up(base, wiring.tree, blocks)
    bits = levels + BLOCK_BITS
    # The lanes that have reached a node: first the root, then down to the blocks.
    reached, rank = root + bits, root + bits + 1
    op.fill(base, reached, -1)
    draw_below(wiring, root, bits, rank, rank + bits)
    row, below = root, rank + bits
    for level in range(levels, 0, -1):
        bits = BLOCK_BITS + level - 1  # of a node below
        count = ((blocks - 1) >> (level - 1)) + 1  # of nodes below
        row -= count * bits
        nodes = (count + 1) // 2
        left_total = below + count
        less = left_total + bits
        difference = less + 1
        for bit in range(bits):
            op.fill(base, left_total + bit, 0)
        for node in range(nodes):
            for bit in range(bits):
                op.add_masked(base, left_total + bit, reached + node, row + 2 * node * bits + bit)
        op.fill(base, less, 0)
        for bit in range(bits):
            op.subtract(base, difference + bit, less, rank + bit, left_total + bit)
        op.conjoin_into(base, less, 2 * (rank + bits) + 1)  # the rank has one bit more than the left total
        for bit in range(bits):
            op.choose_unless(base, rank + bit, less, difference + bit)
        for node in range(count // 2):
            op.split(base, below + 2 * node, below + 2 * node + 1, reached + node, less)
        if count & 1:
            op.copy(base, below + count - 1, 2 * (reached + nodes - 1))
        reached = below
        below += count
    return reached, rank


@njit(cache=True, nogil=True)
def choose_for_role(wiring, role):  # type: ignore[no-untyped-def]
    """In every lane, one of the legal moves of a role, each with the same chance; no move where there is none."""
    base, legal, move = wiring.base, wiring.legal_starts[role], wiring.move_starts[role]
    blocks = (wiring.legal_starts[role + 1] - legal) // BLOCK
    for block in range(blocks):
        op.count_block(base, wiring.tree + block * BLOCK_BITS, legal + block * BLOCK)
    reached, rank = descend(wiring, blocks)
    for block in range(blocks):
        op.pick_in_block(base, move + block * BLOCK, legal + block * BLOCK, reached + block, rank)


@njit(cache=True, nogil=True)
def choose_in_turns(wiring):  # type: ignore[no-untyped-def]
    """The same for two roles of which only one has a choice in each lane: one draw serves both."""
    base, legal, move, turn = wiring.base, wiring.legal_starts, wiring.move_starts, wiring.choices
    blocks = (legal[1] - legal[0]) // BLOCK
    for block in range(blocks):
        total = wiring.tree + block * BLOCK_BITS
        op.count_turns(base, total, legal[0] + block * BLOCK, legal[1] + block * BLOCK, turn)
    reached, rank = descend(wiring, blocks)
    for block in range(blocks):
        at = block * BLOCK
        op.pick_turns(base, move[0] + at, move[1] + at, legal[0] + at, legal[1] + at, turn, reached + block, rank)


@njit(cache=True, nogil=True)
def choose_moves(wiring):  # type: ignore[no-untyped-def]
    """A random legal move for every role in every lane; -1, or the role that has none in a lane where play goes on."""
    base, legal, choices = wiring.base, wiring.legal_starts, wiring.choices
    roles = len(legal) - 1
    some = choices + roles
    for role in range(roles):
        op.fill(base, some, 0)
        op.fill(base, choices + role, 0)
        for block in range(legal[role], legal[role + 1], BLOCK):
            op.find_choices(base, some, choices + role, block)
        op.conjoin(base, some, 2 * some + 1, 2 * wiring.active)
        op.conjoin_into(base, some, 2 * wiring.ended + 1)
        if op.is_any(base, some):
            return role
    if roles == 2 and legal[1] - legal[0] == legal[2] - legal[1]:
        op.conjoin(base, some, 2 * choices, 2 * (choices + 1))
        if not op.is_any(base, some):
            choose_in_turns(wiring)
            return -1
    for role in range(roles):
        choose_for_role(wiring, role)
    return -1


@njit(cache=True, nogil=True)
def commit(wiring):  # type: ignore[no-untyped-def]
    """Go to the next state in every lane, and back to the start where the game has ended."""
    for fluent in range(wiring.state_rows):
        op.merge(wiring.base, 1 + fluent, wiring.next_start + fluent, wiring.ended, wiring.start + fluent)


class Work(NamedTuple):
    """The playouts to be made, and how far they are."""

    # int64[7]: steps, playouts begun, playouts ended, how it ended, lane, role, the step to look for overlong playouts
    progress: NDArray[np.int64]
    playout: NDArray[np.int64]  # int64[LANES]: the playout of each lane, or NO_PLAYOUT
    begun: NDArray[np.int64]  # int64[LANES]: the step at which it began
    max_plies: int
    goals: NDArray[np.int16]  # int16[playouts, roles]
    plies: NDArray[np.int32]  # int32[playouts]


@njit(cache=True, nogil=True)
def stop(progress, kind, lane, role):  # type: ignore[no-untyped-def]
    progress[3], progress[4], progress[5] = kind, lane, role


@njit(cache=True, nogil=True)
def bit_of(rows, row, lane):  # type: ignore[no-untyped-def]
    return (rows[row, lane >> 6] >> np.uint64(lane & 63)) & np.uint64(1)


@njit(cache=True, nogil=True)
def read_goals(lane, number, rows, literals, roles, values, goals, progress):  # type: ignore[no-untyped-def]
    """Write down the goals of the playout in a lane, which are -1 before. Who has won is no branch."""
    found, count = 0, len(goals[number])
    for k in range(len(literals)):
        is_true = np.int64(bit_of(rows, literals[k] >> 1, lane)) ^ (literals[k] & 1)
        found += is_true
        goals[number, roles[k]] += is_true * (values[k] + 1)
    missing = False
    for role in range(count):
        missing |= goals[number, role] < 0
    if found != count or missing:
        report_no_goal(lane, rows, literals, roles, values, count, progress)


@njit(cache=True, nogil=True)
def report_no_goal(lane, rows, literals, roles, values, count, progress):  # type: ignore[no-untyped-def]
    """Find the role that has no goal, or several."""
    for role in range(count):
        found = 0
        for k in range(len(literals)):
            if roles[k] == role and bit_of(rows, literals[k] >> 1, lane) != np.uint64(literals[k] & 1):
                found += 1 if values[k] >= 0 else 2
        if found != 1:
            stop(progress, NO_SINGLE_GOAL, lane, role)


@njit(cache=True, nogil=True)
def next_playout(lane, active, rows, playout, begun, plies, progress):  # type: ignore[no-untyped-def]
    """The playout of a lane has ended: give the lane another one if there is any left."""
    plies[playout[lane]] = progress[0] - begun[lane]
    progress[2] += 1
    if progress[1] < len(plies):
        playout[lane] = progress[1]
        begun[lane] = progress[0] + 1
        progress[1] += 1
    else:
        playout[lane] = NO_PLAYOUT
        rows[active, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))


@njit(cache=True, nogil=True)
def end_playouts(wiring, work, rows):  # type: ignore[no-untyped-def]
    """Finish the lanes in which the game is over or has lasted too long; `ended` tells which."""
    # Arrays have names of their own here, because taking one out of a tuple costs more than using it.
    literals, roles, values = wiring.goal_literals, wiring.goal_roles, wiring.goal_values
    progress, playout, begun, goals, plies = work.progress, work.playout, work.begun, work.goals, work.plies
    ended, active = wiring.ended, wiring.active
    op.conjoin(wiring.base, ended, wiring.terminal, 2 * active)
    if op.is_any(wiring.base, ended):
        evaluate(wiring, GOALS)
        for word in range(WORDS):
            lanes = np.int64(rows[ended, word])
            while lanes:
                lane = 64 * word + op.lowest_bit(lanes)
                lanes &= lanes - 1
                read_goals(lane, playout[lane], rows, literals, roles, values, goals, progress)
                next_playout(lane, active, rows, playout, begun, plies, progress)
    if progress[0] >= progress[6]:
        oldest = progress[0]
        for lane in range(LANES):
            if playout[lane] != NO_PLAYOUT and progress[0] - begun[lane] >= work.max_plies:
                rows[ended, lane >> 6] |= np.uint64(1) << np.uint64(lane & 63)
                next_playout(lane, active, rows, playout, begun, plies, progress)
            oldest = min(oldest, begun[lane]) if playout[lane] != NO_PLAYOUT else oldest
        progress[6] = oldest + work.max_plies


@njit(cache=True, nogil=True)
def report_no_move(wiring, work, rows, role):  # type: ignore[no-untyped-def]
    """Find the lane in which a role has no legal move although the game goes on."""
    compute(wiring, LEGAL)
    for lane in range(LANES):
        if bit_of(rows, wiring.active, lane) and not bit_of(rows, wiring.ended, lane):
            found = False
            for row in range(wiring.legal_starts[role], wiring.legal_starts[role + 1]):
                found |= bit_of(rows, row, lane) != 0
            if not found:
                stop(work.progress, NO_MOVE, lane, role)
                return


@njit(cache=True, nogil=True)
def run_playouts(wiring, groups, work, rows, steps):  # type: ignore[no-untyped-def]
    """Play at random for so many steps, or until all playouts have ended or the rules turn out to be broken."""
    progress, by_group = work.progress, len(groups.members) > 0
    for _ in range(steps):
        compute(wiring, POSITION)
        end_playouts(wiring, work, rows)
        if progress[3] == RUNNING and progress[2] == len(work.plies):
            progress[3] = DONE
        if progress[3] != RUNNING:
            return
        if by_group:
            turn_rows(groups)
        stuck = choose_by_group(groups) if by_group else choose_moves(wiring)
        if stuck >= 0:
            report_no_move(wiring, work, rows, stuck)
            return
        if by_group:
            make_moves(groups)
        compute(wiring, NEXT)
        commit(wiring)
        progress[0] += 1


def tree_rows(moves: int) -> int:
    """The most rows that `choose_moves` uses for so many moves."""
    count, bits = padded(moves) // BLOCK, BLOCK_BITS
    rows, nodes = count * bits, count
    while count > 1:
        count = (count + 1) // 2
        bits += 1
        rows += count * bits
        nodes += count
    return rows + nodes + 8 * bits + 16
