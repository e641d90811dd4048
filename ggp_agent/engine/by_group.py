"""Choosing and making moves by groups, lane by lane, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`Groups.chosen`), and only what that move
touches is written.

*Choosing*: rows of guards and rests are turned into words of lanes, 64 rows at a time. A lane lists its open groups and
counts the legal moves of each, a word at a time, draws a number below their sum, and finds the move with this number.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from ggp_agent.engine import cache
from ggp_agent.engine import rowops as op
from ggp_agent.engine import turning
from ggp_agent.engine.circuit import SUMS, Circuit

# Numba takes a compiled kernel from disk if the file of the kernel is unchanged, whatever it calls in other files.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.kernel_sources()}")

SIDE, HELD = turning.SIDE, turning.HELD
NOTHING = -1  # no move
MASK = 0xFFFFFFFF


class Groups(NamedTuple):
    """The groups of a circuit for kernels, apart from its `Wiring`: small games would pay for passing them around."""

    base: int  # address of row 0
    active: int  # row: lanes in which a playout runs
    ended: int  # row: lanes in which it has come to its end
    playing: int  # row: the others
    turned: int  # row: 64 for each word of `Circuit`, with the words of all lanes
    move_starts: NDArray[np.int64]
    # As in `Circuit`, but rows in place of words
    words: NDArray[np.int32]  # none if moves are chosen by their rows
    guard_rows: NDArray[np.int64]
    family_rows: NDArray[np.int64]
    family_masks: NDArray[np.int64]
    family_groups: NDArray[np.int64]
    piece_rows: NDArray[np.int64]
    piece_masks: NDArray[np.int64]
    piece_starts: NDArray[np.int32]
    members: NDArray[np.int32]
    # What moves write: rows that say that none of some moves is made, and rows of single moves
    touched_rows: NDArray[np.int32]  # literals that do not hold if no move is made
    touched_offsets: NDArray[np.int32]  # int32[rows of moves + 1]: where the literals of each move begin
    touched: NDArray[np.int32]  # those of `touched_rows` that hold if it is made
    # For choosing
    generator: NDArray[np.uint64]  # uint64[4]: the state of a random generator
    open_groups: NDArray[np.int64]  # int64[groups]: those of one role in one lane
    totals: NDArray[np.int32]  # int32[groups + 1]: the legal moves of the open groups before each of them
    found: NDArray[np.int32]  # int32[moves]: the legal moves of one role in one lane
    chosen: NDArray[np.int32]  # int32[roles, lanes]: the moves to be made, or NOTHING


def make_groups(circuit: Circuit, base: int, *, active: int, ended: int, playing: int, turned: int) -> Groups:
    """The groups of a circuit whose rows begin at an address."""
    rows, offsets, literals = touched(circuit)
    families, groups = circuit.families, len(circuit.piece_words)
    return Groups(
        base=base,
        active=active,
        ended=ended,
        playing=playing,
        turned=turned,
        move_starts=circuit.move_starts,
        words=circuit.words,
        guard_rows=turned + SIDE * circuit.guard_words,
        family_rows=turned + SIDE * families[:, 0],
        family_masks=families[:, 1].copy(),
        family_groups=families[:, 2].copy(),
        piece_rows=turned + SIDE * circuit.piece_words.astype(np.int64),
        piece_masks=circuit.piece_masks.view(np.int64),
        piece_starts=circuit.piece_starts,
        members=circuit.members,
        touched_rows=rows,
        touched_offsets=offsets,
        touched=literals,
        generator=np.zeros(4, np.uint64),
        open_groups=np.zeros(groups, np.int64),
        totals=np.zeros(groups + 1, np.int32),
        found=np.zeros(max(map(len, circuit.moves)), np.int32),
        chosen=np.full((len(circuit.roles), op.LANES), NOTHING, np.int32),
    )


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
def make_true(rows, literal, lane):  # type: ignore[no-untyped-def]
    """Make a literal true in one lane."""
    bit = np.uint64(1) << np.uint64(lane & 63)
    if literal & 1:
        rows[literal >> 1, lane >> 6] &= ~bit
    else:
        rows[literal >> 1, lane >> 6] |= bit


@njit(cache=True, nogil=True)
def turn_rows(groups):  # type: ignore[no-untyped-def]
    """Once POSITION is computed: turn the rows of guards and rests into words of lanes."""
    base, words = groups.base, groups.words
    for word in range(len(words)):
        first, bits = groups.turned + SIDE * word, words[word]
        for k in range(HELD):
            turning.turn_bytes(
                *(base, first + k, bits[k], bits[k + 8], bits[k + 16], bits[k + 24]),
                *(bits[k + 32], bits[k + 40], bits[k + 48], bits[k + 56]),
            )
        for k in range(0, SIDE, HELD):
            turning.turn_bits(base, first + k)


@njit(cache=True, nogil=True)
def legal_moves(groups, role, lane, found):  # type: ignore[no-untyped-def]
    """Write the legal moves of a role in one lane into `found`, once rows are turned; how many there are."""
    base, members = groups.base, groups.members
    rows, masks, starts = groups.piece_rows, groups.piece_masks, groups.piece_starts
    bit, word, count = lane & 63, lane >> 6, 0
    for guards in range(groups.guard_rows[role], groups.guard_rows[role + 1], SIDE):
        families = turning.read_word(base, guards + bit, word)
        while families:
            family = guards - groups.guard_rows[0] + op.lowest_bit(families)
            families &= families - 1
            opened = turning.read_word(base, groups.family_rows[family] + bit, word) & groups.family_masks[family]
            while opened:
                group = groups.family_groups[family] + op.lowest_bit(opened)
                opened &= opened - 1
                for piece in range(rows.shape[1]):
                    mask = masks[group, piece]
                    legal = turning.read_word(base, rows[group, piece] + bit, word) & mask
                    while legal:
                        before = mask & ((legal & -legal) - 1)
                        legal &= legal - 1
                        found[count] = members[starts[group, piece] + op.count_bits(before)]
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
def draw_moves(groups, rows, role):  # type: ignore[no-untyped-def]
    """A legal move in every lane in which play goes on, each with the same chance; is there one in each?"""
    # Arrays have names of their own here, because taking one out of a tuple costs more than using it.
    base, members, chosen, generator = groups.base, groups.members, groups.chosen[role], groups.generator
    first_guards, guards_end, no_guards = groups.guard_rows[role], groups.guard_rows[role + 1], groups.guard_rows[0]
    family_rows, family_masks, family_groups = groups.family_rows, groups.family_masks, groups.family_groups
    piece_rows, masks, starts = groups.piece_rows, groups.piece_masks, groups.piece_starts
    open_groups, totals, pieces = groups.open_groups, groups.totals, groups.piece_rows.shape[1]
    for bit in range(SIDE):
        for word in range(op.WORDS):  # lanes whose words lie side by side
            lane = SIDE * word + bit
            chosen[lane] = NOTHING
            if not op.bit(base, 2 * groups.playing, lane):
                continue
            count = total = 0
            for guards in range(first_guards, guards_end, SIDE):
                families = turning.read_word(base, guards + bit, word)
                while families:
                    family = guards - no_guards + op.lowest_bit(families)
                    families &= families - 1
                    opened = turning.read_word(base, family_rows[family] + bit, word) & family_masks[family]
                    while opened:
                        group = family_groups[family] + op.lowest_bit(opened)
                        opened &= opened - 1
                        for piece in range(pieces):
                            legal = turning.read_word(base, piece_rows[group, piece] + bit, word) & masks[group, piece]
                            total += op.count_bits(legal)
                        open_groups[count] = group
                        count += 1
                        totals[count] = total
            if total == 0:
                return False
            rank = draw(generator, total) if total > 1 else 0
            number = 0
            for k in range(1, count):
                number += totals[k] <= rank
            rank -= totals[number]
            group = open_groups[number]
            for piece in range(pieces):
                legal = turning.read_word(base, piece_rows[group, piece] + bit, word) & masks[group, piece]
                here = op.count_bits(legal)
                if rank < here:
                    for _ in range(rank):
                        legal &= legal - 1
                    before = masks[group, piece] & ((legal & -legal) - 1)
                    chosen[lane] = members[starts[group, piece] + op.count_bits(before)]
                    break
                rank -= here
    return True


@njit(cache=True, nogil=True)
def choose_by_group(groups, rows):  # type: ignore[no-untyped-def]
    """A random legal move for every role in every lane in which play goes on; -1, or a role that has none in a lane."""
    op.conjoin(groups.base, groups.playing, 2 * groups.active, 2 * groups.ended + 1)
    for role in range(len(groups.chosen)):
        if not draw_moves(groups, rows, role):
            return role
    return -1


@njit(cache=True, nogil=True)
def make_moves(groups, rows):  # type: ignore[no-untyped-def]
    """Write what the chosen moves say: in place of the rows of moves, and of SUMS."""
    offsets, literals, chosen = groups.touched_offsets, groups.touched, groups.chosen
    for literal in groups.touched_rows:
        op.fill(groups.base, literal >> 1, -(literal & 1))
    for role in range(len(chosen)):
        start = groups.move_starts[role] - groups.move_starts[0]
        for lane in range(op.LANES):
            if chosen[role, lane] != NOTHING:
                move = start + chosen[role, lane]
                for k in range(offsets[move], offsets[move + 1]):
                    make_true(rows, literals[k], lane)
