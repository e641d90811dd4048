"""What selection computes for every edge it looks at, as vector instructions: eight edges at a time, and no jumps.

Which edge is best is a matter of luck, and a processor that guesses a jump wrong waits for longer than all of this
takes. It reads whole lines of cache, and leaves out what does not belong to the edges it is asked about.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ggp_agent.search.graph import UNTRIED

WORD, HALF, BYTE, REAL, BIT = ir.IntType(64), ir.IntType(32), ir.IntType(8), ir.FloatType(), ir.IntType(1)
EDGES = 8  # at a time: two lines of cache
FIELDS = 4  # of an edge, of 4 bytes each: trials, gain and two more
BYTES = 4 * FIELDS  # of an edge
FLOATS, INTS, BITS = (ir.VectorType(kind, EDGES) for kind in (REAL, HALF, BIT))
FEW = 2 * EDGES  # of so many the result says which are the largest
PLACE = 24  # bits of the result: the place of the first of the best
TIE = PLACE + FEW  # bits of the result: then which of the first edges they are, if there are no more; then how many


@intrinsic  # type: ignore[untyped-decorator]
def largest(
    typing_context: Any, trials: Any, first: Any, count: Any, breadth: Any, urgency: Any, skip: Any, wide: Any
) -> Any:
    """The place of the largest (gain + breadth * sqrt(trials)) / trials, and how many there are, as one number.

    It looks at `count` edges. One that is UNTRIED is worth `urgency`, one that is PROVEN its gain, unless `skip` says
    that it is left out. The place is that of the first of them, counted from `first`; there are no ties if there is no
    edge. Of at most FEW edges, the number also says which are the largest, a bit for each. `wide` looks at FEW places
    where EDGES would do, so that it need not be guessed how many there are.
    """

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        column, first_, count_, *terms = values
        whole = cgutils.create_struct_proxy(trials)(context, builder, value=column)
        start = builder.add(builder.add(whole.address, builder.shl(first_, WORD(4))), WORD(trials.offset))
        settings = [splat(builder, term, FLOATS) for term in terms[:2]]
        settings.append(splat(builder, builder.trunc(terms[2], BIT), BITS))
        settings.append(splat(builder, builder.trunc(count_, HALF), INTS))
        one = worth_of(builder, start, INTS(list(range(EDGES))), *settings)
        names = ("alone", "more", "two", "many", "found")
        alone, more, two, many, found = (builder.append_basic_block(name) for name in names)
        is_more = builder.or_(builder.icmp_signed(">", count_, WORD(EDGES)), builder.trunc(terms[3], BIT))
        builder.cbranch(is_more, more, alone)
        builder.position_at_end(alone)
        of_one = first_largest(builder, one)
        builder.branch(found)
        builder.position_at_end(more)
        builder.cbranch(builder.icmp_signed(">", count_, WORD(FEW)), many, two)
        builder.position_at_end(two)
        other = worth_of(builder, builder.add(start, WORD(BYTES * EDGES)), INTS(list(range(EDGES, FEW))), *settings)
        of_two = first_largest(builder, one, other)
        builder.branch(found)
        builder.position_at_end(many)
        of_many = largest_of_many(builder, start, count_, one, settings)
        after = builder.block
        builder.branch(found)
        builder.position_at_end(found)
        result = builder.phi(WORD)
        for value, before in ((of_one, alone), (of_two, two), (of_many, after)):
            result.add_incoming(value, before)
        return result

    word, real = types.int64, types.float32
    return word(trials, word, word, real, real, word, word), generate


def worth_of(builder: Any, start: Any, places: Any, breadth: Any, urgency: Any, skip: Any, count: Any) -> Any:
    """u of EDGES edges at an address: minus infinity for those that are left out, or whose places are not below count.

    `worth` in `select` computes the same.
    """
    worst, untried, one = (FLOATS([value] * EDGES) for value in (float("-inf"), UNTRIED, 1.0))
    line = ir.VectorType(REAL, EDGES * FIELDS // 2)
    lines = [
        builder.load(builder.inttoptr(builder.add(start, WORD(offset)), line.as_pointer()), align=16)
        for offset in (0, 64)
    ]
    n, gain = (builder.shuffle_vector(*lines, INTS([FIELDS * k + field for k in range(EDGES)])) for field in range(2))
    # The root and the quotient do not wait for each other.
    u = builder.fmul(builder.fadd(gain, builder.fmul(breadth, root(builder, n))), builder.fdiv(one, n))
    known = builder.fcmp_ordered("<", n, untried)
    u = builder.select(builder.fcmp_ordered("==", n, untried), urgency, builder.select(known, gain, u))
    left_out = builder.or_(builder.and_(known, skip), builder.icmp_signed(">=", places, count))
    return builder.select(left_out, worst, u)


def first_largest(builder: Any, *parts: Any) -> Any:
    """The result if there are no more edges than these, one or two times EDGES of them."""
    highest = reduce(builder, "fmax", larger(builder, parts[0], parts[-1]))
    level, mine = splat(builder, highest, FLOATS), WORD(0)
    for number, u in enumerate(parts):
        bits = builder.zext(builder.bitcast(builder.fcmp_ordered("==", u, level), BYTE), WORD)
        mine = builder.or_(mine, builder.shl(bits, WORD(EDGES * number)))
    place = builder.or_(builder.shl(mine, WORD(PLACE)), builder.cttz(mine, BIT(0)))
    return together(builder, highest, builder.ctpop(mine), place)


def larger(builder: Any, one: Any, other: Any) -> Any:
    """The larger ones of both vectors."""
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


def largest_of_many(builder: Any, start: Any, count: Any, one: Any, settings: list[Any]) -> Any:
    """The result if more edges follow. Every element of the vectors keeps the best of every eighth edge."""
    before, loop, after = builder.block, builder.append_basic_block("edges"), builder.append_basic_block("all")
    builder.branch(loop)
    builder.position_at_end(loop)
    at, places = builder.phi(WORD), builder.phi(INTS)
    old = [builder.phi(kind) for kind in (FLOATS, INTS, INTS)]
    best, chosen, ties = old
    u = worth_of(builder, builder.add(start, builder.shl(at, WORD(4))), places, *settings)
    better, equal = builder.fcmp_ordered(">", u, best), builder.fcmp_ordered("==", u, best)
    new = (
        builder.select(better, u, best),
        builder.select(better, places, chosen),
        builder.select(better, INTS([1] * EDGES), builder.add(ties, builder.zext(equal, INTS))),
    )
    further = builder.add(at, WORD(EDGES))
    for value, begin, end in (
        (at, WORD(EDGES), further),
        (places, INTS(list(range(EDGES, 2 * EDGES))), builder.add(places, INTS([EDGES] * EDGES))),
        *zip(old, (one, INTS(list(range(EDGES))), INTS([1] * EDGES)), new, strict=True),
    ):
        value.add_incoming(begin, before)
        value.add_incoming(end, loop)
    builder.cbranch(builder.icmp_signed("<", further, count), loop, after)
    builder.position_at_end(after)
    highest = reduce(builder, "fmax", new[0])
    mine = builder.fcmp_ordered("==", new[0], splat(builder, highest, FLOATS))
    number = reduce(builder, "add", builder.select(mine, new[2], INTS([0] * EDGES)))
    lowest = reduce(builder, "umin", builder.select(mine, new[1], INTS([-1] * EDGES)))
    return together(builder, highest, builder.zext(number, WORD), builder.zext(lowest, WORD))


def together(builder: Any, highest: Any, ties: Any, place: Any) -> Any:
    """Both as one number; no ties where all edges were left out."""
    nothing = builder.fcmp_ordered("==", highest, REAL(float("-inf")))
    return builder.or_(builder.shl(builder.select(nothing, WORD(0), ties), WORD(TIE)), place)


def splat(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the same value everywhere."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, HALF(0))
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), INTS([0] * EDGES))


def root(builder: Any, vector: Any) -> Any:
    """The square root of every element of a vector."""
    kind = ir.FunctionType(FLOATS, [FLOATS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{EDGES}f32"), [vector])


def reduce(builder: Any, what: str, vector: Any) -> Any:
    """The largest, the smallest or the sum of the elements of a vector."""
    kind = ir.FunctionType(vector.type.element, [vector.type])
    suffix = f"v{EDGES}{'f32' if vector.type == FLOATS else 'i32'}"
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.vector.reduce.{what}.{suffix}")
    return builder.call(function, [vector], fastmath=("nnan",) if what == "fmax" else ())
