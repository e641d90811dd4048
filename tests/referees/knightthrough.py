"""Knightthrough: Breakthrough with the forward leaps of a knight, the independent check of gdl_games/knightthrough."""

from __future__ import annotations

from tests.referees.breakthrough import ROLES, State, facts, goals, initial, moves, step, terminal

__all__ = ["ROLES", "State", "facts", "goals", "initial", "legal", "step", "terminal"]


def legal(state: State) -> list[list[str]]:
    return moves(state, ((-2, 1), (-1, 2), (1, 2), (2, 1)))
