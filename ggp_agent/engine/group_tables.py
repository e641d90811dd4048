"""What kernels need to choose and make moves by groups: the groups of a circuit as tables, and room to work in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import rowops as op
from ggp_agent.engine.circuit import SUMS, Circuit
from ggp_agent.engine.network import FALSE, TRUE
from ggp_agent.engine.turning import SIDE, STRIDE

BATCH = 4  # set bits that are listed at once
NOTHING = -1  # no move


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
    piece_masks: NDArray[np.int64]  # int64[2 * groups]: the masks of `piece_parts`
    piece_starts: NDArray[np.int32]  # int32[2 * groups]: the first member
    members: NDArray[np.int32]  # as in `Circuit`; none if moves are chosen by their rows
    # What moves write: rows that say that none of some moves is made, and rows of single moves
    touched_rows: NDArray[np.int32]  # literals that do not hold if no move is made
    touched_starts: NDArray[np.int64]  # int64[roles]: where the moves of a role begin in `touched_offsets`
    touched_offsets: NDArray[np.int32]  # int32[rows of moves + 1]: where the literals of each move begin
    touched: NDArray[np.int32]  # those of `touched_rows` that hold if it is made
    # For choosing
    generator: NDArray[np.uint64]  # uint64[4]: the state of a random generator
    # A guard of one move that is always legal then, such as noop, and this move; FALSE and NOTHING if there is none
    lone_guards: NDArray[np.int32]  # int32[roles]
    lone_moves: NDArray[np.int32]  # int32[roles]
    other_guards: NDArray[np.int32]  # int32[roles, guards]: the other guards of a role
    todo: NDArray[np.int32]  # int32[lanes + 1]: the lanes in which a role has a choice
    largest: int  # the moves of the largest group
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
    families = len(circuit.families)
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
        piece_masks=circuit.piece_masks.ravel().view(np.int64),
        piece_starts=circuit.piece_starts.ravel(),
        members=circuit.members,
        touched_rows=rows,
        touched_starts=shared_starts(circuit.move_starts - circuit.move_starts[0], offsets, literals),
        touched_offsets=offsets,
        touched=literals,
        generator=np.zeros(4, np.uint64),
        **lone_families(circuit),
        todo=np.zeros(op.LANES + 1, np.int32),
        largest=int(np.bitwise_count(circuit.piece_masks).sum(axis=1).max(initial=1)),
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
    found = np.zeros((masks.size, 2), np.int64)
    found[:, 0] = masks.ravel().view(np.int64)
    found[:, 1] = words.ravel().astype(np.int64) * STRIDE * op.ROW_BYTES
    return found


def lone_families(circuit: Circuit) -> dict[str, NDArray[np.int32]]:
    """The fields `lone_guards`, `lone_moves` and `other_guards` of `Groups`."""
    roles, words = len(circuit.roles), circuit.guard_words
    guards, moves = np.full(roles, FALSE, np.int32), np.full(roles, NOTHING, np.int32)
    others = np.full((roles, SIDE * int(np.diff(words).max(initial=0))), FALSE, np.int32)
    for role in range(roles):
        mine = circuit.words[words[role] : words[role + 1]].ravel()
        others[role, : len(mine)] = mine
        for family, guard in enumerate(mine.tolist(), SIDE * int(words[role])):
            move = lone_move(circuit, family)
            if move != NOTHING and (mine == guard).sum() == 1:
                guards[role], moves[role] = guard, move
                others[role, : len(mine)] = np.where(mine == guard, FALSE, mine)
    return {"lone_guards": guards, "lone_moves": moves, "other_guards": others}


def lone_move(circuit: Circuit, family: int) -> int:
    """The only move of a family, if it is legal whenever the guard holds."""
    word, mask, number = circuit.families[family].tolist()
    group = number + mask.bit_length() - 1
    if mask.bit_count() != 1 or np.bitwise_count(circuit.piece_masks[group]).sum() != 1:
        return NOTHING
    (piece,) = np.flatnonzero(circuit.piece_masks[group]).tolist()
    bits = (word, mask), (int(circuit.piece_words[group, piece]), int(circuit.piece_masks[group, piece]))
    if any(circuit.words[place, bit.bit_length() - 1] != TRUE for place, bit in bits):
        return NOTHING
    return int(circuit.members[circuit.piece_starts[group, piece]])


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
