"""Text -> terms -> statements -> checked rules in normal form. Nothing here runs a game."""

from ggp_agent.gdl.check import check, playable_rules
from ggp_agent.gdl.format import format_text
from ggp_agent.gdl.normal import Literal, Rule, normalise
from ggp_agent.gdl.sheet import Sheet, Statement, load, parse
from ggp_agent.gdl.terms import Term, Variable, spaced

__all__ = [
    "Literal",
    "Rule",
    "Sheet",
    "Statement",
    "Term",
    "Variable",
    "check",
    "format_text",
    "load",
    "normalise",
    "parse",
    "playable_rules",
    "spaced",
]
