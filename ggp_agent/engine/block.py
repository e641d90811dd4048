"""Many arrays as one argument of a compiled function.

Numba passes a named tuple of arrays by value, with a reference count for each: with dozens of arrays, a call costs more
than what it does, and compiling takes minutes. A `Block` is passed as one address instead. Kernels read `block.name`:
a number, or a `Column`, which is an array as an address, a length and strides, with `column[i]`, `column[i, j]`,
`column[i, j, k]` and `len(column)`; `column[i]` of two dimensions is a column again. Indices are not checked. Whole
numbers with a sign have 64 bits once they are loaded, so a kernel is not compiled again for nodes that come from
elsewhere.

A column may be a field of a record array, so that what is used together lies together in memory. The compiler is told
which fields are of the same record and how far apart they lie, so it computes where a record is once for all of them;
and that a store into one field changes no other, so it need not load again what it has. A number may be fixed: then it
is a constant of the kernels that are compiled for it, and what it makes unnecessary is not there.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Mapping
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import typeof_impl, unbox
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.pythonapi import NativeValue
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import intrinsic, models, register_model
from numba.np.numpy_support import from_dtype
from numpy.typing import NDArray

WORD = ir.IntType(64)
# Of each field: address or number, length, strides of the first and the second index in bytes, length of the last one
PARTS = ("address", "length", "first", "second", "last")
WORDS = len(PARTS)
Value = NDArray[Any] | int | float
Place = tuple[str, int | None]  # the first field of the record, and how many bytes after it a field lies


class Kind(NamedTuple):
    """What the compiler knows of a field."""

    element: str
    dimensions: int  # 0 for a number
    stride: int  # of the first index if it never changes, or 0
    record: str = ""  # the first field of its record
    offset: int | None = 0  # bytes from there, if that never changes
    value: int | float | None = None  # of a number that never changes


class Block:
    """Arrays and numbers under names. It keeps them alive; kernels see their memory."""

    def __init__(
        self,
        fields: Mapping[str, Value],
        steady: Container[str] = (),
        records: Mapping[str, Place] | None = None,
        fixed: Container[str] = (),
    ) -> None:
        """Strides of `steady` arrays and `fixed` numbers are known to the compiler: others need other kernels.

        So are the places of fields in `records`; no other field may be in the same memory.
        """
        self.steady, self.records, self.fixed = steady, records or {}, fixed
        self.type = BlockType({name: self.kind_of(name, value) for name, value in fields.items()})
        self.words = np.zeros(WORDS * len(fields), np.int64)
        self.address = self.words.ctypes.data
        self.values: dict[str, Value] = {}
        for name, value in fields.items():
            self[name] = value

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    def __setitem__(self, name: str, value: Value) -> None:
        """Put another value of the same kind in the place of one."""
        place = self.type.numbers[name]
        assert self.kind_of(name, value) == self.type.kinds[name], name
        self.values[name] = value
        if isinstance(value, np.ndarray):
            assert value.flags.writeable and (value.ndim == 1 or value.strides[-1] == value.itemsize), name
            second = value.strides[1] if value.ndim > 2 else 0
            self.words[place : place + WORDS] = (
                *(value.ctypes.data, len(value), value.strides[0], second, value.shape[-1]),
            )
        elif isinstance(value, float):
            self.words[place] = np.float64(value).view(np.int64)
        else:
            self.words[place] = value

    def kind_of(self, name: str, value: Value) -> Kind:
        if not isinstance(value, np.ndarray):
            known = value if name in self.fixed else None
            return Kind("<f8" if isinstance(value, float) else "<i8", 0, 0, value=known)
        steady = name in self.steady or (value.ndim == 1 and value.strides[0] == value.itemsize)
        record, offset = self.records.get(name, ("", 0))
        return Kind(value.dtype.str, value.ndim, value.strides[0] if steady else 0, record, offset)


class BlockType(types.Type):  # type: ignore[misc]
    """The type of blocks with these fields."""

    def __init__(self, kinds: dict[str, Kind]) -> None:
        self.kinds = kinds
        self.numbers = {name: WORDS * number for number, name in enumerate(kinds)}
        super().__init__(name=f"Block({[(name, *kind) for name, kind in kinds.items()]})")

    def column(self, name: str) -> ColumnType:
        kind = self.kinds[name]
        return ColumnType(kind.element, kind.dimensions, kind.stride, name if kind.record else "", kind.offset or 0)


class ColumnType(types.Type):  # type: ignore[misc]
    """The type of columns; those of a record have a name."""

    def __init__(self, kind: str, dimensions: int, stride: int, field: str = "", offset: int = 0) -> None:
        self.kind, self.dimensions, self.stride, self.field, self.offset = kind, dimensions, stride, field, offset
        self.element = from_dtype(np.dtype(kind))
        self.loaded = types.int64 if self.element in types.signed_domain else self.element
        super().__init__(name=f"Column({kind}, {dimensions}, {stride}, {field}, {offset})")

    @property
    def row(self) -> ColumnType:
        size = np.dtype(self.kind).itemsize
        return ColumnType(self.kind, 1, size, self.field)


@typeof_impl.register(Block)  # type: ignore[untyped-decorator]
def typeof_block(value: Block, context: Any) -> BlockType:
    return value.type


@register_model(BlockType)
class BlockModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, WORD)


@register_model(ColumnType)
class ColumnModel(models.StructModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [(name, types.int64) for name in PARTS])


@unbox(BlockType)  # type: ignore[untyped-decorator]
def unbox_block(kind: Any, value: Any, context: Any) -> Any:
    address = context.pyapi.object_getattr_string(value, "address")
    native = context.pyapi.long_as_longlong(address)
    context.pyapi.decref(address)
    return NativeValue(native, is_error=cgutils.is_not_null(context.builder, context.pyapi.err_occurred()))


@infer_getattr
class BlockAttributes(AttributeTemplate):  # type: ignore[misc]
    key = BlockType

    def generic_resolve(self, block: BlockType, name: str) -> Any:
        if name not in block.kinds:
            return None
        kind = block.kinds[name]
        return block.column(name) if kind.dimensions else from_dtype(np.dtype(kind.element))


def load_word(builder: Any, address: Any, number: int) -> Any:
    place = builder.inttoptr(builder.add(address, WORD(8 * number)), WORD.as_pointer())
    word = builder.load(place)
    # A block does not change while kernels run, so there is no need to load it again after every store.
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@lower_getattr_generic(BlockType)  # type: ignore[untyped-decorator]
def lower_field(context: Any, builder: Any, block: BlockType, value: Any, name: str) -> Any:
    kind, number = block.kinds[name], block.numbers[name]
    if kind.value is not None:
        return ir.Constant(ir.DoubleType() if kind.element == "<f8" else WORD, kind.value)
    if kind.dimensions == 0:
        word = load_word(builder, value, number)
        return builder.bitcast(word, ir.DoubleType()) if kind.element == "<f8" else word
    column = cgutils.create_struct_proxy(block.column(name))(context, builder)
    record = block.numbers[kind.record or name]
    for k, part in enumerate(PARTS):
        shared = part == "first" or (part == "address" and kind.offset is not None)
        steady = kind.stride and part == "first"
        word = WORD(kind.stride) if steady else load_word(builder, value, (record if shared else number) + k)
        setattr(column, part, word)
    return column._getvalue()


def belongs_to(access: Any, builder: Any, field: str) -> Any:
    """Tell the compiler that a load or a store is of this field, and so not of another one."""
    if field:
        module = builder.module
        root = module.add_metadata([ir.MetaDataString(module, "fields of records")])
        kind = module.add_metadata([ir.MetaDataString(module, field), root, WORD(0)])
        access.set_metadata("tbaa", module.add_metadata([kind, kind, WORD(0)]))
    return access


def index_type(index: Any) -> Any:
    """What an index is cast to: one number, or several."""
    return types.int64 if isinstance(index, types.Integer) else types.UniTuple(types.int64, len(index))


def parts_of(context: Any, builder: Any, column: Any, value: Any) -> Any:
    return cgutils.create_struct_proxy(column)(context, builder, value=value)


def place_of(context: Any, builder: Any, column: Any, value: Any, index: Any) -> Any:
    """The address of an element or of a row."""
    parts = parts_of(context, builder, column, value)
    numbers = [index] if index.type == WORD else cgutils.unpack_tuple(builder, index)
    strides = [parts.first, parts.second] if len(numbers) > 2 else [parts.first]
    strides += [WORD(np.dtype(column.kind).itemsize)] * (len(numbers) - len(strides))
    offset = reduce(builder.add, map(builder.mul, numbers, strides))
    # In this order, because the first sum is the same for all fields of a record.
    return builder.add(builder.add(parts.address, offset), WORD(column.offset))


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(typing_context: Any, column: Any, index: Any) -> Any:
    """Ask for the memory of a row that will be needed soon."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        place = builder.inttoptr(place_of(context, builder, column, *values), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(column, types.int64), generate


@infer_global(len)
class ColumnLength(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        (column,) = arguments
        return types.int64(column) if isinstance(column, ColumnType) else None


@lower_builtin(len, ColumnType)  # type: ignore[untyped-decorator]
def lower_length(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return parts_of(context, builder, signature.args[0], values[0]).length


@infer_global(operator.getitem)
class ColumnGet(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        column, index = arguments
        if not isinstance(column, ColumnType):
            return None
        if isinstance(index, types.Integer) and column.dimensions > 1:
            return column.row(column, types.int64)
        return column.loaded(column, index_type(index))


@lower_builtin(operator.getitem, ColumnType, types.Any)  # type: ignore[untyped-decorator]
def lower_get(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    column = signature.args[0]
    place = place_of(context, builder, column, values[0], values[1])
    if isinstance(signature.return_type, ColumnType):
        return lower_row(context, builder, signature.return_type, parts_of(context, builder, column, values[0]), place)
    element = builder.load(builder.inttoptr(place, context.get_data_type(column.element).as_pointer()))
    belongs_to(element, builder, column.field)
    return context.cast(builder, element, column.element, column.loaded)


def lower_row(context: Any, builder: Any, row: Any, whole: Any, place: Any) -> Any:
    """A row of a column with two dimensions: a column with one."""
    part = cgutils.create_struct_proxy(row)(context, builder)
    part.address = place
    part.length = part.last = whole.last
    part.first, part.second = WORD(row.stride), WORD(0)
    return part._getvalue()


@infer_global(operator.setitem)
class ColumnSet(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        column, index, _ = arguments
        return types.void(column, index_type(index), column.element) if isinstance(column, ColumnType) else None


@lower_builtin(operator.setitem, ColumnType, types.Any, types.Any)  # type: ignore[untyped-decorator]
def lower_set(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    column = signature.args[0]
    place = place_of(context, builder, column, values[0], values[1])
    pointer = builder.inttoptr(place, context.get_data_type(column.element).as_pointer())
    belongs_to(builder.store(values[2], pointer), builder, column.field)
    return context.get_dummy_value()
