"""The reader: what it takes, where it says things are, and what it says of broken text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.errors import GdlSyntaxError
from ggp_agent.gdl.reader import MAX_BYTES, MAX_DEPTH, MAX_TOKENS, Atom, Group, load_text, read
from ggp_agent.gdl.sheet import Builder
from ggp_agent.gdl.terms import Term, Variable, spaced

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
constants = st.builds(Term, names)
variables = st.builds(Variable, st.text("abcXYZ019_+-", min_size=1, max_size=4))
terms = st.recursive(
    constants, lambda inner: st.builds(Term, names, st.lists(inner | variables, min_size=1, max_size=4).map(tuple))
)


def reread(text: str) -> list[object]:
    builder = Builder("<test>", {})
    return [builder.term(item) for item in read(text).items]


@given(terms)
def test_a_term_is_read_back_as_it_was_written(term: Term) -> None:
    assert reread(str(term)) == [term]
    assert reread(spaced(term)) == [term]


def test_places_count_lines_and_columns_from_one() -> None:
    group = read("(a\n  (b ?c))\n|x\ny| d").items
    outer, quoted, last = group
    assert isinstance(outer, Group) and isinstance(outer.items[1], Group)
    assert outer.place == (1, 1)
    assert outer.items[1].place == (2, 3)
    assert outer.items[1].items[1].place == (2, 6)
    assert quoted == Atom("x\ny", quoted.place, True) and quoted.place == (3, 1)
    assert last.place == (4, 4)


def test_comments_are_no_terms() -> None:
    text = "; one (\n(a ; two )\n b) #| three ( #| nested |# ; |# c"
    top = read(text)
    assert [str(item) for item in top.items] == ["(a b)", "c"]
    assert [comment.text for comment in top.comments] == ["; one (", "#| three ( #| nested |# ; |#"]


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("(a | b)", ["(a | b)"]),  # a bar alone is a name
        ("a|b", ["a|b"]),
        (r"|a \| b|", [r"|a \| b|"]),
        (r"|?x| ?x", ["|?x|", "?x"]),
        ('it\'s "q" \\n %', ["it's", '"q"', "\\n", "%"]),
    ],
)
def test_odd_names(text: str, items: list[str]) -> None:
    assert [str(item) for item in read(text).items] == items


def findings(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(GdlSyntaxError) as caught:
        read(text, "x.kif")
    assert all(finding.source == "x.kif" for finding in caught.value.findings)
    return [(finding.line, finding.column, finding.code) for finding in caught.value.findings]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(a))\n)", [(1, 4, "parenthesis"), (2, 1, "parenthesis")]),
        ("(a\n (b", [(1, 1, "parenthesis"), (2, 2, "parenthesis")]),
        ("() (a ())", [(1, 1, "empty"), (1, 7, "empty")]),
        ("a #| b", [(1, 3, "comment")]),
        ("a |b c", [(1, 3, "bar")]),
        ("a \x01b", [(1, 3, "character")]),
        ("(" * (MAX_DEPTH + 5), [(1, MAX_DEPTH, "depth")]),
        ("a" * 2000, [(1, 1, "name")]),
    ],
)
def test_every_error_has_its_place(text: str, found: list[tuple[int, int, str]]) -> None:
    assert findings(text) == found


def test_hostile_size_is_refused_early() -> None:
    assert findings("() " * 1_000_000)[-1][2] == "errors"
    assert findings("a " * (MAX_TOKENS + 10))[0][2] == "size"


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"\xff\xfe\x00", "not a text file"), (b"a" * (MAX_BYTES + 1), "bytes; a rulesheet may have")],
)
def test_files_that_are_no_rulesheets(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.kif"
    path.write_bytes(data)
    with pytest.raises(GdlSyntaxError, match=message):
        load_text(path)
    with pytest.raises(GdlSyntaxError, match="not a file"):
        load_text(tmp_path)
    with pytest.raises(GdlSyntaxError, match="cannot be read"):
        load_text(tmp_path / "missing.kif")
