"""Talking to a player without HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any

from ggp_agent.net import Player, PlayerConfig
from ggp_agent.net.search import OpenSearch
from tests.net.fakes import MARKS, FakeSearch

Send = Callable[[str], Coroutine[Any, Any, str]]


def start(rules: str = MARKS, role: str = "white", clocks: str = "20 2", match: str = "m") -> str:
    return f"(START {match} {role} ({rules}) {clocks})"


def playing(
    script: Callable[[Send, Player], Coroutine[Any, Any, None]],
    search: OpenSearch = FakeSearch,
    **settings: Any,
) -> None:
    """Run a script with a function that sends messages to a new player."""

    async def run() -> None:
        player = Player(PlayerConfig(**settings), search)
        player.warm = True
        try:
            await script(lambda text: player.answer(text, time.monotonic()), player)
        finally:
            await player.close()

    asyncio.run(run())
