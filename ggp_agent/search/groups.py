"""Move groups: choosing a move in stages, each a node inside one position.

The moves of a game are known by number, so a stage is a table from moves to numbers of groups. `stages` makes them from
the terms of the moves: their name and first arguments, then some more arguments, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import Move
from ggp_agent.errors import ConfigError
from ggp_agent.search.graph import SIMULTANEOUS
from ggp_agent.search.table import NONE, kernel
from ggp_agent.search.ucd import new_edges

MANY_MOVES = 24  # fewer legal moves are not grouped by `auto`
STAGE_COST = 20.0  # edges that could be looked at in the time that a stage more takes
MAX_CUTS = 12  # more arguments are not cut
LAST = 1_000


@kernel
def expand(g, node, moves, counts):  # type: ignore[no-untyped-def]
    """Give a node its edges: `moves[role, :counts[role]]` are the legal moves of its position; false without room."""
    choosers, mover = 0, 0
    for role in range(len(counts)):
        if counts[role] > 1:
            choosers += 1
            mover = role
    if choosers > 1:
        return expand_simultaneous(g, node, moves, counts)
    g.mover[node] = mover
    chosen, count = moves[mover], counts[mover]
    offset, stage = g.group_offset[mover], g.label[node, 1]
    if stage > 0:
        count = keep_group(g.group_key[stage - 1], g.label[node, 0], offset, chosen, count)
    if count >= g.group_many:
        while stage < len(g.group_key):
            found = count_groups(g, stage, offset, chosen, count)
            if found > 1:
                g.label[node, 1] = stage
                return expand_groups(g, node, mover, stage, offset, chosen, count, found)
            stage += 1
    first = new_edges(g, node, count)
    if first == NONE:
        return False
    for k in range(count):
        g.move[first + k], g.role[first + k] = chosen[k], mover
    return True


@kernel
def keep_group(key, group, offset, moves, count):  # type: ignore[no-untyped-def]
    """Keep the moves of one group, in place; how many there are."""
    kept = 0
    for k in range(count):
        if key[offset + moves[k]] == group:
            moves[kept] = moves[k]
            kept += 1
    return kept


@kernel
def count_groups(g, stage, offset, moves, count):  # type: ignore[no-untyped-def]
    """In how many groups of a stage these moves are."""
    mark, found, clock = g.group_mark, 0, len(g.group_mark) - 1
    mark[clock] += 1
    for k in range(count):
        group = g.group_key[stage, offset + moves[k]]
        if mark[group] != mark[clock]:
            mark[group] = mark[clock]
            found += 1
    return found


@kernel
def expand_groups(g, node, role, stage, offset, moves, count, found):  # type: ignore[no-untyped-def]
    """An edge for every group that has one of these moves."""
    first = new_edges(g, node, found)
    if first == NONE:
        return False
    mark, edge, clock = g.group_mark, first, len(g.group_mark) - 1
    mark[clock] += 1
    for k in range(count):
        group = g.group_key[stage, offset + moves[k]]
        if mark[group] != mark[clock]:
            mark[group] = mark[clock]
            g.move[edge], g.role[edge] = -1 - group, role
            edge += 1
    return True


@kernel
def expand_simultaneous(g, node, moves, counts):  # type: ignore[no-untyped-def]
    """Edges for every role that has a choice, role after role."""
    total = 0
    for role in range(len(counts)):
        total += counts[role] if counts[role] > 1 else 0
    first = new_edges(g, node, total)
    if first == NONE:
        return False
    g.mover[node] = SIMULTANEOUS
    for role in range(len(counts)):
        if counts[role] > 1:
            for k in range(counts[role]):
                g.move[first], g.role[first] = moves[role, k], role
                first += 1
    return True


def make_groups(
    setting: str,
    moves: Sequence[Sequence[str]],
    samples: Sequence[Sequence[Move]],
    numbers: dict[tuple[str, ...], int] | None = None,
) -> dict[str, NDArray[Any] | int]:
    """The groups that a setting such as `none`, `stages` or `stages:2:4` means for a game, for kernels.

    `moves` are the texts of all moves of each role, `samples` the legal moves of one role in some positions, as numbers
    that count the moves of all roles; `auto` judges by them. `numbers` are those of groups that have one; new groups
    are added, so that groups keep their numbers when there are more moves.
    """
    numbers = {} if numbers is None else numbers
    kind, *arguments = setting.split(":")
    offset = np.cumsum([0, *map(len, moves)])
    if kind != "stages" and arguments:
        raise ConfigError(f"groups={setting}: {kind} takes no arguments")
    many, keys = 0, []
    if kind == "stages":
        parts = [(str(role), *split(text)) for role, texts in enumerate(moves) for text in texts]
        longest = max(map(len, parts), default=2) - 2
        if arguments in ([], ["auto"]):
            many, cuts = MANY_MOVES, best_cuts(parts, samples, longest)
        else:
            cuts = read_cuts(arguments, setting, longest)
        keys = [stage_key(parts, cut, numbers) for cut in cuts]
    table = np.array(keys, np.int32).reshape(len(keys), int(offset[-1]))
    return {
        "group_offset": offset,  # int64[roles + 1]: the first move of each role in the tables
        "group_key": table,  # int32[stages, moves of all roles]: the group of a move in every stage
        "group_many": many,  # fewer legal moves are not grouped
        "group_mark": np.zeros(int(table.max(initial=0)) + 2, np.int64),  # int64[groups + 1]: scratch; the last counts
    }


def split(text: str) -> list[str]:
    """The name and the arguments of a move, as texts."""
    if not text.startswith("("):
        return [text]
    parts = text[1:-1].split()
    if text.count("(") == 1 and "|" not in text:
        return parts
    found, depth = [""], 0  # arguments with arguments
    for part in parts:
        found[-1] += (" " if found[-1] else "") + part
        depth += part.count("(") - part.count(")")
        if depth == 0:
            found.append("")
    return found[:-1]


def read_cuts(arguments: list[str], setting: str, longest: int) -> list[int]:
    """Where the arguments of moves are cut into stages."""
    try:
        cuts = [int(text) for text in arguments]
    except ValueError:
        cuts = [0]
    if cuts != sorted(set(cuts)) or cuts[0] < 1:
        raise ConfigError(f"groups={setting}: after stages come numbers of arguments that grow, such as stages:2:4")
    if cuts[-1] >= longest:
        raise ConfigError(f"groups={setting} does not fit this game: its moves have {longest} arguments at most")
    return cuts


def stage_key(parts: Sequence[tuple[str, ...]], cut: int, numbers: dict[tuple[str, ...], int]) -> NDArray[np.int32]:
    """The group of every move, given by role, name and so many arguments."""
    return np.array([numbers.setdefault(part[: cut + 2], len(numbers)) for part in parts], np.int32)


def best_cuts(parts: Sequence[tuple[str, ...]], samples: Sequence[Sequence[Move]], longest: int) -> list[int]:
    """The stages in which the fewest edges are looked at on the average, a stage itself counting as some edges."""
    many = [sample for sample in samples if len(sample) >= MANY_MOVES]
    if not many:
        return []

    def groups(cut: int) -> float:
        return sum(len({parts[move][: cut + 2] for move in sample}) for sample in many) / len(many)

    ends = {cut: groups(cut) for cut in range(min(longest, MAX_CUTS) + 1)}
    moves = sum(map(len, many)) / len(many)
    # The cheapest way to come to each cut, and to the moves themselves, from those before.
    cheapest: dict[int, tuple[float, list[int]]] = {-1: (0.0, [])}
    for cut in [*ends, LAST]:
        size = moves if cut == LAST else ends[cut]
        cheapest[cut] = min(
            (cost + STAGE_COST + size / (ends[before] if before >= 0 else 1.0), [*cuts, before])
            for before, (cost, cuts) in cheapest.items()
        )
    return [cut for cut in cheapest[LAST][1] if cut >= 0]
