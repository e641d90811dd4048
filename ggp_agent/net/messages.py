"""Messages of the GGP protocol: INFO, START, PLAY, STOP, ABORT and PREVIEW, read from text and written as text.

Servers differ in spaces and in case. Keywords are read in any case, match ids and names are kept as they were sent, and
arguments after those that START needs are ignored. Messages come from strangers: each kind may have only so many
characters, the reader bounds nesting and names, and whatever is wrong ends in a ProtocolError that says what and where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from ggp_agent.errors import GdlSyntaxError, ProtocolError
from ggp_agent.gdl.reader import MAX_BYTES, Atom, Group, Node, read, shorten

KEYWORD = re.compile(r"\s*\(\s*([A-Za-z]+)(?=[\s()])")
MAX_CHARACTERS = {
    "info": 10_000,
    "start": MAX_BYTES,
    "play": 500_000,  # the moves of all roles
    "stop": 500_000,
    "abort": 10_000,
    "preview": MAX_BYTES,
}
MAX_CLOCK = 1_000_000  # seconds; some eleven days


@dataclass(frozen=True, kw_only=True, slots=True)
class Info:
    """Who are you, and are you free?"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """A match begins. Clocks are in seconds; `rules` is a rulesheet."""

    match: str
    role: str
    rules: str
    start_clock: int
    play_clock: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Play:
    """Your turn. `moves` holds the texts of the last joint move in the order of roles; None before the first."""

    match: str
    moves: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Stop:
    """The match is over; `moves` as in Play."""

    match: str
    moves: tuple[str, ...] | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Abort:
    """The match was broken off."""

    match: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """Rules that may be played later."""

    rules: str
    clock: int


Message = Info | Start | Play | Stop | Abort | Preview


def keyword(text: str) -> str:
    """The keyword of a message in lower case, before the rest is read; ProtocolError if it is none of the protocol."""
    found = KEYWORD.match(text)
    if found is None:
        raise ProtocolError(f"a message begins with '(' and a keyword, and this one with {shorten(text[:200], 40)!r}")
    word = found.group(1).lower()
    if word not in MAX_CHARACTERS:
        raise ProtocolError(f"{shorten(word, 40)} is no message; there are: {', '.join(MAX_CHARACTERS)}")
    if len(text) > MAX_CHARACTERS[word]:
        allowed = MAX_CHARACTERS[word]
        raise ProtocolError(f"this {word.upper()} has {len(text):,} characters; it may have {allowed:,}")
    return word


def parse(text: str) -> Message:
    """The message in a text; ProtocolError if there is none."""
    word = keyword(text)
    try:
        items = read(text, "<message>").items
    except GdlSyntaxError as error:
        raise ProtocolError(f"{word.upper()} cannot be read: {error.findings[0]}") from error
    (message, *rest) = items
    if rest:
        raise _refuse(word, rest[0], "one message is expected, and here begins a second one")
    assert isinstance(message, Group), "the keyword stood behind a parenthesis"
    return Arguments(word, message).message()


class Arguments:
    """What stands behind a keyword, taken one by one."""

    def __init__(self, word: str, group: Group) -> None:
        self.word = word
        self.group = group
        self.items = group.items[1:]

    def message(self) -> Message:
        if self.word == "info":
            return Info()
        if self.word == "preview":
            return Preview(rules=self.rules(), clock=self.clock("the clock"))
        match = self.atom("the match id")
        if self.word == "start":
            return Start(
                match=match,
                role=str(self.take("the role")),
                rules=self.rules(),
                start_clock=self.clock("the start clock"),
                play_clock=self.clock("the play clock"),
            )
        if self.word == "abort":
            return Abort(match=match)
        kind = Play if self.word == "play" else Stop
        return kind(match=match, moves=self.moves())

    def take(self, what: str) -> Node:
        if not self.items:
            raise _refuse(self.word, self.group, f"{what} is missing")
        return self.items.pop(0)

    def atom(self, what: str) -> str:
        node = self.take(what)
        if not isinstance(node, Atom):
            raise _refuse(self.word, node, f"{what} must be a single name")
        return node.name

    def clock(self, what: str) -> int:
        node = self.take(what)
        text = node.name if isinstance(node, Atom) else ""
        if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MAX_CLOCK):
            raise _refuse(self.word, node, f"{what} must be a whole number of seconds up to {MAX_CLOCK:,}")
        return int(text)

    def rules(self) -> str:
        node = self.take("the rulesheet")
        if not isinstance(node, Group):
            raise _refuse(self.word, node, "the rulesheet must be a list of rules")
        return "\n".join(map(str, node.items))

    def moves(self) -> tuple[str, ...] | None:
        node = self.take("the list of moves")
        if isinstance(node, Group):
            return tuple(map(str, node.items))
        if node.name.lower() != "nil":
            raise _refuse(self.word, node, "the moves must be NIL or a list")
        return None


def _refuse(word: str, node: Node, message: str) -> ProtocolError:
    line, column = node.place
    return ProtocolError(f"{word.upper()}, line {line}, column {column}: {message}: {shorten(str(node), 60)}")


def write(message: Message) -> str:
    """A message in the form in which ggp-base sends it."""
    match message:
        case Info():
            return "( INFO )"
        case Start():
            rules = " ".join(map(spaced_node, read(message.rules).items))
            clocks = f"{message.start_clock} {message.play_clock}"
            return f"( START {message.match} {spaced_text(message.role)} ({rules}) {clocks})"
        case Play() | Stop():
            word = "PLAY" if isinstance(message, Play) else "STOP"
            moves = "NIL" if message.moves is None else f"({' '.join(map(spaced_text, message.moves))} )"
            return f"( {word} {message.match} {moves} )"
        case Abort():
            return f"( ABORT {message.match} )"
        case Preview():
            rules = " ".join(map(spaced_node, read(message.rules).items))
            return f"( PREVIEW ({rules}) {message.clock} )"


def spaced_text(text: str) -> str:
    """One term as servers write it, with spaces around parentheses; ProtocolError if it is not one term."""
    try:
        items = read(text, "<term>").items
    except GdlSyntaxError as error:
        raise ProtocolError(f"{shorten(text, 60)} is no term: {error.findings[0]}") from error
    if len(items) != 1:
        _not_one_term(text)
    return spaced_node(items[0])


def _not_one_term(text: str) -> NoReturn:
    raise ProtocolError(f"exactly one term is expected: {shorten(text, 60)!r}")


def spaced_node(node: Node) -> str:
    return str(node) if isinstance(node, Atom) else f"( {' '.join(map(spaced_node, node.items))} )"
