"""What must be true of graphs whenever no simulation is on its way, and what their numbers are by definition."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import Game
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.gdl import parse
from ggp_agent.search import INFINITE, SearchConfig, Searcher
from ggp_agent.search.edges import FIRST_SPACE
from ggp_agent.search.graph import EXPANDED, GROUP, PROVEN, SIMULTANEOUS, SOLVED, TERMINAL, Pool
from ggp_agent.search.table import EDGES, LISTED, NODES, NONE, find
from tests.engine.games import SHIPPED

HOSTILE = Path(__file__).parents[1] / "hostile"


@cache
def engine_of(name: str) -> LanesEngine:
    """One of our games. Nobody closes it: it holds nothing but memory."""
    return LanesEngine(Game.load(SHIPPED[name].rules), native=False)


def engine_from(text: str) -> LanesEngine:
    return LanesEngine(Game.from_sheet(parse(text), "test"), native=False)


def small(**settings: Any) -> SearchConfig:
    """A configuration for tests, which need little memory."""
    return SearchConfig(**{"megabytes": 16, **settings})


def audit(searcher: Searcher) -> None:
    """All invariants of all pools of a searcher."""
    for worker in searcher.workers:
        audit_pool(worker.pool)
    for role in range(len(searcher.engine.game.roles)):
        if not searcher.position.terminal:
            assert searcher.best(role) in searcher.position.legal[role]


def audit_pool(pool: Pool) -> None:
    g, nodes, edges = pool.block, pool.used(NODES), all_edges(pool)
    assert not g["length"].any() and not g["flying"][edges].any() and not g["running"][:nodes].any()
    origin, child, n = g["origin"][edges], g["child"][edges], g["n"][edges]
    assert (n >= g["end_n"][edges]).all() and (g["end_n"][edges] >= 0).all()
    into_group = (child != NONE) & (g["kind"][child] == GROUP)
    assert not g["end_n"][edges][into_group].any()
    assert (g["total"][edges] <= n[:, None] + 1e-9).all() and (g["total"][edges] >= -1e-9).all()
    # Layer 0 of a node is what its edges say; where several roles choose, each of them says it.
    counted = np.zeros((nodes, g["roles"]))
    np.add.at(counted, (origin, g["role"][edges]), n)
    assert (counted.max(axis=1) == g["counts"][:nodes, 0]).all()
    audit_places(pool)
    # Lists of parents have every edge with a child once.
    listed = 0
    for node in range(nodes):
        edge = g["parent"][node]
        while edge != NONE:
            assert g["child"][edge] == node
            listed, edge = listed + 1, g["next"][edge]
    assert listed == (child != NONE).sum()
    audit_proofs(pool)
    for node in np.flatnonzero(g["kind"][:nodes] != GROUP).tolist():
        found = find(g, g["hash"][node], g["state"][node], g["graph"][node])
        assert found == node or (not g["transpositions"] and found != NONE)


def all_edges(pool: Pool) -> NDArray[np.int64]:
    """The numbers of all edges of all nodes."""
    first, count = (pool.block[name][: pool.used(NODES)].astype(np.int64) for name in ("first", "edges"))
    return np.repeat(first - (np.cumsum(count) - count), count) + np.arange(count.sum())


def audit_places(pool: Pool) -> None:
    """Edges of a node lie together in a place that is theirs alone, and moves that have none in a list of theirs."""
    g, taken, listed = pool.block, np.zeros(pool.used(EDGES), np.int32), np.zeros(pool.used(LISTED), np.int32)
    for node in range(pool.used(NODES)):
        first, count, left = (int(g[name][node]) for name in ("first", "edges", "left"))
        if not g["flags"][node] & EXPANDED:
            assert count == left == g["space"][node] == 0
            continue
        assert (g["origin"][first : first + count] == node).all() and count + left > 0
        assert count <= g["space"][node] or g["space"][node] == 0  # 0: in the place of the position
        taken[first : first + max(count, g["space"][node])] += 1
        listed[g["list"][node] : g["list"][node] + left] += left > 0
        untried = g["listed"][g["list"][node] : g["list"][node] + left].tolist()
        moves = g["move"][first : first + count].tolist()
        assert g["mover"][node] == SIMULTANEOUS or len({*untried, *moves}) == count + left
    for size, first in enumerate(g["free"].tolist()):
        while first != NONE:
            taken[first : first + (FIRST_SPACE << size)] += 1
            first = int(g["next"][first])
    assert taken.max(initial=0) <= 1 and listed.max(initial=0) <= 1


def audit_proofs(pool: Pool) -> None:
    """A proven edge leads to a solved node; a solved node is over, or worth as much as its best proven edge."""
    g, nodes, edges = pool.block, pool.used(NODES), all_edges(pool)
    proven = edges[g["trials"][edges] == PROVEN]
    leads = g["child"][proven]
    assert (leads != NONE).all() and (g["flags"][leads] & SOLVED != 0).all()
    assert np.allclose(g["gain"][proven], g["value"][leads, g["role"][proven]], atol=1e-6)
    for node in np.flatnonzero(g["flags"][:nodes] & SOLVED).tolist():
        if not g["flags"][node] & TERMINAL:
            mine = np.arange(g["first"][node], g["first"][node] + g["edges"][node])
            sound = mine[g["trials"][mine] == PROVEN]
            assert g["value"][node, g["mover"][node]] == g["value"][g["child"][sound], g["mover"][node]].max()


def defined(pool: Pool, depths: tuple[int, int, int]) -> None:
    """Every edge that was taken has the n_{d3}, mu_{d1} and p_{d2} of the definition (see `plain_ucd`)."""
    g = pool.block
    d1, d2, d3 = (math.inf if depth == INFINITE else depth for depth in depths)

    def deeper(edge: int) -> bool:
        child = g["child"][edge]
        if child == NONE or g["mover"][child] == SIMULTANEOUS:
            return False
        return bool(g["kind"][child] == GROUP or g["level"][child] > g["level"][g["origin"][edge]])

    def below(node: int) -> list[int]:
        mine = range(g["first"][node], g["first"][node] + g["edges"][node])
        return [int(edge) for edge in mine if g["n"][edge] > 0]

    @cache
    def n(edge: int, d: float) -> float:
        if d == 0 or not deeper(edge):
            return float(g["n"][edge])
        child = int(g["child"][edge])
        d -= g["kind"][child] != GROUP
        return float(g["end_n"][edge]) + sum(n(f, d) for f in below(child))

    @cache
    def mu(edge: int, d: float, role: int) -> float:
        if d == 0 or not deeper(edge):
            return float(g["total"][edge, role] / g["n"][edge])
        child = int(g["child"][edge])
        d -= g["kind"][child] != GROUP
        total = float(g["end_total"][edge, role]) + sum(mu(f, d, role) * float(g["n"][f]) for f in below(child))
        return total / (float(g["end_n"][edge]) + sum(float(g["n"][f]) for f in below(child)))

    for node in range(pool.used(NODES)):
        shared = g["mover"][node] == SIMULTANEOUS
        for edge in below(node):
            if g["trials"][edge] == PROVEN:
                continue
            trials = n(edge, 0 if shared else d3)
            assert math.isclose(g["trials"][edge], trials, rel_tol=1e-6)
            assert abs(g["gain"][edge] / trials - mu(edge, 0 if shared else d1, int(g["role"][edge]))) < 1e-5
        if not shared and g["edges"][node]:
            total = sum(n(edge, d2) for edge in below(node))
            assert math.isclose(g["counts"][node, g["parent_layer"]], total, rel_tol=1e-9, abs_tol=1e-6)


def tried(pool: Pool) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """All statistics of what the roots reach, by names that do not depend on where things lie in memory.

    A node is called by its graph and state, a group also by the groups on the way to it, a node of a tree by its path.
    """
    g = pool.block
    found: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    joints: dict[int, list[tuple[Any, int]]] = {}
    for node, number, child in pool.joints().tolist():
        joints.setdefault(node, []).append((number, child))
    roots = [(graph, int(root)) for graph, root in enumerate(g["root"]) if root != NONE]
    stack: list[tuple[tuple[Any, ...], int]] = [((graph, g["state"][root].tobytes()), root) for graph, root in roots]
    seen = {name for name, _ in stack}
    while stack:
        name, node = stack.pop()
        fields = ("kind", "flags", "mover", "level", "edges", "left", "open")
        value = g["value"][node].tolist() if g["flags"][node] & SOLVED else None
        numbers = tuple(int(g[field][node]) for field in fields)
        found[name] = (*numbers, value, g["counts"][node].tolist(), g["sums"][node].tolist())
        following = joints.get(node, [])
        for edge in range(g["first"][node], g["first"][node] + g["edges"][node]):
            label = (int(g["role"][edge]), int(g["move"][edge]))
            child = int(g["child"][edge])
            leads = None if child == NONE else g["state"][g["position"][child]].tobytes()
            means = tuple(float(g[field][edge]) for field in ("n", "end_n", "gain", "trials"))
            totals = (g["total"][edge].tolist(), g["end_total"][edge].tolist())
            found[(name, *label)] = (*means, *totals, leads)
            if child != NONE:
                following.append((label, child))
        for label, child in following:
            state = g["state"][g["position"][child]].tobytes()
            longer = g["kind"][child] == GROUP or not g["transpositions"]
            child_name = (*name, label) if longer else (name[0], state)
            if child_name not in seen:
                seen.add(child_name)
                stack.append((child_name, child))
    return found
