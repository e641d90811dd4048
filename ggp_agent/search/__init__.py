"""UCD: Monte Carlo search on a graph of positions."""

from ggp_agent.search.analysis import Analysis, Line
from ggp_agent.search.config import INFINITE, Limit, SearchConfig
from ggp_agent.search.searcher import Searcher

__all__ = ["INFINITE", "Analysis", "Limit", "Line", "SearchConfig", "Searcher"]
