"""The Game of the Amazons on six by six squares, the independent check of gdl_games/amazons_6x6."""

from tests.referees.amazons import ROLES, Amazons, State

__all__ = ["ROLES", "State", "facts", "goals", "initial", "legal", "step", "terminal"]

_GAME = Amazons(6, white=((1, 2), (2, 1), (5, 1), (6, 2)))
initial, legal, step = _GAME.initial, _GAME.legal, _GAME.step
terminal, goals, facts = _GAME.terminal, _GAME.goals, _GAME.facts
