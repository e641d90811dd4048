"""Workers that run tests side by side compile different kernels, and each finds those of the others in the cache."""

from __future__ import annotations

import os

import pytest

from ggp_agent.net.search import open_search
from ggp_agent.net.warm import warm_up
from ggp_agent.search import SearchConfig


@pytest.fixture(scope="session", autouse=True)
def shared_kernels() -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        warm_up(SearchConfig(), open_search)
