"""Fakes: searches that misbehave, players that misbehave, and a client that sends any bytes."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from ggp_agent.engine import Engine, JointMove, Move, State
from ggp_agent.errors import IllegalMove
from ggp_agent.net import PlayerConfig, Server
from ggp_agent.net.search import OpenSearch
from ggp_agent.search import Limit, SearchConfig

# White marks 1 or 2, then black does; 1 is worth 100 and 2 nothing.
MARKS = """(role white) (role black)
(init (step 1)) (init (control white))
(cell 1) (cell 2) (succ 1 2) (succ 2 3)
(<= (legal ?r (mark ?x)) (true (control ?r)) (cell ?x))
(<= (legal white noop) (true (control black)))
(<= (legal black noop) (true (control white)))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= (next (control black)) (true (control white)))
(<= (next (control white)) (true (control black)))
(<= (next (chosen ?r ?x)) (does ?r (mark ?x)))
(<= (next (chosen ?r ?x)) (true (chosen ?r ?x)))
(<= terminal (true (step 3)))
(<= (goal ?r 100) (true (chosen ?r 1)))
(<= (goal ?r 0) (true (chosen ?r 2)))"""


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeLine:
    move: Move
    visits: int
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class FakeAnalysis:
    simulations: int
    value: tuple[float, ...]
    lines: tuple[tuple[FakeLine, ...], ...]


class FakeSearch:
    """Finds at once that the first legal move is best, and that nothing more can be found."""

    def __init__(self, engine: Engine, config: SearchConfig, seed: int = 0) -> None:
        self.engine = engine
        self.halt = threading.Event()
        self.start()

    def start(self, state: State | None = None) -> None:
        self.state = self.engine.initial() if state is None else state
        self.position = self.engine.look(self.state)

    def advance(self, joint: JointMove) -> None:
        if not all(move in legal for move, legal in zip(joint, self.position.legal, strict=True)):
            raise IllegalMove("not legal")
        self.start(self.engine.step(self.state, joint))

    def think(self, limit: Limit) -> FakeAnalysis:
        return self.analyse()

    def stop(self) -> None:
        self.halt.set()

    def best(self, role: int) -> Move:
        return self.position.legal[role][0]

    def analyse(self) -> FakeAnalysis:
        lines = tuple(
            tuple(FakeLine(move=move, visits=1, value=0.5) for move in legal) for legal in self.position.legal
        )
        return FakeAnalysis(simulations=1, value=(), lines=lines)

    def close(self) -> None:
        self.halt.set()


class BusySearch(FakeSearch):
    """Thinks until its limit or until it is stopped, as a real one does."""

    def think(self, limit: Limit) -> FakeAnalysis:
        self.halt.clear()
        self.halt.wait(min(limit.seconds, 60))
        return self.analyse()


class CountingSearch(FakeSearch):
    """Makes three simulations in a slice, unless it is to make fewer; time alone never ends it."""

    def think(self, limit: Limit) -> FakeAnalysis:
        assert limit.playouts is not None and limit.playouts >= 1
        self.halt.wait(limit.seconds if limit.playouts > 3 else 0)
        return replace(self.analyse(), simulations=min(3, limit.playouts))


class DeafSearch(FakeSearch):
    """Goes on for a while although it is told to stop."""

    def think(self, limit: Limit) -> FakeAnalysis:
        time.sleep(3)
        return self.analyse()


class BrokenSearch(FakeSearch):
    """Raises errors of all kinds."""

    def think(self, limit: Limit) -> FakeAnalysis:
        raise MemoryError("no room for the graph")


class LyingSearch(FakeSearch):
    """Says that an impossible move is best."""

    def best(self, role: int) -> Move:
        return 999_999


Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextlib.asynccontextmanager
async def connected(port: int, count: int = 1) -> AsyncIterator[list[Connection]]:
    """Connections that are open until the end of the block, unless the other side closes them."""
    connections = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
    try:
        yield connections
    finally:
        for _, writer in connections:
            writer.close()
        for _, writer in connections:
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def exchange(port: int, data: bytes, patience: float = 60) -> bytes:
    """Send bytes over a new connection, and return all that comes back until it is closed or patience ends."""
    async with connected(port) as [(reader, writer)]:
        received = b""
        with contextlib.suppress(ConnectionError):
            writer.write(data)
            await writer.drain()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(patience):
                while chunk := await reader.read(65536):
                    received += chunk
        return received


def post(body: bytes | str) -> bytes:
    """A plain request."""
    data = body.encode() if isinstance(body, str) else body
    return b"POST / HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(data) + data


async def ask(port: int, body: bytes | str) -> str:
    """The term that a player replies to a message."""
    head, _, content = (await exchange(port, post(body))).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 "), head
    return content.decode("ascii")


@contextlib.asynccontextmanager
async def serving(search: OpenSearch = FakeSearch, **settings: object) -> AsyncIterator[Server]:
    """A player server on a free port; it says that it is warm."""
    known = {"margin_seconds", "silence_seconds", "name"}
    config = PlayerConfig(
        host="127.0.0.1",
        port=0,
        **{key: settings.pop(key) for key in known & set(settings)},  # type: ignore[arg-type]
    )
    server = Server(config, search, **settings)  # type: ignore[arg-type]
    await server.start()
    server.player.warm = True
    try:
        yield server
    finally:
        await server.close()


Behaviour = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


class FakePlayer:
    """A player over HTTP that does whatever `behave` does with a message. It remembers the messages."""

    def __init__(self, behave: Behaviour) -> None:
        self.behave = behave
        self.requests: list[bytes] = []
        self.over = asyncio.Event()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length:"))
            body = await reader.readexactly(length)
            self.requests.append(head + body)
            await self.behave(body.decode(), writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self.handle, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.over.set()
        self.server.close()

    @property
    def bodies(self) -> list[str]:
        return [request.partition(b"\r\n\r\n")[2].decode() for request in self.requests]


def respond(writer: asyncio.StreamWriter, body: str, length: int | None = None) -> None:
    data = body.encode()
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Length: %d\r\n\r\n" % (length or len(data)) + data)
