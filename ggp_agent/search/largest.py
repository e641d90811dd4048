"""What selection computes for every edge it looks at, as vector instructions: four edges at a time, and no jumps.

Which edge is best is a matter of luck, and a processor that guesses a jump wrong waits for longer than all of this
takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ggp_agent.search.table import kernel

WORD, HALF, REAL, BIT = ir.IntType(64), ir.IntType(32), ir.FloatType(), ir.IntType(1)
EDGES = 4  # at a time: a line of cache
FIELDS = 4  # of an edge, of 4 bytes each: doubt, mean and two more
FLOATS, INTS = ir.VectorType(REAL, EDGES), ir.VectorType(HALF, EDGES)
TIE = 32  # of the result, the bits above these are the number of ties
LN_2 = np.float32(np.log(2.0))
ODDS = tuple(np.float32(2.0 / k) for k in (1, 3, 5, 7))  # of the series of ln((1 + z) / (1 - z))


@intrinsic  # type: ignore[untyped-decorator]
def largest(typing_context: Any, doubts: Any, first: Any, count: Any, breadth: Any, urgency: Any, skip: Any) -> Any:
    """The place of the largest mean + breadth * doubt among `count` edges, and how many there are, as one number.

    An edge whose doubt is infinite is worth `urgency`; those without doubt are left out if `skip` says so. The place is
    that of the first of them, counted from `first`; there are no ties if there is no edge.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        column, first_, count_, breadth_, urgency_, skip_ = values
        whole = cgutils.create_struct_proxy(doubts)(context, builder, value=column)
        start = builder.add(builder.add(whole.address, builder.shl(first_, WORD(4))), WORD(doubts.offset))
        scale, hope = splat(builder, breadth_, FLOATS), splat(builder, urgency_, FLOATS)
        skipping = splat(builder, builder.trunc(skip_, BIT), ir.VectorType(BIT, EDGES))
        size = splat(builder, builder.trunc(count_, HALF), INTS)
        worst, infinite = FLOATS([float("-inf")] * EDGES), FLOATS([float("inf")] * EDGES)
        before = builder.block
        loop, after = builder.append_basic_block("edges"), builder.append_basic_block("found")
        builder.cbranch(builder.icmp_signed(">", count_, WORD(0)), loop, after)

        builder.position_at_end(loop)
        at, places = builder.phi(WORD), builder.phi(INTS)
        best, chosen, ties = builder.phi(FLOATS), builder.phi(INTS), builder.phi(INTS)
        place = builder.inttoptr(
            builder.add(start, builder.shl(at, WORD(4))), ir.VectorType(REAL, EDGES * FIELDS).as_pointer()
        )
        line = builder.load(place, align=16)
        doubt, mean = (pick(builder, line, field) for field in range(2))
        u = builder.fadd(mean, builder.fmul(doubt, scale))
        u = builder.select(builder.fcmp_ordered("==", doubt, infinite), hope, u)
        known = builder.fcmp_ordered("==", doubt, FLOATS([0.0] * EDGES))
        barred = builder.or_(builder.and_(known, skipping), builder.icmp_signed(">=", places, size))
        u = builder.select(barred, worst, u)
        better, equal = builder.fcmp_ordered(">", u, best), builder.fcmp_ordered("==", u, best)
        found = (
            builder.select(better, u, best),
            builder.select(better, places, chosen),
            builder.select(better, INTS([1] * EDGES), builder.add(ties, builder.zext(equal, INTS))),
        )
        further = builder.add(at, WORD(EDGES))
        begin = (worst, INTS([-1] * EDGES), INTS([0] * EDGES))
        for value, old, new in zip((best, chosen, ties), begin, found, strict=True):
            value.add_incoming(old, before)
            value.add_incoming(new, loop)
        at.add_incoming(WORD(0), before)
        at.add_incoming(further, loop)
        places.add_incoming(INTS(list(range(EDGES))), before)
        places.add_incoming(builder.add(places, INTS([EDGES] * EDGES)), loop)
        builder.cbranch(builder.icmp_signed("<", further, count_), loop, after)

        builder.position_at_end(after)
        parts = []
        for old, new in zip(begin, found, strict=True):
            part = builder.phi(new.type)
            part.add_incoming(old, before)
            part.add_incoming(new, loop)
            parts.append(part)
        highest = reduce(builder, "fmax", parts[0])
        mine = builder.fcmp_ordered("==", parts[0], splat(builder, highest, FLOATS))
        number = reduce(builder, "add", builder.select(mine, parts[2], INTS([0] * EDGES)))
        lowest = reduce(builder, "umin", builder.select(mine, parts[1], INTS([-1] * EDGES)))
        none = builder.fcmp_ordered("==", highest, REAL(float("-inf")))
        number = builder.select(none, HALF(0), number)
        return builder.or_(builder.shl(builder.zext(number, WORD), WORD(TIE)), builder.zext(lowest, WORD))

    return types.int64(doubts, types.int64, types.int64, types.float32, types.float32, types.int64), generate


def splat(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the same value everywhere."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, HALF(0))
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), INTS([0] * EDGES))


def pick(builder: Any, line: Any, field: int) -> Any:
    """One field of all edges of a line."""
    return builder.shuffle_vector(
        line, ir.Constant(line.type, ir.Undefined), INTS([FIELDS * k + field for k in range(EDGES)])
    )


def reduce(builder: Any, what: str, vector: Any) -> Any:
    """The largest, the smallest or the sum of the elements of a vector."""
    kind = ir.FunctionType(vector.type.element, [vector.type])
    suffix = "v4f32" if vector.type == FLOATS else "v4i32"
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.{what}.{suffix}")
    return builder.call(function, [vector])


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(typing_context: Any, number: Any) -> Any:
    """The bits of a float32 as an integer."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], HALF)

    return types.int32(types.float32), generate


@intrinsic  # type: ignore[untyped-decorator]
def number_of(typing_context: Any, bits: Any) -> Any:
    """The float32 that has these bits."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.bitcast(values[0], REAL)

    return types.float32(types.int32), generate


@kernel
def logarithm(number):  # type: ignore[no-untyped-def]
    """The natural logarithm of a float32 that is 1 or more, to about seven digits: a call would take longer."""
    bits = bits_of(number)
    # number = 2^exponent * fraction, with a fraction between sqrt(1/2) and sqrt(2)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    fraction = number_of(np.int32(bits - (exponent << np.int32(23))))
    z = (fraction - np.float32(1.0)) / (fraction + np.float32(1.0))
    square = z * z
    series = ((ODDS[3] * square + ODDS[2]) * square + ODDS[1]) * square + ODDS[0]
    return np.float32(exponent) * LN_2 + z * series
