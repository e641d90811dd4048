"""Crisscross as a plain program, the independent check of gdl_games/crisscross."""

import re
from typing import NamedTuple

ROLES = ("red", "blue")


class State(NamedTuple):
    """Where each side's pieces stand: pairs of a lane (3 or 4) and a distance along it, from 1 to 6."""

    pieces: tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]
    turn: int


def initial() -> State:
    start = frozenset((lane, along) for lane in (3, 4) for along in (1, 2))
    return State((start, start), 0)


def taken(state: State, side: int, lane: int, along: int) -> bool:
    """Whether a piece stands there, in the view of that side: the other's lanes cross at right angles."""
    return (lane, along) in state.pieces[side] or (along, lane) in state.pieces[1 - side]


def advances(state: State, side: int) -> list[tuple[int, int, int]]:
    """The moves as (lane, from, to): the lane ahead must read empty, or piece-empty once or twice."""
    found = []
    for lane, along in state.pieces[side]:
        ahead = "".join("x" if taken(state, side, lane, cell) else "." for cell in range(along + 1, 7))
        found += [(lane, along, along + len(way)) for way in (".", "x.", "x.x.") if ahead.startswith(way)]
    return found


def text(side: int, lane: int, *cells: int) -> str:
    return " ".join(f"{cell} {lane}" if side else f"{lane} {cell}" for cell in cells)


def legal(state: State) -> list[list[str]]:
    side = state.turn
    moves = sorted(f"(move {text(side, *advance)})" for advance in advances(state, side)) or ["noop"]
    return [["noop"], moves] if side else [moves, ["noop"]]


def step(state: State, joint: tuple[str, ...]) -> State:
    side, pieces = state.turn, list(state.pieces)
    if joint[side] != "noop":
        x, y, x2, y2 = (int(number) for number in re.findall(r"\d", joint[side]))
        lane, start, end = (y, x, x2) if side else (x, y, y2)
        pieces[side] = pieces[side] - {(lane, start)} | {(lane, end)}
    return State((pieces[0], pieces[1]), 1 - side)


def across(state: State, side: int) -> bool:
    return all(along > 4 for _, along in state.pieces[side])


def terminal(state: State) -> bool:
    return across(state, 0) or across(state, 1)


def goals(state: State) -> list[int]:
    return [100 * across(state, 0), 100 * across(state, 1)]


def facts(state: State) -> set[str]:
    cells = {text(side, lane, along): "b" for side in (0, 1) for lane in (3, 4) for along in range(1, 7)}
    cells |= {text(side, *piece): ROLES[side] for side in (0, 1) for piece in state.pieces[side]}
    return {f"(cell {cell} {content})" for cell, content in cells.items()} | {f"(control {ROLES[state.turn]})"}
