"""The kernels against the plain definition, edge for edge, after every simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp_agent.search.config import INFINITE, SearchConfig
from tests.search import plain_ucd as plain
from tests.search.worlds import Copy, World

INF = INFINITE
TRIPLES = [
    *[(0, 0, 0), (1, 0, 0), (INF, 0, 0), (1, 0, 1), (2, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 2), (0, 2, 0), (1, 1, 1)],
    *[(2, 1, 2), (2, 2, 2), (3, 1, 0), (0, 3, 4), (4, 0, 3), (INF, 0, 1), (INF, INF, INF), (0, INF, 0), (0, 0, INF)],
    *[(2, INF, 1), (INF, 2, 3), (1, 0, INF)],
]
WORLDS = {
    "transpositions": World(1),
    "repeats": World(2, back=0.3),
    "many repeats": World(3, positions=12, back=0.5),
    "narrow": World(4, positions=30, moves=2),
    "layers": World(5, positions=22, moves=3, width=4),
}


def depth(d: int) -> float:
    return math.inf if d == INF else d


def compare(copy: Copy, depths: tuple[int, int, int]) -> None:
    """Every edge in the graph, and every node it leaves."""
    g = copy.g
    d1, d2, d3 = map(depth, depths)
    for number, edge in copy.edges.items():
        if not edge.payoffs:
            continue
        assert g["n"][number] == len(edge.payoffs)
        assert g["doubt"][number] == pytest.approx(plain.n(edge, d3) ** -0.5, rel=1e-6)
        mover = edge.origin.mover
        assert g["mean"][number] == pytest.approx(plain.mu(edge, d1, mover), abs=1e-6)
        for role in range(2):
            mean = g["total"][number, role] / g["n"][number]
            assert mean == pytest.approx(plain.mean(edge.payoffs, role), abs=1e-9)
        parent = g["counts"][g["origin"][number], g["parent_layer"]]
        assert parent == pytest.approx(plain.p(edge.origin, d2), rel=1e-9)


def check(depths: tuple[int, int, int], world: World, groups: str, simulations: int) -> None:
    """Every edge is the best choice where it is chosen, and what is known of all edges is right afterwards."""
    config = SearchConfig(depths=depths, solve=False, exploration=0.7, groups=groups)
    copy = Copy(world, config, seed=sum(depths))
    d1, d2, d3 = map(depth, depths)
    for _ in range(simulations):
        worth = {number: plain.u(edge, (d1, d2, d3), 0.7) for number, edge in copy.edges.items()}
        path, payoff = copy.simulate()
        for edge in path:
            mine = next(number for number, other in copy.edges.items() if other is edge)
            others = [worth.get(k, math.inf) for k, other in copy.edges.items() if other.origin is edge.origin]
            assert worth.get(mine, math.inf) >= max(others) - 1e-5
        plain.record(path, payoff)
        compare(copy, depths)


@pytest.mark.parametrize("groups", ["none", "stages:1"])
@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_kernels_compute_what_is_defined(depths: tuple[int, int, int], groups: str) -> None:
    names = list(WORLDS)
    for k in range(2):  # a few worlds each; the long test has them all
        check(depths, WORLDS[names[(TRIPLES.index(depths) + 2 * k) % len(names)]], groups, 30)


@pytest.mark.long
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_kernels_compute_what_is_defined_in_every_world(depths: tuple[int, int, int], world: str) -> None:
    for groups in ("none", "stages:1"):
        check(depths, WORLDS[world], groups, 60)


def test_update_all_gives_a_payoff_to_every_ancestor_once() -> None:
    for name, world in WORLDS.items():
        copy = Copy(world, SearchConfig(update_all=True, solve=False), seed=5)
        for _ in range(80):
            path, payoff = copy.simulate()
            plain.record(path, payoff, update_all=True)
            for number, edge in copy.edges.items():
                assert copy.g["n"][number] == len(edge.payoffs), name
                if edge.payoffs:
                    assert copy.g["mean"][number] == pytest.approx(plain.mean(edge.payoffs, edge.origin.mover))


def test_without_transpositions_all_depths_choose_alike() -> None:
    def paths(depths: tuple[int, int, int], transpositions: bool) -> list[list[object]]:
        config = SearchConfig(depths=depths, solve=False, transpositions=transpositions)
        copy = Copy(World(6, tree=True), config, seed=7)
        found = []
        for _ in range(150):
            path, _ = copy.simulate()
            found.append([edge.label for edge in path])
        return found

    plain_uct = paths((0, 0, 0), False)
    assert len({tuple(path) for path in plain_uct}) > 20
    for depths in TRIPLES:
        assert paths(depths, True) == plain_uct == paths(depths, False)


def test_worlds_have_transpositions_and_repeats() -> None:
    for name, world in WORLDS.items():
        copy = Copy(world, SearchConfig(depths=(0, 0, 0), solve=False), seed=1)
        for _ in range(60):
            copy.simulate()
        children = copy.g["child"][: copy.pool.used(1)]
        linked = children[children >= 0]
        assert len(np.unique(linked)) < len(linked), name
        back = copy.g["level"][linked] <= copy.g["level"][copy.g["origin"][np.flatnonzero(children >= 0)]]
        assert back.any() == (name != "layers")
