"""From the text of a rulesheet to a seat at the game, by two ways at once.

Prolog takes any rules and is there within a second; lanes are far faster, but making a circuit may take long, or may
never end. Both are opened side by side, and whichever is ready is offered first. Everything here runs in threads that
nobody waits for, and `stop` ends them soon.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from ggp_agent.engine import Engine, Game, PrologEngine
from ggp_agent.engine.ground import Limits
from ggp_agent.errors import GdlError, GgpError, ProtocolError
from ggp_agent.gdl import parse
from ggp_agent.net.search import OpenSearch
from ggp_agent.net.seat import Seat
from ggp_agent.search.config import SearchConfig

LOG = logging.getLogger("ggp_agent.net")
RANKS = {"prolog": 1, "lanes": 2}  # a seat with a higher rank replaces one with a lower
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
    seed: int
    open_search: OpenSearch


class Opening:
    """Opens the game of one match. `offer` gets seats, or `fail` gets what is wrong with the rules; both once or more,
    from other threads."""

    def __init__(self, setting: Setting, offer: Callable[[Seat], None], fail: Callable[[str], None]) -> None:
        self.setting = setting
        self.offer = offer
        self.fail = fail
        self.stopped = threading.Event()
        self.failures: list[str] = []
        self.lock = threading.Lock()

    def begin(self) -> None:
        self.thread("rules", self.read)

    def stop(self) -> None:
        """End whatever is still being made."""
        self.stopped.set()

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
        self.thread("prolog", lambda: self.open(lambda: self.prolog(game), role))
        self.thread("lanes", lambda: self.open(lambda: self.lanes(game), role))

    def prolog(self, game: Game) -> Engine:
        least, most = PROLOG_SECONDS
        # A playout cannot be interrupted, so it may take no more than a part of the clock.
        return PrologEngine(game, seconds=max(least, min(most, self.setting.play_clock / 4)))

    def lanes(self, game: Game) -> Engine:
        from ggp_agent.engine.lanes import LanesEngine  # numba takes a while to import, and Prolog need not wait

        least, most = GROUND_SECONDS
        seconds = max(least, min(most, self.setting.start_clock + 10 * self.setting.play_clock))
        return LanesEngine(game, limits=Limits(seconds=seconds), stop=self.stopped)

    def open(self, make: Callable[[], Engine], role: int) -> None:
        """Make an engine and offer a seat with it."""
        engine: Engine | None = None
        try:
            engine = make()
            seat = Seat(engine, self.setting.open_search(engine, self.setting.config, self.setting.seed), role)
        except Exception as error:  # the other engine may still come
            if engine is not None:
                engine.close()
            if self.stopped.is_set():
                return
            if not isinstance(error, GgpError):
                LOG.exception("%s: an engine could not be opened", self.setting.name)
            LOG.warning("%s: %s", self.setting.name, error)
            with self.lock:
                self.failures.append(str(error))
                hopeless = len(self.failures) == len(RANKS)
            if hopeless:
                self.fail("; ".join(self.failures))
            return
        self.offer(seat)


def find_role(game: Game, role: str) -> int:
    """The number of a role as the server calls it."""
    name = str(game.sheet.term(role))
    if name not in game.roles:
        raise ProtocolError(f"{name} is not a role of this game; its roles are: {', '.join(game.roles)}")
    return game.roles.index(name)
