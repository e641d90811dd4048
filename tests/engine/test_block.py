"""Columns of a block say what the arrays say that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit, typeof, types
from numpy.typing import NDArray

from ggp_agent.engine.block import Block

KINDS = ("<i1", "<i2", "<i4", "<i8", "<u8", "<f4", "<f8")


@njit
def first(block):  # type: ignore[no-untyped-def]
    return block.old[0]


@njit
def copy_line(block):  # type: ignore[no-untyped-def]
    for i in range(len(block.old)):
        block.new[np.int32(i)] = block.old[i]


@njit
def copy_table(block):  # type: ignore[no-untyped-def]
    for i in range(len(block.old)):
        row = block.old[i]
        for j in range(len(row)):
            block.new[i, np.int16(j)] = row[j] if i == 0 else block.old[np.int32(i), j]


@njit
def copy_cube(block, rows, columns):  # type: ignore[no-untyped-def]
    for i in range(len(block.old)):
        for j in range(rows):
            for k in range(columns):
                block.new[i, j, k] = block.old[i, j, k]


def numbers(kind: str, shape: tuple[int, ...]) -> NDArray[Any]:
    low = -120 if np.dtype(kind).kind != "u" else 0
    return np.random.default_rng(1).integers(low, 120, shape).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_read_and_written(kind: str) -> None:
    for copy, shape, more in ((copy_line, (7,), ()), (copy_table, (3, 5), ()), (copy_cube, (2, 3, 4), (3, 4))):
        old = numbers(kind, shape)
        block = Block({"old": old, "new": np.zeros_like(old)})
        copy(block, *more)
        assert np.array_equal(block["new"], old)


@pytest.mark.parametrize("shape", [(9,), (9, 3)])
def test_strides_are_kept_to(shape: tuple[int, ...]) -> None:
    old, new = numbers("<i4", shape)[::2], numbers("<i4", shape)[::2]
    new[:] = 0
    (copy_line if len(shape) == 1 else copy_table)(Block({"old": old, "new": new}))
    assert np.array_equal(new, old)


@pytest.mark.parametrize("known", [True, False])
def test_fields_of_a_record_do_not_touch_each_other(known: bool) -> None:
    records = np.zeros(6, [("old", "<i2"), ("new", "<i4"), ("other", "<i8")])
    records["old"], records["other"] = numbers("<i2", (6,)), numbers("<i8", (6,))
    before = records.copy()
    fields = {name: records[name] for name in ("old", "new", "other")}
    places: dict[str, tuple[str, int | None]] = {"old": ("old", 0), "new": ("old", 2 if known else None)}
    copy_line(Block(fields, steady=fields, records=places))
    assert np.array_equal(records["new"], before["old"])
    assert np.array_equal(records[["old", "other"]], before[["old", "other"]])


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_with_a_sign_have_64_bits(kind: str) -> None:
    block = Block({"old": numbers(kind, (3,))})
    found = first(block)
    loaded = first.overloads[(typeof(block),)].signature.return_type
    assert found == block["old"][0]
    assert loaded == (types.int64 if np.dtype(kind).kind == "i" else typeof(block["old"][0]))
