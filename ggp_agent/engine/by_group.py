"""Choosing and making moves by groups, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`chosen`), and only what that move
touches is written.

*Choosing*: rows of guards and rests are turned into words of lanes, 64 rows at a time. A lane lists its open families,
counts the legal moves of their open groups, a word at a time, and draws one of all. Where many groups are open, it
first tries to draw a group and one of as many moves as the largest has, which is a move if this group has so many.
Either way every legal move has exactly the same chance. All lanes try once, then those that are left try again, and so
on: whether a try succeeds is no branch, and the processor works on several lanes at a time.
"""

from __future__ import annotations

import os

import numba
import numpy as np
from numba import njit

from ggp_agent.engine import cache, group_tables, turning
from ggp_agent.engine import rowops as op
from ggp_agent.engine import wordops as word_op

# Numba takes a compiled kernel from disk if the file of the kernel is unchanged, whatever it calls in other files.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.kernel_sources()}")
# Loops over numbers are short here, a payoff for each role: vector instructions for them cost more than they do.
numba.config.LOOP_VECTORIZE = 0

SIDE, HELD, STRIDE = turning.SIDE, turning.HELD, turning.STRIDE
BATCH, NOTHING = word_op.BATCH, group_tables.NOTHING
RECORD_BYTES = group_tables.RECORD.itemsize
MEMBER, FIRST = 6, 7  # where two fields of a record are, in numbers of 32 bits
# Places of words in what is known of a lane while it draws: the address of its words, the part of the lists of open
# families that is its own, its open groups, the address of the record of the group drawn, the legal moves before
PLACE, START, END, OPEN_GROUPS, GROUP, RANK = range(6)
LANE_BYTES = 8 * group_tables.LANE_WORDS
MANY_GROUPS = 16  # open in a lane: then some tries to draw a move cost less than counting all of them
TRIES = 8  # before moves are counted
MASK = 0xFFFFFFFF


@njit(cache=True, nogil=True)
def turn_rows(groups):  # type: ignore[no-untyped-def]
    """Once POSITION is computed: turn the rows of guards and rests into words of lanes."""
    base, words = groups.base, groups.words
    for word in range(len(words)):
        first, bits = groups.turned + STRIDE * word, words[word]
        for k in range(HELD):
            turning.turn_bytes(
                *(base, first + k, bits[k], bits[k + 8], bits[k + 16], bits[k + 24]),
                *(bits[k + 32], bits[k + 40], bits[k + 48], bits[k + 56]),
            )
        for k in range(0, SIDE, HELD):
            turning.turn_bits(base, first + k)


@njit(cache=True, nogil=True)
def first_word(base, turned, lane):  # type: ignore[no-untyped-def]
    """The address of the first word of a lane."""
    return base + op.ROW_BYTES * (turned + (lane & 63)) + 8 * (lane >> 6)


@njit(cache=True, nogil=True)
def list_bits(word, number, found, count):  # type: ignore[no-untyped-def]
    """Append the set bits of a word to the first `count` numbers in `found`, bit 0 as `number`; the new count."""
    end = count + op.count_bits(word)
    while count < end:  # always some at once, even if fewer are left: a branch that is guessed well
        for _ in range(BATCH):
            found[count] = number + op.lowest_bit(word)
            word &= word - 1
            count += 1
    return end


@njit(cache=True, nogil=True)
def legal_moves(groups, role, lane, found):  # type: ignore[no-untyped-def]
    """Write the legal moves of a role in one lane into `found`, once rows are turned; how many there are."""
    place, families, members = first_word(groups.base, groups.turned, lane), groups.open_families, groups.members
    count = open_families = 0
    for word in range(groups.guard_words[role], groups.guard_words[role + 1]):
        open_families = list_bits(word_op.read_word(place, word), SIDE * word, families, open_families)
    for k in range(open_families):
        family = groups.family_table + RECORD_BYTES * families[k]
        opened = word_op.read_piece(place, family, 0)
        while opened:
            record = group_record(groups.group_table, family, op.lowest_bit(opened))
            opened &= opened - 1
            member, first = word_op.number_at(record, MEMBER), word_op.number_at(record, FIRST)
            for piece in range(2):
                mask, legal = word_op.word_at(record, piece), word_op.read_piece(place, record, piece)
                while legal:
                    before = mask & ((legal & -legal) - 1)
                    legal &= legal - 1
                    found[count] = first + members[member + op.count_bits(before)]
                    count += 1
                member += op.count_bits(mask)
    return count


@njit(cache=True, nogil=True)
def group_record(table, family, bit):  # type: ignore[no-untyped-def]
    """The address of the record of a group, a bit of the family whose record is at the address `family`."""
    return table + RECORD_BYTES * (word_op.number_at(family, FIRST) + bit)


@njit(cache=True, nogil=True)
def is_fair(product, limit):  # type: ignore[no-untyped-def]
    """32 random bits times `limit`: has the upper half the same chance to be any number below it? It rarely has not."""
    # Products fall evenly on the numbers but for a short beginning of each (Lemire's method).
    low = product & MASK
    return low >= limit or low >= (1 << 32) % limit


@njit(cache=True, nogil=True)
def draw(generator, limit):  # type: ignore[no-untyped-def]
    """A random number below `limit`."""
    while True:
        product = np.int64(next_word(generator) >> np.uint64(32)) * limit
        if is_fair(product, limit):
            return product >> 32


@njit(cache=True, nogil=True)
def next_word(state):  # type: ignore[no-untyped-def]
    """64 random bits, by xoshiro256++."""
    first, second, third, fourth = state[0], state[1], state[2], state[3]
    total = first + fourth
    third ^= first
    fourth ^= second
    state[0], state[1] = first ^ fourth, second ^ third
    state[2], state[3] = third ^ (second << np.uint64(17)), rotate(fourth, 45)
    return rotate(total, 23) + first


@njit(cache=True, nogil=True)
def rotate(word, bits):  # type: ignore[no-untyped-def]
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@njit(cache=True, nogil=True)
def find_choices(groups, role):  # type: ignore[no-untyped-def]
    """List the lanes in which a role may have a choice, and make it move in the others; how many there are."""
    base, forced, todo, chosen = groups.base, groups.forced, groups.todo, groups.chosen
    op.conjoin(base, forced, 2 * groups.playing, groups.lone_guards[role])
    others = groups.other_guards[role]
    for k in range(len(others)):
        op.conjoin_into(base, forced, others[k] ^ 1)
    count = 0
    for turn in range(op.LANES):
        lane = (turn & 7) * SIDE + (turn >> 3)  # words of lanes that follow each other lie side by side
        has_one = op.bit(base, 2 * forced, lane)
        chosen[role, lane] = groups.lone_moves[role] if has_one else NOTHING
        todo[count] = lane
        count += op.bit(base, 2 * groups.playing, lane) - has_one
    return count


@njit(cache=True, nogil=True)
def draw_moves(groups, role, lanes):  # type: ignore[no-untyped-def]
    """Draw a legal move in the first so many lanes in `todo`, each with the same chance; is there one in each?"""
    trying = list_families(groups, role, lanes)
    if trying == NOTHING:
        return False
    left = trying
    for _ in range(TRIES):
        left = try_groups(groups, left)
    if not (count_groups(groups, 0, left) and count_groups(groups, trying, lanes)):
        return False
    find_members(groups, lanes, groups.chosen[role])
    return True


@njit(cache=True, nogil=True)
def list_families(groups, role, lanes):  # type: ignore[no-untyped-def]
    """List the open families of lanes, and their open groups; in how many of them many groups are open.

    Those come first in `trying`. NOTHING if no group is open in a lane.
    """
    base, turned, table, families = groups.base, groups.turned, groups.family_table, groups.open_families
    opened, befores, trying, todo = groups.open_bits, groups.befores, groups.trying, groups.todo
    first, last = groups.guard_words[role], groups.guard_words[role + 1]
    end, many, few = 0, 0, lanes
    for number in range(lanes):
        place, lane = first_word(base, turned, todo[number]), groups.lanes_at + LANE_BYTES * number
        start, total = end, 0
        for word in range(first, last):
            end = list_bits(word_op.read_word(place, word), SIDE * word, families, end)
        for k in range(start, end):
            opened[k] = word_op.read_piece(place, table + RECORD_BYTES * families[k], 0)
            befores[k] = total
            total += op.count_bits(opened[k])
        if total == 0:
            return NOTHING
        for k in range(BATCH):  # so that a whole number of batches may be looked at
            befores[end + k], opened[end + k] = total, 0
        end = start + (end - start + BATCH - 1) // BATCH * BATCH
        word_op.put_word(lane, PLACE, place)
        word_op.put_word(lane, START, start)
        word_op.put_word(lane, END, end)
        word_op.put_word(lane, OPEN_GROUPS, total)
        trying[many] = trying[few - 1] = lane
        many += total >= MANY_GROUPS
        few -= total < MANY_GROUPS
    return many


@njit(cache=True, nogil=True)
def try_groups(groups, lanes):  # type: ignore[no-untyped-def]
    """In lanes that have no move yet, draw an open group and one of as many moves as the largest has.

    If the group has so many, this is the move of the lane. How many lanes are left. No branch depends on what is drawn.
    """
    table, family_table, largest = groups.group_table, groups.family_table, groups.largest
    families, opened, befores = groups.families_at, groups.bits_at, groups.befores_at
    trying, generator = groups.trying, groups.generator
    left = 0
    for turn in range(lanes):
        lane, word = trying[turn], next_word(generator)
        limit = word_op.word_at(lane, OPEN_GROUPS)
        which, rank = np.int64(word >> np.uint64(32)) * limit, (np.int64(word) & MASK) * largest
        fair = is_fair(which, limit) and is_fair(rank, largest)
        which >>= 32
        rank >>= 32
        k = find_place(befores, lane, which)
        family = family_table + RECORD_BYTES * word_op.number_at(families, k)
        bit = word_op.find_bit(word_op.word_at(opened, k), which - word_op.number_at(befores, k))
        record = group_record(table, family, bit)
        word_op.put_word(lane, GROUP, record)
        word_op.put_word(lane, RANK, rank)
        trying[left] = lane
        left += 1 - (fair & (rank < count_moves(word_op.word_at(lane, PLACE), record)))
    return left


@njit(cache=True, nogil=True)
def count_groups(groups, first, last):  # type: ignore[no-untyped-def]
    """In lanes that have no move yet, count those of all open groups and draw one; is there one in each?"""
    table, family_table, generator = groups.group_table, groups.family_table, groups.generator
    families, opened, befores, trying = groups.families_at, groups.bits_at, groups.befores, groups.trying
    for turn in range(first, last):
        lane = trying[turn]
        place = word_op.word_at(lane, PLACE)
        total = 0
        for k in range(word_op.word_at(lane, START), word_op.word_at(lane, END)):
            bits, family = word_op.word_at(opened, k), family_table + RECORD_BYTES * word_op.number_at(families, k)
            befores[k] = total
            while bits:
                total += count_moves(place, group_record(table, family, op.lowest_bit(bits)))
                bits &= bits - 1
        if total == 0:
            return False
        rank = draw(generator, total) if total > 1 else 0
        k = find_place(groups.befores_at, lane, rank)
        rank -= befores[k]
        bits, family = word_op.word_at(opened, k), family_table + RECORD_BYTES * word_op.number_at(families, k)
        record = group_record(table, family, op.lowest_bit(bits))
        here = count_moves(place, record)
        while rank >= here:
            rank -= here
            bits &= bits - 1
            record = group_record(table, family, op.lowest_bit(bits))
            here = count_moves(place, record)
        word_op.put_word(lane, GROUP, record)
        word_op.put_word(lane, RANK, rank)
    return True


@njit(cache=True, nogil=True)
def find_place(befores, lane, rank):  # type: ignore[no-untyped-def]
    """The last family of a lane before which at most `rank` were counted."""
    first, end = word_op.word_at(lane, START), word_op.word_at(lane, END)
    k = first - 1 + word_op.count_upto(befores, first, rank)
    while first + BATCH < end:
        first += BATCH
        k += word_op.count_upto(befores, first, rank)
    return k


@njit(cache=True, nogil=True)
def count_moves(place, record):  # type: ignore[no-untyped-def]
    """The legal moves of an open group in a lane."""
    return op.count_bits(word_op.read_piece(place, record, 0)) + op.count_bits(word_op.read_piece(place, record, 1))


@njit(cache=True, nogil=True)
def find_members(groups, lanes, chosen):  # type: ignore[no-untyped-def]
    """Write down the moves of lanes, from groups and the legal moves before. No branch depends on the answer."""
    members, todo = groups.members, groups.todo
    for number in range(lanes):
        lane = groups.lanes_at + LANE_BYTES * number
        place, record, rank = word_op.word_at(lane, PLACE), word_op.word_at(lane, GROUP), word_op.word_at(lane, RANK)
        here = op.count_bits(word_op.read_piece(place, record, 0))
        piece = np.int64(rank >= here)
        bit = word_op.find_bit(word_op.read_piece(place, record, piece), rank - (-piece & here))
        member = word_op.number_at(record, MEMBER) + (-piece & op.count_bits(word_op.word_at(record, 0)))
        member += op.count_bits(word_op.word_at(record, piece) & ((1 << bit) - 1))
        chosen[todo[number]] = word_op.number_at(record, FIRST) + members[member]


@njit(cache=True, nogil=True)
def choose_by_group(groups):  # type: ignore[no-untyped-def]
    """A random legal move for every role in every lane in which play goes on; -1, or a role that has none in a lane.

    Rows are turned.
    """
    op.conjoin(groups.base, groups.playing, 2 * groups.active, 2 * groups.ended + 1)
    for role in range(len(groups.chosen)):
        lanes = find_choices(groups, role)
        if not draw_moves(groups, role, lanes):
            return role
    return -1


@njit(cache=True, nogil=True)
def make_moves(groups):  # type: ignore[no-untyped-def]
    """Write what the chosen moves say: in place of the rows of moves, and of SUMS."""
    literals, touched, chosen, making = groups.touched_rows, groups.touched, groups.chosen, groups.making
    nothing = len(literals)
    for k in range(nothing):
        op.fill(groups.base, literals[k] >> 1, -np.int64(literals[k] & 1))
    # Two loops, so that none waits for memory to know what comes next.
    count = 0
    for role in range(len(chosen)):
        start = groups.touched_starts[role]
        for lane in range(op.LANES):
            move = start + max(chosen[role, lane], 0)
            making[count, 0], making[count, 1] = lane, move
            count += (touched[move, 0] != nothing) & (chosen[role, lane] != NOTHING)
    for k in range(count):
        lane, move = making[k, 0], making[k, 1]
        numbers = touched[move]
        for number in range(len(numbers)):
            if numbers[number] == nothing:
                break
            op.make_true(groups.base, literals[numbers[number]], lane)
