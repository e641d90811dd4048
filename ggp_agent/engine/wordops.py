"""Operations on single words: the words of lanes, see `turning`, and those of tables that are read at random.

Tables are known by their addresses. Numba would ask of every index whether it is negative, and keep the length and the
steps of every array at hand, which is more work than reading a word.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features

from ggp_agent.engine.rowops import ROW_BYTES, WORD, row_operation
from ggp_agent.engine.turning import STRIDE

BATCH = 4  # numbers that are looked at together
HALF = ir.IntType(32)
HAS_DEPOSIT = bool(get_host_cpu_features().get("bmi2"))  # an instruction that finds the place of a bit


def entry(builder: Any, address: Any, place: Any, kind: Any, size: int) -> Any:
    """Where the entry of a table is: entries have so many bytes."""
    return builder.inttoptr(builder.add(address, builder.mul(place, WORD(size))), kind.as_pointer())


@row_operation
def word_at(builder: Any, address: Any, place: Any) -> Any:
    """A word of a table"""
    return builder.load(entry(builder, address, place, WORD, 8))


@row_operation
def put_word(builder: Any, address: Any, place: Any, word: Any) -> None:
    """Write a word into a table"""
    builder.store(word, entry(builder, address, place, WORD, 8))


@row_operation
def number_at(builder: Any, address: Any, place: Any) -> Any:
    """A number of a table of numbers of 32 bits"""
    return builder.sext(builder.load(entry(builder, address, place, HALF, 4)), WORD)


@row_operation
def count_upto(builder: Any, address: Any, place: Any, limit: Any) -> Any:
    """How many of BATCH numbers of 32 bits, from a place on, are not above a limit"""
    kind = ir.VectorType(HALF, BATCH)
    single = builder.insert_element(ir.Constant(kind, ir.Undefined), builder.trunc(limit, HALF), HALF(0))
    limits = builder.shuffle_vector(single, single, ir.Constant(kind, [0] * BATCH))
    numbers = builder.load(entry(builder, address, place, kind, 4), align=4)
    found = builder.bitcast(builder.icmp_signed("<=", numbers, limits), ir.IntType(BATCH))
    return builder.ctpop(builder.zext(found, WORD))


@row_operation
def read_word(builder: Any, lane: Any, word: Any) -> Any:
    """A word of the lane whose first one is at the address `lane`"""
    return builder.load(entry(builder, lane, word, WORD, STRIDE * ROW_BYTES))


@row_operation
def read_piece(builder: Any, lane: Any, record: Any, piece: Any) -> Any:
    """The bits of a piece that are set in a lane: `record` is the address of a RECORD"""
    mask = builder.load(entry(builder, record, piece, WORD, 8))
    offset = builder.load(entry(builder, record, builder.add(piece, WORD(4)), HALF, 4))
    return builder.and_(mask, builder.load(entry(builder, lane, builder.sext(offset, WORD), WORD, 1)))


@row_operation
def find_bit(builder: Any, word: Any, rank: Any) -> Any:
    """The place of the set bit of a word that has `rank` set bits before it"""
    if HAS_DEPOSIT:
        kind = ir.FunctionType(WORD, [WORD, WORD])
        deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
        return builder.cttz(builder.call(deposit, [builder.shl(WORD(1), rank), word]), ir.IntType(1)(0))
    place = WORD(0)
    for size in (32, 16, 8, 4, 2, 1):  # by halving
        below = builder.ctpop(builder.and_(word, WORD((1 << size) - 1)))
        above = builder.sext(builder.icmp_signed(">=", rank, below), WORD)
        rank = builder.sub(rank, builder.and_(above, below))
        shift = builder.and_(above, WORD(size))
        word, place = builder.lshr(word, shift), builder.add(place, shift)
    return place
