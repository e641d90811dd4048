"""Which guards and rests lie together in a word, so that a lane reads many of them at once.

Rows hold one bit for every lane. To choose a move, a lane wants many bits of its own, and so rows are turned into words
of lanes, 64 rows at a time (see `by_group`). Here is decided which 64:

- the guards of a role, one after another;
- the rests of the groups of a family, in one *window* of a word. Families of several roles often have the same window,
  and so have moves: in Amazons, where a queen can go from a square is also where an arrow can fly from there;
- the rests of the moves of a group, in *pieces*: a word and a mask each. First those in two words that are there
  anyway, for most of them are, then a new window for what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ggp_agent.engine.grouping import Families
from ggp_agent.engine.network import FALSE, TRUE

WORD = 64
ROOM = WORD - 1  # the last bit of a word of rests is true, because most groups have a move that is always legal
SHARED = 2  # pieces of a group, at most, in words that are there anyway

Members = tuple[tuple[int, int], ...]  # moves with their rests


class Window(NamedTuple):
    """Some bits of a word, one after another."""

    word: int
    first: int
    count: int


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
            if covered and len(found) < SHARED:
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


def pack(families: list[Families], place: Callable[[Iterable[int]], list[int]]) -> dict[str, Any]:
    """The fields of a circuit; `place` tells the literals of rows."""
    words = Words()
    roles = [list(small_families(role)) for role in families]
    windows: dict[tuple[int, ...], Window] = {}
    for _, rests, _ in (family for role in roles for family in role):
        if rests not in windows:
            windows[rests] = words.add(rests)
    known: dict[tuple[Members, ...], int] = {}  # the groups of a family -> the number of the first
    pieces: list[list[Piece]] = []
    for _, _, groups in (family for role in roles for family in role):
        if groups not in known:
            known[groups] = len(pieces)
            pieces += [words.divide(members) for members in groups]
    guard_words = np.cumsum([0, *(-(-len(role) // WORD) for role in roles)], dtype=np.int64)
    guards = np.full(int(guard_words[-1]) * WORD, FALSE, np.int32)
    shape = np.zeros((len(guards), 3), np.int64)
    for role, start in zip(roles, guard_words[:-1].tolist(), strict=True):
        for number, (guard, rests, groups) in enumerate(role, WORD * start):
            word, first, count = windows[rests]
            guards[number] = place([guard])[0]
            shape[number] = guard_words[-1] + word, ((1 << count) - 1) << first, known[groups] - first
    rests = np.array(place(rest for word in range(len(words.words)) for rest in words.bits(word)), np.int32)
    return {
        "words": np.concatenate([guards, rests]).reshape(-1, WORD),
        "guard_words": guard_words,
        "families": shape,
        **piece_arrays(pieces, int(guard_words[-1])),
    }


def small_families(families: Families) -> Iterator[tuple[int, tuple[int, ...], tuple[Members, ...]]]:
    """The guards of families, the rests of their groups and the members of these; large families in several parts."""
    for guard, groups in families.items():
        for first in range(0, len(groups), ROOM):
            part = groups[first : first + ROOM]
            yield guard, tuple(rest for rest, _ in part), tuple(tuple(moves) for _, moves in part)


def piece_arrays(pieces: list[list[Piece]], first_word: int) -> dict[str, Any]:
    """The pieces of groups and their members.

    All groups have as many, and an even number, so that branches do not depend on it and pairs are counted at once.
    """
    shape = len(pieces), -(-max(map(len, pieces), default=0) // 2) * 2
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
