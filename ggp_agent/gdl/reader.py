"""KIF text -> nested lists of atoms with their places.

The reader takes what real rulesheets hold: `;` comments to the end of the line, `#| ... |#` comments, which may nest,
and names in bars such as `|two words|`, where a backslash makes the next character plain. A bar that stands alone is
an ordinary name. It never recurses and stops early on hostile text, and it reports every error of a file together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ggp_agent.errors import Finding, GdlSyntaxError
from ggp_agent.gdl.terms import Place, spell

MAX_BYTES = 4_000_000  # the largest public rulesheets have less than a tenth of this
MAX_TOKENS = 400_000
MAX_NAME = 1_000  # characters
MAX_DEPTH = 200  # nested parentheses; public rulesheets stay below 20
MAX_ERRORS = 100  # after these the rest of a file is not read

TOKEN = re.compile(
    r"""(?P<space>[^\S\n]+) | (?P<newline>\n) | (?P<line>;[^\n]*) | (?P<block>\#\|) | (?P<open>\() | (?P<close>\))
      | (?P<bars>\|(?![\s()|])(?:[^|\\]|\\.)*\|) | (?P<lone>\|(?=[\s()]|\Z)) | (?P<unclosed>\|)
      | (?P<atom>[^\s()|;][^\s();]*)""",
    re.VERBOSE | re.DOTALL,
)
BLOCK_EDGE = re.compile(r"#\||\|#")


@dataclass(frozen=True, slots=True)
class Atom:
    """A name or a variable as it stands in the text."""

    name: str
    place: Place
    quoted: bool = False  # it stood in bars, so that a leading `?` does not make a variable

    def __str__(self) -> str:
        return spell(self.name) if self.quoted or not self.name.startswith("?") else self.name


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its marks; `own_line` when nothing but space stands before it on its line."""

    text: str
    place: Place
    own_line: bool


@dataclass(slots=True)
class Group:
    """What stood between two parentheses. Comments among the items are kept for the formatter."""

    place: Place
    items: list[Atom | Group] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)
    last_line: int = 0  # of the closing parenthesis

    def __str__(self) -> str:
        return f"({' '.join(map(str, self.items))})"


Node = Atom | Group


def shorten(text: str, width: int = 100) -> str:
    """The text on one line, cut to `width` characters."""
    line = " ".join(text[: 4 * width].split())
    return line if len(line) <= width else line[: width - 3] + "..."


def load_text(path: Path) -> str:
    """The text of a rulesheet, or a GdlSyntaxError that says why there is none."""

    def refuse(message: str) -> GdlSyntaxError:
        return GdlSyntaxError([Finding(0, 0, "error", "file", message, source=str(path))])

    try:
        size = path.stat().st_size
        if not path.is_file():
            raise refuse("this is not a file")
        if size > MAX_BYTES:
            raise refuse(f"the file has {size:,} bytes; a rulesheet may have {MAX_BYTES:,}")
        data = path.read_bytes()
    except OSError as error:
        raise refuse(f"cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        byte = f"byte 0x{data[error.start]:02x} at offset {error.start:,}"
        raise refuse(f"this is not a text file: {byte} is not UTF-8") from error


class Reader:
    """One pass over a text; `groups` is what was found at the top level."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.lines = text.split("\n")
        self.top = Group(Place(1, 1))
        self.findings: list[Finding] = []

    def report(self, place: Place, code: str, message: str) -> None:
        line = shorten(self.lines[place.line - 1])
        self.findings.append(Finding(place.line, place.column, "error", code, message, line, self.source))

    def read(self) -> Group:
        """Read it all; raise one GdlSyntaxError with every finding."""
        stack = [self.top]
        for count, (kind, token, place, own_line) in enumerate(self.tokens()):
            if kind == "open":
                group = Group(place)
                stack[-1].items.append(group)
                stack.append(group)
                if len(stack) > MAX_DEPTH:
                    self.report(place, "depth", f"parentheses are nested more than {MAX_DEPTH} deep; reading stops")
                    break
            elif kind == "close":
                if len(stack) == 1:
                    self.report(place, "parenthesis", "this ')' closes nothing: remove it, or add its '('")
                else:
                    group = stack.pop()
                    group.last_line = place.line
                    if not group.items:
                        self.report(group.place, "empty", "'()' means nothing in GDL: remove it")
            elif kind == "comment":
                stack[-1].comments.append(Comment(token, place, own_line))
            else:
                stack[-1].items.append(Atom(token, place, kind == "bars"))
                if len(token) > MAX_NAME:
                    self.report(place, "name", f"this name has {len(token):,} characters; {MAX_NAME:,} are allowed")
            if len(self.findings) >= MAX_ERRORS:
                self.report(place, "errors", f"{MAX_ERRORS} errors; reading stops here")
                break
            if count >= MAX_TOKENS:
                self.report(place, "size", f"more than {MAX_TOKENS:,} names and parentheses; reading stops here")
                break
        else:
            for group in stack[1:]:
                hint = "this '(' is never closed: add the missing ')'"
                self.report(group.place, "parenthesis", hint)
        if self.findings:
            raise GdlSyntaxError(self.findings)
        return self.top

    def tokens(self) -> Iterator[tuple[str, str, Place, bool]]:
        """(kind, text, place, nothing before it on its line) for each token that is not space."""
        text, at, line, start, own_line = self.text, 0, 1, 0, True
        while at < len(text):
            match = TOKEN.match(text, at)
            assert match is not None and match.lastgroup is not None, "the token pattern covers every character"
            kind, token, place = match.lastgroup, match.group(), Place(line, at - start + 1)
            if kind == "newline":
                line, start, own_line = line + 1, match.end(), True
            elif kind == "space":
                pass
            elif kind == "unclosed":
                self.report(place, "bar", "this '|' opens a quoted name that is never closed: add the closing '|'")
                return
            else:
                if kind == "block":
                    token = self.block_comment(at)
                    if not token:
                        self.report(place, "comment", "this '#|' opens a comment that is never closed: add '|#'")
                        return
                name = token
                if kind == "bars":
                    name = re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
                elif kind == "atom" and not token.isprintable():
                    self.report(place, "character", f"the name {token!a} holds a character that cannot be printed")
                plain = {"line": "comment", "block": "comment", "lone": "atom"}
                yield plain.get(kind, kind), name, place, own_line
                own_line = False
                if "\n" in token:
                    line, start = line + token.count("\n"), at + token.rindex("\n") + 1
            at += len(token)

    def block_comment(self, at: int) -> str:
        """The `#| ... |#` that starts at `at`, nested ones included; empty if it never ends."""
        depth = 0
        for edge in BLOCK_EDGE.finditer(self.text, at):
            depth += 1 if edge.group() == "#|" else -1
            if depth == 0:
                return self.text[at : edge.end()]
        return ""


def read(text: str, source: str = "<text>") -> Group:
    """All of a KIF text as one group of its top-level items."""
    return Reader(text, source).read()
