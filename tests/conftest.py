"""Workers that run tests side by side compile different kernels, and each finds those of the others in the cache.

A shell starts what runs in the background with interrupts ignored, and so are all children of it: here they count.
"""

from __future__ import annotations

import os
import signal

import pytest

from ggp_agent.net.search import open_search
from ggp_agent.net.warm import warm_up
from ggp_agent.search import SearchConfig

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def shared_kernels() -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        warm_up(SearchConfig(), open_search)
