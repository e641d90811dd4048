"""Operations on rows: vectors of WORDS 64-bit words, one bit for each lane.

Rows lie one after another in one block of memory; an operation names them by their numbers. Numba would compute word
by word, because it cannot know that rows do not overlap, so these are written as vector instructions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WORDS = 8
LANES = 64 * WORDS
ROW_BYTES = 8 * WORDS

WORD = ir.IntType(64)
VECTOR = ir.VectorType(WORD, WORDS)
ONES = ir.Constant(VECTOR, [-1] * WORDS)


def pointer(builder: Any, base: Any, row: Any) -> Any:
    address = builder.add(base, builder.mul(row, WORD(ROW_BYTES)))
    return builder.inttoptr(address, VECTOR.as_pointer())


def load(builder: Any, base: Any, row: Any) -> Any:
    return builder.load(pointer(builder, base, row), align=ROW_BYTES)


def store(builder: Any, base: Any, row: Any, value: Any) -> None:
    builder.store(value, pointer(builder, base, row), align=ROW_BYTES)


def splat(builder: Any, word: Any) -> Any:
    """A vector with the same word everywhere."""
    single = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), word, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WORDS), [0] * WORDS)
    return builder.shuffle_vector(single, ir.Constant(VECTOR, ir.Undefined), zeros)


def load_literal(builder: Any, base: Any, literal: Any) -> Any:
    """The row of a literal, negated if the literal is."""
    row = load(builder, base, builder.lshr(literal, WORD(1)))
    mask = builder.neg(builder.and_(literal, WORD(1)))
    return builder.xor(row, splat(builder, mask))


def any_bit(builder: Any, vector: Any) -> Any:
    """1 if some bit is set, else 0."""
    wide = builder.bitcast(vector, ir.IntType(64 * WORDS))
    return builder.zext(builder.icmp_unsigned("!=", wide, ir.IntType(64 * WORDS)(0)), WORD)


def row_operation(emit: Callable[..., Any]) -> Any:
    """Make `emit(builder, base, numbers...)` a function of the base address and those numbers for compiled code."""

    @intrinsic  # type: ignore[untyped-decorator]
    def operation(typing_context: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            numbers = cgutils.unpack_tuple(builder, values[0], len(given))
            result = emit(builder, *numbers)
            return WORD(0) if result is None else result

        return types.int64(types.StarArgTuple.from_types([types.int64] * len(given))), generate

    return operation


@row_operation
def copy(builder: Any, base: Any, target: Any, literal: Any) -> None:
    """target = literal"""
    store(builder, base, target, load_literal(builder, base, literal))


@row_operation
def conjoin(builder: Any, base: Any, target: Any, left: Any, right: Any) -> None:
    """target = left and right, both literals"""
    value = builder.and_(load_literal(builder, base, left), load_literal(builder, base, right))
    store(builder, base, target, value)


@row_operation
def conjoin_into(builder: Any, base: Any, target: Any, literal: Any) -> None:
    """target = target and literal"""
    store(builder, base, target, builder.and_(load(builder, base, target), load_literal(builder, base, literal)))


@row_operation
def renew(builder: Any, base: Any, latch: Any, literal: Any) -> Any:
    """latch = literal; 1 if that changes it, else 0"""
    old, new = load(builder, base, latch), load_literal(builder, base, literal)
    store(builder, base, latch, new)
    return any_bit(builder, builder.xor(old, new))


@row_operation
def fill(builder: Any, base: Any, target: Any, word: Any) -> None:
    """target = the same word everywhere"""
    store(builder, base, target, splat(builder, word))


@row_operation
def is_any(builder: Any, base: Any, row: Any) -> Any:
    """1 if the row has a bit, else 0"""
    return any_bit(builder, load(builder, base, row))


@row_operation
def half_add(builder: Any, base: Any, total: Any, carry: Any, left: Any, right: Any) -> None:
    """carry, total = left + right"""
    a, b = load(builder, base, left), load(builder, base, right)
    store(builder, base, total, builder.xor(a, b))
    store(builder, base, carry, builder.and_(a, b))


@row_operation
def full_add(builder: Any, base: Any, total: Any, carry: Any, left: Any, right: Any) -> None:
    """carry, total = left + right + carry"""
    a, b, c = load(builder, base, left), load(builder, base, right), load(builder, base, carry)
    either = builder.xor(a, b)
    store(builder, base, total, builder.xor(either, c))
    store(builder, base, carry, builder.or_(builder.and_(a, b), builder.and_(either, c)))


@row_operation
def subtract(builder: Any, base: Any, difference: Any, borrow: Any, left: Any, right: Any) -> None:
    """difference = left - right - borrow, and borrow is what that takes from the next bit"""
    a, b, c = load(builder, base, left), load(builder, base, right), load(builder, base, borrow)
    either = builder.xor(a, b)
    store(builder, base, difference, builder.xor(either, c))
    taken = builder.and_(builder.not_(a), b)
    store(builder, base, borrow, builder.or_(taken, builder.and_(builder.not_(either), c)))


@row_operation
def add_masked(builder: Any, base: Any, target: Any, left: Any, right: Any) -> None:
    """target = target or (left and right)"""
    value = builder.and_(load(builder, base, left), load(builder, base, right))
    store(builder, base, target, builder.or_(load(builder, base, target), value))


@row_operation
def choose_unless(builder: Any, base: Any, target: Any, mask: Any, other: Any) -> None:
    """target = target where mask is set, else other"""
    old, new = load(builder, base, target), load(builder, base, other)
    change = builder.and_(builder.xor(old, new), load(builder, base, mask))
    store(builder, base, target, builder.xor(new, change))


@row_operation
def flip(builder: Any, base: Any, target: Any, mask: Any) -> None:
    """target = not target where mask is set"""
    store(builder, base, target, builder.xor(load(builder, base, target), load(builder, base, mask)))


@row_operation
def either(builder: Any, base: Any, target: Any, left: Any, right: Any) -> None:
    """target = left or right"""
    store(builder, base, target, builder.or_(load(builder, base, left), load(builder, base, right)))


@row_operation
def try_bit(builder: Any, base: Any, drawn: Any, above: Any, candidate: Any, mask: Any, top: Any, todo: Any) -> None:
    """One bit of a number that is drawn, from the lowest up: kept in the lanes of todo; above = number > top so far"""
    bit = builder.and_(load(builder, base, candidate), load(builder, base, mask))
    bit = builder.and_(bit, load(builder, base, todo))
    limit = builder.and_(load(builder, base, top), load(builder, base, todo))
    old = builder.and_(load(builder, base, drawn), builder.not_(load(builder, base, todo)))
    store(builder, base, drawn, builder.or_(old, bit))
    more, same = builder.and_(bit, builder.not_(limit)), builder.not_(builder.xor(bit, limit))
    store(builder, base, above, builder.or_(more, builder.and_(same, load(builder, base, above))))


@row_operation
def split(builder: Any, base: Any, left: Any, right: Any, parent: Any, mask: Any) -> None:
    """left = parent and mask, right = parent and not mask"""
    value, chosen = load(builder, base, parent), load(builder, base, mask)
    store(builder, base, left, builder.and_(value, chosen))
    store(builder, base, right, builder.and_(value, builder.not_(chosen)))


@row_operation
def merge(builder: Any, base: Any, target: Any, row: Any, mask: Any, other: Any) -> None:
    """target = other where mask is set, else row"""
    old, new = load(builder, base, row), load(builder, base, other)
    change = builder.and_(builder.xor(old, new), load(builder, base, mask))
    store(builder, base, target, builder.xor(old, change))


def halves(builder: Any, base: Any) -> Iterator[Halves]:
    """The two halves of all rows, for operations that would need too many registers at once."""
    for half in range(2):
        yield Halves(builder, builder.add(base, WORD(half * ROW_BYTES // 2)))


class Halves:
    """Loads and stores one half of a row."""

    TYPE = ir.VectorType(WORD, WORDS // 2)

    def __init__(self, builder: Any, base: Any) -> None:
        self.builder, self.base = builder, base

    def pointer(self, row: Any, offset: int) -> Any:
        address = self.builder.add(self.base, self.builder.mul(row, WORD(ROW_BYTES)))
        address = self.builder.add(address, WORD(offset * ROW_BYTES))
        return self.builder.inttoptr(address, self.TYPE.as_pointer())

    def load(self, row: Any, offset: int = 0) -> Any:
        return self.builder.load(self.pointer(row, offset), align=ROW_BYTES // 2)

    def store(self, value: Any, row: Any, offset: int = 0) -> None:
        self.builder.store(value, self.pointer(row, offset), align=ROW_BYTES // 2)


@row_operation
def find_choices(builder: Any, base: Any, some: Any, more: Any, first: Any) -> None:
    """Of the eight rows from `first` on: some |= one bit or more, more |= two bits or more in some and these rows"""
    for half in halves(builder, base):
        one, two = half.load(some), half.load(more)
        for k in range(8):
            bit = half.load(first, k)
            two = builder.or_(two, builder.and_(one, bit))
            one = builder.or_(one, bit)
        half.store(one, some)
        half.store(two, more)


@row_operation
def count_block(builder: Any, base: Any, total: Any, first: Any) -> None:
    """Four rows from `total` on = the number of bits in the eight rows from `first` on"""
    for half in halves(builder, base):
        count(half, total, [half.load(first, k) for k in range(8)])


@row_operation
def count_turns(builder: Any, base: Any, total: Any, first: Any, second: Any, turn: Any) -> None:
    """The same of rows that are those from `first` on in the lanes of `turn`, those from `second` on in `turn + 1`"""
    for half in halves(builder, base):
        turns = half.load(turn), half.load(turn, 1)
        count(half, total, [in_turn(builder, half.load(first, k), half.load(second, k), *turns) for k in range(8)])


def count(half: Halves, total: Any, rows: list[Any]) -> None:
    numbers = [[row] for row in rows]
    while len(numbers) > 1:
        numbers = [add(half.builder, left, right) for left, right in zip(numbers[::2], numbers[1::2], strict=True)]
    for bit, value in enumerate(numbers[0]):
        half.store(value, total, bit)


def in_turn(builder: Any, left: Any, right: Any, left_turn: Any, right_turn: Any) -> Any:
    return builder.or_(builder.and_(left, left_turn), builder.and_(right, right_turn))


def add(builder: Any, left: list[Any], right: list[Any]) -> list[Any]:
    """The sum of two numbers of equally many bits."""
    total, carry = [], None
    for a, b in zip(left, right, strict=True):
        either, both = builder.xor(a, b), builder.and_(a, b)
        if carry is None:
            total.append(either)
            carry = both
        else:
            total.append(builder.xor(either, carry))
            carry = builder.or_(both, builder.and_(either, carry))
    return [*total, carry]


class Pick:
    """Of rows that come one after another, the bit that has `rank` set bits before it, in the lanes of `reached`.

    The rank is a number of three rows, at most 7.
    """

    def __init__(self, half: Halves, reached: Any, rank: Any) -> None:
        self.builder = half.builder
        self.left = half.load(reached)
        self.bits = [half.load(rank, k) for k in range(3)]

    def take(self, row: Any) -> Any:
        """The lanes in which this row has the bit."""
        builder, bits = self.builder, self.bits
        later = builder.or_(builder.or_(bits[0], bits[1]), bits[2])
        hit = builder.and_(builder.and_(row, self.left), builder.not_(later))
        self.left = builder.and_(self.left, builder.not_(hit))
        borrow = row
        for j in range(3):
            bits[j], borrow = builder.xor(bits[j], borrow), builder.and_(builder.not_(bits[j]), borrow)
        return hit


@row_operation
def pick_in_block(builder: Any, base: Any, target: Any, first: Any, reached: Any, rank: Any) -> None:
    """Eight rows from `target` on = the bit with this rank among the eight rows from `first` on, and no other"""
    for half in halves(builder, base):
        pick = Pick(half, reached, rank)
        for k in range(8):
            half.store(pick.take(half.load(first, k)), target, k)


@row_operation
def pick_turns(
    builder: Any, base: Any, target: Any, other: Any, first: Any, second: Any, turn: Any, reached: Any, rank: Any
) -> None:
    """The same for `count_turns`: rows from `target` and `other` on; out of turn they are rows `first` and `second`"""
    for half in halves(builder, base):
        pick = Pick(half, reached, rank)
        turns = half.load(turn), half.load(turn, 1)
        for k in range(8):
            rows = half.load(first, k), half.load(second, k)
            hit = pick.take(in_turn(builder, *rows, *turns))
            for place, row, mine in zip((target, other), rows, turns, strict=True):
                forced = builder.and_(row, builder.not_(mine))
                half.store(builder.or_(builder.and_(hit, mine), forced), place, k)


@row_operation
def random_bits(builder: Any, base: Any, target: Any, state: Any) -> None:
    """target = random bits; the four rows from `state` on are the states of xoshiro256++ generators, one a word"""
    s = [load(builder, base, builder.add(state, WORD(i))) for i in range(4)]

    def rotate(value: Any, bits: int) -> Any:
        left, right = (ir.Constant(VECTOR, [count] * WORDS) for count in (bits, 64 - bits))
        return builder.or_(builder.shl(value, left), builder.lshr(value, right))

    store(builder, base, target, builder.add(rotate(builder.add(s[0], s[3]), 23), s[0]))
    shifted = builder.shl(s[1], ir.Constant(VECTOR, [17] * WORDS))
    s[2] = builder.xor(s[2], s[0])
    s[3] = builder.xor(s[3], s[1])
    s[1] = builder.xor(s[1], s[2])
    s[0] = builder.xor(s[0], s[3])
    s[2] = builder.xor(s[2], shifted)
    s[3] = rotate(s[3], 45)
    for i in range(4):
        store(builder, base, builder.add(state, WORD(i)), s[i])


def word_of(builder: Any, base: Any, literal: Any, lane: Any) -> Any:
    """Where the word of a lane is in the row of a literal."""
    row = builder.mul(builder.lshr(literal, WORD(1)), WORD(ROW_BYTES))
    word = builder.shl(builder.lshr(lane, WORD(6)), WORD(3))
    return builder.inttoptr(builder.add(base, builder.add(row, word)), WORD.as_pointer())


@row_operation
def bit(builder: Any, base: Any, literal: Any, lane: Any) -> Any:
    """1 if a literal holds in a lane, else 0"""
    value = builder.load(word_of(builder, base, literal, lane))
    value = builder.lshr(value, builder.and_(lane, WORD(63)))
    return builder.and_(builder.xor(value, literal), WORD(1))


@row_operation
def make_true(builder: Any, base: Any, literal: Any, lane: Any) -> None:
    """Make a literal true in one lane"""
    place = word_of(builder, base, literal, lane)
    negated = builder.neg(builder.and_(literal, WORD(1)))
    value = builder.xor(builder.load(place), negated)
    value = builder.or_(value, builder.shl(WORD(1), builder.and_(lane, WORD(63))))
    builder.store(builder.xor(value, negated), place)


@row_operation
def lowest_bit(builder: Any, word: Any) -> Any:
    """The number of the lowest set bit of a word, 64 if there is none"""
    return builder.cttz(word, ir.IntType(1)(0))


@row_operation
def count_bits(builder: Any, word: Any) -> Any:
    """The number of set bits of a word"""
    return builder.ctpop(word)


@row_operation
def call(builder: Any, address: Any, base: Any) -> Any:
    """Call compiled code that works on the rows at `base`."""
    function = ir.FunctionType(WORD, [WORD])
    return builder.call(builder.inttoptr(address, function.as_pointer()), [base])
