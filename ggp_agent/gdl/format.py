"""One canonical layout for rulesheets, comments kept.

A statement that fits stands on one line; a longer rule has its head on the first line and one literal on each line
after it. Facts that shared a line still share one. A single blank line between statements is kept, more are not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ggp_agent.gdl.reader import Atom, Comment, Group, Node, read

SHORT = 72  # a rule up to this length stands on one line
WIDTH = 100  # facts are joined, and long terms left alone, up to this length
INDENT = "    "


def format_text(text: str, source: str = "<text>") -> str:
    """The same rulesheet in canonical layout."""
    top = read(text, source)
    lines: list[str] = []
    last_line = 0  # the last line of the text that the lines so far stand for
    open_line = 0  # the line of text whose facts are being joined on the last line, or 0
    for part in sorted([*top.items, *top.comments], key=lambda part: part.place):
        begins, ends = part.place.line, _last_line(part)
        if lines and begins > last_line + 1:
            lines.append("")
            open_line = 0
        if isinstance(part, Comment):
            if part.own_line or not lines or begins != last_line:
                lines += _comment_lines(part, "")
            else:
                lines[-1] += "  " + part.text
            open_line = 0
        else:
            new = list(_statement(part))
            fact = len(new) == 1 and not _is_rule(part) and not _comments_within(part)
            if fact and open_line == begins and len(lines[-1]) + 1 + len(new[0]) <= WIDTH:
                lines[-1] += " " + new[0]
            else:
                lines += new
            open_line = ends if fact else 0
        last_line = ends
    return "\n".join(lines) + "\n"


def _last_line(part: Node | Comment) -> int:
    if isinstance(part, Group):
        return part.last_line
    text = part.text if isinstance(part, Comment) else part.name
    return part.place.line + text.count("\n")


def _is_rule(node: Node) -> bool:
    return isinstance(node, Group) and isinstance(node.items[0], Atom) and node.items[0].name in ("<=", "=>")


def _comments_within(node: Node) -> list[Comment]:
    if isinstance(node, Atom):
        return []
    inner = [comment for item in node.items for comment in _comments_within(item)]
    return sorted([*node.comments, *inner], key=lambda comment: comment.place)


def _comment_lines(comment: Comment, indent: str) -> list[str]:
    first, *rest = comment.text.split("\n")
    return [indent + first.rstrip(), *(line.rstrip() for line in rest)]


def _statement(node: Node) -> Iterator[str]:
    comments = _comments_within(node)
    parts: list[Node] = []
    if isinstance(node, Group) and _is_rule(node):
        parts = node.items[1:]
        if isinstance(node.items[0], Atom) and node.items[0].name == "=>":
            parts = parts[-1:] + parts[:-1]
    whole = f"({' '.join(['<=', *map(str, parts)])})" if parts else str(node)
    if not comments:
        if len(whole) <= SHORT or len(parts) < 2:
            yield whole
        else:
            yield f"(<= {parts[0]}"
            yield from (INDENT + str(part) for part in parts[1:-1])
            yield f"{INDENT}{parts[-1]})"
        return
    yield from _with_comments(parts, whole, comments)


def _with_comments(parts: list[Node], whole: str, comments: list[Comment]) -> Iterator[str]:
    """A statement with comments inside: each goes above the literal it precedes, or behind the one it follows."""
    if not parts:
        for comment in comments:
            yield from _comment_lines(comment, "")
        yield whole
        return
    for number, part in enumerate(parts):
        indent = INDENT if number else ""
        end = _last_line(part)
        before = [c for c in comments if c.own_line and c.place < part.place]
        behind = [c for c in comments if c not in before and c.place.line <= end and "\n" not in c.text]
        if number == len(parts) - 1:
            before = [c for c in comments if c not in behind]
        for comment in before:
            yield from _comment_lines(comment, INDENT)
        comments = [c for c in comments if c not in before and c not in behind]
        text = f"{indent}{part}" if number else f"(<= {part}"
        closing = ")" if number == len(parts) - 1 else ""
        yield text + closing + "".join("  " + c.text for c in behind)
