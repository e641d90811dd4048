"""Tic-Tac-Toe on a magic square, the independent check of gdl_games/tic_tac_toe.

The cells carry the numbers of a magic square, so that three marks are a line if and only if they sum to fifteen.
"""

from __future__ import annotations

from itertools import combinations

ROLES = ("x", "o")
NUMBER = {(1, 1): 2, (2, 1): 7, (3, 1): 6, (1, 2): 9, (2, 2): 5, (3, 2): 1, (1, 3): 4, (2, 3): 3, (3, 3): 8}

State = tuple[int, ...]  # the numbers marked so far, x and o in turn


def initial() -> State:
    return ()


def _has_line(marks: State) -> bool:
    return any(sum(three) == 15 for three in combinations(marks, 3))


def legal(state: State) -> list[list[str]]:
    marks = [f"(mark {x} {y})" for (x, y), number in sorted(NUMBER.items()) if number not in state]
    return [marks if len(state) % 2 == player else ["noop"] for player in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    x, y = map(int, joint[len(state) % 2].strip("()").split()[1:])
    return (*state, NUMBER[x, y])


def terminal(state: State) -> bool:
    return len(state) == 9 or _has_line(state[0::2]) or _has_line(state[1::2])


def goals(state: State) -> list[int]:
    if _has_line(state[0::2]):
        return [100, 0]
    return [0, 100] if _has_line(state[1::2]) else [50, 50]


def facts(state: State) -> set[str]:
    owner = {number: ROLES[ply % 2] for ply, number in enumerate(state)}
    cells = {f"(cell {x} {y} {owner.get(number, 'b')})" for (x, y), number in NUMBER.items()}
    return cells | {f"(control {ROLES[len(state) % 2]})"}
