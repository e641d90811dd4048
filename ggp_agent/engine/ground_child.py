"""The child process that grounds: clingo's grounder with an observer of its rules."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import clingo

from ggp_agent.engine.child import Message, serve
from ggp_agent.gdl.depend import components


class Rules(clingo.Observer):
    """Collects ground rules as (head, body), atoms as positive integers and negated ones as negative."""

    def __init__(self) -> None:
        self.found: list[tuple[int, tuple[int, ...]]] = []

    def rule(self, choice: bool, head: Sequence[int], body: Sequence[int]) -> None:
        if not choice and head:
            self.found.append((head[0], tuple(body)))


def coded(symbol: clingo.Symbol) -> Any:
    """A term as `Coder.decode` reads it."""
    if symbol.type == clingo.SymbolType.Number:
        return symbol.number
    return [int(symbol.name[1:]), *map(coded, symbol.arguments)]


def negative_cycle(program: str) -> list[list[Any]]:
    """The atoms of one ground cycle through a negation, each as [predicate, arguments]; empty without one."""
    control = clingo.Control(["--warn=none"])
    rules = Rules()
    control.register_observer(rules)
    control.add("base", [], program)
    control.ground([("base", [])])
    graph: dict[int, set[int]] = defaultdict(set)
    for head, body in rules.found:
        graph[head].update(map(abs, body))
    part_of = {atom: number for number, part in enumerate(components(dict(graph))) for atom in part}
    bad = {part_of[head] for head, body in rules.found for atom in body if atom < 0 and part_of[-atom] == part_of[head]}
    if not bad:
        return []
    part = min(bad)
    symbols = {atom.literal: atom.symbol for atom in control.symbolic_atoms}
    cycle = [symbols[atom] for atom, number in part_of.items() if number == part and atom in symbols]
    return [[symbol.name, [coded(arg) for arg in symbol.arguments]] for symbol in cycle[:20]]


def answer(message: Message) -> Iterator[Message]:
    yield {"cycle": negative_cycle(message["negative_cycle"])}


if __name__ == "__main__":
    serve(answer)
