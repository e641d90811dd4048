"""Messages: what servers send is read, what we send is what ggp-base sends, and nothing else gets through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp_agent.errors import ProtocolError
from ggp_agent.net.messages import Abort, Info, Message, Play, Preview, Start, Stop, keyword, parse, write

START = Start(match="m.1", role="x", rules="(role x)\n(role (o 1))", start_clock=30, play_clock=10)

READ: dict[str, Message] = {
    "( INFO )": Info(),
    "(info)": Info(),
    "\r\n ( Info\t)\n": Info(),
    "( START m.1 x (( role x ) ( role ( o 1 ) ) ) 30 10)": START,
    "(start\nm.1\nx\n((role x)(role (o 1)))\n30\n10 extra (arguments 1))": START,
    "(START m.1 X ((ROLE X)) 1 2)": Start(match="m.1", role="X", rules="(ROLE X)", start_clock=1, play_clock=2),
    "( PLAY Base.ttt.1 NIL )": Play(match="Base.ttt.1", moves=None),
    "(play m nil)": Play(match="m", moves=None),
    "( PLAY m (( mark 1 1 ) noop ) )": Play(match="m", moves=("(mark 1 1)", "noop")),
    "(PLAY m ((MARK 1 1) NOOP))": Play(match="m", moves=("(MARK 1 1)", "NOOP")),
    "(PLAY m (nil))": Play(match="m", moves=("nil",)),
    "(STOP m ((MARK 1 1) NOOP))": Stop(match="m", moves=("(MARK 1 1)", "NOOP")),
    "(STOP m NIL)": Stop(match="m", moves=None),
    "( ABORT m )": Abort(match="m"),
    "( PREVIEW (( role x )) 20 )": Preview(rules="(role x)", clock=20),
}

REFUSED = {
    "": "begins with '('",
    "nonsense": "begins with '('",
    "(": "begins with '('",
    "()": "begins with '('",
    "(HELLO m)": "hello is no message",
    "(INFO": "begins with '('",
    "(INFO (": "never closed",
    "(INFO) (INFO)": "a second one",
    "(PLAY)": "the match id is missing",
    "(PLAY m)": "the list of moves is missing",
    "(PLAY m noop)": "must be NIL or a list",
    "(PLAY (m) nil)": "line 1, column 7: the match id must be a single name",
    "(START m x)": "the rulesheet is missing",
    "(START m x rules 1 1)": "must be a list of rules",
    "(START m x ((role x)) 1)": "the play clock is missing",
    "(START m x ((role x)) -1 1)": "whole number of seconds",
    "(START m x ((role x)) 1.5 1)": "whole number of seconds",
    "(START m x ((role x)) 99999999999999 1)": "whole number of seconds",
    "(START m x ((role x)) ¹ 1)": "whole number of seconds",
    "(PLAY m " + "(" * 300 + ")" * 300 + ")": "nested more than",
    "(PLAY m (" + "x" * 2000 + "))": "characters",
    "(ABORT " + "m" * 20_000 + ")": "it may have 10,000",
    "(PLAY m (" + "noop " * 200_000 + "))": "it may have 500,000",
}


@pytest.mark.parametrize("text", READ)
def test_what_servers_send_is_read(text: str) -> None:
    assert parse(text) == READ[text]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_message_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        parse(text)
    assert REFUSED[text] in str(caught.value) and len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "( INFO )",
        "( START m.1 x (( role x ) ( role ( o 1 ) )) 30 10)",
        "( PLAY m NIL )",
        "( PLAY m (( mark 1 1 ) noop ) )",
        "( STOP m (( mark 1 1 ) noop ) )",
        "( ABORT m )",
        "( PREVIEW (( role x )) 20 )",
    ],
)
def test_messages_are_written_as_ggp_base_writes_them(text: str) -> None:
    assert write(parse(text)) == text


def test_case_of_ids_and_names_is_kept() -> None:
    message = parse("(pLaY MyMatch ((Mark A) nOOp))")
    assert message == Play(match="MyMatch", moves=("(Mark A)", "nOOp"))


def test_only_one_term_can_be_written_as_a_move() -> None:
    for move in ("a b", "", "(a", ")"):
        with pytest.raises(ProtocolError):
            write(Play(match="m", moves=(move,)))


@given(st.text(max_size=60) | st.text(alphabet="()| ;#aAN1\n", max_size=40).map(lambda text: "(PLAY m " + text))
def test_any_text_is_a_message_or_a_protocol_error(text: str) -> None:
    try:
        assert keyword(text)
        assert parse(text)
    except ProtocolError:
        pass
