"""Choosing and making moves by groups, lane by lane, for games with very many moves.

A step of 512 lanes makes 512 moves of each role. Where a role has a hundred thousand, rows for all of them would be
read and written for nothing, so that here a lane has the number of its move (`Groups.chosen`), and only what that move
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
    numba.config.CACHE_DIR = str(cache.folder() / f"kernels-{cache.kernel_sources()}")

NOTHING = -1  # no move
MASK = 0xFFFFFFFF
MAX_TRIES = 100


class Groups(NamedTuple):
    """The groups of a circuit for kernels, apart from its `Wiring`: small games would pay for passing them around."""

    base: int  # address of row 0
    active: int  # row: lanes in which a playout runs
    ended: int  # row: lanes in which it has come to its end
    playing: int  # row: the others
    move_starts: NDArray[np.int64]
    # As in `Circuit`
    family_starts: NDArray[np.int64]
    guards: NDArray[np.int32]  # none if moves are chosen by their rows
    family_offsets: NDArray[np.int64]
    group_rests: NDArray[np.int32]
    group_bounds: NDArray[np.int64]
    members: NDArray[np.int32]
    rests: NDArray[np.int32]
    # What moves write: rows that say that none of some moves is made, and rows of single moves
    touched_rows: NDArray[np.int32]  # literals that do not hold if no move is made
    touched_offsets: NDArray[np.int32]  # int32[rows of moves + 1]: where the literals of each move begin
    touched: NDArray[np.int32]  # those of `touched_rows` that hold if it is made
    # For choosing
    generator: NDArray[np.uint64]  # uint64[4]: the state of a random generator
    places: NDArray[np.int64]  # int64[roles]: the moves of the largest group
    opened: NDArray[np.int32]  # int32[groups + 1, lanes]: the groups of one role that are open in a lane
    open_counts: NDArray[np.int64]  # int64[lanes]: how many they are
    todo: NDArray[np.int64]  # int64[lanes + 1]: the lanes that have no move yet
    tried: NDArray[np.int64]  # int64[lanes]: the member of a group that was tried last
    found: NDArray[np.int32]  # int32[moves]: the legal moves of one role in one lane
    chosen: NDArray[np.int32]  # int32[roles, lanes]: the moves to be made, or NOTHING


def make_groups(circuit: Circuit, base: int, *, active: int, ended: int, playing: int) -> Groups:
    """The groups of a circuit whose rows begin at an address."""
    same = {field: getattr(circuit, field) for field in Groups._fields if hasattr(circuit, field)}
    rows, offsets, literals = touched(circuit)
    return Groups(
        **same,
        base=base,
        active=active,
        ended=ended,
        playing=playing,
        touched_rows=rows,
        touched_offsets=offsets,
        touched=literals,
        generator=np.zeros(4, np.uint64),
        places=places(circuit),
        opened=np.zeros((len(circuit.group_rests) + 1, op.LANES), np.int32),
        open_counts=np.zeros(op.LANES, np.int64),
        todo=np.zeros(op.LANES + 1, np.int64),
        tried=np.zeros(op.LANES, np.int64),
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
    single = start + np.flatnonzero(asked[start:end]) if len(circuit.guards) else np.zeros(0, np.int64)
    moves, literals = [single], [2 * single]
    for row, summed in sums(circuit).items():
        if asked[row]:
            moves.append(summed)
            literals.append(np.full(len(summed), 2 * row + 1))
    number, literal = np.concatenate(moves) - start, np.concatenate(literals).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(number, minlength=end - start))])
    return (np.unique(literal), offsets.astype(np.int32), literal[np.argsort(number, kind="stable")])


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
def legal_moves(groups, role, lane, found):  # type: ignore[no-untyped-def]
    """Write the legal moves of a role in one lane into `found`, once POSITION is computed; how many there are."""
    base, bounds, members, rests = groups.base, groups.group_bounds, groups.members, groups.rests
    count = 0
    for family in range(groups.family_starts[role], groups.family_starts[role + 1]):
        if op.bit(base, groups.guards[family], lane):
            for group in range(groups.family_offsets[family], groups.family_offsets[family + 1]):
                if op.bit(base, groups.group_rests[group], lane):
                    count = list_group(base, lane, group, bounds, members, rests, found, count)
    return count


@njit(cache=True, nogil=True)
def open_groups(groups, rows, role):  # type: ignore[no-untyped-def]
    """List the groups of a role whose moves may be legal, for every lane in which play goes on."""
    base, guards, offsets, rests = groups.base, groups.guards, groups.family_offsets, groups.group_rests
    opened, counts = groups.opened, groups.open_counts
    counts[:] = 0
    for family in range(groups.family_starts[role], groups.family_starts[role + 1]):
        row, negated = guards[family] >> 1, -(guards[family] & 1)
        for word in range(op.WORDS):
            lanes = (np.int64(rows[row, word]) ^ negated) & np.int64(rows[groups.playing, word])
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
def draw_moves(groups, role):  # type: ignore[no-untyped-def]
    """A legal move in every lane in which play goes on, each with the same chance; is there one in each?"""
    # Arrays have names of their own here, because taking one out of a tuple costs more than using it.
    opened, counts, todo, tried, chosen = (
        groups.opened,
        groups.open_counts,
        groups.todo,
        groups.tried,
        groups.chosen[role],
    )
    bounds, members, rests, generator = groups.group_bounds, groups.members, groups.rests, groups.generator
    base, places = groups.base, groups.places[role]
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
        elif op.bit(base, 2 * groups.playing, lane):
            count = 0
            for k in range(counts[lane]):
                count = list_group(base, lane, opened[k, lane], bounds, members, rests, groups.found, count)
            if count == 0:
                return False
            chosen[lane] = groups.found[draw(generator, count) if count > 1 else 0]
    return True


@njit(cache=True, nogil=True)
def choose_by_group(groups, rows):  # type: ignore[no-untyped-def]
    """A random legal move for every role in every lane in which play goes on; -1, or a role that has none in a lane."""
    op.conjoin(groups.base, groups.playing, 2 * groups.active, 2 * groups.ended + 1)
    for role in range(len(groups.family_starts) - 1):
        open_groups(groups, rows, role)
        if not draw_moves(groups, role):
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
