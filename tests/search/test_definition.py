"""The kernels against the plain definition, edge for edge, after every simulation."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ggp_agent.search.analysis import means
from ggp_agent.search.config import INFINITE, SearchConfig
from ggp_agent.search.edges import FIRST_SPACE
from ggp_agent.search.graph import GROUP, SOLVED
from ggp_agent.search.ucd import forget_walks
from tests.search import plain_ucd as plain
from tests.search.checks import all_edges, audit_pool
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
    n, seen, gain, total = g["n"], g["trials"], g["gain"], g["total"]
    d1, d2, d3 = map(depth, depths)
    for number, edge in copy.edges.items():
        if not edge.payoffs:
            continue
        assert n[number] == len(edge.payoffs)
        trials = plain.n(edge, d3)
        value = plain.mu(edge, d1, edge.origin.mover)
        losses = g["virtual_loss"] * g["flying"][number]  # simulations on their way count as lost
        assert math.isclose(seen[number], trials + losses, rel_tol=1e-6)
        assert math.isclose(gain[number], value * trials, rel_tol=1e-6, abs_tol=1e-9)
        assert math.isclose(means(g, number), value, abs_tol=1e-5)
        for role in range(2):
            assert math.isclose(total[number, role] / n[number], plain.mean(edge.payoffs, role), abs_tol=1e-9)
        parent = g["counts"][g["origin"][number], g["parent_layer"]]
        assert math.isclose(parent, plain.p(edge.origin, d2), rel_tol=1e-9)


def check(
    depths: tuple[int, int, int], world: World, groups: str, simulations: int, given: NDArray[Any] | None = None
) -> Copy:
    """Every edge is the best choice where it is chosen, and what is known of all edges is right afterwards."""
    config = SearchConfig(depths=depths, solve=False, exploration=0.7, groups=groups)
    copy = Copy(world, config, seed=sum(depths), given=given)
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
    return copy


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


@pytest.mark.parametrize("depths", [(0, 0, 0), (1, 0, 1), (2, 1, 2), (INF, INF, INF)], ids=str)
def test_edges_that_move_to_a_larger_place_keep_what_they_know(depths: tuple[int, int, int]) -> None:
    copy = check(depths, World(6, positions=30, moves=20), "none", 150)
    assert (copy.g["space"][: copy.pool.used(0)] > FIRST_SPACE).any()
    audit_pool(copy.pool)


OVERLAPPING = np.array([[1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1], [0, 1, 1, 0, 0, 1, 1, 0]], np.bool_)
LISTED: dict[str, NDArray[Any] | None] = {"near:1": None, "table": OVERLAPPING, "prior:2": np.arange(8) % 5 / 5.0}
WIDE = {"wide": World(7, positions=40, moves=8), "repeats": World(8, positions=30, moves=7, back=0.3)}


def check_listed(depths: tuple[int, int, int], world: str, groups: str, simulations: int) -> None:
    given = LISTED[groups]
    if given is not None:
        given = np.concatenate([given[..., : WORLDS[world].moves]] * 2, axis=-1)
    copy = check(depths, WORLDS[world], groups, simulations, given)
    g, used = copy.g, copy.pool.used(0)
    assert (g["kind"][:used] == GROUP).any()
    if groups != "prior:2":  # a move in two groups leads to one position
        edges = all_edges(copy.pool)
        inside = edges[g["kind"][g["origin"][edges]] == GROUP]
        ends = [(int(g["position"][g["origin"][edge]]), int(g["move"][edge]), int(g["child"][edge])) for edge in inside]
        ends = [end for end in ends if end[2] >= 0]
        assert len(set(ends)) < len(ends) and len(set(ends)) == len({end[:2] for end in ends})


@pytest.mark.parametrize("groups", LISTED)
@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_listed_groups_are_defined_alike(depths: tuple[int, int, int], groups: str) -> None:
    names = ["transpositions", "repeats", "layers"]
    check_listed(depths, names[TRIPLES.index(depths) % len(names)], groups, 40)


@pytest.mark.long
@pytest.mark.parametrize("world", ["transpositions", "repeats", "layers"])
@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_listed_groups_are_defined_alike_in_every_world(depths: tuple[int, int, int], world: str) -> None:
    for groups in LISTED:
        check_listed(depths, world, groups, 60)


RANKINGS = ("ranked:123:once:6", "ranked:134:every:5", "ranked:123:powers")


@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_ranked_groups_lose_nothing(depths: tuple[int, int, int]) -> None:
    number = TRIPLES.index(depths)
    check_ranked(depths, list(WIDE)[number % 2], RANKINGS[number % 3])


@pytest.mark.long
@pytest.mark.parametrize("world", WIDE)
@pytest.mark.parametrize("depths", TRIPLES, ids=str)
def test_ranked_groups_lose_nothing_in_every_world(depths: tuple[int, int, int], world: str) -> None:
    for groups in RANKINGS:
        check_ranked(depths, world, groups)


def check_ranked(depths: tuple[int, int, int], world: str, groups: str) -> None:
    config = SearchConfig(depths=depths, solve=False, exploration=0.7, groups=groups)
    copy = Copy(WIDE[world], config, seed=sum(depths), lanes=5)
    for _ in range(40):  # one after another
        plain.record(*copy.simulate())
        compare(copy, depths)
    under_way: dict[int, list[object]] = {}
    for _ in range(90):  # at once: groups are formed while others are on their way
        lane = copy.random.randrange(5)
        if lane not in under_way:
            copy.walk(lane)
            under_way[lane] = [edge.label for edge in copy.path(lane)]
            continue
        moves = [label for label in under_way.pop(lane) if label >= 0]  # type: ignore[operator]
        path, payoff = copy.end(lane)
        assert moves == [edge.label for edge in path if edge.label >= 0]  # type: ignore[operator]
        assert all(before.child is edge.origin for before, edge in pairwise(path))
        plain.record(path, payoff)
        compare(copy, depths)
    assert copy.formed > 2
    forget_walks(copy.g)
    assert not copy.g["flying"][all_edges(copy.pool)].any() and not copy.g["running"][: copy.pool.used(0)].any()


@pytest.mark.parametrize("structure", ["123", "134"])
def test_moves_are_ranked_by_their_means(structure: str) -> None:
    copy = Copy(WIDE["wide"], SearchConfig(groups=f"ranked:{structure}:once:32", solve=False), seed=3)
    while not copy.formed:
        plain.record(*copy.simulate())
    ranked = means(copy.g, np.array(copy.members(0)))
    best = sorted(ranked, reverse=True)
    if structure == "123":
        assert ranked.tolist() == best
    else:
        assert sorted(ranked[:3], reverse=True) == [best[0], *best[2:4]]


def test_proven_values_survive_new_groups() -> None:
    for world in (World(9, positions=14, moves=6, width=3), World(10, positions=20, moves=5)):
        values = []
        for groups in ("none", "ranked:134:every:4", "table"):
            given = np.arange(2 * world.moves) % 2 == np.arange(2)[:, None] if groups == "table" else None
            config = SearchConfig(depths=(1, 0, 1), groups=groups, exploration=0.7)
            copy = Copy(world, config, seed=1, given=given)
            for _ in range(400):
                copy.simulate()
            assert copy.g["flags"][0] & SOLVED
            values.append(copy.g["value"][0].tolist())
        assert values[0] == values[1] == values[2]


def test_update_all_gives_a_payoff_to_every_ancestor_once() -> None:
    for name, world in WORLDS.items():
        copy = Copy(world, SearchConfig(update_all=True, solve=False), seed=5)
        for _ in range(80):
            path, payoff = copy.simulate()
            plain.record(path, payoff, update_all=True)
            for number, edge in copy.edges.items():
                assert copy.g["n"][number] == len(edge.payoffs), name
                if edge.payoffs:
                    assert means(copy.g, number) == pytest.approx(plain.mean(edge.payoffs, edge.origin.mover))


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
        edges = all_edges(copy.pool)
        edges = edges[copy.g["child"][edges] >= 0]
        linked = copy.g["child"][edges]
        assert len(np.unique(linked)) < len(linked), name
        back = copy.g["level"][linked] <= copy.g["level"][copy.g["origin"][edges]]
        assert back.any() == (name != "layers")
