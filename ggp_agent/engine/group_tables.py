"""What kernels need to choose and make moves by groups: the groups of a circuit as tables, and room to work in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import rowops as op
from ggp_agent.engine.block import Block
from ggp_agent.engine.circuit import SUMS, Circuit
from ggp_agent.engine.network import FALSE, TRUE
from ggp_agent.engine.turning import SIDE, STRIDE
from ggp_agent.engine.wordops import BATCH
from ggp_agent.errors import CannotGround

NOTHING = -1  # no move
MOST_TOUCHED = 1 << 26  # entries of the table of rows that moves touch
LANE_WORDS = 8  # for what is known of a lane while it draws
# A group, or a family, whose groups are the bits of one piece
RECORD = np.dtype(
    [
        ("masks", np.int64, 2),  # of its pieces
        ("offsets", np.int32, 2),  # of their words, in bytes
        ("member", np.int32),  # the first member
        ("first", np.int32),  # the first move, or the group that bit 0 would be
    ]
)


def make_groups(circuit: Circuit, base: int, *, active: int, ended: int, scratch: int, turned: int) -> Block:
    """The groups of a circuit for kernels, whose rows begin at an address.

    They are apart from its `Wiring`, because small games would pay for passing them around. Two rows of scratch are for
    `playing` and `forced`.
    """
    rows, moves = touched(circuit)
    records, members = group_records(circuit)
    family_records = np.zeros(len(circuit.families), RECORD)
    family_records["masks"][:, 0] = circuit.families[:, 1]
    family_records["offsets"][:, 0] = circuit.families[:, 0] * STRIDE * op.ROW_BYTES
    family_records["first"] = circuit.families[:, 2]
    room = op.LANES * (len(circuit.families) + 2 * BATCH)
    open_families = np.zeros(room, np.int32)
    open_bits = np.zeros(room, np.int64)
    befores = np.zeros(room, np.int32)
    drawing = np.zeros((op.LANES, LANE_WORDS), np.int64)
    return Block(
        {
            "base": base,  # address of row 0
            "active": active,  # row: lanes in which a playout runs
            "ended": ended,  # row: lanes in which it has come to its end
            "playing": scratch,  # row: the others
            "forced": scratch + 1,  # row: lanes in which a role has just one move
            "turned": turned,  # row: where the words of lanes begin, see `turning`
            "words": circuit.words,
            "guard_words": circuit.guard_words,
            "records": records.view(np.int64),  # RECORD[groups]: small and side by side: they are read at random
            "family_records": family_records.view(np.int64),  # RECORD[64 * words of guards]
            "group_table": records.ctypes.data,  # address of `records`
            "family_table": family_records.ctypes.data,  # address of `family_records`
            # uint8 or uint32[members]: moves, counted from the first one of their group; none if moves are chosen by
            # their rows
            "members": members,
            # What moves write: rows that say that none of some moves is made, and rows of single moves
            "touched_rows": rows,  # int32[...]: literals that do not hold if no move is made
            # int64[roles]: where the moves of a role begin in `touched`
            "touched_starts": shared_starts(circuit.move_starts - circuit.move_starts[0], moves),
            # uint16 or uint32[moves, most]: which of `touched_rows` hold if a move is made, and then their number. One
            # small record for each move, because these are read at random.
            "touched": moves,
            # For choosing
            "generator": np.zeros(4, np.uint64),  # uint64[4]: the state of a random generator
            **lone_families(circuit),
            "todo": np.zeros(op.LANES + 1, np.int32),  # int32[lanes + 1]: the lanes in which a role has a choice
            # The moves of the largest group
            "largest": int(np.bitwise_count(circuit.piece_masks).sum(axis=1).max(initial=1)),
            # Open families of all lanes, one lane after another, each in whole batches
            "open_families": open_families,  # int32[lanes * families]: their numbers
            "open_bits": open_bits,  # int64[lanes * families]: the bits of their open groups
            "befores": befores,  # int32[lanes * families]: what was counted before each family
            "drawing": drawing,  # int64[lanes, LANE_WORDS]: what is known of each lane, see `by_group`
            # int64[lanes + 1]: addresses in `drawing` of lanes that have no move yet
            "trying": np.zeros(op.LANES + 1, np.int64),
            # Addresses of `open_families`, `open_bits`, `befores` and `drawing`
            "families_at": open_families.ctypes.data,
            "bits_at": open_bits.ctypes.data,
            "befores_at": befores.ctypes.data,
            "lanes_at": drawing.ctypes.data,
            # int32[roles * lanes + 1, 2]: lanes, and the moves of `touched` that are made there
            "making": np.zeros((len(circuit.roles) * op.LANES + 1, 2), np.int32),
            "found": np.zeros(max(map(len, circuit.moves)), np.int32),  # int32[moves]: of one role in one lane, legal
            # int32[roles, lanes]: the moves to be made, or NOTHING
            "chosen": np.full((len(circuit.roles), op.LANES), NOTHING, np.int32),
        }
    )


def group_records(circuit: Circuit) -> tuple[NDArray[np.void], NDArray[Any]]:
    """The fields `records` and `members` of the groups."""
    records = np.zeros(len(circuit.piece_masks), RECORD)
    records["masks"] = circuit.piece_masks
    records["offsets"] = circuit.piece_words * STRIDE * op.ROW_BYTES
    records["member"] = circuit.piece_starts[:, 0]
    members = circuit.members.astype(np.uint32)
    sizes = np.bitwise_count(circuit.piece_masks).sum(axis=1)
    for group, (start, size) in enumerate(zip(circuit.piece_starts[:, 0].tolist(), sizes.tolist(), strict=True)):
        mine = members[start : start + size]
        records["first"][group] = mine.min()
        mine -= mine.min()
    return records, members.astype(np.uint8) if members.max(initial=0) < 1 << 8 else members


def lone_families(circuit: Circuit) -> dict[str, NDArray[np.int32]]:
    """A guard of one move that is always legal then, such as noop, this move, and the other guards of each role.

    FALSE and NOTHING where there is none.
    """
    roles, words = len(circuit.roles), circuit.guard_words
    guards, moves = np.full(roles, FALSE, np.int32), np.full(roles, NOTHING, np.int32)
    others = np.full((roles, SIDE * int(np.diff(words).max(initial=1))), FALSE, np.int32)
    for role in range(roles):
        mine = circuit.words[words[role] : words[role + 1]].ravel()
        others[role, : len(mine)] = mine
        for family, guard in enumerate(mine.tolist(), SIDE * int(words[role])):
            move = lone_move(circuit, family)
            if move != NOTHING and (mine == guard).sum() == 1:
                guards[role], moves[role] = guard, move
                others[role, : len(mine)] = np.where(mine == guard, FALSE, mine)
    return {
        "lone_guards": guards,  # int32[roles]
        "lone_moves": moves,  # int32[roles]
        "other_guards": others,  # int32[roles, guards]
    }


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


def touched(circuit: Circuit) -> tuple[NDArray[np.int32], NDArray[Any]]:
    """What moves write in place of SUMS, as far as other gates ask for it: `touched_rows` and `touched`."""
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
    rows, which = np.unique(literal, return_inverse=True)
    order = np.argsort(number, kind="stable")
    counts = np.bincount(number, minlength=end - start)
    kind = np.uint16 if len(rows) < 1 << 16 else np.uint32
    most = int(counts.max(initial=1))
    if most * (end - start) > MOST_TOUCHED:
        raise CannotGround(f"{end - start:,} moves touch up to {most:,} rows each, which is too much for a table")
    records = np.full((end - start, most), len(rows), kind)
    records[np.arange(records.shape[1]) < counts[:, None]] = which[order]
    return rows, records


def shared_starts(starts: NDArray[np.int64], records: NDArray[Any]) -> NDArray[np.int64]:
    """int64[roles]: where the moves of each role begin, or those of another role that touch the same: less memory."""
    known: dict[bytes, int] = {}
    found = [known.setdefault(records[start:end].tobytes(), start) for start, end in pairwise(starts.tolist())]
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
