"""Rows turned into words of lanes: 64 rows, each with one bit for every lane, become a word of 64 bits for every lane.

That is eight transposes of 64 by 64 bits, one in each word of a row, and they go side by side as vector instructions.
A transpose takes six rounds, in which pairs of rows exchange halves, quarters, and so on. The first three rounds move
whole bytes and the last three bits, each on eight rows at a time, so that all of them are held in registers.

The turned rows lie where rows lie: row j of them holds the words of lanes j, 64 + j, 128 + j, and so on. So the words
of one lane are equally far from each other, and a lane reads one at the address of its first word plus an offset.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from ggp_agent.engine.rowops import ROW_BYTES, VECTOR, WORD, WORDS, load, load_literal, row_operation, store

SIDE = 64  # rows that are turned at a time
HELD = 8  # and held in registers
# From one word of a lane to its next one. With 64 rows all of them would fall on the same few places of the cache.
STRIDE = SIDE + 1


def exchange_parts(builder: Any, left: Any, right: Any, size: int) -> tuple[Any, Any]:
    """Parts of `size` bits, a multiple of 8: the odd ones of `left` change places with the even ones of `right`."""
    count = 8 * ROW_BYTES // size
    kind = ir.VectorType(ir.IntType(size), count)
    parts = builder.bitcast(left, kind), builder.bitcast(right, kind)

    def pick(first: int) -> Any:
        places = [part + which * count for part in range(first, count, 2) for which in range(2)]
        mask = ir.Constant(ir.VectorType(ir.IntType(32), count), places)
        return builder.bitcast(builder.shuffle_vector(*parts, mask), VECTOR)

    return pick(0), pick(1)


def exchange_bits(builder: Any, left: Any, right: Any, size: int) -> tuple[Any, Any]:
    """The same for parts smaller than a byte."""
    even = sum(((1 << size) - 1) << place for place in range(0, 64, 2 * size))
    keep, drop, by = (ir.Constant(VECTOR, [value] * WORDS) for value in (even, even ^ (1 << 64) - 1, size))
    low = builder.or_(builder.and_(left, keep), builder.and_(builder.shl(right, by), drop))
    high = builder.or_(builder.and_(builder.lshr(left, by), keep), builder.and_(right, drop))
    return low, high


def exchange(builder: Any, rows: list[Any], sizes: tuple[int, ...], step: Any) -> None:
    """Rounds of exchanges between eight rows: between those 4 apart, 2 apart, and next to each other."""
    for size, apart in zip(sizes, (4, 2, 1), strict=True):
        for k in range(HELD):
            if not k & apart:
                rows[k], rows[k + apart] = step(builder, rows[k], rows[k + apart], size)


@row_operation
def turn_bytes(builder: Any, base: Any, target: Any, *literals: Any) -> None:
    """The first half of the work: literals k, k + 8, ... of a word, into the rows target, target + 8, ..."""
    rows = [load_literal(builder, base, literal) for literal in literals]
    exchange(builder, rows, (32, 16, 8), exchange_parts)
    for number, row in enumerate(rows):
        store(builder, base, builder.add(target, WORD(HELD * number)), row)


@row_operation
def turn_bits(builder: Any, base: Any, first: Any) -> None:
    """The second half, on eight rows from `first` on."""
    places = [builder.add(first, WORD(number)) for number in range(HELD)]
    rows = [load(builder, base, place) for place in places]
    exchange(builder, rows, (4, 2, 1), exchange_bits)
    for place, row in zip(places, rows, strict=True):
        store(builder, base, place, row)
