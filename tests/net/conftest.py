"""Matches here have clocks of a second or so, which must not be spent on compiling kernels."""

from __future__ import annotations

import pytest

from ggp_agent.engine.base import Game
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.gdl import parse
from ggp_agent.search import Limit, Searcher
from tests.net.fakes import MARKS


@pytest.fixture(scope="session", autouse=True)
def warm_kernels() -> None:
    with LanesEngine(Game.from_sheet(parse(MARKS), "marks")) as engine:
        Searcher(engine).think(Limit(playouts=10))
