"""Negation through a cycle, judged by the ground rules."""

from __future__ import annotations

import pytest

from ggp_agent.engine import Game
from ggp_agent.engine.ground import Limits, check_negation, negative_cycle
from ggp_agent.errors import CannotGround
from ggp_agent.gdl import parse

BASE = """(role r) (init (at a)) (<= (legal r (go ?y)) (true (at ?x)) (edge ?x ?y)) (<= terminal (true (at c)))
(<= (next (at ?y)) (does r (go ?y))) (edge a b) (edge b c)
"""


def game(extra: str) -> Game:
    return Game.from_sheet(parse(BASE + extra), "test")


@pytest.mark.parametrize(
    "extra",
    [
        "(goal r 0)",
        "(<= (goal r 0) (not (goal r 100))) (<= (goal r 100) (true (at c)))",
        # A circle of relations and of rules, but not of sentences: the graph has no way back.
        "(<= (win ?x) (edge ?x ?y) (not (win ?y))) (<= (goal r 0) (win a)) (<= (goal r 100) (not (goal r 0)))",
        # The way back exists in the relation, but no state makes it true.
        "(<= (win ?x) (way ?x ?y) (not (win ?y))) (<= (way ?x ?y) (edge ?x ?y)) (<= (way c a) (true (at d)))"
        "(<= (goal r 0) (win a)) (<= (goal r 100) (not (goal r 0)))",
    ],
)
def test_stratified_in_the_ground(extra: str) -> None:
    assert check_negation(game(extra)) == []


@pytest.mark.parametrize(
    ("extra", "cycle"),
    [
        ("(<= (goal r 0) (not (goal r 100))) (<= (goal r 100) (not (goal r 0)))", ["(goal r 0)", "(goal r 100)"]),
        (
            "(edge c a) (goal r 0) (<= terminal (win a)) (<= (win ?x) (edge ?x ?y) (not (win ?y)))",
            ["(win a)", "(win b)", "(win c)"],
        ),
        (
            "(goal r 0) (<= terminal p (true (at c))) (<= p q) (<= q (true (at b)) (not p))",
            ["p", "q"],
        ),
    ],
)
def test_sentences_that_depend_on_their_own_negation(extra: str, cycle: list[str]) -> None:
    found = game(extra)
    assert negative_cycle(found.rules) == cycle
    (finding,) = check_negation(found)
    assert finding.severity == "error" and cycle[0] in finding.message and finding.line > 0


def test_rules_without_a_finite_ground_form() -> None:
    endless = "(<= (n (s ?x)) (n ?x)) (n 0) (goal r 0) (<= terminal (w 0)) (<= (w ?x) (n ?x) (not (w ?x)))"
    with pytest.raises(CannotGround, match=r"within 1 s|memory"):
        negative_cycle(game(endless).rules, Limits(seconds=1))
