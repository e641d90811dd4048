"""UCD: Monte Carlo search on a graph of positions."""

from ggp_agent.search.config import INFINITE, Limit, SearchConfig

__all__ = ["INFINITE", "Limit", "SearchConfig"]
