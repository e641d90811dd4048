"""Vector instructions of the selection against plain Python."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ggp_agent.engine.block import Block
from ggp_agent.search.graph import EDGE, PROVEN, UNTRIED
from ggp_agent.search.largest import FEW, PLACE, TIE, largest
from ggp_agent.search.select import FIRST_ONES, LOW, nth_best
from ggp_agent.search.table import kernel

DTYPE = np.dtype([(name, kind) for name, (kind, _) in EDGE.items()])


@kernel
def find_largest(g, first, count, breadth, urgency, skip, wide):  # type: ignore[no-untyped-def]
    return largest(g.trials, first, count, np.float32(breadth), np.float32(urgency), np.int64(skip), np.int64(wide))


def worth(trials: np.float32, gain: np.float32, breadth: np.float32, urgency: np.float32) -> np.float32:
    if trials == PROVEN:
        return gain
    if trials == UNTRIED:
        return urgency
    return np.float32((gain + breadth * np.sqrt(trials)) * (np.float32(1) / trials))


def plain(edges: NDArray[Any], breadth: float, urgency: float, skip: bool) -> list[int]:
    """The places of the edges with the largest u."""
    listed = [
        (worth(edge["trials"], edge["gain"], np.float32(breadth), np.float32(urgency)), k)
        for k, edge in enumerate(edges)
        if not (skip and edge["trials"] == PROVEN)
    ]
    best = max((u for u, _ in listed), default=None)
    return [k for u, k in listed if u == best]


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_edge_is_found_with_its_ties(seed: int) -> None:
    random = Random(seed)
    edges = np.zeros(400, DTYPE)
    g = Block({name: edges[name] for name in EDGE}, steady=set(EDGE))
    for _ in range(500):
        first, count = 4 * random.randrange(20), random.choice((0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 40, 288))
        few = random.random() < 0.5  # values, so that there are ties
        edges["child"] = edges["flying"] = random.randrange(-(1 << 31), 1 << 31)
        for edge in range(400):
            edges["gain"][edge] = random.randrange(3) / 4 if few else random.random()
            edges["trials"][edge] = random.choice((PROVEN, UNTRIED, 1.0) if few else (PROVEN, random.uniform(1, 1e5)))
        breadth, urgency, skip = random.choice((0.0, 0.7)), random.choice((math.inf, 0.6)), random.random() < 0.5
        found = int(find_largest(g, first, count, breadth, urgency, skip, random.random() < 0.5))
        places = plain(edges[first : first + count], breadth, urgency, skip)
        assert found >> TIE == len(places)
        assert not places or found & LOW == places[0]
        if places and count <= FEW:
            assert (found >> PLACE) & FIRST_ONES == sum(1 << place for place in places)


@pytest.mark.parametrize("seed", range(3))
def test_every_tie_among_many_edges_is_found(seed: int) -> None:
    random = Random(seed)
    edges = np.zeros(400, DTYPE)
    others = {"first": 4, "edges": 0, "mover": 0, "role": 0, "amaf_n": 0, "amaf_total": 0}
    fields: dict[str, Any] = {name: edges[name] for name in EDGE}
    fields |= {name: np.full(400, value, np.int32) for name, value in others.items()}
    fields |= {"rave": 0.0, "urgency": math.inf, "virtual_loss": 1}
    g = Block(fields, steady=set(EDGE))
    for skip in (True, False) * 20:
        count = random.choice((2, 63, 64, 65, 130, 300))
        fields["edges"][0] = count
        edges["gain"], edges["trials"] = 1.0, 4.0
        for edge in random.sample(range(4, 4 + count), random.randrange(1, min(count, 9) + 1)):
            edges["gain"][edge] = 3.0
        if random.random() < 0.5:  # a whole stretch of proven ones, which may be barred
            edges["trials"][4 + 64 : 4 + 192] = PROVEN
        some = edges[4 : 4 + count]
        good = plain(some, 0.5, math.inf, skip)
        found = [nth_best(g, 0, 0, skip, np.float32(0.5), 4 + good[0], number) for number in range(len(good))]
        assert found == [4 + k for k in good]
