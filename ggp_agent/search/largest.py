"""What selection computes for every edge it looks at, as vector instructions: four edges at a time, and no jumps.

Which edge is best is a matter of luck, and a processor that guesses a jump wrong waits for longer than all of this
takes. It reads whole lines of cache, and leaves out what does not belong to the edges it is asked about.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ggp_agent.search.table import inlined

WORD, HALF, REAL, BIT = ir.IntType(64), ir.IntType(32), ir.FloatType(), ir.IntType(1)
EDGES = 4  # at a time: a line of cache
FIELDS = 4  # of an edge, of 4 bytes each: doubt, mean and two more
FLOATS, INTS = ir.VectorType(REAL, EDGES), ir.VectorType(HALF, EDGES)
TIE = 32  # of the result, the bits above these are the number of ties
LN_2 = np.float32(np.log(2.0))
# Of a polynomial for ln(1 + t) / t that was fitted to 2,000 Chebyshev points of 1 + t between sqrt(1/2) and sqrt(2); t
# times it is right to 6e-8
LOGARITHM = tuple(
    np.float32(factor)
    for factor in (
        *(0.9999999425, -0.5000036309, 0.3333511414, -0.2497007169),
        *(0.1989856505, -0.1724701330, 0.1623418980, -0.1013405675),
    )
)


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
        lines = builder.load(place, align=16)
        doubt, mean = (pick(builder, lines, field) for field in range(2))
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


def pick(builder: Any, lines: Any, field: int) -> Any:
    """One field of all edges."""
    return builder.shuffle_vector(
        lines, ir.Constant(lines.type, ir.Undefined), INTS([FIELDS * k + field for k in range(EDGES)])
    )


def reduce(builder: Any, what: str, vector: Any) -> Any:
    """The largest, the smallest or the sum of the elements of a vector."""
    kind = ir.FunctionType(vector.type.element, [vector.type])
    suffix = f"v{EDGES}{'f32' if vector.type == FLOATS else 'i32'}"
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.{what}.{suffix}")
    return builder.call(function, [vector], fastmath=("nnan",) if what == "fmax" else ())


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


@inlined
def logarithm(number):  # type: ignore[no-untyped-def]
    """The natural logarithm of a float32 that is 1 or more, to about seven digits: a call would take longer."""
    bits = bits_of(number)
    # number = 2^exponent * fraction, with a fraction between sqrt(1/2) and sqrt(2)
    exponent = (bits - np.int32(0x3F3504F3)) >> np.int32(23)
    fraction = number_of(np.int32(bits - (exponent << np.int32(23))))
    t = fraction - np.float32(1.0)
    square = t * t
    low = LOGARITHM[0] + LOGARITHM[1] * t + (LOGARITHM[2] + LOGARITHM[3] * t) * square
    high = LOGARITHM[4] + LOGARITHM[5] * t + (LOGARITHM[6] + LOGARITHM[7] * t) * square
    return np.float32(exponent) * LN_2 + t * (low + high * (square * square))
