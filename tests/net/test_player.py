"""The player without HTTP: every message in every situation, every engine and every way to fail."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NoReturn

import pytest
from numba.core.dispatcher import Dispatcher

from ggp_agent.engine import Engine, Game, PrologEngine, games
from ggp_agent.engine.lanes import LanesEngine
from ggp_agent.errors import CannotGround, EngineError, ProtocolError
from ggp_agent.gdl import parse
from ggp_agent.gdl.reader import read
from ggp_agent.net import Player, PlayerConfig, opening
from ggp_agent.net import player as player_module
from ggp_agent.net.opening import Opening
from ggp_agent.net.search import OpenSearch, open_search
from ggp_agent.net.seat import Seat
from ggp_agent.net.thinker import Thinker
from ggp_agent.net.warm import warm_up
from ggp_agent.search import Limit, SearchConfig, Searcher
from tests.net.fakes import MARKS, BrokenSearch, BusySearch, CountingSearch, DeafSearch, FakeSearch, LyingSearch

Send = Callable[[str], Coroutine[Any, Any, str]]
HOSTILE = sorted((Path(__file__).parents[1] / "hostile").glob("*.kif"))


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


def refuse(error: Exception) -> Callable[..., NoReturn]:
    def open_engine(self: Opening, game: Game) -> NoReturn:
        raise error

    return open_engine


def test_a_whole_match() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send("( INFO )") == "( ( name ggp_agent ) ( status available ) )"
        assert await send(start()) == "ready"
        assert await send("(INFO)") == "( ( name ggp_agent ) ( status busy ) )"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert await send("(PLAY m ((mark 1) noop))") == "noop"
        assert await send("(STOP m (noop (mark 2)))") == "done"
        assert "available" in await send("")

    playing(script)


def test_replies_are_spelled_as_the_rules_are() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start(MARKS.upper(), "BLACK")) == "ready"
        assert await send("(PLAY m NIL)") == "NOOP"
        assert await send("(PLAY m ((MARK 2) NOOP))") == "(MARK 1)"
        assert await send("(ABORT m)") == "aborted"
        mixed = MARKS.replace("mark", "MarkIt").replace("noop", "noOp")
        assert await send(start(mixed)) == "ready"
        assert await send("(PLAY m NIL)") == "(MarkIt 1)"
        # A server that writes moves in another case than its rules is understood.
        assert await send("(PLAY m ((markit 1) NOOP))") == "noOp"

    playing(script)


def test_unknown_matches_and_wrong_moments_are_busy() -> None:
    async def script(send: Send, player: Player) -> None:
        for message in ("(PLAY m NIL)", "(STOP m NIL)", "(ABORT m)"):
            assert await send(message) == "busy"
        assert await send(start()) == "ready"
        assert await send(start(match="other")) == "busy"
        assert await send("(START other") == "busy"
        for message in ("(PLAY M NIL)", "(STOP other NIL)", "(ABORT other)", "(PREVIEW ((role x)) 5)"):
            assert await send(message) == "busy"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        with pytest.raises(ProtocolError):
            await send("(PLAY m")
        assert await send("(PLAY m ((mark 1) noop))") == "noop"

    playing(script)


def test_it_follows_what_the_server_reports_and_not_what_it_sent() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start()) == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert await send("(PLAY m ((mark 2) noop))") == "noop"
        assert player.match is not None
        seat = player.match.thinker.seat
        assert seat is not None and "(chosen white 2)" in seat.engine.facts(seat.state)

    playing(script)


def test_reports_that_make_no_sense_change_nothing() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start()) == "ready"
        for moves in ("((mark 1))", "((mark 1) noop noop)", "((mark 7) noop)", "(?x ?y)", "((f (g h)) noop)"):
            assert await send(f"(PLAY m {moves})") == "(mark 1)"
        assert await send("(PLAY m ((mark 2) noop))") == "noop"
        assert await send("(PLAY m ((mark 2) noop))") == "noop"  # the same message again
        assert await send("(PLAY m NIL)") == "noop"

    playing(script)


def test_a_move_that_is_known_but_not_legal_is_followed() -> None:
    rules = MARKS + "(<= (legal white pass) (true (step 9)))"

    async def script(send: Send, player: Player) -> None:
        assert await send(start(rules)) == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert await send("(PLAY m (noop (mark 1)))") == "noop"  # they have changed sides, says the server

    playing(script)


@pytest.mark.parametrize("search", [BrokenSearch, LyingSearch])
def test_a_search_that_fails_does_not_lose_the_match(search: OpenSearch) -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start()) == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert await send("(PLAY m ((mark 1) noop))") == "noop"

    playing(script, search)


def test_the_clock_is_kept_by_a_search_that_does_not_stop() -> None:
    async def script(send: Send, player: Player) -> None:
        asked = asyncio.create_task(send(start(clocks="2 1")))
        while player.match is None or player.match.thinker.held is None:
            await asyncio.sleep(0.01)
        assert "busy" in await send("(INFO)")
        assert not asked.done()
        assert await asked == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"

    playing(script, DeafSearch, margin_seconds=0.2)


def test_an_answer_that_was_given_early_does_not_take_the_deadline_of_the_next() -> None:
    """A move without a choice is played long before its time; the last word on the next one is still due in time."""
    with PrologEngine(Game.from_sheet(parse(MARKS), "marks")) as engine:
        thinker = Thinker("m", lambda: None)
        now = time.monotonic()
        for deadline in (now - 2, now + 100, now - 1):
            thinker.report(None, deadline)
        assert thinker.deadline == now - 2
        thinker.publish(Seat(engine, None, 0))
        assert thinker.deadline == now + 100
        thinker.close()
        thinker.thread.join()


def test_playouts_that_are_enough_end_the_thinking() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start(clocks="1000 1000")) == "ready"
        assert await send("(PLAY m NIL)") == "(mark 1)"
        assert await send("(PLAY m ((mark 1) noop))") == "noop"
        assert player.match is not None
        thinker = player.match.thinker
        assert thinker.seat is not None and thinker.seat.made == 0 and not thinker.may_think()
        assert await send("(STOP m (noop (mark 1)))") == "done"

    playing(script, CountingSearch, playouts=10)


def test_abort_ends_everything_at_once() -> None:
    async def script(send: Send, player: Player) -> None:
        starting = asyncio.create_task(send(start(clocks="1000 1000")))
        while player.match is None or player.match.thinker.held is None:
            await asyncio.sleep(0.01)
        match = player.match
        playing_ = asyncio.create_task(send("(PLAY m NIL)"))
        await asyncio.sleep(0)
        assert await send("(ABORT m)") == "aborted"
        assert await starting == "aborted"
        assert await playing_
        assert "available" in await send("(INFO)")
        await asyncio.to_thread(match.thinker.thread.join, 20)
        assert not match.thinker.thread.is_alive()

    playing(script, BusySearch)


def test_a_server_that_falls_silent_is_given_up() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(start(clocks="0 0")) == "ready"
        assert player.match is not None
        while player.match is not None:
            await asyncio.sleep(0.01)
        assert "available" in await send("(INFO)")

    playing(script, silence_seconds=0.2)


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


def test_without_any_engine_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lanes", "prolog"):
        monkeypatch.setattr(Opening, name, refuse(EngineError("broken")))

    async def script(send: Send, player: Player) -> None:
        assert await send(start()) == "busy"

    playing(script)


def test_lanes_take_over_from_prolog_in_the_middle_of_a_match(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    original = Opening.lanes

    def late(self: Opening, game: Game) -> Engine:
        gate.wait(60)
        return original(self, game)

    monkeypatch.setattr(Opening, "lanes", late)
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
    gate = threading.Event()
    original = Opening.prolog

    def late(self: Opening, game: Game) -> Engine:
        gate.wait(60)
        return original(self, game)

    monkeypatch.setattr(Opening, "prolog", late)
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


def test_preview_leaves_the_player_available() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(f"(PREVIEW ({MARKS}) 20)") == "ready"
        assert await send("(PREVIEW ((role (f ?x))) 5)") == "ready"
        assert "available" in await send("(INFO)")
        assert await send(start()) == "ready"

    playing(script)


def test_it_is_available_only_when_warm() -> None:
    async def script(send: Send, player: Player) -> None:
        player.warm = False
        assert "busy" in await send("(INFO)")
        await player.warm_up()
        assert "available" in await send("(INFO)")

    playing(script)


def test_nothing_is_left_to_compile_after_the_warm_up() -> None:
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
    new = [kernel for number, kernel in kernels.items() if list(kernel.signatures) != before[number]]
    assert [kernel.py_func.__name__ for kernel in new] == []


def test_without_lanes_it_warms_up_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise RuntimeError("no compiler here")

    async def script(send: Send, player: Player) -> None:
        player.warm = False
        await player.warm_up()
        assert "available" in await send("(INFO)")

    playing(script, fail)


def test_a_stop_just_before_a_search_does_not_settle_it() -> None:
    class StickyStop(FakeSearch):
        """Returns at once if it was stopped before it began, and thinks for ever otherwise."""

        def think(self, limit: Any) -> Any:
            if not self.halt.is_set():
                time.sleep(limit.seconds)
            self.halt.clear()

    with PrologEngine(Game.from_sheet(parse(MARKS), "marks")) as engine:
        seat = Seat(engine, StickyStop(engine, PlayerConfig().search), 0)
        seat.stop()
        seat.think(0.1)
        assert not seat.settled
        seat.think(0.1)
        assert not seat.settled


def test_a_thread_that_fails_again_and_again_does_not_spin(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fail(self: Seat) -> NoReturn:
        calls.append(self)
        raise RuntimeError("a bug")

    monkeypatch.setattr(Seat, "held", fail)

    async def script(send: Send, player: Player) -> None:
        assert await send(start(clocks="1 1")) == "ready"
        assert await send("(PLAY m NIL)") == "nil"
        assert len(calls) < 20

    playing(script)
