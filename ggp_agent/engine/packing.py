"""Which guards and rests lie together in a word, so that a lane reads many of them at once.

Rows hold one bit for every lane. To choose a move, a lane wants many bits of its own, and so rows are turned into words
of lanes, 64 rows at a time (see `by_group`). Here is decided which 64:

- the guards of a role, one after another;
- the rests of the groups of a family, in one *window* of a word. Families of several roles often have the same window,
  and so have moves: in Amazons, where a queen can go from a square is also where an arrow can fly from there;
- the rests of the moves of a group, in *pieces*: a word and a mask each. First those in two words that are there
  anyway, for most of them are, then a new window for what is left. A group has two pieces, so that branches need not
  depend on their number; one that wants more becomes several groups with the same rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ggp_agent.engine.grouping import Families
from ggp_agent.engine.network import FALSE, TRUE

WORD = 64
ROOM = WORD - 1  # the last bit of a word of rests is true, because most groups have a move that is always legal
PIECES = 2  # of a group

Members = tuple[tuple[int, int], ...]  # moves with their rests
Family = tuple[tuple[int, Members], ...]  # groups: rests and members
Item = TypeVar("Item")


class Window(NamedTuple):
    """Some bits of a word, one after another."""

    word: int
    first: int
    size: int


class Piece(NamedTuple):
    """The moves of a group whose rests lie in one word."""

    word: int
    mask: int
    moves: list[int]  # in the order of their bits


class Words:
    """Words of rests."""

    def __init__(self) -> None:
        self.words: list[list[int]] = []  # literals, at most ROOM of them
        self.places: dict[int, set[int]] = {}  # literal -> the words that have it
        self.windows: dict[tuple[int, ...], Window] = {}

    def window(self, literals: tuple[int, ...]) -> Window:
        """The window of at most ROOM literals."""
        if literals not in self.windows:
            self.windows[literals] = self.add(literals)
        return self.windows[literals]

    def add(self, literals: Sequence[int]) -> Window:
        """Find room for at most ROOM literals in one word."""
        fitting = (word for word, held in enumerate(self.words) if len(held) + len(literals) <= ROOM)
        word = next(fitting, len(self.words))
        if word == len(self.words):
            self.words.append([])
        first = len(self.words[word])
        self.words[word] += literals
        for literal in literals:
            self.places.setdefault(literal, set()).add(word)
        return Window(word, first, len(literals))

    def bits(self, word: int) -> list[int]:
        """The literals of all bits."""
        held = self.words[word]
        return [*held, *[FALSE] * (ROOM - len(held)), TRUE]

    def divide(self, members: Members) -> list[Piece]:
        """The pieces of a group."""
        left: dict[int, list[int]] = {}  # rest -> moves that have no piece yet
        for move, rest in members:
            left.setdefault(rest, []).append(move)
        found: list[Piece] = []
        while left:
            covered = Counter(word for rest in left for word in self.places.get(rest, ()))
            if covered and len(found) < PIECES:
                word = max(covered, key=lambda word: (covered[word], -word))
            else:
                wanted = [rest for rest, moves in left.items() for _ in moves]
                word = self.add(wanted[:ROOM]).word
            found.append(self.take(word, left))
        return found

    def take(self, word: int, left: dict[int, list[int]]) -> Piece:
        """The piece of these moves that a word has; they are left no more."""
        mask, taken = 0, []
        for bit, literal in enumerate(self.bits(word)):
            if literal in left:
                mask |= 1 << bit
                taken.append(left[literal].pop(0))
                if not left[literal]:
                    del left[literal]
        return Piece(word, mask, taken)


class Groups:
    """Groups with their pieces."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.pieces: list[list[Piece]] = []  # of each group, PIECES at most
        self.known: dict[Family, list[tuple[Window, int]]] = {}

    def add(self, family: Family) -> list[tuple[Window, int]]:
        """The windows of the rests of the groups of a family, and the number of the first group of each window."""
        if family not in self.known:
            divided = [(rest, pieces) for rest, moves in family for pieces in chunks(self.words.divide(moves), PIECES)]
            self.known[family] = []
            for part in chunks(divided, ROOM):
                self.known[family].append((self.words.window(tuple(rest for rest, _ in part)), len(self.pieces)))
                self.pieces += [pieces for _, pieces in part]
        return self.known[family]


def pack(families: list[Families], place: Callable[[Iterable[int]], list[int]]) -> dict[str, Any]:
    """The fields of a circuit; `place` tells the literals of rows."""
    words = Words()
    frozen = [
        {guard: tuple((rest, tuple(moves)) for rest, moves in family) for guard, family in role.items()}
        for role in families
    ]
    for family in (family for role in frozen for family in role.values()):
        for part in chunks([rest for rest, _ in family], ROOM):
            words.window(tuple(part))
    groups = Groups(words)
    # Of each role: guards, and the windows of the groups behind them
    roles = [
        [(guard, window, first) for guard, family in role.items() for window, first in groups.add(family)]
        for role in frozen
    ]
    guard_words = np.cumsum([0, *(-(-len(role) // WORD) for role in roles)], dtype=np.int64)
    guards = np.full(int(guard_words[-1]) * WORD, FALSE, np.int32)
    shape = np.zeros((len(guards), 3), np.int64)
    for role, start in zip(roles, guard_words[:-1].tolist(), strict=True):
        for number, (guard, window, group) in enumerate(role, WORD * start):
            guards[number] = place([guard])[0]
            mask = ((1 << window.size) - 1) << window.first
            shape[number] = guard_words[-1] + window.word, mask, group - window.first
    rests = np.array(place(rest for word in range(len(words.words)) for rest in words.bits(word)), np.int32)
    return {
        "words": np.concatenate([guards, rests]).reshape(-1, WORD),
        "guard_words": guard_words,
        "families": shape,
        **piece_arrays(groups.pieces, int(guard_words[-1])),
    }


def piece_arrays(pieces: list[list[Piece]], first_word: int) -> dict[str, Any]:
    """The pieces of groups, and their members."""
    shape = len(pieces), PIECES
    words, starts = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    masks = np.zeros(shape, np.uint64)
    members: list[int] = []
    for group, mine in enumerate(pieces):
        for number, piece in enumerate(mine):
            words[group, number], masks[group, number] = first_word + piece.word, piece.mask
            starts[group, number] = len(members)
            members += piece.moves
    return {
        "piece_words": words,
        "piece_masks": masks,
        "piece_starts": starts,
        "members": np.array(members, np.int32),
    }


def chunks(items: list[Item], size: int) -> list[list[Item]]:
    """The same items, so many at a time."""
    return [items[start : start + size] for start in range(0, len(items), size)]
