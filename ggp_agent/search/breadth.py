"""How broadly to search: c sqrt(ln p) for every number p of simulations through a node, from a table.

To compute the logarithm and the root took half as long as to compare the edges of a node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from ggp_agent.search.table import inlined

FRACTION = 23  # bits of a float32 below its exponent
BIAS = 127  # what its exponent is larger by
STEPS = 8  # of the bits of the fraction, those by which the table is read


def make_breadths(exploration: float) -> NDArray[np.float32]:
    """float32[steps, 2]: c sqrt(ln p) at every step, and what to add for every unit of the bits of p after those of it.

    Steps are the exponent of a float32 and the next bits, so whole numbers up to 2 ** (STEPS + 1) are steps. Between
    them seven digits are right.
    """
    bits = np.arange(BIAS << STEPS, (2 * BIAS + 1) << STEPS, dtype=np.uint32)  # from 1 on to the largest float32
    values = exploration * np.sqrt(np.log((bits << np.uint32(FRACTION - STEPS)).view(np.float32).astype(np.float64)))
    rises = np.diff(values, append=values[-1]) / (1 << (FRACTION - STEPS))
    return np.stack([values, rises], axis=1).astype(np.float32)


@intrinsic  # type: ignore[untyped-decorator]
def bits_of(typing_context: Any, number: Any) -> Any:
    """The bits of a float32 as an integer."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.zext(builder.bitcast(values[0], ir.IntType(32)), ir.IntType(64))

    return types.int64(types.float32), generate


@inlined
def breadth_of(g, p):  # type: ignore[no-untyped-def]
    """c sqrt(ln p) of a float32 that is 1 or more."""
    bits = bits_of(p)
    step = (bits >> (FRACTION - STEPS)) - (BIAS << STEPS)
    rest = np.float32(bits & ((1 << (FRACTION - STEPS)) - 1))
    return g.breadths[step, 0] + rest * g.breadths[step, 1]
