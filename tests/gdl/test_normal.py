"""The normal form says the same as the formula it came from."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.errors import GdlRuleError
from ggp_agent.gdl import Term, normalise, parse
from ggp_agent.gdl.normal import alternatives

ATOMS = [Term(name) for name in "abcd"]
formulas = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.builds(lambda f: Term("not", (f,)), inner),
        st.builds(lambda fs: Term("and", tuple(fs)), st.lists(inner, max_size=3)),
        st.builds(lambda fs: Term("or", tuple(fs)), st.lists(inner, max_size=3)),
    ),
    max_leaves=8,
)


def holds(formula: Term, true: set[Term]) -> bool:
    """What a formula means, by its definition."""
    parts = [holds(arg, true) for arg in formula.args if isinstance(arg, Term)]
    if formula.name == "not":
        return not parts[0]
    if formula.name == "and":
        return all(parts)
    return any(parts) if formula.name == "or" else formula in true


@given(formulas)
def test_alternatives_mean_what_the_formula_means(formula: Term) -> None:
    found = alternatives(formula)
    for values in product([False, True], repeat=len(ATOMS)):
        true = {atom for atom, value in zip(ATOMS, values, strict=True) if value}
        by_literals = any(all((lit.sentence in true) == lit.positive for lit in body) for body in found)
        assert by_literals == holds(formula, true)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("(<= p (not (or a b)))", ["(<= p (not a) (not b))"]),
        ("(<= p (not (and a (not b))))", ["(<= p (not a))", "(<= p b)"]),
        ("(<= p (or a (and b c)) d)", ["(<= p a d)", "(<= p b c d)"]),
        ("(<= p (distinct ?x ?y) (not (q ?y)) (r ?x) (r ?y))", ["(<= p (r ?x) (r ?y) (distinct ?x ?y) (not (q ?y)))"]),
        ("(<= p (not (q ?x)) (r ?x) (s ?x))", ["(<= p (r ?x) (not (q ?x)) (s ?x))"]),
        ("(<= p (or))", []),
        ("(<= p (and))", ["p"]),
        ("(<= p a a)", ["(<= p a)"]),
    ],
)
def test_normal_rules(text: str, rules: list[str]) -> None:
    assert [str(rule) for rule in normalise(parse(text))] == rules


def test_ors_that_multiply_without_end_are_refused() -> None:
    with pytest.raises(GdlRuleError, match="multiply"):
        normalise(parse(f"(<= p {'(or a b) ' * 40})"))
