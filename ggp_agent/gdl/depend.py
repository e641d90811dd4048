"""What depends on what: between relations, and between single rules.

Relations are keyed by name and number of arguments. `true` and `does` are given from outside, so `next` does not lead
back to `true`. The graph of rules is finer than that of relations: the rule for `(goal ?r 0)` that says
`(not (goal ?r 100))` depends on rules for `(goal ... 100)` only, and so not on itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TypeVar

from ggp_agent.gdl.normal import Rule
from ggp_agent.gdl.terms import Expression, Term, unifiable

Signature = tuple[str, int]
Node = TypeVar("Node")


def relation_graph(rules: Iterable[Rule]) -> dict[Signature, set[Signature]]:
    """Relation -> the relations in bodies of its rules."""
    graph: dict[Signature, set[Signature]] = {}
    for rule in rules:
        needs = graph.setdefault(rule.head.signature, set())
        needs.update(literal.sentence.signature for literal in rule.body if literal.sentence.name != "distinct")
    return graph


def reachable(graph: Mapping[Node, Iterable[Node]], start: Iterable[Node]) -> set[Node]:
    """Everything that `start` depends on, directly or not, and `start` itself."""
    found = set(start)
    todo = list(found)
    while todo:
        for node in graph.get(todo.pop(), ()):
            if node not in found:
                found.add(node)
                todo.append(node)
    return found


def dependents(graph: Mapping[Node, Iterable[Node]], targets: Iterable[Node]) -> set[Node]:
    """Everything that depends on one of `targets`, directly or not, and the targets themselves."""
    reverse: dict[Node, set[Node]] = defaultdict(set)
    for node, needs in graph.items():
        for need in needs:
            reverse[need].add(node)
    return reachable(reverse, targets)


def components(graph: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """The strongly connected components (Tarjan, without recursion): each one after those that it depends on."""
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    stack: list[Node] = []
    on_stack: set[Node] = set()
    found: list[list[Node]] = []
    for root in graph:
        if root in index:
            continue
        if all(map(index.__contains__, graph[root])):  # the usual case: all that it depends on is done
            index[root] = len(index)
            found.append([root])
            continue
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(graph.get(root, ())))]
        while work:
            node, edges = work[-1]
            for need in edges:
                if need not in index:
                    index[need] = low[need] = len(index)
                    stack.append(need)
                    on_stack.add(need)
                    work.append((need, iter(graph.get(need, ()))))
                    break
                if need in on_stack:
                    low[node] = min(low[node], index[need])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(stack.pop())
                        on_stack.discard(component[-1])
                    found.append(component)
    return found


def cycles(graph: Mapping[Node, Set[Node]]) -> list[set[Node]]:
    """The components that hold a cycle."""
    return [set(part) for part in components(graph) if len(part) > 1 or part[0] in graph.get(part[0], ())]


class Heads:
    """Finds rules by what they derive: by the functions and constants among the arguments of their heads."""

    def __init__(self, rules: Sequence[Rule], chosen: Iterable[int]) -> None:
        self.rules = rules
        self.found: dict[tuple[Signature, int, Signature | None], list[int]] = defaultdict(list)
        for index in chosen:
            head = rules[index].head
            self.found[head.signature, -1, None].append(index)
            for place, argument in enumerate(head.args):
                self.found[head.signature, place, outline(argument)].append(index)

    def matching(self, sentence: Term) -> set[int]:
        """The rules that may derive a sentence."""
        candidates = self.found.get((sentence.signature, -1, None), [])
        for place, argument in enumerate(sentence.args):
            if outline(argument) is not None:
                keys = (sentence.signature, place, outline(argument)), (sentence.signature, place, None)
                here = [index for key in keys for index in self.found.get(key, ())]
                candidates = min(candidates, here, key=len)
        return {index for index in candidates if unifiable(sentence, self.rules[index].head)}


def outline(argument: Expression) -> Signature | None:
    return argument.signature if isinstance(argument, Term) else None


def rule_cycles(rules: Sequence[Rule]) -> list[set[int]]:
    """Sets of rules, by index, that depend on each other in a circle."""
    suspects = {signature for part in cycles(relation_graph(rules)) for signature in part}
    heads = Heads(rules, [index for index, rule in enumerate(rules) if rule.body])
    graph = {
        index: {
            target
            for literal in rule.body
            if literal.sentence.signature in suspects
            for target in heads.matching(literal.sentence)
        }
        for index, rule in enumerate(rules)
        if rule.head.signature in suspects and rule.body
    }
    return cycles(graph)


def negates_within(rules: Sequence[Rule], part: Set[int]) -> bool:
    """Does a rule of this circle negate a sentence that a rule of the circle may derive?"""
    heads = Heads(rules, part)
    negated = (literal for index in part for literal in rules[index].body if not literal.positive)
    return any(heads.matching(literal.sentence) for literal in negated)
