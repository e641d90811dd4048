"""The table of breadths against the formula."""

from __future__ import annotations

import math

import numpy as np

from ggp_agent.engine.block import Block
from ggp_agent.search.breadth import breadth_of, make_breadths
from ggp_agent.search.table import kernel


@kernel
def read(g, number):  # type: ignore[no-untyped-def]
    return breadth_of(g, np.float32(number))


def test_breadths_have_seven_digits() -> None:
    g = Block({"breadths": make_breadths(0.7)})
    whole = np.array([*range(1, 600), 12_345, 65_535, 65_537, 16_777_215], np.float32)
    for number in (*whole, *np.geomspace(512, 1e30, 2_000).astype(np.float32)):
        assert math.isclose(read(g, number), 0.7 * math.sqrt(math.log(number)), rel_tol=3e-7, abs_tol=1e-9)
