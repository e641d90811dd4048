"""Players, matches, and how positions look to people."""

from ggp_agent.play.board import Board
from ggp_agent.play.match import Player, RandomPlayer, Turn, play

__all__ = ["Board", "Player", "RandomPlayer", "Turn", "play"]
