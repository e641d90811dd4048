"""Positions as pictures in a terminal: the grid of a game is found among its fluents.

A grid is a function whose fluents hold two coordinates (numbers, or single letters) and say at most one thing of each
pair of them: `(cell 3 4 white)`. The first coordinate runs to the right, the second upwards. Where no function says
something of a cell, those that only name cells, such as `(lit 3 4)`, are drawn by their first letters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations

from ggp_agent.gdl import Term

EMPTY = frozenset({"b", "blank", "empty"})
MAX_SIDE = 40
MAX_OTHER = 12  # fluents outside of the grid that are worth showing


class Board:
    """How to draw the positions of one game."""

    def __init__(self, possible: Sequence[Term], initial: Sequence[Term]) -> None:
        groups: dict[tuple[str, int], list[Term]] = defaultdict(list)
        for fluent in dict.fromkeys([*initial, *possible]):
            groups[fluent.signature].append(fluent)
        self.grids: dict[tuple[str, int], tuple[int, int]] = {}  # function -> positions of its two coordinates
        candidates = [
            (signature, pair)
            for signature, fluents in groups.items()
            if (pair := _coordinates(fluents, [fluent for fluent in initial if fluent.signature == signature]))
        ]
        saying = [(signature, pair) for signature, pair in candidates if signature[1] > 2]
        chosen = saying or candidates
        if chosen:
            size = max(_size(groups[signature], pair) for signature, pair in chosen)
            self.grids = {s: pair for s, pair in chosen if _size(groups[s], pair) == size}
        # Beside a grid, what else is said of its cells or columns one by one is not worth a list.
        self.hidden = {
            signature
            for signature, fluents in groups.items()
            if self.grids and signature not in self.grids and signature[1] > 1 and all(map(_is_axis, _sides(fluents)))
        }
        cells = [self.cell(fluent) for signature in self.grids for fluent in groups[signature]]
        self.columns = _ordered({column for column, _, _ in cells})
        self.rows = _ordered({row for _, row, _ in cells})[::-1]
        self.short = _abbreviate({content for _, _, content in cells if content not in EMPTY})

    def cell(self, fluent: Term) -> tuple[str, str, str]:
        """Column, row, and what the fluent says of them."""
        i, j = self.grids[fluent.signature]
        rest = " ".join(str(arg) for number, arg in enumerate(fluent.args) if number not in (i, j))
        return str(fluent.args[i]), str(fluent.args[j]), rest or fluent.name

    def draw(self, fluents: Iterable[Term]) -> str:
        """The picture of a position, and below it what is not in the picture."""
        content: dict[tuple[str, str], str] = {}
        other = []
        for fluent in fluents:
            if fluent.signature in self.grids:
                column, row, what = self.cell(fluent)
                if what not in EMPTY:
                    content[column, row] = self.short.get(what, what)
            elif fluent.signature not in self.hidden:
                other.append(str(fluent))
        lines = self.picture(content) if self.grids else []
        other.sort(key=lambda text: (len(text), text))
        if other:
            more = f" ... {len(other) - MAX_OTHER} more" if len(other) > MAX_OTHER else ""
            lines.append("  ".join(other[:MAX_OTHER]) + more)
        return "\n".join(lines)

    def picture(self, content: dict[tuple[str, str], str]) -> list[str]:
        width = max(map(len, [*self.short.values(), *self.columns, "."]))
        margin = max(map(len, self.rows))
        lines = []
        for row in self.rows:
            cells = " ".join(content.get((column, row), ".").center(width) for column in self.columns)
            lines.append(f"{row:>{margin}}  {cells}".rstrip())
        lines.append(" " * (margin + 2) + " ".join(column.center(width) for column in self.columns).rstrip())
        return lines


def _coordinates(fluents: list[Term], initial: list[Term]) -> tuple[int, int] | None:
    """The two arguments that are coordinates; None if there are none."""
    for i, j in combinations(range(len(fluents[0].args)), 2):
        sides = [_sides(fluents)[k] for k in (i, j)]
        pairs = [(fluent.args[i], fluent.args[j]) for fluent in initial]
        # `(heap 1 5)` and `(heap 2 3)` give a number to each heap: that is a list and no grid.
        is_list = len(fluents[0].args) == 2 and len({first for first, _ in pairs}) == len(pairs) > 1
        if all(map(_is_axis, sides)) and len(set(pairs)) == len(pairs) and not is_list:
            return i, j
    return None


def _sides(fluents: list[Term]) -> list[set[str]]:
    """The values of each argument."""
    return [{str(fluent.args[k]) for fluent in fluents} for k in range(len(fluents[0].args))]


def _is_axis(values: set[str]) -> bool:
    same_kind = all(value.isdecimal() for value in values) or all(
        len(value) == 1 and value.isalpha() for value in values
    )
    return same_kind and 2 <= len(values) <= MAX_SIDE


def _size(fluents: list[Term], pair: tuple[int, int]) -> int:
    return len({(fluent.args[pair[0]], fluent.args[pair[1]]) for fluent in fluents})


def _ordered(values: set[str]) -> list[str]:
    return sorted(values, key=lambda value: (int(value) if value.isdecimal() else 0, value))


def _abbreviate(contents: set[str]) -> dict[str, str]:
    """The shortest beginnings, of the same length, that tell the contents apart."""
    longest = max(map(len, contents), default=1)
    for length in range(1, longest):
        if len({content[:length] for content in contents}) == len(contents):
            return {content: content[:length] for content in contents}
    return {content: content for content in contents}
