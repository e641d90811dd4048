"""The formatter keeps the rules and the comments, and has nothing to say to its own output."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.gdl import format_text, parse
from ggp_agent.gdl.reader import Comment, Group, read

UGLY = """
;;; A game
   (role   white) (role black)   ; two roles


(<= (legal ?r (move ?x ?y)) (true (control ?r)) ; whose turn
    (true (cell ?x ?y b))
       ; and not there
  (not (blocked ?x ?y)))
#| a block
   of words |#
(=> (true (cell ?x ?y b)) open)
(<= terminal (not open) ; why
 ) (last fact)
"""

TIDY = """\
;;; A game
(role white) (role black)  ; two roles

(<= (legal ?r (move ?x ?y))
    (true (control ?r))  ; whose turn
    (true (cell ?x ?y b))
    ; and not there
    (not (blocked ?x ?y)))
#| a block
   of words |#
(<= open (true (cell ?x ?y b)))
(<= terminal (not open))  ; why
(last fact)
"""


def test_the_layout() -> None:
    assert format_text(UGLY) == TIDY


def comments(group: Group) -> list[Comment]:
    return group.comments + [c for item in group.items if isinstance(item, Group) for c in comments(item)]


space = st.sampled_from([" ", "\n", "\n\n\n", "  ; a comment\n", " #| b |# ", "\n; own line\n", "\t"])
atoms = st.sampled_from(["a", "b1", "?x", "|two words|", "long_name_of_a_relation_that_takes_much_room"])


@st.composite
def sheets(draw: st.DrawFn) -> str:
    """Statements with comments and space anywhere between their tokens."""

    def term(depth: int) -> list[str]:
        if depth == 0 or draw(st.booleans()):
            return [draw(atoms)]
        inner = [token for _ in range(draw(st.integers(0, 3))) for token in term(depth - 1)]
        return ["(", "f", *inner, ")"]

    tokens: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        rule = draw(st.booleans())
        tokens += ["(", "<=" if rule else "p", "head", *(["(", "q", *term(3), ")"] * draw(st.integers(0, 4))), ")"]
    return "".join(token + draw(space) for token in tokens)


@given(sheets())
def test_nothing_is_lost_and_twice_is_once(text: str) -> None:
    tidy = format_text(text)
    assert parse(tidy).statements == parse(text).statements
    assert sorted(c.text for c in comments(read(tidy))) == sorted(c.text for c in comments(read(text)))
    assert format_text(tidy) == tidy
