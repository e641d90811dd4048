"""Nim, misere, as a plain program, the independent check of gdl_games/nim."""

from __future__ import annotations

from typing import NamedTuple

ROLES = ("first", "second")


class State(NamedTuple):
    piles: tuple[int, ...]
    ply: int


def initial() -> State:
    return State((1, 3, 5, 7), 0)


def legal(state: State) -> list[list[str]]:
    takes = [f"(take {pile} {k})" for pile, size in enumerate(state.piles, 1) for k in range(1, size + 1)]
    return [takes if state.ply % 2 == player else ["noop"] for player in (0, 1)]


def step(state: State, joint: tuple[str, ...]) -> State:
    pile, k = map(int, joint[state.ply % 2].strip("()").split()[1:])
    piles = list(state.piles)
    piles[pile - 1] -= k
    return State(tuple(piles), state.ply + 1)


def terminal(state: State) -> bool:
    return sum(state.piles) == 0


def goals(state: State) -> list[int]:
    """The last match was taken, and with it the game lost, by the player who made the last ply."""
    return [100 * (terminal(state) and state.ply % 2 == player) for player in (0, 1)]


def facts(state: State) -> set[str]:
    piles = {f"(pile {pile} {size})" for pile, size in enumerate(state.piles, 1)}
    return piles | {f"(control {ROLES[state.ply % 2]})"}
