"""Where on a board a move is played: the last two neighbouring arguments of its term that are coordinates.

Coordinates are small numbers, and constants that the facts of the rules put into an order: `(succ a b) (succ b c)`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ggp_agent.gdl import Rule, Term
from ggp_agent.search.table import NONE

MAX_COORDINATE = 127  # so that four of them fit in a node
MIN_CHAIN = 3  # two constants in a relation are no order


def ordered_constants(rules: Iterable[Rule]) -> dict[str, int]:
    """The place of every constant in the longest chain that the facts of a relation make: a after b after c."""
    relations: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for rule in rules:
        args = [arg for arg in rule.head.args if isinstance(arg, Term) and not arg.args]
        if not rule.body and len(args) == len(rule.head.args) == 2:
            relations[rule.head.name].append((str(args[0]), str(args[1])))
    found: dict[str, int] = {}
    for _, pairs in sorted(relations.items(), key=lambda item: len(item[1])):  # longer ones overrule shorter ones
        found.update(chain(pairs))
    return found


def chain(pairs: Sequence[tuple[str, str]]) -> dict[str, int]:
    """The places of constants if these pairs are a chain; nothing if they are not."""
    after = dict(pairs)
    starts = set(after) - set(after.values())
    if (
        len(after) < len(pairs)
        or len(set(after.values())) < len(pairs)
        or len(starts) != 1
        or len(pairs) < MIN_CHAIN - 1
    ):
        return {}
    places: dict[str, int] = {}
    at = starts.pop()
    while True:
        places[at] = len(places)
        if at not in after:
            break
        at = after[at]
    return places if len(places) == len(pairs) + 1 else {}  # else there is a circle beside the chain


def squares(parts: Sequence[Sequence[str]], order: Mapping[str, int]) -> NDArray[np.int32]:
    """int32[moves, 2]: x and y of every move, given as its name and arguments; NONE for a move without."""
    found = np.full((len(parts), 2), NONE, np.int32)
    for number, (_, *args) in enumerate(parts):
        places = [coordinate(arg, order) for arg in args]
        for x, y in pairwise(places):
            if x is not None and y is not None:
                found[number] = x, y
    return found


def coordinate(text: str, order: Mapping[str, int]) -> int | None:
    place = int(text) if text.isdecimal() and text.isascii() else order.get(text)
    return place if place is not None and place <= MAX_COORDINATE else None
