"""From the text of a rulesheet to a seat at the game, by two ways at once.

Prolog takes any rules and is there within a second; lanes are far faster, but making a circuit may take long, or may
never end. Both are opened side by side, and whichever is ready is offered first. Prolog only knows legal moves at
first, so that it answers at once and leaves the processor to those who make the circuit; if that fails, or takes long,
a search on Prolog is offered too. Everything here runs in threads that nobody waits for, and `stop` ends them soon.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from ggp_agent.engine import Engine, Game, PrologEngine
from ggp_agent.engine.child import keep_spare, wait_for_spares
from ggp_agent.engine.ground import Limits
from ggp_agent.engine.prolog import MEMORY_BYTES as PROLOG_BYTES
from ggp_agent.errors import EngineTimeout, GdlError, GgpError, ProtocolError
from ggp_agent.gdl import parse
from ggp_agent.net.search import OpenSearch
from ggp_agent.net.seat import Seat
from ggp_agent.search.config import SearchConfig

LOG = logging.getLogger("ggp_agent.net")
ENGINES = 2
LANES_SECONDS = 8.0  # after which a search on Prolog is worth its time
PLAYOUTS = 3  # to see how long they take
FILL_SECONDS = 10.0  # in which spare children should be ready
SPARES_SECONDS = 5.0  # after the opening, when the machine has less to do
GROUND_SECONDS = (30.0, 300.0)  # least and most for making a circuit, whatever the clocks say
PROLOG_SECONDS = (1.0, 10.0)  # least and most for one question


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What a match needs to be opened."""

    name: str  # of the match
    rules: str
    role: str
    start_clock: float
    play_clock: float
    config: SearchConfig
    playouts: int  # that are enough for a move; 0: there are never enough
    seed: int
    open_search: OpenSearch | None  # None: there is Prolog alone, and no search
    spares: bool  # keep child processes ready for the next match


class Opening:
    """Opens the game of one match. `offer` gets seats, or `fail` gets what is wrong with the rules; both once or more,
    from other threads."""

    def __init__(self, setting: Setting, offer: Callable[[Seat], None], fail: Callable[[str], None]) -> None:
        self.setting = setting
        self.offer = offer
        self.fail = fail
        self.stopped = threading.Event()
        self.lanes_over = threading.Event()  # they are there, or they will never be
        self.lanes_ready = False
        self.failures: list[str] = []
        self.lock = threading.Lock()

    def begin(self) -> None:
        self.thread("rules", self.read)

    def stop(self) -> None:
        """End whatever is still being made."""
        self.stopped.set()
        self.lanes_over.set()

    def thread(self, name: str, work: Callable[[], None]) -> None:
        threading.Thread(target=work, name=f"{name} {self.setting.name}", daemon=True).start()

    def read(self) -> None:
        """Read the rules, then open both engines."""
        try:
            game = Game.from_sheet(parse(self.setting.rules, self.setting.name), self.setting.name)
            role = find_role(game, self.setting.role)
        except (GdlError, ProtocolError) as error:
            self.fail(str(error))
            return
        except Exception as error:  # whatever a stranger's rules may reach, the server must hear of it
            LOG.exception("%s: the rules could not be read", self.setting.name)
            self.fail(repr(error))
            return
        self.thread("prolog", lambda: self.open_prolog(game, role))
        if self.setting.open_search is not None:
            self.thread("lanes", lambda: self.open_lanes(game, role))

    def open_prolog(self, game: Game, role: int) -> None:
        if not self.open(lambda: self.sit(self.prolog(game), role, None)) or self.setting.open_search is None:
            return
        self.lanes_over.wait(LANES_SECONDS)
        if not self.lanes_ready and not self.stopped.is_set():
            self.open(lambda: self.search_on_prolog(game, role), needed=False)

    def open_lanes(self, game: Game, role: int) -> None:
        self.lanes_ready = self.open(lambda: self.sit(self.lanes(game), role, self.setting.open_search))
        self.lanes_over.set()
        if self.setting.spares and not self.stopped.wait(SPARES_SECONDS):
            keep_spares()

    def open(self, make: Callable[[], Seat], needed: bool = True) -> bool:
        """Make a seat and offer it; false if that fails."""
        try:
            self.offer(make())
            return True
        except Exception as error:  # the other engine may still come
            if not isinstance(error, GgpError):
                LOG.exception("%s: an engine could not be opened", self.setting.name)
            if self.stopped.is_set() or not needed:
                return False
            LOG.warning("%s: %s", self.setting.name, error)
            with self.lock:
                self.failures.append(str(error))
                hopeless = len(self.failures) == (ENGINES if self.setting.open_search else 1)
            if hopeless:
                self.fail("; ".join(self.failures))
            return False

    def sit(self, engine: Engine, role: int, open_search: OpenSearch | None) -> Seat:
        setting = self.setting
        try:
            search = open_search(engine, setting.config, setting.seed) if open_search else None
            return Seat(engine, search, role, setting.playouts)
        except BaseException:
            engine.close()
            raise

    def search_on_prolog(self, game: Game, role: int) -> Seat:
        """A seat with a search; EngineTimeout if a playout, which nothing can interrupt, takes too much of a clock."""
        engine = self.prolog(game)
        try:
            state = engine.initial()
            begun = time.monotonic()
            engine.playouts(state, PLAYOUTS, self.setting.seed)
            seconds = (time.monotonic() - begun) / PLAYOUTS
            if seconds > self.setting.play_clock / 20:
                raise EngineTimeout(f"a playout takes {seconds:.1f} s: too long to search")
        except BaseException:
            engine.close()
            raise
        return self.sit(engine, role, self.setting.open_search)

    def prolog(self, game: Game) -> Engine:
        least, most = PROLOG_SECONDS
        return PrologEngine(game, seconds=max(least, min(most, self.setting.play_clock / 4)))

    def lanes(self, game: Game) -> Engine:
        from ggp_agent.engine.lanes import LanesEngine  # numba takes a while to import, and Prolog need not wait

        least, most = GROUND_SECONDS
        seconds = max(least, min(most, self.setting.start_clock + 10 * self.setting.play_clock))
        return LanesEngine(game, limits=Limits(seconds=seconds), stop=self.stopped)


def keep_spares() -> None:
    """Have children of all kinds ready: to start them takes longer than to open most games."""
    from ggp_agent.engine import native

    keep_spare("ggp_agent.engine.prolog_child", PROLOG_BYTES)
    keep_spare("ggp_agent.engine.ground_child", Limits().memory_bytes)
    keep_spare("ggp_agent.engine.native", native.MEMORY_BYTES)


def fill_spares() -> None:
    """The same, and wait until they are."""
    keep_spares()
    wait_for_spares(FILL_SECONDS)


def find_role(game: Game, role: str) -> int:
    """The number of a role as the server calls it."""
    name = str(game.sheet.term(role))
    if name not in game.roles:
        raise ProtocolError(f"{name} is not a role of this game; its roles are: {', '.join(game.roles)}")
    return game.roles.index(name)
