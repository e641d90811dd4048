"""Choosing and making moves by groups, lane by lane, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`Wiring.chosen`), and only what that move
touches is written.

*Choosing*: of the groups that are open, one is drawn, and one of as many places as the largest group has; again until
there is a move at this place and its rest holds. Every legal move has exactly the same chance. A lane that has bad luck
too often lists all its legal moves and draws one.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import NamedTuple

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray

from ggp_agent.engine import cache
from ggp_agent.engine import rowops as op
from ggp_agent.engine.circuit import SUMS, Circuit

# Numba takes a compiled kernel from disk if the file of the kernel is unchanged, whatever it calls in other files.
if "NUMBA_CACHE_DIR" not in os.environ:
    parts = ("kernels", "by_group", "rowops", "native", "circuit")
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.sources(*parts)}")

NOTHING = -1  # no move
MASK = 0xFFFFFFFF
MAX_TRIES = 100


class Touched(NamedTuple):
    """What moves write: rows that say that none of some moves is made, and rows of single moves."""

    rows: NDArray[np.int32]  # literals that do not hold if no move is made
    offsets: NDArray[np.int32]  # int32[rows of moves + 1]: where the literals of each move begin
    literals: NDArray[np.int32]  # those of `rows` that hold if it is made


def touched(circuit: Circuit) -> Touched:
    """What is written in place of SUMS, as far as other gates ask for it."""
    start, end = circuit.move_starts[[0, -1]].tolist()
    asked = np.zeros(circuit.rows, np.bool_)
    asked[circuit.next_start : circuit.next_start + len(circuit.fluents)] = True
    for phase, first, last, _, _ in circuit.segments.tolist():
        if phase != SUMS:
            asked[circuit.literals[circuit.offsets[first] : circuit.offsets[last]] >> 1] = True
    single = start + np.flatnonzero(asked[start:end]) if len(circuit.guards) else np.zeros(0, np.int64)
    moves, literals = [single], [2 * single]
    for row, summed in sums(circuit).items():
        if asked[row]:
            moves.append(summed)
            literals.append(np.full(len(summed), 2 * row + 1))
    number, literal = np.concatenate(moves) - start, np.concatenate(literals).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=end - start))])
    return Touched(np.unique(literal), offsets.astype(np.int32), literal[np.argsort(number, kind="stable")])


def places(circuit: Circuit) -> NDArray[np.int64]:
    """int64[roles]: the moves of the largest group of each role."""
    sizes = circuit.group_bounds[:, 1] - circuit.group_bounds[:, 0]
    starts = circuit.family_offsets[circuit.family_starts]
    return np.array([sizes[a:b].max(initial=0) for a, b in pairwise(starts.tolist())], np.int64)


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
def list_group(base, lane, group, bounds, members, rests, found, count):  # type: ignore[no-untyped-def]
    """Append the moves of a group whose rest holds in a lane to the first `count` in `found`; the new count."""
    for member in range(bounds[group, 0], bounds[group, 1]):
        if op.bit(base, rests[member], lane):
            found[count] = members[member]
            count += 1
    return count


@njit(cache=True, nogil=True)
def legal_moves(wiring, role, lane, found):  # type: ignore[no-untyped-def]
    """Write the legal moves of a role in one lane into `found`, once POSITION is computed; how many there are."""
    base, bounds, members, rests = wiring.base, wiring.group_bounds, wiring.members, wiring.rests
    count = 0
    for family in range(wiring.family_starts[role], wiring.family_starts[role + 1]):
        if op.bit(base, wiring.guards[family], lane):
            for group in range(wiring.family_offsets[family], wiring.family_offsets[family + 1]):
                if op.bit(base, wiring.group_rests[group], lane):
                    count = list_group(base, lane, group, bounds, members, rests, found, count)
    return count


@njit(cache=True, nogil=True)
def open_groups(wiring, rows, role):  # type: ignore[no-untyped-def]
    """List the groups of a role whose moves may be legal, for every lane in which play goes on."""
    base, guards, offsets, rests = wiring.base, wiring.guards, wiring.family_offsets, wiring.group_rests
    opened, counts = wiring.opened, wiring.open_counts
    counts[:] = 0
    for family in range(wiring.family_starts[role], wiring.family_starts[role + 1]):
        row, negated = guards[family] >> 1, -(guards[family] & 1)
        for word in range(op.WORDS):
            lanes = (np.int64(rows[row, word]) ^ negated) & np.int64(rows[wiring.playing, word])
            while lanes:
                lane = 64 * word + op.lowest_bit(lanes)
                lanes &= lanes - 1
                count = counts[lane]
                for group in range(offsets[family], offsets[family + 1]):
                    # Written in any case, and counted if it holds: a branch here would be guessed wrong too often.
                    opened[count, lane] = group
                    count += op.bit(base, rests[group], lane)
                counts[lane] = count


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
def draw_moves(wiring, role):  # type: ignore[no-untyped-def]
    """A legal move in every lane in which play goes on, each with the same chance; is there one in each?"""
    # Arrays have names of their own here, because taking one out of a tuple costs more than using it.
    opened, counts, todo, tried, chosen = (
        wiring.opened,
        wiring.open_counts,
        wiring.todo,
        wiring.tried,
        wiring.chosen[role],
    )
    bounds, members, rests, generator = wiring.group_bounds, wiring.members, wiring.rests, wiring.generator
    base, places = wiring.base, wiring.places[role]
    left = 0
    for lane in range(op.LANES):
        chosen[lane] = tried[lane] = NOTHING
        todo[left] = lane
        left += counts[lane] > 1
    for _ in range(MAX_TRIES):  # each lane once in a round, so that waiting for memory overlaps
        lanes, left = left, 0
        for k in range(lanes):
            lane = todo[k]
            word = next_word(generator)
            number, place = scale(np.int64(word >> np.uint64(32)), counts[lane]), scale(np.int64(word) & MASK, places)
            if number < 0 or place < 0:
                number, place = 0, places  # a place where there is no move
            group = opened[number, lane]
            member, last = bounds[group, 0] + place, bounds[group, 1] - 1
            tried[lane] = min(member, last)
            # No branch depends on the answer: it would be guessed wrong too often, and then nothing overlaps.
            todo[left] = lane
            left += 1 - ((member <= last) & op.bit(base, rests[tried[lane]], lane))
    for k in range(left):
        tried[todo[k]] = NOTHING
    for lane in range(op.LANES):
        if tried[lane] != NOTHING:
            chosen[lane] = members[tried[lane]]
        elif op.bit(base, 2 * wiring.playing, lane):
            count = 0
            for k in range(counts[lane]):
                count = list_group(base, lane, opened[k, lane], bounds, members, rests, wiring.found, count)
            if count == 0:
                return False
            chosen[lane] = wiring.found[draw(generator, count) if count > 1 else 0]
    return True


@njit(cache=True, nogil=True)
def choose_by_group(wiring, rows):  # type: ignore[no-untyped-def]
    """A random legal move for every role in every lane in which play goes on; -1, or a role that has none in a lane."""
    op.conjoin(wiring.base, wiring.playing, 2 * wiring.active, 2 * wiring.ended + 1)
    for role in range(len(wiring.family_starts) - 1):
        open_groups(wiring, rows, role)
        if not draw_moves(wiring, role):
            return role
    return -1


@njit(cache=True, nogil=True)
def make_moves(wiring, rows):  # type: ignore[no-untyped-def]
    """Write what the chosen moves say: in place of the rows of moves, and of SUMS."""
    offsets, literals, chosen = wiring.touched.offsets, wiring.touched.literals, wiring.chosen
    for literal in wiring.touched.rows:
        op.fill(wiring.base, literal >> 1, -(literal & 1))
    for role in range(len(chosen)):
        start = wiring.move_starts[role] - wiring.move_starts[0]
        for lane in range(op.LANES):
            if chosen[role, lane] != NOTHING:
                move = start + chosen[role, lane]
                for k in range(offsets[move], offsets[move + 1]):
                    make_true(rows, literals[k], lane)
