"""Choosing and making moves by groups, lane by lane, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`Groups.chosen`), and only what that move
touches is written.

*Choosing*: rows of guards and rests are turned into words of lanes, 64 rows at a time. A lane lists its open groups,
counts the legal moves of each, a word at a time, and draws a number below their sum. Then all lanes find the move with
their number. So every legal move has exactly the same chance.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from ggp_agent.engine import cache
from ggp_agent.engine import rowops as op
from ggp_agent.engine import turning
from ggp_agent.engine.circuit import SUMS, Circuit
from ggp_agent.engine.network import FALSE, TRUE

# Numba takes a compiled kernel from disk if the file of the kernel is unchanged, whatever it calls in other files.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.kernel_sources()}")

SIDE, HELD, STRIDE = turning.SIDE, turning.HELD, turning.STRIDE
BATCH = 4  # set bits that are listed at once
MANY_GROUPS = 16  # open in a lane: then some tries to draw a move cost less than counting all of them
TRIES = 6
NOTHING = -1  # no move
MASK = 0xFFFFFFFF


class Groups(NamedTuple):
    """The groups of a circuit for kernels, apart from its `Wiring`: small games would pay for passing them around."""

    base: int  # address of row 0
    active: int  # row: lanes in which a playout runs
    ended: int  # row: lanes in which it has come to its end
    playing: int  # row: the others
    forced: int  # row: lanes in which a role has just one move
    turned: int  # row: where the words of lanes begin, see `turning`
    words: NDArray[np.int32]  # as in `Circuit`
    guard_words: NDArray[np.int64]  # as in `Circuit`
    # Masks, and the offsets of their words in bytes: of the rests of the groups of families, and of pieces of groups
    family_parts: NDArray[np.int64]  # int64[64 * words of guards, 2]
    piece_parts: NDArray[np.int64]  # int64[2 * groups, 2]
    family_table: int  # address of `family_parts`
    piece_table: int  # address of `piece_parts`
    family_groups: NDArray[np.int64]  # int64[64 * words of guards]: the group that bit 0 would be
    piece_starts: NDArray[np.int32]  # int32[2 * groups]: the first member
    members: NDArray[np.int32]  # as in `Circuit`; none if moves are chosen by their rows
    # What moves write: rows that say that none of some moves is made, and rows of single moves
    touched_rows: NDArray[np.int32]  # literals that do not hold if no move is made
    touched_starts: NDArray[np.int64]  # int64[roles]: where the moves of a role begin in `touched_offsets`
    touched_offsets: NDArray[np.int32]  # int32[rows of moves + 1]: where the literals of each move begin
    touched: NDArray[np.int32]  # those of `touched_rows` that hold if it is made
    # For choosing
    generator: NDArray[np.uint64]  # uint64[4]: the state of a random generator
    lone_guards: NDArray[np.int32]  # int32[roles]: a guard of one move that is always legal then, such as noop; or FALSE
    lone_moves: NDArray[np.int32]  # int32[roles]: this move
    other_guards: NDArray[np.int32]  # int32[roles, guards]: the other guards of a role
    todo: NDArray[np.int32]  # int32[lanes + 1]: the lanes in which a role has a choice
    largest: NDArray[np.int64]  # int64[roles]: the moves of the largest group
    # Of one role in one lane: open families, the bits of their open groups, and what was counted up to each family
    open_families: NDArray[np.int32]  # int32[families + BATCH]
    open_bits: NDArray[np.int64]  # int64[families]
    totals: NDArray[np.int64]  # int64[families]
    places: NDArray[np.int32]  # int32[roles * lanes + 1, 3]: lanes, and where what their moves touch begins and ends
    writes: NDArray[np.int32]  # int32[all that moves may touch, 2]: lanes, and literals that become true there
    found: NDArray[np.int32]  # int32[moves]: the legal moves of one role in one lane
    chosen: NDArray[np.int32]  # int32[roles, lanes]: the moves to be made, or NOTHING


def make_groups(circuit: Circuit, base: int, *, active: int, ended: int, scratch: int, turned: int) -> Groups:
    """The groups of a circuit whose rows begin at an address; two rows of scratch are for `playing` and `forced`."""
    rows, offsets, literals = touched(circuit)
    families, groups = len(circuit.families), len(circuit.piece_words)
    family_parts = parts(circuit.families[:, 1], circuit.families[:, 0])
    piece_parts = parts(circuit.piece_masks, circuit.piece_words)
    return Groups(
        base=base,
        active=active,
        ended=ended,
        playing=scratch,
        forced=scratch + 1,
        turned=turned,
        words=circuit.words,
        guard_words=circuit.guard_words,
        family_parts=family_parts,
        piece_parts=piece_parts,
        family_table=family_parts.ctypes.data,
        piece_table=piece_parts.ctypes.data,
        family_groups=circuit.families[:, 2].copy(),
        piece_starts=circuit.piece_starts.ravel(),
        members=circuit.members,
        touched_rows=rows,
        touched_starts=shared_starts(circuit.move_starts - circuit.move_starts[0], offsets, literals),
        touched_offsets=offsets,
        touched=literals,
        generator=np.zeros(4, np.uint64),
        **lone_families(circuit),
        todo=np.zeros(op.LANES + 1, np.int32),
        largest=np.full(len(circuit.roles), np.bitwise_count(circuit.piece_masks).sum(axis=1).max(initial=1), np.int64),
        open_families=np.zeros(families + BATCH, np.int32),
        open_bits=np.zeros(families, np.int64),
        totals=np.zeros(families, np.int64),
        places=np.zeros((len(circuit.roles) * op.LANES + 1, 3), np.int32),
        writes=np.zeros((len(circuit.roles) * op.LANES * int(np.diff(offsets).max(initial=1)), 2), np.int32),
        found=np.zeros(max(map(len, circuit.moves)), np.int32),
        chosen=np.full((len(circuit.roles), op.LANES), NOTHING, np.int32),
    )


def parts(masks: NDArray[Any], words: NDArray[Any]) -> NDArray[np.int64]:
    """int64[..., 2]: masks, and the offsets of words in bytes."""
    offsets = words.ravel().astype(np.int64) * STRIDE * op.ROW_BYTES
    return np.stack([masks.ravel().view(np.int64), offsets], axis=1)


def lone_families(circuit: Circuit) -> dict[str, NDArray[np.int32]]:
    """The fields `lone_guards`, `lone_moves` and `other_guards` of `Groups`."""
    roles, words = len(circuit.roles), circuit.guard_words
    guards, moves = np.full(roles, FALSE, np.int32), np.full(roles, NOTHING, np.int32)
    others = np.full((roles, SIDE * int(np.diff(words).max(initial=0))), FALSE, np.int32)
    for role in range(roles):
        mine = circuit.words[words[role] : words[role + 1]].ravel()
        others[role, : len(mine)] = mine
        for number, (word, mask, group) in enumerate(circuit.families[SIDE * words[role] :][: len(mine)].tolist()):
            rests = [(word, mask)]
            if mask and mask & (mask - 1) == 0:
                group += mask.bit_length() - 1
                rests += zip(circuit.piece_words[group].tolist(), circuit.piece_masks[group].tolist(), strict=True)
            bits = [(word, bit) for word, mask in rests for bit in range(SIDE) if mask >> bit & 1]
            if len(bits) == 2 and all(circuit.words[place] == TRUE for place in bits) and (mine == mine[number]).sum() == 1:
                (piece,) = np.flatnonzero(circuit.piece_masks[group])
                guards[role], moves[role] = mine[number], circuit.members[circuit.piece_starts[group, piece]]
                others[role, : len(mine)] = np.where(mine == mine[number], FALSE, mine)
    return {"lone_guards": guards, "lone_moves": moves, "other_guards": others}


def touched(circuit: Circuit) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """What moves write in place of SUMS, as far as other gates ask for it: the fields `touched...` of `Groups`."""
    start, end = circuit.move_starts[[0, -1]].tolist()
    asked = np.zeros(circuit.rows, np.bool_)
    asked[circuit.next_start : circuit.next_start + len(circuit.fluents)] = True
    for phase, first, last, _, _ in circuit.segments.tolist():
        if phase != SUMS:
            asked[circuit.literals[circuit.offsets[first] : circuit.offsets[last]] >> 1] = True
    single = start + np.flatnonzero(asked[start:end]) if len(circuit.members) else np.zeros(0, np.int64)
    moves, literals = [single], [2 * single]
    for row, summed in sums(circuit).items():
        if asked[row]:
            moves.append(summed)
            literals.append(np.full(len(summed), 2 * row + 1))
    number, literal = np.concatenate(moves) - start, np.concatenate(literals).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=end - start))])
    return (np.unique(literal), offsets.astype(np.int32), literal[np.argsort(number, kind="stable")])


def shared_starts(
    starts: NDArray[np.int64], offsets: NDArray[np.int32], literals: NDArray[np.int32]
) -> NDArray[np.int64]:
    """int64[roles]: where the moves of each role begin, or those of another role that touch the same: less memory."""
    found: list[int] = []
    known: dict[tuple[bytes, bytes], int] = {}
    for start, end in pairwise(starts.tolist()):
        mine = offsets[start : end + 1]
        key = np.diff(mine).tobytes(), literals[mine[0] : mine[-1]].tobytes()
        found.append(known.setdefault(key, start))
    return np.array(found, np.int64)


def sums(circuit: Circuit) -> dict[int, NDArray[np.int64]]:
    """Row of a sum -> the rows of its moves. A sum may be of sums that come before it."""
    found: dict[int, NDArray[np.int64]] = {}
    for phase, first, last, _, _ in circuit.segments.tolist():
        for gate in range(first, last) if phase == SUMS else ():
            used = circuit.literals[circuit.offsets[gate] : circuit.offsets[gate + 1]].astype(np.int64)
            parts = [found[literal >> 1] for literal in used[used & 1 == 0].tolist()]
            found[int(circuit.targets[gate])] = np.unique(np.concatenate([used[used & 1 == 1] >> 1, *parts]))
    return found


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
    starts, members, masks, table = groups.piece_starts, groups.members, groups.piece_parts, groups.piece_table
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
                    before = masks[piece, 0] & ((legal & -legal) - 1)
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
        *(groups.family_table, groups.piece_table, groups.family_groups, groups.largest[role]),
    )
    families, opened, totals, todo, generator = (
        *(groups.open_families, groups.open_bits, groups.totals, groups.todo, groups.generator),
    )
    masks, starts, members, chosen = groups.piece_parts, groups.piece_starts, groups.members, groups.chosen[role]
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
    return starts[piece] + op.count_bits(masks[piece, 0] & ((1 << bit) - 1))


@njit(cache=True, nogil=True)
def find_bit(word, rank):  # type: ignore[no-untyped-def]
    """The place of the set bit that has `rank` set bits before it."""
    place, size = 0, 32
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
