"""The checker: one small fault at a time in a sheet that is otherwise sound."""

from __future__ import annotations

import pytest

from ggp_agent.errors import GdlRuleError
from ggp_agent.gdl import check, parse, playable_rules

SOUND = """
(role white) (role black)
(base (at 1)) (base (at 2)) (input white go) (input black go)
(init (at 1))
(<= (legal ?r go) (role ?r))
(<= (next (at ?y)) (true (at ?x)) (step ?x ?y) (does white go))
(<= terminal (true (at 2)))
(<= (goal ?r 100) (role ?r) (true (at 2)))
(<= (goal ?r 0) (role ?r) (not (goal ?r 100)))
(step 1 2) (step 2 1)
"""


def found(extra: str, base: str = SOUND) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in check(parse(base + extra))]


def test_a_sound_sheet_has_no_findings() -> None:
    assert found("") == []


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("(<= (next (at ?z)) (true (at 1)))", "unsafe"),
        ("(<= terminal (not (true (at ?x))))", "unsafe"),
        ("(<= terminal (true (at ?x)) (distinct ?x ?y))", "unsafe"),
        ("(<= (next (at ?x)) (or (true (at ?x)) terminal))", "unsafe"),
        ("(step ?x 3)", "unsafe"),
        ("(legal white)", "arity"),
        ("(<= terminal (true))", "arity"),
        ("(<= terminal (not (true (at 1)) (true (at 2))))", "arity"),
        ("(<= terminal (distinct 1))", "arity"),
        ("(<= terminal (init (at 1)))", "keyword"),
        ("(<= terminal (next (at 1)))", "keyword"),
        ("(<= terminal (base (at 1)))", "keyword"),
        ("(<= (true (at 1)) terminal)", "keyword"),
        ("(does white go)", "keyword"),
        ("(<= (or a b) terminal)", "keyword"),
        ("(<= terminal (step 1 (not 2)))", "keyword"),
        ("(<= terminal (step 1 (true 2)))", "keyword"),
        ("(<= terminal (<= (step 1 2) (step 2 1)))", "keyword"),
        ("(<= terminal (or ?x (step 1 2)))", "keyword"),
        ("(<= (role red) (step 1 2))", "role"),
        ("(<= (legal red go) (step 1 2))", "role"),
        ("(<= (next (at 1)) (does nobody go))", "role"),
        ("(goal white 101)", "goal"),
        ("(goal white 0100200)", "goal"),
        ("(role (p 1))", "role"),
        ("(goal white much)", "goal"),
        ("(<= (init (at ?x)) (true (at ?x)))", "dependency"),
        ("(<= helper (does white go)) (<= terminal helper)", "dependency"),
        ("(<= (legal ?r stop) (role ?r) (does ?r go))", "dependency"),
        ("(<= (base (at ?x)) (true (at ?x)))", "documentation"),
        ("(<= (count (s ?x)) (count ?x)) (count 0) (<= terminal (count 1))", "recursion"),
    ],
)
def test_errors(extra: str, code: str) -> None:
    assert ("error", code) in found(extra)


@pytest.mark.parametrize(
    ("extra", "code"),
    [
        ("(<= (step 3 4))", "empty"),
        ("(<= terminal (or))", "empty"),
        ("(<= terminal (or (step 1 1) (or (step 1 3))))", "nested"),
        ("(step 1 2 3) (<= terminal (step 1 2 3))", "arity"),
        ("(base at 1)", "arity"),
        ("(<= terminal (true (step 1 2)))", "name"),
        ("(<= terminal (step 1 a,b))", "name"),
        ("(<= terminal (step 1 role))", "keyword"),
        ("(<= terminal (nowhere 1))", "undefined"),
        ("(spare 1)", "unused"),
        ("(step a A)", "case"),
        ("(<= terminal (step ?x ?X))", "case"),
        ("(<= terminal (step ?x ?y) (not (distinct ?x ?y)))", "negation"),
    ],
)
def test_warnings(extra: str, code: str) -> None:
    findings = found(extra)
    assert ("warning", code) in findings
    assert not [finding for finding in findings if finding[0] == "error"]


def test_what_every_game_needs() -> None:
    findings = check(parse("(init a)"))
    assert [finding.message.split("'")[1] for finding in findings] == ["goal", "legal", "role", "terminal"]


def test_recursion_that_stays_finite_is_allowed() -> None:
    assert not found("(<= (far ?x ?y) (step ?x ?y)) (<= (far ?x ?z) (step ?x ?y) (far ?y ?z)) (<= terminal (far 1 1))")


def test_findings_tell_the_place_and_the_rule() -> None:
    (finding,) = check(parse(SOUND + "\n(<= terminal\n    (true (at ?x))\n    (not (step ?x ?y)))", "game.kif"))
    assert str(finding).startswith("game.kif:14:19: error: ?y under 'not' is not bound")
    assert "(<= terminal (true (at ?x)) (not (step ?x ?y)))" in str(finding)


def test_engines_get_rules_only_from_sheets_that_mean_something() -> None:
    rules = playable_rules(parse(SOUND))
    assert {rule.head.name for rule in rules} == {"role", "base", "init", "legal", "next", "terminal", "goal", "step"}
    with pytest.raises(GdlRuleError, match="unsafe"):
        playable_rules(parse(SOUND + "(step ?x 3)"))
    tolerated = playable_rules(parse(SOUND + "(<= (base (at ?x)) (true (at ?x)))"))
    assert "base" not in {rule.head.name for rule in tolerated}
