"""Breakthrough on the small board, the independent check of gdl_games/breakthrough_6x6."""

from __future__ import annotations

from tests.referees.breakthrough import ROLES, State, facts, goals, legal, start, step, terminal

__all__ = ["ROLES", "State", "facts", "goals", "initial", "legal", "step", "terminal"]


def initial() -> State:
    return start(6)
