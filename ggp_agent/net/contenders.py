"""Players as a game master sees them: somebody who is sent messages and may reply, in this process or over HTTP."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

from ggp_agent.engine import Engine, Move, Position, State, open_engine
from ggp_agent.errors import ConfigError, GgpError, ProtocolError
from ggp_agent.net import messages
from ggp_agent.net.client import Address, ConnectionFailure, post
from ggp_agent.net.record import Turn
from ggp_agent.net.scramble import Scrambler
from ggp_agent.net.search import OpenSearch
from ggp_agent.net.seat import Seat
from ggp_agent.play import Player
from ggp_agent.play.spec import PlayerSpec
from ggp_agent.search.config import Limit

MARGIN_SECONDS = 0.1  # that a player of this process keeps in hand of a clock, at most a quarter
INFO_SECONDS = 1.0
TIMEOUT, CONNECTION = "TO", "CE"


@dataclass(kw_only=True, slots=True)
class Reply:
    """What came back. Without text and without error it was nothing that could be read."""

    text: str | None = None  # one term in the words of the rules
    error: str = ""  # TIMEOUT or CONNECTION
    turn: Turn = field(default_factory=Turn)


class Contender(ABC):
    """Plays one role of one match."""

    human = False

    def __init__(self, spec: PlayerSpec) -> None:
        self.spec = spec

    async def prepare(self) -> None:  # noqa: B027 - most have nothing to do
        """Get ready before the clocks run."""

    @abstractmethod
    async def send(self, message: messages.Message, seconds: float) -> Reply:
        """The reply to a message, which must be there in so many seconds."""

    async def close(self) -> None:  # noqa: B027 - most have nothing to do
        """Give back what was opened."""


class Remote(Contender):
    """A player behind an address."""

    def __init__(self, spec: PlayerSpec, scrambler: Scrambler) -> None:
        super().__init__(spec)
        self.address = Address.parse(spec.url)
        self.scrambler = scrambler

    async def send(self, message: messages.Message, seconds: float) -> Reply:
        begun = time.monotonic()
        reply = Reply()
        try:
            text = await post(self.address, messages.write(self.translate(message)), seconds, self.spec.name)
            reply.text = self.scrambler.restore(text)
        except TimeoutError:
            reply.error = TIMEOUT
        except ConnectionFailure:
            reply.error = CONNECTION
        except ProtocolError:
            pass  # neither text nor error: it cannot be read
        reply.turn.seconds = time.monotonic() - begun
        return reply

    def translate(self, message: messages.Message) -> messages.Message:
        scramble = self.scrambler.scramble
        match message:
            case messages.Start():
                return replace(message, role=scramble(message.role), rules=scramble(message.rules))
            case messages.Play(moves=tuple(moves)) | messages.Stop(moves=tuple(moves)):
                return replace(message, moves=tuple(map(scramble, moves)))
        return message

    async def wait_until_available(self, seconds: float) -> None:
        """ConfigError if the player does not say that it is available within so many seconds."""
        deadline = time.monotonic() + seconds
        said = "nothing"
        while True:
            try:
                said = await post(self.address, messages.write(messages.Info()), INFO_SECONDS)
                if "available" in said.lower():
                    return
            except (TimeoutError, ConnectionFailure) as error:
                said = str(error) or "nothing"
            if time.monotonic() > deadline:
                raise ConfigError(f"{self.spec.text} is not available: {said[:200]!r}")
            await asyncio.sleep(0.2)


class Local(Contender):
    """A player in this process. It is asked in a thread, one question at a time."""

    def __init__(self, spec: PlayerSpec) -> None:
        super().__init__(spec)
        self.seat: Seat | None = None
        self.play_clock = 0.0
        self.asked = threading.Lock()

    @abstractmethod
    def choose(self, seat: Seat, turn: Turn) -> Move:
        """A legal move in the position of the seat."""

    def begin(self, seat: Seat, start: messages.Start) -> None:
        """The match begins."""

    def answer(self, message: messages.Message, reply: Reply) -> None:
        with self.asked:
            seat = self.seat
            assert seat is not None, "prepared before"
            if isinstance(message, messages.Start):
                self.play_clock = message.play_clock
                self.begin(seat, message)
                reply.text = "ready"
            elif isinstance(message, messages.Play):
                if message.moves is not None:
                    seat.follow(message.moves)
                reply.text = seat.spell(self.choose(seat, reply.turn))

    async def send(self, message: messages.Message, seconds: float) -> Reply:
        begun = time.monotonic()
        reply = Reply()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def finish(error: Exception | None) -> None:
            if not done.done():
                if error is None:
                    done.set_result(None)
                else:
                    done.set_exception(error)

        def work() -> None:
            error: Exception | None = None
            try:
                self.answer(message, reply)
            except Exception as caught:
                error = caught
            loop.call_soon_threadsafe(finish, error)

        threading.Thread(target=work, name=f"answer {self.spec.name}", daemon=True).start()
        try:
            async with asyncio.timeout(seconds):
                await done
        except TimeoutError:
            if self.seat is not None:
                self.seat.stop()
            return Reply(error=TIMEOUT, turn=Turn(seconds=time.monotonic() - begun))
        except GgpError:
            return Reply(error=CONNECTION, turn=Turn(seconds=time.monotonic() - begun))
        reply.turn.seconds = time.monotonic() - begun
        return reply


class Simple(Local):
    """Plays without a search, on the engine of the master: at random, the first legal move, or what a person says."""

    def __init__(self, spec: PlayerSpec, engine: Engine, role: int, player: Player) -> None:
        super().__init__(spec)
        self.seat = Seat(engine, None, role)
        self.player = player
        self.human = spec.kind == "human"

    def choose(self, seat: Seat, turn: Turn) -> Move:
        return self.player.choose(seat.engine, seat.state, seat.position, seat.role)

    async def send(self, message: messages.Message, seconds: float) -> Reply:
        if not self.human:
            return await super().send(message, seconds)
        # Nobody takes the time of a person, and the terminal belongs to the main thread.
        begun = time.monotonic()
        reply = Reply()
        self.answer(message, reply)
        reply.turn.seconds = time.monotonic() - begun
        return reply


class LegalPlayer:
    """Plays the first legal move."""

    def choose(self, engine: Engine, state: State, position: Position, role: int) -> Move:
        return position.legal[role][0]


class Ucd(Local):
    """A search of our own, on an engine of its own, which thinks on its own clock only."""

    def __init__(self, spec: PlayerSpec, engine: Engine, role: int, seed: int, open_search: OpenSearch) -> None:
        super().__init__(spec)
        self.game, self.role, self.seed, self.open_search = engine.game, role, seed, open_search

    async def prepare(self) -> None:
        def prepare() -> Seat:
            engine = open_engine(self.game)
            return Seat(engine, self.open_search(engine, self.spec.config, self.seed), self.role)

        self.seat = await asyncio.to_thread(prepare)

    def limit(self, clock: float) -> Limit:
        """What the clock leaves of the limit that the user set."""
        clock -= min(MARGIN_SECONDS, clock / 4)
        own = self.spec.limit
        return Limit(seconds=clock) if own is None else replace(own, seconds=min(clock, own.seconds))

    def begin(self, seat: Seat, start: messages.Start) -> None:
        if self.spec.limit is None and seat.search is not None and not seat.position.terminal:
            seat.search.think(self.limit(start.start_clock))

    def choose(self, seat: Seat, turn: Turn) -> Move:
        legal = seat.position.legal[self.role]
        if len(legal) == 1 or seat.search is None:
            return legal[0]
        analysis = seat.search.think(self.limit(self.play_clock))
        move = seat.search.best(self.role)
        line = next((line for line in analysis.lines[self.role] if line.move == move), None)
        turn.simulations = analysis.simulations
        if line is not None:
            turn.value, turn.visits = line.value, line.visits
        return move

    async def close(self) -> None:
        if self.seat is not None:
            self.seat.stop()
            await asyncio.to_thread(self.close_seat, self.seat)

    def close_seat(self, seat: Seat) -> None:
        with self.asked:
            seat.close()
