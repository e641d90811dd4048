"""A GGP player without HTTP: messages in, one term out, and a clock that is never overrun.

There is one match at a time. INFO and ABORT are answered at once, whatever the player is doing. The deadline of an
answer counts from the arrival of the request, less the margin; it is the loop that keeps it, not the thread that
thinks: should that be late, what it held before is played.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random

from ggp_agent.engine.base import Game
from ggp_agent.engine.child import end_spares
from ggp_agent.engine.ground import Limits
from ggp_agent.errors import GgpError
from ggp_agent.gdl import parse as parse_rules
from ggp_agent.net import messages
from ggp_agent.net.config import PlayerConfig
from ggp_agent.net.opening import Opening, Setting, fill_spares
from ggp_agent.net.search import OpenSearch, open_search
from ggp_agent.net.thinker import Thinker

LOG = logging.getLogger("ggp_agent.net")
LATE_SECONDS = 0.1  # past the deadline, and within the margin, for the thread to hand over its last word
# Past a clock, to wait for a legal move if none is known: servers wait for a second or more, and nil is never legal.
GRACE_SECONDS = 0.5
QUICK = 20_000  # characters of a message that the loop may read itself


class Match:
    """What the player knows of the match it is in."""

    def __init__(self, start: messages.Start, player: Player) -> None:
        self.name = start.match
        self.start = start
        self.over = False
        self.changed = asyncio.Event()
        loop = asyncio.get_running_loop()

        def notify() -> None:
            with contextlib.suppress(RuntimeError):  # the loop may be closed before the thread ends
                loop.call_soon_threadsafe(self.changed.set)

        self.thinker = Thinker(start.match, notify)
        setting = Setting(
            name=start.match,
            rules=start.rules,
            role=start.role,
            start_clock=start.start_clock,
            play_clock=start.play_clock,
            config=player.config.search,
            playouts=player.config.playouts,
            seed=player.random.getrandbits(32),
            open_search=player.open_search if player.kernels else None,
            spares=player.spares,
        )
        self.opening = Opening(setting, self.thinker.offer, self.thinker.fail)
        self.opening.begin()

    async def wait(self, ready: Callable[[], bool], until: float) -> None:
        """Wait for news until something is ready, the match is over, or a moment of the monotonic clock."""
        while not ready() and not self.over and (left := until - time.monotonic()) > 0:
            self.changed.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self.changed.wait()

    def close(self, moves: tuple[str, ...] | None = None) -> None:
        self.over = True
        self.changed.set()
        self.opening.stop()
        self.thinker.close(moves)


class Player:
    """Answers messages. All methods belong to the event loop. `spares` keeps child processes ready for matches."""

    def __init__(self, config: PlayerConfig, open_search: OpenSearch = open_search, *, spares: bool = False) -> None:
        self.config = config
        self.open_search = open_search
        self.kernels = True  # do they work here?
        self.spares = spares
        self.random = Random(config.seed)
        self.warm = False
        self.filling = 0  # times that spares are being made ready
        self.match: Match | None = None
        self.preview_stop = threading.Event()
        self.watchdog: asyncio.TimerHandle | None = None
        self.readers = ThreadPoolExecutor(2, thread_name_prefix="read")

    @property
    def status(self) -> str:
        return "available" if self.warm and self.match is None and not self.filling else "busy"

    async def answer(self, text: str, arrived: float) -> str:
        """The reply to the text of a message that arrived at a moment of the monotonic clock; ProtocolError if the
        text is none. An empty text is taken as INFO: it is how some servers ping."""
        if not text.strip():
            return self.info()
        word = messages.keyword(text)
        if word in ("start", "preview") and self.match is not None:
            return "busy"  # a long rulesheet need not be read for that
        if len(text) > QUICK:
            message = await asyncio.get_running_loop().run_in_executor(self.readers, messages.parse, text)
        else:
            message = messages.parse(text)
        match message:
            case messages.Info():
                return self.info()
            case messages.Start():
                return await self.start(message, arrived)
            case messages.Play():
                return await self.play(message, arrived)
            case messages.Stop():
                return self.stop(message)
            case messages.Abort():
                return self.abort(message)
            case messages.Preview():
                return await self.preview(message, arrived)

    def info(self) -> str:
        return f"( ( name {self.config.name} ) ( status {self.status} ) )"

    def deadline(self, arrived: float, clock: float) -> float:
        """When an answer is due: the margin is kept, but never more than half of the clock."""
        return arrived + clock - min(self.config.margin_seconds, clock / 2)

    async def start(self, start: messages.Start, arrived: float) -> str:
        if self.match is not None:
            return "busy"
        self.preview_stop.set()
        LOG.info("%s: START as %s, clocks %d and %d s", start.match, start.role, start.start_clock, start.play_clock)
        match = self.match = Match(start, self)
        self.feed_watchdog(match)
        deadline = self.deadline(arrived, start.start_clock)
        thinker = match.thinker
        thinker.report(None, deadline)

        def ready() -> bool:
            return thinker.failure is not None or (thinker.held is not None and thinker.held.settled)

        await match.wait(ready, deadline)
        if thinker.held is None:
            # Half of the margin may go, for an engine that is about to come; servers do not wait longer for START.
            last = (deadline + arrived + start.start_clock) / 2
            await match.wait(lambda: ready() or thinker.held is not None, last)
        if match.over:
            return "aborted"
        if thinker.failure is not None:
            LOG.warning("%s: cannot be played: %s", match.name, thinker.failure)
            self.end(match)
            return "busy"
        self.feed_watchdog(match)
        return "ready"

    async def play(self, play: messages.Play, arrived: float) -> str:
        match = self.match
        if match is None or match.name != play.match:
            return "busy"
        self.feed_watchdog(match)
        deadline = self.deadline(arrived, match.start.play_clock)
        thinker = match.thinker
        step = thinker.report(play.moves, deadline)

        def known() -> bool:
            return thinker.held is not None and thinker.held.step >= step

        def ready() -> bool:
            held = thinker.held
            return known() and held is not None and (held.only or held.settled or held.time >= deadline)

        await match.wait(ready, deadline + LATE_SECONDS)
        await match.wait(known, arrived + match.start.play_clock + GRACE_SECONDS)
        held = thinker.held
        if not known() and not match.over:
            LOG.warning("%s: no move was found in time for step %d", match.name, step)
        return held.move if held is not None and held.move is not None else "nil"

    def stop(self, stop: messages.Stop) -> str:
        match = self.match
        if match is None or match.name != stop.match:
            return "busy"
        LOG.info("%s: STOP", match.name)
        self.end(match, stop.moves)
        return "done"

    def abort(self, abort: messages.Abort) -> str:
        match = self.match
        if match is None or match.name != abort.match:
            return "busy"
        LOG.info("%s: ABORT", match.name)
        self.end(match)
        return "aborted"

    async def preview(self, preview: messages.Preview, arrived: float) -> str:
        """Make the circuit of a game that may be played later; it stays in the cache."""
        if self.match is not None:
            return "busy"
        self.preview_stop.set()
        stop = self.preview_stop = threading.Event()
        seconds = max(0.0, self.deadline(arrived, preview.clock) - time.monotonic())
        work = asyncio.get_running_loop().run_in_executor(self.readers, make_circuit, preview.rules, seconds, stop)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.shield(work)
        return "ready"

    # The life of a match

    def feed_watchdog(self, match: Match) -> None:
        """A server that fell silent must not keep the player busy for ever."""
        if self.watchdog is not None:
            self.watchdog.cancel()
        seconds = self.config.silence_seconds + max(match.start.start_clock, match.start.play_clock)
        self.watchdog = asyncio.get_running_loop().call_later(seconds, self.expire, match)

    def expire(self, match: Match) -> None:
        if self.match is match:
            LOG.warning("%s: the server has fallen silent; the match is given up", match.name)
            self.end(match)

    def end(self, match: Match, moves: tuple[str, ...] | None = None) -> None:
        match.close(moves)
        if self.match is match:
            self.match = None
            if self.watchdog is not None:
                self.watchdog.cancel()
            if self.spares:
                self.fill()

    def fill(self) -> None:
        """Have spare children ready before the next match; until then the player says that it is busy."""
        loop = asyncio.get_running_loop()
        self.filling += 1

        def filled() -> None:
            self.filling -= 1

        def work() -> None:
            try_to_fill()
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(filled)

        threading.Thread(target=work, name="fill", daemon=True).start()

    # The life of the player

    async def warm_up(self) -> None:
        """Compile what has to be compiled, then be available."""
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def work() -> None:
            try:
                from ggp_agent.net.warm import warm_up  # numba takes a while

                warm_up(self.config.search, self.open_search)
            except Exception as error:
                self.kernels = False  # to compile them in a match would hold up its moves
                LOG.warning("kernels do not work here, playing with Prolog alone and without a search: %s", error)
            if self.spares:
                try_to_fill()
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(done.set)

        # A daemon, because compiling cannot be interrupted, and whoever ends the player need not wait for it.
        threading.Thread(target=work, name="warm up", daemon=True).start()
        await done.wait()
        self.warm = True
        LOG.info("available")

    async def close(self) -> None:
        """Leave the match, if there is one, and wait a moment for its thread."""
        self.preview_stop.set()
        self.spares = False
        self.readers.shutdown(wait=False, cancel_futures=True)
        if self.match is not None:
            thread = self.match.thinker.thread
            self.end(self.match)
            await asyncio.to_thread(thread.join, 2.0)
        await asyncio.to_thread(end_spares)


def try_to_fill() -> None:
    """Have spare children ready, if any can be started."""
    try:
        fill_spares()
    except OSError as error:
        LOG.warning("no child can be started: %s", error)


def make_circuit(rules: str, seconds: float, stop: threading.Event) -> None:
    """Leave the circuit of a game in the cache, if that can be done."""
    from ggp_agent.engine.lanes import LanesEngine

    with contextlib.suppress(GgpError):
        game = Game.from_sheet(parse_rules(rules, "<preview>"), "preview")
        LanesEngine(game, limits=Limits(seconds=max(1.0, seconds)), native=False, stop=stop).close()
