"""Hex on five by five cells with black's stone on b2, the independent check of gdl_games/hex_5x5."""

from tests.referees.hex_9x9 import ROLES, Hex, State

__all__ = ["ROLES", "State", "facts", "goals", "initial", "legal", "step", "terminal"]

_GAME = Hex(5, black=((2, 2),))
initial, legal, step = _GAME.initial, _GAME.legal, _GAME.step
terminal, goals, facts = _GAME.terminal, _GAME.goals, _GAME.facts
