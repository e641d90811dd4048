"""UCD as it is defined, in plain Python: slow, recursive, and easy to believe.

Statistics are those of Saffidine, Cazenave and Mehat (section 3.3, equations 9 to 13), with three rules of ours: depths
see through groups; an edge back to a position that was first seen no deeper than its origin is looked at with depth 0;
n' counts all payoffs of simulations that ended where the edge leads.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache

Depth = float  # 0, 1, 2, ... or math.inf
Payoff = tuple[float, ...]


@dataclass(eq=False)
class Node:
    key: Hashable
    level: int
    group: bool = False
    mover: int = 0
    edges: list[Edge] = field(default_factory=list)
    parents: list[Edge] = field(default_factory=list)  # edges that lead here


@dataclass(eq=False)
class Edge:
    origin: Node
    label: Hashable
    child: Node | None = None
    payoffs: list[Payoff] = field(default_factory=list)  # of simulations that took it
    ends: list[Payoff] = field(default_factory=list)  # of those that ended where it leads

    @property
    def deeper(self) -> bool:
        return self.child is not None and (self.child.group or self.child.level > self.origin.level)


def mean(payoffs: Sequence[Payoff], role: int) -> float:
    return sum(payoff[role] for payoff in payoffs) / len(payoffs)


def below(edge: Edge) -> list[Edge]:
    """The edges out of where an edge leads that are in the graph."""
    return [f for f in edge.child.edges if f.payoffs] if edge.child else []


@cache  # of the graph as it is: what changes it calls `changed`
def mu(edge: Edge, d: Depth, role: int) -> float:
    if d == 0 or not edge.deeper:
        return mean(edge.payoffs, role)
    assert edge.child
    deeper = d if edge.child.group else d - 1
    total = sum(payoff[role] for payoff in edge.ends)
    total += sum(mu(f, deeper, role) * len(f.payoffs) for f in below(edge))
    return total / (len(edge.ends) + sum(len(f.payoffs) for f in below(edge)))


@cache
def n(edge: Edge, d: Depth) -> float:
    if not edge.payoffs:
        return 0
    if d == 0 or not edge.deeper:
        return len(edge.payoffs)
    assert edge.child
    deeper = d if edge.child.group else d - 1
    return len(edge.ends) + sum(n(f, deeper) for f in below(edge))


def changed() -> None:
    """The graph has changed: nothing that was computed is true any more."""
    mu.cache_clear()
    n.cache_clear()


def p(node: Node, d: Depth) -> float:
    return sum(n(f, d) for f in node.edges)


def u(edge: Edge, depths: tuple[Depth, Depth, Depth], exploration: float) -> float:
    d1, d2, d3 = depths
    if not edge.payoffs:
        return math.inf
    logarithm = math.log(p(edge.origin, d2))
    return mu(edge, d1, edge.origin.mover) + exploration * math.sqrt(logarithm / n(edge, d3))


def record(path: Sequence[Edge], payoff: Payoff, *, update_all: bool = False) -> None:
    """A simulation took this path and got this payoff; with update-all, every edge that leads to its end gets it."""
    for edge in ancestors(path) if update_all else path:
        edge.payoffs.append(payoff)
    path[-1].ends.append(payoff)
    changed()


def ancestors(path: Sequence[Edge]) -> list[Edge]:
    """All edges in the graph from which the end of a path can be reached, those of the path included."""
    found: list[Edge] = list(path)
    nodes = [edge.origin for edge in path] + [node for node in [path[-1].child] if node]
    for node in nodes:  # grows as we go
        for edge in node.parents:
            if edge.payoffs and edge not in found:
                found.append(edge)
                nodes.append(edge.origin)
    return found


def link(edge: Edge, child: Node) -> None:
    if edge.child is None:
        edge.child = child
        child.parents.append(edge)
        changed()
    assert edge.child is child
