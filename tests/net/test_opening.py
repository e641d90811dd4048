"""Engines that come late, fail or never come, rules of every kind, and warm kernels."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

import pytest
from numba.core.dispatcher import Dispatcher

from ggp_agent.engine import Engine, Game, PrologEngine, games
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import CannotGround, EngineError
from ggp_agent.gdl.reader import read
from ggp_agent.net import Player, opening
from ggp_agent.net import player as player_module
from ggp_agent.net.opening import Opening
from ggp_agent.net.search import open_search
from ggp_agent.net.warm import warm_up
from ggp_agent.search import Limit, SearchConfig, Searcher
from tests.net.fakes import MARKS, BusySearch
from tests.net.talk import Send, playing, start

HOSTILE = sorted((Path(__file__).parents[1] / "hostile").glob("*.kif"))


def refuse(error: Exception) -> Callable[..., NoReturn]:
    def open_engine(self: Opening, game: Game) -> NoReturn:
        raise error

    return open_engine


def test_rules_that_are_no_rules_leave_the_player_free() -> None:
    async def script(send: Send, player: Player) -> None:
        for rules in ("(role white)", "(f ?x)", "white", MARKS + "(fact ?x)", MARKS.replace("(role black)", "")):
            assert await send(start(rules)) == "busy"
        assert await send(start(role="green")) == "busy"
        assert await send(start(role="(white)")) == "ready"
        await send("(ABORT m)")
        assert "available" in await send("(INFO)")

    playing(script)


@pytest.mark.parametrize(
    ("lanes", "prolog", "engine"),
    [
        (CannotGround("too large"), None, "prolog"),
        (None, EngineError("no Prolog here"), "lanes"),
        (RuntimeError("a bug"), None, "prolog"),
    ],
)
def test_one_engine_is_enough(
    lanes: Exception | None, prolog: Exception | None, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, error in (("lanes", lanes), ("prolog", prolog)):
        if error is not None:
            monkeypatch.setattr(Opening, name, refuse(error))

    async def script(send: Send, player: Player) -> None:
        assert await send(start()) == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert player.match is not None and player.match.thinker.seat is not None
        assert player.match.thinker.seat.engine.name == engine

    playing(script)


@pytest.mark.parametrize("kernels", [True, False])
def test_without_any_engine_it_says_so(kernels: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lanes", "prolog"):
        monkeypatch.setattr(Opening, name, refuse(EngineError("broken")))

    async def script(send: Send, player: Player) -> None:
        player.kernels = kernels
        assert await send(start()) == "busy"

    playing(script)


def hold_back(monkeypatch: pytest.MonkeyPatch, name: str) -> threading.Event:
    """Let no engine of this kind be ready until the event is set."""
    gate, original = threading.Event(), getattr(Opening, name)

    def late(self: Opening, game: Game) -> Engine:
        gate.wait(60)
        engine: Engine = original(self, game)
        return engine

    monkeypatch.setattr(Opening, name, late)
    return gate


def test_lanes_take_over_from_prolog_in_the_middle_of_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = hold_back(monkeypatch, "lanes")
    monkeypatch.setattr(opening, "LANES_SECONDS", 0.1)

    async def script(send: Send, player: Player) -> None:
        assert await send(start(role="black")) == "ready"
        assert await send("(PLAY m NIL)") == "noop"
        assert player.match is not None and player.match.thinker.seat is not None
        thinker = player.match.thinker
        assert player.match.thinker.seat.engine.name == "prolog"
        assert await send("(PLAY m ((mark 2) noop))") == "(mark 1)"
        gate.set()
        while thinker.seat is None or thinker.seat.engine.name != "lanes":
            await asyncio.sleep(0.01)
        assert thinker.seat.step == 1
        assert "(chosen white 2)" in thinker.seat.engine.facts(thinker.seat.state)
        assert await send("(PLAY m NIL)") == "(mark 1)"

    playing(script)


def test_a_late_engine_is_waited_for_since_nil_is_never_legal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "GRACE_SECONDS", 60.0)
    gate = hold_back(monkeypatch, "prolog")
    monkeypatch.setattr(Opening, "lanes", refuse(CannotGround("too large")))

    async def script(send: Send, player: Player) -> None:
        assert await send(start(clocks="0 0")) == "ready"
        asked = asyncio.create_task(send("(PLAY m NIL)"))
        await asyncio.sleep(0.01)
        gate.set()
        assert await asked == "(mark 1)"

    playing(script)


def test_it_is_busy_until_spare_children_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    monkeypatch.setattr(player_module, "fill_spares", lambda: gate.wait(60))

    async def script(send: Send, player: Player) -> None:
        player.spares = True
        assert await send(start()) == "ready"
        assert await send("(ABORT m)") == "aborted"
        assert "busy" in await send("(INFO)")
        assert await send(start(match="hasty")) == "ready"  # whoever does not ask is served all the same
        assert await send("(ABORT hasty)") == "aborted"
        gate.set()
        while "busy" in await send("(INFO)"):
            await asyncio.sleep(0.01)

    playing(script)


def test_nothing_known_in_time_is_nil(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()

    def never(self: Opening, game: Game) -> Engine:
        gate.wait(60)
        raise EngineError("too late")

    for name in ("lanes", "prolog"):
        monkeypatch.setattr(Opening, name, never)

    async def script(send: Send, player: Player) -> None:
        assert await send(start(clocks="0 0")) == "ready"
        assert await send("(PLAY m NIL)") == "nil"
        assert await send("(ABORT m)") == "aborted"
        gate.set()

    playing(script)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: path.stem)
def test_hostile_rules_get_answers(path: Path) -> None:
    rules = "\n".join(map(str, read(path.read_text()).items))
    role = rules.split("(role ")[1].split(")")[0]

    async def script(send: Send, player: Player) -> None:
        assert await send(start(rules, role, "2 1")) in ("ready", "busy")
        assert await send("(PLAY m NIL)")
        assert await send("(ABORT m)") in ("aborted", "busy")
        assert "available" in await send("(INFO)")

    playing(script, BusySearch)


def test_a_game_that_is_over_before_it_begins() -> None:
    rules = "(role white) (legal white noop) (goal white 100) (terminal)"

    async def script(send: Send, player: Player) -> None:
        assert await send(start(rules)) == "ready"
        assert await send("(PLAY m NIL)") == "noop"
        assert await send("(STOP m NIL)") == "done"

    playing(script)


def test_it_is_available_only_when_warm() -> None:
    async def script(send: Send, player: Player) -> None:
        player.warm = False
        assert "busy" in await send("(INFO)")
        await player.warm_up()
        assert "available" in await send("(INFO)")

    playing(script)


def compiled_after_the_warm_up() -> list[str]:
    """The kernels that matches need beyond what the warm-up has used."""
    warm_up(SearchConfig(), open_search)
    kernels = {
        id(value): value
        for name, module in sorted(sys.modules.items())
        if name.startswith("ggp_agent.")
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
    }
    before = {number: list(kernel.signatures) for number, kernel in kernels.items()}
    assert sum(map(bool, before.values())) > 10
    for name in ("goofspiel", "three_player_tic_tac_toe", "peg_solitaire", "connect_four"):
        for make in (LanesEngine, PrologEngine):
            with make(games.load(name)) as engine, Searcher(engine) as search:
                for _ in range(3):
                    search.think(Limit(seconds=0.05))
                    search.advance(tuple(legal[-1] for legal in search.position.legal))
                for worker in search.workers:
                    worker.pool.compact()
                search.best(0)
    return [kernel.py_func.__name__ for number, kernel in kernels.items() if list(kernel.signatures) != before[number]]


def test_nothing_is_left_to_compile_after_the_warm_up() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:  # other tests have used more kernels in this process
        assert alone.submit(compiled_after_the_warm_up).result() == []


def test_where_kernels_do_not_work_it_plays_without_them() -> None:
    def fail(*_: object) -> NoReturn:
        raise RuntimeError("no compiler here")

    async def script(send: Send, player: Player) -> None:
        player.warm = False
        await player.warm_up()
        assert "available" in await send("(INFO)")
        assert await send(start()) == "ready"
        assert await send("(PLAY m NIL)") in ("(mark 1)", "(mark 2)")
        assert player.match is not None and (seat := player.match.thinker.seat) is not None
        assert seat.engine.name == "prolog" and seat.search is None
        await asyncio.sleep(0.5)
        assert player.match.thinker.seat is seat  # nothing else was opened
        await send("(ABORT m)")
        assert await send(start("(role white)")) == "busy"

    playing(script, fail)
