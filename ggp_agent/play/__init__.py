"""Players, matches, and how positions look to people."""

from ggp_agent.play.board import Board
from ggp_agent.play.match import Turn, play
from ggp_agent.play.players import LegalPlayer, Player, RandomPlayer, SearchPlayer, make_player
from ggp_agent.play.spec import PlayerSpec

__all__ = [
    "Board",
    "LegalPlayer",
    "Player",
    "PlayerSpec",
    "RandomPlayer",
    "SearchPlayer",
    "Turn",
    "make_player",
    "play",
]
