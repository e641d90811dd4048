"""The player without HTTP: every message in every situation, and every way to fail."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NoReturn

import pytest

from ggp_agent.engine import Game, PrologEngine
from ggp_agent.errors import ProtocolError
from ggp_agent.gdl import parse
from ggp_agent.net import Player, PlayerConfig
from ggp_agent.net.search import OpenSearch
from ggp_agent.net.seat import Seat
from ggp_agent.net.thinker import Thinker
from tests.net.fakes import MARKS, BrokenSearch, BusySearch, CountingSearch, DeafSearch, FakeSearch, LyingSearch
from tests.net.talk import Send, playing, start


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


def test_preview_leaves_the_player_available() -> None:
    async def script(send: Send, player: Player) -> None:
        assert await send(f"(PREVIEW ({MARKS}) 20)") == "ready"
        assert await send("(PREVIEW ((role (f ?x))) 5)") == "ready"
        assert "available" in await send("(INFO)")
        assert await send(start()) == "ready"

    playing(script)


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
