"""Connect Four as a plain program on bit boards, the independent check of gdl_games/connect_four."""

from __future__ import annotations

from typing import NamedTuple

ROLES = ("red", "yellow")
COLUMNS, ROWS = 7, 6
HEIGHT = ROWS + 1  # bits a column: the spare one on top stops lines from running over into the next column


class State(NamedTuple):
    discs: tuple[int, int]  # one bit board a role
    ply: int


def initial() -> State:
    return State((0, 0), 0)


def _depth(state: State, column: int) -> int:
    """How many discs lie in a column; columns are numbered from 0 here."""
    return ((state.discs[0] | state.discs[1]) >> HEIGHT * column & (1 << ROWS) - 1).bit_count()


def _has_line(discs: int) -> bool:
    for shift in (1, HEIGHT - 1, HEIGHT, HEIGHT + 1):
        pairs = discs & discs >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False


def legal(state: State) -> list[list[str]]:
    drops = [f"(drop {column + 1})" for column in range(COLUMNS) if _depth(state, column) < ROWS]
    return [drops if state.ply % 2 == player else ["noop"] for player in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    player = state.ply % 2
    column = int(joint[player].strip("()").split()[1]) - 1
    disc = 1 << HEIGHT * column + _depth(state, column)
    red, yellow = state.discs
    return State((red | disc, yellow) if player == 0 else (red, yellow | disc), state.ply + 1)


def terminal(state: State) -> bool:
    return state.ply == COLUMNS * ROWS or any(map(_has_line, state.discs))


def goals(state: State) -> list[int]:
    red, yellow = map(_has_line, state.discs)
    return [100, 0] if red else [0, 100] if yellow else [50, 50]


def facts(state: State) -> set[str]:
    result = {f"(control {ROLES[state.ply % 2]})"}
    for column in range(COLUMNS):
        if (depth := _depth(state, column)) < ROWS:
            result.add(f"(free {column + 1} {depth + 1})")
        for row in range(depth):
            role = ROLES[state.discs[1] >> HEIGHT * column + row & 1]
            result.add(f"(cell {column + 1} {row + 1} {role})")
    return result
