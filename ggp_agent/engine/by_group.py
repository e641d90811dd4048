"""Choosing and making moves by groups, lane by lane, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`Groups.chosen`), and only what that move
touches is written.

*Choosing*: rows of guards and rests are turned into words of lanes, 64 rows at a time. A lane lists its open families,
counts the legal moves of their open groups, a word at a time, and draws one of all. Where many groups are open, it
first tries to draw a group and one of as many moves as the largest has, which is a move if this group has so many.
Either way every legal move has exactly the same chance.
"""

from __future__ import annotations

import os

import numba
import numpy as np
from numba import njit

from ggp_agent.engine import cache, group_tables, turning
from ggp_agent.engine import rowops as op

# Numba takes a compiled kernel from disk if the file of the kernel is unchanged, whatever it calls in other files.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.kernel_sources()}")

SIDE, HELD, STRIDE = turning.SIDE, turning.HELD, turning.STRIDE
BATCH, NOTHING = group_tables.BATCH, group_tables.NOTHING
MANY_GROUPS = 16  # open in a lane: then some tries to draw a move cost less than counting all of them
TRIES = 6
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
    place, families = first_word(groups.base, groups.turned, lane), groups.open_families
    starts, members, masks, table = groups.piece_starts, groups.members, groups.piece_masks, groups.piece_table
    count = open_families = 0
    for word in range(groups.guard_words[role], groups.guard_words[role + 1]):
        open_families = list_bits(turning.read_word(place, word), SIDE * word, families, open_families)
    for k in range(open_families):
        opened = turning.read_part(place, groups.family_table, families[k])
        while opened:
            group = groups.family_groups[families[k]] + op.lowest_bit(opened)
            opened &= opened - 1
            for piece in range(2 * group, 2 * group + 2):
                legal = turning.read_part(place, table, piece)
                while legal:
                    before = masks[piece] & ((legal & -legal) - 1)
                    legal &= legal - 1
                    found[count] = members[starts[piece] + op.count_bits(before)]
                    count += 1
    return count


@njit(cache=True, nogil=True)
def scale(bits, limit):  # type: ignore[no-untyped-def]
    """32 random bits -> a number below `limit`, each with the same chance; or -1, rarely: then draw again."""
    product = bits * limit
    # Products fall evenly on the numbers but for a short beginning of each (Lemire's method).
    low = product & MASK
    if low < limit and low < (1 << 32) % limit:
        return -1
    return product >> 32


@njit(cache=True, nogil=True)
def draw(generator, limit):  # type: ignore[no-untyped-def]
    """A random number below `limit`."""
    number = -1
    while number < 0:
        number = scale(np.int64(next_word(generator) >> np.uint64(32)), limit)
    return number


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
    for guard in groups.other_guards[role]:
        op.conjoin_into(base, forced, guard ^ 1)
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
    # Arrays have names of their own here, because taking one out of a tuple costs more than using it.
    family_table, piece_table, numbers, largest = (
        *(groups.family_table, groups.piece_table, groups.family_groups, groups.largest),
    )
    families, opened, totals, todo, generator = (
        *(groups.open_families, groups.open_bits, groups.totals, groups.todo, groups.generator),
    )
    masks, starts, members, chosen = groups.piece_masks, groups.piece_starts, groups.members, groups.chosen[role]
    first, last = groups.guard_words[role], groups.guard_words[role + 1]
    for turn in range(lanes):
        place = first_word(groups.base, groups.turned, todo[turn])
        count = total = 0
        for word in range(first, last):
            count = list_bits(turning.read_word(place, word), SIDE * word, families, count)
        for k in range(count):
            opened[k] = turning.read_part(place, family_table, families[k])
            total += op.count_bits(opened[k])
            totals[k] = total
        group = NOTHING
        if total >= MANY_GROUPS:
            group, rank = try_groups(generator, place, piece_table, numbers, families, opened, totals, count, largest)
        if group == NOTHING:
            group, rank = draw_exactly(generator, place, piece_table, numbers, families, opened, totals, count)
            if group == NOTHING:
                return False
        chosen[todo[turn]] = members[find_member(place, piece_table, masks, starts, group, rank)]
    return True


@njit(cache=True, nogil=True)
def try_groups(generator, place, table, numbers, families, opened, totals, count, largest):  # type: ignore[no-untyped-def]
    """Draw an open group and one of as many moves as the largest has, until this one has so many; the group and which.

    No group after a few tries.
    """
    for _ in range(TRIES):
        word = next_word(generator)
        number = scale(np.int64(word >> np.uint64(32)), totals[count - 1])
        rank = scale(np.int64(word) & MASK, largest)
        if number >= 0 and rank >= 0:
            k, number = find_place(totals, count, number)
            group = numbers[families[k]] + find_bit(opened[k], number)
            if rank < count_moves(place, table, group):
                return group, rank
    return NOTHING, 0


@njit(cache=True, nogil=True)
def draw_exactly(generator, place, table, numbers, families, opened, totals, count):  # type: ignore[no-untyped-def]
    """Draw one of the legal moves of all open groups: its group, and the legal moves before it there."""
    total = 0
    for k in range(count):
        bits, number = opened[k], numbers[families[k]]
        while bits:
            total += count_moves(place, table, number + op.lowest_bit(bits))
            bits &= bits - 1
        totals[k] = total
    if total == 0:
        return NOTHING, 0
    k, rank = find_place(totals, count, draw(generator, total) if total > 1 else 0)
    bits, number = opened[k], numbers[families[k]]
    here = count_moves(place, table, number + op.lowest_bit(bits))
    while rank >= here:
        rank -= here
        bits &= bits - 1
        here = count_moves(place, table, number + op.lowest_bit(bits))
    return number + op.lowest_bit(bits), rank


@njit(cache=True, nogil=True)
def find_place(totals, count, rank):  # type: ignore[no-untyped-def]
    """The first of so many totals that is above a rank, and how far above the one before it the rank is."""
    k = 0
    for i in range(count):
        k += totals[i] <= rank
    return k, rank - (totals[k - 1] if k else 0)


@njit(cache=True, nogil=True)
def count_moves(place, table, group):  # type: ignore[no-untyped-def]
    """The legal moves of an open group in a lane."""
    left, right = turning.read_part(place, table, 2 * group), turning.read_part(place, table, 2 * group + 1)
    return op.count_bits(left) + op.count_bits(right)


@njit(cache=True, nogil=True)
def find_member(place, table, masks, starts, group, rank):  # type: ignore[no-untyped-def]
    """The member of an open group that has so many legal moves before it. No branch depends on the answer."""
    here = op.count_bits(turning.read_part(place, table, 2 * group))
    later = -np.int64(rank >= here)
    piece = 2 * group - later
    bit = find_bit(turning.read_part(place, table, piece), rank - (later & here))
    return starts[piece] + op.count_bits(masks[piece] & ((1 << bit) - 1))


@njit(cache=True, nogil=True)
def find_bit(word, rank):  # type: ignore[no-untyped-def]
    """The place of the set bit that has `rank` set bits before it, by halving."""
    place, size = np.int64(0), 32
    while size:
        below = op.count_bits(word & ((1 << size) - 1))
        above = -np.int64(rank >= below)
        rank -= above & below
        word >>= above & size
        place += above & size
        size >>= 1
    return place


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
def make_moves(groups, rows):  # type: ignore[no-untyped-def]
    """Write what the chosen moves say: in place of the rows of moves, and of SUMS."""
    offsets, literals, chosen = groups.touched_offsets, groups.touched, groups.chosen
    places, writes = groups.places, groups.writes
    for literal in groups.touched_rows:
        op.fill(groups.base, literal >> 1, -(literal & 1))
    # Three loops, so that none waits for memory to know what comes next.
    moves = count = 0
    for role in range(len(chosen)):
        start = groups.touched_starts[role]
        for lane in range(op.LANES):
            move = start + max(chosen[role, lane], 0)
            places[moves, 0], places[moves, 1], places[moves, 2] = lane, offsets[move], offsets[move + 1]
            moves += (offsets[move] < offsets[move + 1]) & (chosen[role, lane] != NOTHING)
    for number in range(moves):
        for k in range(places[number, 1], places[number, 2]):
            writes[count, 0], writes[count, 1] = places[number, 0], literals[k]
            count += 1
    for k in range(count):
        make_true(rows, writes[k, 1], writes[k, 0])


@njit(cache=True, nogil=True)
def make_true(rows, literal, lane):  # type: ignore[no-untyped-def]
    """Make a literal true in one lane."""
    negated = np.uint64(0) - np.uint64(literal & 1)
    word = rows[literal >> 1, lane >> 6] ^ negated
    rows[literal >> 1, lane >> 6] = (word | (np.uint64(1) << np.uint64(lane & 63))) ^ negated
