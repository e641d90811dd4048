"""UCD: Monte Carlo search on a graph of positions.

`Searcher` and `Analysis` are imported when they are asked for: their kernels need numba, which takes a while.
"""

from typing import TYPE_CHECKING, Any

from ggp_agent.search.config import INFINITE, Limit, SearchConfig

if TYPE_CHECKING:
    from ggp_agent.search.analysis import Analysis, Line
    from ggp_agent.search.searcher import Searcher

__all__ = ["INFINITE", "Analysis", "Limit", "Line", "SearchConfig", "Searcher"]

LATER = {"Analysis": "analysis", "Line": "analysis", "Searcher": "searcher"}  # name -> module


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{LATER[name]}"), name)
