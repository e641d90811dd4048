"""One canonical layout for rulesheets, comments kept.

A statement that fits stands on one line; a longer rule has its head on the first line and one literal on each line
after it. Facts that shared a line still share one. A single blank line between statements is kept, more are not.
"""

from __future__ import annotations

from ggp_agent.gdl.reader import Atom, Comment, Group, Node, read

SHORT = 80  # a rule up to this length stands on one line
WIDTH = 120  # facts are joined, and long terms left alone, up to this length
INDENT = "    "


def format_text(text: str, source: str = "<text>") -> str:
    """The same rulesheet in canonical layout."""
    top = read(text, source)
    lines: list[str] = []
    last_line = 0  # the last line of the text that the lines so far stand for
    commented = False  # a comment stands behind the last line
    open_line = 0  # the line of text whose facts are being joined on the last line, or 0
    for part in sorted([*top.items, *top.comments], key=lambda part: part.place):
        begins, ends = part.place.line, _last_line(part)
        if lines and begins > last_line + 1:
            lines.append("")
            open_line = 0
        if isinstance(part, Comment):
            if part.own_line or commented or begins != last_line or "\n" in part.text:
                lines += _comment_lines(part, "")
            else:
                lines[-1] += "  " + part.text
            open_line, commented = 0, True
        else:
            new, commented = _statement(part)
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
    if not isinstance(node, Group) or len(node.items) < 2:
        return False
    return isinstance(node.items[0], Atom) and node.items[0].name in ("<=", "=>")


def _comments_within(node: Node) -> list[Comment]:
    if isinstance(node, Atom):
        return []
    inner = [comment for item in node.items for comment in _comments_within(item)]
    return sorted([*node.comments, *inner], key=lambda comment: comment.place)


def _comment_lines(comment: Comment, indent: str) -> list[str]:
    first, *rest = comment.text.split("\n")
    return [indent + first.rstrip(), *(line.rstrip() for line in rest)]


def _statement(node: Node) -> tuple[list[str], bool]:
    """The lines of a statement, and whether a comment stands behind the last one."""
    comments = _comments_within(node)
    if not (isinstance(node, Group) and _is_rule(node)):
        return [line for comment in comments for line in _comment_lines(comment, "")] + [str(node)], False
    parts = node.items[1:]
    if isinstance(node.items[0], Atom) and node.items[0].name == "=>":
        parts = parts[-1:] + parts[:-1]
    above, behind = _arrange(parts, comments)
    whole = f"(<= {' '.join(map(str, parts))})"
    if len(whole) <= SHORT and not any(above[1:] + behind[:-1]):
        texts, above, behind = [whole], above[:1], behind[-1:]
    else:
        texts = [f"(<= {parts[0]}", *(INDENT + str(part) for part in parts[1:])]
        texts[-1] += ")"
    lines = []
    for number, text in enumerate(texts):
        lines += [line for comment in above[number] for line in _comment_lines(comment, INDENT if number else "")]
        lines.append(text + "".join("  " + comment.text for comment in behind[number]))
    return lines, bool(behind[-1])


def _arrange(parts: list[Node], comments: list[Comment]) -> tuple[list[list[Comment]], list[list[Comment]]]:
    """For each part of a rule, the comments that go above it and the one, if any, that goes behind it."""
    above, behind = [], []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        reach = [c for c in comments if last or c.place < parts[number + 1].place]
        behind.append([c for c in reach if not c.own_line and "\n" not in c.text][-1:])
        # What stands on a line of its own after this part belongs to the next one, if there is a next one.
        above.append([c for c in reach if c not in behind[-1] and (last or c.place.line <= _last_line(part))])
        comments = [c for c in comments if c not in behind[-1] and c not in above[-1]]
    return above, behind
