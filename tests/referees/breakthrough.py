"""Breakthrough as a plain program, the independent check of gdl_games/breakthrough.

The position is kept as the mover sees it: rows count from the mover's own side, and each ply turns the board over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

ROLES = ("white", "black")
Squares = frozenset[tuple[int, int]]  # column and row


class State(NamedTuple):
    size: int
    ply: int
    mine: Squares
    theirs: Squares


def start(size: int) -> State:
    men = frozenset((x, y) for x in range(1, size + 1) for y in (1, 2))
    return State(size, 0, men, turned(size, men))


def initial() -> State:
    return start(8)


def turned(size: int, squares: Iterable[tuple[int, int]]) -> Squares:
    return frozenset((x, size + 1 - y) for x, y in squares)


def row(state: State, y: int) -> int:
    """From the mover's rows to those of the sheet, or back."""
    return y if state.ply % 2 == 0 else state.size + 1 - y


def moves(state: State, leaps: Iterable[tuple[int, int]]) -> list[list[str]]:
    """The legal moves where a man goes one of the leaps, to any cell on the board that is not its own side's."""
    found: list[str] = []
    for x, y in state.mine:
        for dx, dy in leaps:
            target = (x + dx, y + dy)
            straight_into_enemy = dx == 0 and target in state.theirs
            if 1 <= target[0] <= state.size >= target[1] and target not in state.mine and not straight_into_enemy:
                found.append(f"(move {x} {row(state, y)} {target[0]} {row(state, target[1])})")
    return [sorted(found) if state.ply % 2 == player else ["noop"] for player in (0, 1)]


def legal(state: State) -> list[list[str]]:
    return moves(state, ((-1, 1), (0, 1), (1, 1)))


def step(state: State, joint: tuple[str, ...]) -> State:
    size, ply, mine, theirs = state
    x1, y1, x2, y2 = map(int, joint[ply % 2].strip("()").split()[1:])
    source, target = (x1, row(state, y1)), (x2, row(state, y2))
    return State(size, ply + 1, turned(size, theirs - {target}), turned(size, mine - {source} | {target}))


def terminal(state: State) -> bool:
    """Only the side that has just moved can have won: by a man on the mover's row 1, or by taking the last one."""
    return not state.mine or any(y == 1 for _, y in state.theirs)


def goals(state: State) -> list[int]:
    won = [0, 0]
    if terminal(state):
        won[1 - state.ply % 2] = 100
    return won


def facts(state: State) -> set[str]:
    mover, other = ROLES[state.ply % 2], ROLES[1 - state.ply % 2]
    owner = dict.fromkeys(state.mine, mover) | dict.fromkeys(state.theirs, other)
    board = range(1, state.size + 1)
    cells = {f"(cell {x} {row(state, y)} {owner.get((x, y), 'b')})" for x in board for y in board}
    return cells | {f"(control {mover})"}
