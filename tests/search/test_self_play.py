"""Self-play at random clocks, with stops at random moments: nothing crashes, nothing illegal, memory within its limit.

A minute of it with the long tests; `SELF_PLAY_SECONDS=3600 pytest -m long tests/search/test_self_play.py` is an hour.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ggp_agent.engine import Game
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.search import INFINITE, Limit, SearchConfig, Searcher
from tests.engine.games import SHIPPED
from tests.search.checks import audit

SECONDS = float(os.environ.get("SELF_PLAY_SECONDS", "60"))
GAMES = (
    "connect_four", "breakthrough", "othello", "hex_9x9", "tron", "three_player_tic_tac_toe", "goofspiel", "merrills",
    "amazons_6x6", "checkers", "lights_out", "quarto",
)  # fmt: skip
MEGABYTES = 64
OVERHEAD = 250  # megabytes that come on top of what was used before the first match: the rows and wires of a game


def random_config(random: Random) -> SearchConfig:
    """Half of them with the default rules, which have kernels of their own."""
    config = SearchConfig(
        lanes=random.choice([0, 1, 7, 64, 512]),
        parallel=random.choice(["tree", "tree", "leaf", "root"]),
        decisive=random.random() < 0.7,
        workers=random.choice([1, 1, 2]),
        megabytes=MEGABYTES,
    )
    if random.random() < 0.5:
        return config
    return replace(
        config,
        depths=random.choice([(0, 0, 0), (1, 0, 1), (2, 1, 2), (INFINITE, 0, 1)]),
        transpositions=random.random() < 0.8,
        groups=random.choice(["none", "none", "stages"]),
        virtual_loss=random.choice([0, 1, 3]),
    )


def used_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def think(searcher: Searcher, random: Random) -> None:
    """For a random time, or until somebody else says stop."""
    clock = random.choice([0.01, 0.05, 0.2, 1.0]) * random.random()
    stopper = threading.Timer(clock * random.random() * 2, searcher.stop)
    stopper.start()
    begun = time.monotonic()
    searcher.think(Limit(seconds=clock))
    assert time.monotonic() - begun < clock + 30  # on a machine that does other things as well
    stopper.cancel()
    stopper.join()


def warm_up(random: Random) -> None:
    """Use every kernel once, so that none has to be compiled on the clock."""
    for name in ("connect_four", "tron", "amazons_6x6", "lights_out"):
        with LanesEngine(Game.load(SHIPPED[name].rules), native=False) as engine:
            for _ in range(6):
                searcher = Searcher(engine, random_config(random), seed=1)
                searcher.think(Limit(playouts=50))
                searcher.advance(tuple(moves[0] for moves in searcher.position.legal))
                for worker in searcher.workers:
                    worker.pool.compact()


@pytest.mark.long
def test_self_play() -> None:
    random = Random(1)
    warm_up(random)
    before = used_megabytes()  # the program and its kernels; much more if they had to be compiled
    end, matches, moves = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < end:
        name = random.choice(GAMES)
        with LanesEngine(Game.load(SHIPPED[name].rules), native=random.random() < 0.5) as engine:
            configs = [random_config(random) for _ in engine.game.roles]
            searchers = [Searcher(engine, config, seed=random.getrandbits(30)) for config in configs]
            state = engine.initial()
            position = engine.look(state)
            while not position.terminal and time.monotonic() < end:
                joint = []
                for role, searcher in enumerate(searchers):
                    searcher.go_to(state)
                    think(searcher, random)
                    joint.append(searcher.best(role))
                    assert joint[-1] in position.legal[role], (name, configs[role])
                state = engine.step(state, tuple(joint))
                position = engine.look(state)
                moves += 1
                limit = before + OVERHEAD + MEGABYTES * len(searchers)
                assert used_megabytes() < limit, (name, configs, used_megabytes())
            for searcher in searchers:
                audit(searcher)
                searcher.close()
            matches += position.terminal
    print(f"{matches} matches, {moves:,} moves, {before:.0f} megabytes before and {used_megabytes():.0f} at the end")
    assert matches > 0
