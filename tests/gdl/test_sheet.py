"""From text to statements: rules in both directions, and the case of names."""

from __future__ import annotations

import pytest

from ggp_agent.errors import GdlSyntaxError
from ggp_agent.gdl import Statement, Term, Variable, parse


def test_rules_in_both_directions_and_constants_in_parentheses() -> None:
    left, right, fact = parse("(<= (p ?x) (q ?x) r) (=> (q ?x) (r) (p ?x)) ((s))".replace("((s))", "(s)")).statements
    assert left == right == Statement(Term("p", (Variable("x"),)), (Term("q", (Variable("x"),)), Term("r")))
    assert fact == parse("s").statements[0]


def test_case_is_folded_only_where_nothing_clashes() -> None:
    sheet = parse("(ROLE White) (Init (Cell a A)) (role white2) (INIT (cell2 White))")
    assert [str(statement) for statement in sheet.statements] == [
        "(role white)",
        "(init (cell a A))",
        "(role white2)",
        "(init (cell2 white))",
    ]
    assert sheet.roles == ("white", "white2")
    assert set(sheet.clashes) == {"a", "A"}


def test_terms_from_outside_are_folded_and_spelled_back() -> None:
    sheet = parse("(role White) (legal White (Move a A)) (legal White stay)")
    term = sheet.term("(MOVE a A)")
    assert str(term) == "(move a A)"
    assert sheet.spelled(term) == "(Move a A)"
    assert sheet.term("( Stay )") == Term("stay")
    for text in ("", "a b", "?x", "((a))", "(a"):
        with pytest.raises(GdlSyntaxError):
            sheet.term(text)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", [(1, 1)]),
        ("; nothing but words", [(1, 1)]),
        ("?x", [(1, 1)]),
        ("((a) b)\n(?x b)", [(1, 1), (2, 1)]),
        ("(<=)", [(1, 1)]),
        ("(<= a ?x)", [(1, 7)]),
        ("(=> ?x a)", [(1, 5)]),
    ],
)
def test_forms_that_mean_nothing(text: str, places: list[tuple[int, int]]) -> None:
    with pytest.raises(GdlSyntaxError) as caught:
        parse(text)
    assert [(finding.line, finding.column) for finding in caught.value.findings] == places
