"""Move groups: choosing a move in stages, each a node inside one position.

The moves of a game are known by number, so a stage is a table from moves to numbers of groups. `stages` makes them from
the terms of the moves: their name and first arguments, then some more arguments, and so on. Other groups are in
`listed` and `ranked`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp_agent.engine import Move
from ggp_agent.errors import ConfigError
from ggp_agent.search.edges import add_edge, begin_edges, list_moves
from ggp_agent.search.graph import NEAR, PRIOR, RANKED, SIMULTANEOUS, STAGES, TABLE
from ggp_agent.search.listed import expand_listed
from ggp_agent.search.ranked import EVERY, ONCE, POWERS
from ggp_agent.search.squares import squares
from ggp_agent.search.table import NONE, kernel, rounded

MANY_MOVES = 24  # fewer legal moves are not grouped by `auto`
STAGE_COST = 20.0  # edges that could be looked at in the time that a stage more takes
MAX_CUTS = 12  # more arguments are not cut
LAST = 1_000
DISTANCE = 2  # of `near`
PARTS = 3  # of `prior`
FIRST_POWER = 16  # simulations after which `powers` begins


@kernel
def expand(g, lane, moves, counts):  # type: ignore[no-untyped-def]
    """Give the node where a walk stands its edges; false without room.

    `moves[role, :counts[role]]` are the moves to consider in its position. The mover is who has several, or else who is
    noted in the node.
    """
    node, choosers = g.at[lane], 0
    mover = g.mover[node]
    for role in range(len(counts)):
        if counts[role] > 1:
            choosers += 1
            mover = role
    if choosers > 1:
        return expand_simultaneous(g, node, moves, counts)
    g.mover[node] = mover
    chosen, count = moves[mover], counts[mover]
    offset, stage = g.group_offset[mover], g.label[node, 1]
    if g.group_kind > RANKED:
        return expand_listed(g, lane, node, mover, offset, chosen, count)
    if stage > 0:
        count = keep_group(g.group_key[stage - 1], g.label[node, 0], offset, chosen, count)
    if count >= g.group_many:
        while stage < len(g.group_key):
            found = count_groups(g, stage, offset, chosen, count)
            if found > 1:
                g.label[node, 1] = stage
                return expand_groups(g, node, mover, stage, offset, chosen, count)
            stage += 1
    return list_moves(g, node, mover, chosen, count)


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
def expand_groups(g, node, role, stage, offset, moves, count):  # type: ignore[no-untyped-def]
    """Let a node have the groups of these moves, which are overwritten."""
    mark, found, clock = g.group_mark, 0, len(g.group_mark) - 1
    mark[clock] += 1
    for k in range(count):
        group = g.group_key[stage, offset + moves[k]]
        if mark[group] != mark[clock]:
            mark[group] = mark[clock]
            moves[found] = -1 - group
            found += 1
    return list_moves(g, node, role, moves, found)


@kernel
def expand_simultaneous(g, node, moves, counts):  # type: ignore[no-untyped-def]
    """Edges for every role that has a choice, role after role."""
    total = 0
    for role in range(len(counts)):
        total += counts[role] if counts[role] > 1 else 0
    if not begin_edges(g, node, rounded(total), total):
        return False
    g.mover[node] = SIMULTANEOUS
    for role in range(len(counts)):
        if counts[role] > 1:
            for k in range(counts[role]):
                add_edge(g, node, role, moves[role, k])
    return True


Tables = dict[str, NDArray[Any] | int]


def make_groups(
    setting: str,
    moves: Sequence[Sequence[str]],
    samples: Sequence[Sequence[Move]],
    numbers: dict[tuple[str, ...], int] | None = None,
    *,
    order: Mapping[str, int] | None = None,
    given: NDArray[Any] | None = None,
) -> Tables:
    """The groups that a setting such as `none`, `stages:2:4` or `near` means for a game, for kernels.

    `moves` are the texts of all moves of each role, `samples` the legal moves of one role in some positions, as numbers
    that count the moves of all roles; `auto` judges by them. `numbers` are those of groups that have one; new groups
    are added, so that groups keep their numbers when there are more moves. `order` is the order of constants that are
    coordinates. `given` is for `prior` a value of each move of all roles, and for `table` bool[groups, moves of all
    roles]: the moves of each group, which may overlap.
    """
    numbers = {} if numbers is None else numbers
    kind, *arguments = setting.split(":")
    offset = np.cumsum([0, *map(len, moves)])
    count = int(offset[-1])
    if given is not None and kind not in ("prior", "table"):
        raise ConfigError(f"groups={setting} takes nothing that a caller gives")
    parts = [(str(role), *split(text)) for role, texts in enumerate(moves) for text in texts]
    chosen: Tables = {}
    if kind == "stages":
        chosen = make_stages(setting, arguments, parts, samples, numbers)
    elif kind == "near":
        where = squares([part[1:] for part in parts], order or {})
        if parts and (where == NONE).all():
            raise ConfigError(f"groups={setting} does not fit this game: no move has two coordinates")
        distance = int(arguments[0]) if arguments else DISTANCE
        chosen = {"group_kind": NEAR, "group_count": 2, "group_square": where, "group_distance": distance}
    elif kind == "ranked":
        structure, when, *number = arguments
        chosen = {
            "group_kind": RANKED,
            "group_skip": int(structure == "134"),
            "group_when": {"once": ONCE, "every": EVERY, "powers": POWERS}[when],
            "group_first": int(number[0]) if number else FIRST_POWER,
        }
    elif kind in ("prior", "table"):
        chosen = read_given(setting, kind, arguments, given, count)
    return {
        "group_kind": STAGES,
        "group_offset": offset,  # int64[roles + 1]: the first move of each role in the tables
        "group_key": np.zeros((1, 1), np.int32)[:0],  # int32[stages, moves of all roles]: the group of a move
        "group_many": 0,  # fewer legal moves are not grouped in stages
        "group_mark": np.zeros(2, np.int64),  # int64[groups + 1]: scratch; the last counts
        "group_count": 0,  # groups of a position
        "group_square": np.zeros((1, 2), np.int32),  # int32[moves of all roles, 2]: x and y, or NONE
        "group_distance": 0,  # that is near
        "group_value": np.zeros(1),  # float64[moves of all roles], or of length 1 if nobody asks
        "group_table": np.zeros((1, 1), np.uint8),  # uint8[groups, moves of all roles]: is it in the group?
        "group_skip": 0,  # the second best move is not in the group of the best
        "group_when": 0,  # groups are formed from statistics
        "group_first": 0,  # simulations after which this happens, or happens first
        **chosen,
    }


def make_stages(
    setting: str,
    arguments: list[str],
    parts: Sequence[tuple[str, ...]],
    samples: Sequence[Sequence[Move]],
    numbers: dict[tuple[str, ...], int],
) -> Tables:
    longest = max(map(len, parts), default=2) - 2
    many = 0
    if arguments in ([], ["auto"]):
        many, cuts = MANY_MOVES, best_cuts(parts, samples, longest)
    else:
        cuts = read_cuts(arguments, setting, longest)
    keys = np.array([stage_key(parts, cut, numbers) for cut in cuts], np.int32).reshape(len(cuts), len(parts))
    return {"group_key": keys, "group_many": many, "group_mark": np.zeros(int(keys.max(initial=0)) + 2, np.int64)}


def read_given(setting: str, kind: str, arguments: list[str], given: NDArray[Any] | None, count: int) -> Tables:
    """The groups that a caller wants, checked."""
    if given is None:
        what = "a value of each move" if kind == "prior" else "a table of groups"
        raise ConfigError(f"groups={setting} needs {what}, which only a caller in Python can give")
    if kind == "prior":
        values = np.array(given, np.float64)
        if values.shape != (count,) or not np.isfinite(values).all():
            raise ConfigError(f"groups={setting} needs {count} finite values, one for each move of all roles")
        return {
            "group_kind": PRIOR,
            "group_count": int(arguments[0]) if arguments else PARTS,
            "group_value": values,
        }
    table = np.array(given)
    if table.dtype != np.bool_ or table.ndim != 2 or table.shape[1] != count or not table.any(axis=0).all():
        raise ConfigError(f"groups={setting} needs bool[groups, {count}], and every move in a group")
    return {"group_kind": TABLE, "group_count": len(table), "group_table": table.astype(np.uint8)}


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
