"""Tournaments: who plays whom, the matches, their store, and what the results say."""

from ggp_agent.arena.in_process import InProcess
from ggp_agent.arena.match import MatchJob, MatchResult, Runner, Runners
from ggp_agent.arena.run import run
from ggp_agent.arena.standing import Standing, stand
from ggp_agent.arena.store import Store
from ggp_agent.arena.tournament import Tournament

__all__ = [
    "InProcess",
    "MatchJob",
    "MatchResult",
    "Runner",
    "Runners",
    "Standing",
    "Store",
    "Tournament",
    "run",
    "stand",
]
