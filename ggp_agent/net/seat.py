"""An engine and a search that stand where the server says the match stands.

The server is always right: each PLAY reports the moves that were really made, whatever the players sent, and a seat
follows them. A report that cannot be followed leaves the seat where it is, and there is still a legal move to play.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass

from ggp_agent.engine import Engine, JointMove, Move, State
from ggp_agent.errors import EngineError, GdlError
from ggp_agent.gdl import Term
from ggp_agent.net.search import Search
from ggp_agent.search.config import Limit

LOG = logging.getLogger("ggp_agent.net")
EARLY = 0.02  # seconds; a search that returns so much before its limit, unasked, has nothing left to find out


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """The move to play if the clock ran out now."""

    step: int  # reports that were followed before it was chosen
    move: str | None  # in the spelling of the rules received; None if no legal move is known
    only: bool  # there is no other move
    settled: bool  # more thinking would not change it
    time: float  # when it was chosen, on the monotonic clock


class Seat:
    """One role of one match. All methods belong to one thread, but for `stop`."""

    def __init__(self, engine: Engine, search: Search | None, role: int, playouts: int = 0) -> None:
        self.engine = engine
        self.search = search
        self.role = role
        self.playouts = playouts  # that are enough for a position; 0: there are never enough
        self.step = 0  # reports followed, those that could not be included
        self.enter(engine.initial())
        self.last: tuple[str, ...] | None = None
        self.stops = self.stops_seen = 0  # calls of `stop`, and those before the last search ended

    @property
    def rank(self) -> int:
        """A seat of a higher rank is better: legal moves, a search on Prolog, a search on lanes."""
        return 3 if self.engine.name == "lanes" else 2 if self.search is not None else 1

    @property
    def may_think(self) -> bool:
        return self.search is not None and not self.settled

    # Following the server

    def enter(self, state: State) -> None:
        self.state = state
        self.position = self.engine.look(state)
        # Whoever is content with so many playouts does not think on the clocks of others.
        content = self.playouts > 0 and len(self.position.legal[self.role]) <= 1
        self.settled = self.position.terminal or content
        self.made = 0  # playouts in this position

    def follow(self, moves: tuple[str, ...]) -> None:
        """Go where the server says that these moves led. Nothing that a server sends raises an error here."""
        self.step += 1
        try:
            joint = self.known_joint(moves)
            if joint is not None and self.is_legal(joint):
                self.go(joint, legal=True)
            elif moves == self.last:
                LOG.warning("%s: the server reported the same moves twice", self.engine.game.name)
            elif joint is not None:
                LOG.warning("%s: %s are not legal here; playing on from there", self.engine.game.name, moves)
                self.go(joint, legal=False)
            else:
                LOG.warning("%s: %.200s are no moves of this game; not followed", self.engine.game.name, moves)
                return
        except EngineError as error:
            # The rules are broken from here on, or a child died: what was held is as good as anything.
            LOG.warning("the moves %.200s cannot be followed: %s", moves, error)
            self.settled = True
        self.last = moves

    def go(self, joint: JointMove, *, legal: bool) -> None:
        self.enter(self.engine.step(self.state, joint))
        if self.search is None or self.position.terminal:
            return
        try:
            if legal:
                self.search.advance(joint)
            else:
                self.search.start(self.state)
        except Exception:
            self.lose_search()

    def terms(self, moves: tuple[str, ...]) -> list[Term]:
        """The moves as terms; empty if they are not one term a role."""
        if len(moves) != len(self.engine.game.roles):
            return []
        try:
            return [self.engine.game.sheet.term(move) for move in moves]
        except GdlError:
            return []

    def known_joint(self, moves: tuple[str, ...]) -> JointMove | None:
        """The joint move that the texts mean; None unless each is a move that its role may have somewhere."""
        try:
            joint = tuple(self.engine.moves[role].index(term) for role, term in enumerate(self.terms(moves)))
        except ValueError:
            return None
        return joint or None

    def is_legal(self, joint: JointMove) -> bool:
        return all(move in legal for move, legal in zip(joint, self.position.legal, strict=True))

    # Thinking

    def think(self, seconds: float) -> None:
        """Search for so long, until there are playouts enough, or until `stop`."""
        if self.search is None or self.settled:
            return
        begun = time.monotonic()
        try:
            limit = Limit(seconds=seconds, playouts=self.playouts - self.made if self.playouts else None)
            analysis = self.search.think(limit)
            self.made += analysis.simulations if self.playouts else 0
        except Exception:
            self.lose_search()
        if 0 < self.playouts <= self.made:
            self.settled = True
        # A stop may come just before a search begins and end it all the same.
        if time.monotonic() - begun < seconds - EARLY and self.stops == self.stops_seen:
            self.settled = True
        self.stops_seen = self.stops

    def stop(self) -> None:
        """From any thread: let a running `think` return."""
        self.stops += 1
        search = self.search
        if search is not None:
            search.stop()

    def lose_search(self) -> None:
        """A search that breaks must not lose the match: there are still legal moves."""
        LOG.exception("%s: the search broke; playing on without it", self.engine.game.name)
        self.search = None
        self.settled = True

    # Answering

    def best(self) -> Move | None:
        """The move to play: legal here, or None where the rules know none."""
        legal = self.position.legal[self.role]
        if self.search is not None and not self.position.terminal:
            try:
                move = self.search.best(self.role)
                if move in legal:
                    return move
            except Exception:
                self.lose_search()
        return legal[0] if legal else None

    def held(self) -> Held:
        move = self.best()
        return Held(
            step=self.step,
            move=None if move is None else self.spell(move),
            only=len(self.position.legal[self.role]) <= 1,
            settled=self.settled,
            time=time.monotonic(),
        )

    def spell(self, move: Move) -> str:
        return self.engine.game.sheet.spelled(self.engine.moves[self.role][move])

    def close(self) -> None:
        """Give everything back."""
        if self.search is not None:
            self.search.close()
        self.engine.close()
