"""The thread that thinks about one match, and always holds a move.

It thinks from the moment it has an engine until the match is over: on the player's own clock and on everybody else's.
It searches in short slices and after each one publishes the move it would play, so that there is an answer when the
clock runs out, whatever the search is doing then.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable

from ggp_agent.net.seat import Held, Seat

LOG = logging.getLogger("ggp_agent.net")
MAX_CHARACTERS = 20_000_000  # of all moves that are reported in one match
SLICE_SECONDS = 0.25
LEAST_SECONDS = 0.005
MAX_DUE = 100  # answers; whoever asks more has no need of the last word


class Thinker:
    """`held` may be read at any time. `notify` is called from the thread whenever it changes."""

    def __init__(self, name: str, notify: Callable[[], None]) -> None:
        self.name = name
        self.notify = notify
        self.held: Held | None = None
        self.failure: str | None = None  # why there will never be a move
        self.condition = threading.Condition()  # guards what follows
        self.reports: list[tuple[str, ...]] = []  # joint moves that the server reported
        self.characters = 0  # of them
        self.offered: Seat | None = None
        self.rank = 0  # of the best seat offered so far
        self.seat: Seat | None = None  # only this thread uses it, but for `stop`
        self.due: list[float] = []  # moments to come at which answers are due, the next one first
        self.closed = False
        self.thread = threading.Thread(target=self.run, name=f"think {name}", daemon=True)
        self.thread.start()

    # From other threads

    def offer(self, seat: Seat) -> None:
        """Take this seat if it is better than what there is."""
        with self.condition:
            welcome = not self.closed and seat.rank > self.rank
            refused = seat if not welcome else self.offered
            if welcome:
                self.rank = seat.rank
                self.offered = seat
                self.interrupt()
        if refused is not None:
            refused.close()

    def fail(self, why: str) -> None:
        """There will be no seat."""
        self.failure = why
        self.notify()

    def report(self, moves: tuple[str, ...] | None, deadline: float) -> int:
        """The moves that the server reports, and when an answer is due; returns the step the answer belongs to."""
        with self.condition:
            # A question may come while an earlier one is open, or was answered long before its time.
            self.due = sorted([*self.due, deadline])[:MAX_DUE]
            if moves is not None:
                self.remember(moves)
            self.interrupt()
            return len(self.reports)

    def remember(self, moves: tuple[str, ...]) -> None:
        self.characters += sum(map(len, moves))
        if self.characters <= MAX_CHARACTERS:
            self.reports.append(moves)

    def close(self, moves: tuple[str, ...] | None = None) -> None:
        """End the thread soon, and give back the engine; `moves` ended the match."""
        with self.condition:
            if moves is not None:
                self.remember(moves)
            self.closed = True
            self.interrupt()

    def interrupt(self) -> None:
        """Let the thread look at what has changed; the caller holds the condition."""
        if self.seat is not None:
            self.seat.stop()
        self.condition.notify()

    # The thread

    @property
    def deadline(self) -> float:
        """The next moment at which an answer is due."""
        return self.due[0] if self.due else math.inf

    def run(self) -> None:
        try:
            while self.wait():
                try:
                    self.turn()
                except Exception:
                    # A bug, or a child that died in an unusual way: keep what is held and wait for other news.
                    LOG.exception("%s: a turn of thinking failed", self.name)
                    with self.condition:
                        self.due = []
                        if self.seat is not None:
                            self.seat.settled = True
            if self.seat is not None:
                self.tell_result(self.seat)
        finally:
            for seat in (self.seat, self.offered):
                if seat is not None:
                    seat.close()

    def wait(self) -> bool:
        """Sleep until there is something to do; false when it is over."""
        with self.condition:
            while not self.closed and self.offered is None and not self.behind() and not self.may_think():
                left = self.deadline - time.monotonic() if self.seat is not None else math.inf
                if left <= 0:
                    break  # somebody waits for the last word, although there was nothing to think about
                self.condition.wait(None if left == math.inf else left)
            return not self.closed

    def behind(self) -> bool:
        return self.seat is not None and self.seat.step < len(self.reports)

    def may_think(self) -> bool:
        return self.seat is not None and self.seat.may_think

    def turn(self) -> None:
        """Move to a better seat, follow the server, think for a slice."""
        with self.condition:
            offered, self.offered = self.offered, None
            old = self.seat
        if offered is not None:
            self.catch_up(offered)
            with self.condition:
                self.seat = offered
            LOG.info("%s: playing with the %s engine", self.name, offered.engine.name)
            if old is not None:
                old.close()
        seat = self.seat
        if seat is None:
            return
        if self.behind() or offered is not None or not seat.may_think:
            self.catch_up(seat)
            self.publish(seat)
        with self.condition:
            busy = self.behind() or self.offered is not None or self.closed
            left = self.deadline - time.monotonic()
        if not busy and seat.may_think:
            # A slice ends when an answer is due; once that has passed, the time is everybody else's.
            seat.think(max(LEAST_SECONDS, min(SLICE_SECONDS, left)))
            self.publish(seat)

    def catch_up(self, seat: Seat) -> None:
        """Follow all reports; more may come meanwhile."""
        while seat.step < len(self.reports):
            seat.follow(self.reports[seat.step])

    def tell_result(self, seat: Seat) -> None:
        self.catch_up(seat)
        if seat.position.terminal and seat.position.goals is not None:
            goals = zip(seat.engine.game.roles, seat.position.goals, strict=True)
            LOG.info("%s: result: %s", self.name, ", ".join(f"{role} {goal}" for role, goal in goals))

    def publish(self, seat: Seat) -> None:
        self.held = seat.held()
        with self.condition:
            self.due = [moment for moment in self.due if moment > self.held.time]
        self.notify()
