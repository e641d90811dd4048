"""Cutting rules keeps what they say and tames what they cost."""

from __future__ import annotations

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.engine.conform import conform
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.engine.split import Splitter, names, split
from ggp_agent.gdl import normalise, parse

EDGES = " ".join(f"(e {i} {(7 * i + k) % 30})" for i in range(30) for k in range(1, 6))
CHAIN = " ".join(f"(e ?x{i} ?x{i + 1})" for i in range(7))
GAME = f"""(role r) {EDGES} (init (at 0)) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (legal r (go ?y)) (true (at ?x)) (e ?x ?y)) (<= (next (at ?y)) (does r (go ?y)))
(<= (next (n ?j)) (true (n ?i)) (succ ?i ?j)) (<= terminal (true (n 4)))
(<= (goal r 100) (true (at ?x0)) {CHAIN} (not (e ?x7 ?x0)) (distinct ?x0 ?x5))
(<= (goal r 100) (true (at ?a)) (true (at ?b)) (true (at ?c)) (true (at ?d)) (true (at ?f)) (true (at ?g)) (e ?a ?a))
(<= (goal r 0) (role r) (not (goal r 100)))
"""


def test_a_chain_is_cut_into_steps() -> None:
    rules = normalise(parse(GAME))
    cut = split(rules)
    assert len(cut) > len(rules)
    assert max(len(names(rule.body)) for rule in cut) <= 5
    assert all(Splitter(rules).sizes.ways(rule.body) < 30**4 for rule in cut)
    for rule in cut:  # every variable of a head or a test is bound
        bound = names(literal for literal in rule.body if literal.binds)
        assert names(rule.body) <= bound


def test_what_is_cut_says_the_same() -> None:
    game = Game.from_sheet(parse(GAME), "chain")
    with LanesEngine(game, native=False) as lanes, PrologEngine(game) as prolog:
        assert conform(lanes, prolog, 60) >= 60


@pytest.mark.parametrize("text", ["(<= (p ?x) (q ?x))", "(<= p (q ?x) (q ?y) (distinct ?x ?y))"])
def test_small_rules_stay(text: str) -> None:
    rules = normalise(parse(text))
    assert split(rules) == list(rules)
