"""The player as an HTTP server.

Servers of the GGP protocol read replies in different ways, and one form suits all of them: a Content-Length, exactly
one term in ASCII, and a connection that is closed at once. Requests may come as HTTP/1.0 without Host, with any
content type, by POST or as GET with the message in the address.

Whoever finds the port may send anything. A connection has a few seconds to deliver its request; there may be only so
many, and the one that has waited longest goes first; a body is read only up to a limit, and only a few long ones at
a time. Nothing of this touches the match that is being played.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable
from urllib.parse import unquote_plus

from aiohttp import web

from ggp_agent.errors import ConfigError, ProtocolError
from ggp_agent.gdl.reader import MAX_BYTES, shorten
from ggp_agent.gdl.terms import spell
from ggp_agent.net.config import PlayerConfig
from ggp_agent.net.player import Player
from ggp_agent.net.search import OpenSearch, open_search

LOG = logging.getLogger("ggp_agent.net")
HTTP_LOG = logging.getLogger("ggp_agent.net.http")
HTTP_LOG.setLevel(logging.CRITICAL)  # what strangers send must not fill a disk

REQUEST_SECONDS = 15.0  # for a request to arrive
LINGER_SECONDS = 1.0  # to take in, and forget, what a client still sends after its reply
MAX_CONNECTIONS = 512
SHORT_BYTES = 1 << 16  # bodies up to this are read freely
LONG_BODIES = 4  # longer ones at a time
BACKLOG = 512
SWITCH_SECONDS = 0.001  # a thread that thinks in Python lets the loop answer so soon

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Content-Type",
    "Access-Control-Allow-Age": "86400",  # no header of CORS, but what ggp-base's players send
    "Content-Type": "text/acl",
    "Server": "ggp_agent",
}


class Connections(web.Server):
    """Connections and their number. Those that have not yet delivered a request are kept in the order they came."""

    def __init__(self, handler: Callable[[web.BaseRequest], object], request_seconds: float, limit: int) -> None:
        super().__init__(
            handler,  # type: ignore[arg-type]  # aiohttp does not export the type of handlers
            access_log=None,
            logger=HTTP_LOG,
            keepalive_timeout=request_seconds,
            lingering_time=LINGER_SECONDS,
            auto_decompress=False,  # nobody compresses messages, but a few bytes could become gigabytes
        )
        self.request_seconds = request_seconds
        self.limit = limit
        self.open: set[web.RequestHandler] = set()
        self.waiting: dict[web.RequestHandler, asyncio.TimerHandle] = {}

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        self.open.add(handler)
        loop = asyncio.get_running_loop()
        self.waiting[handler] = loop.call_later(self.request_seconds, transport.abort)
        if len(self.open) > self.limit:
            # Whoever holds connections without saying anything gives way to whoever comes with a request.
            oldest = next(iter(self.waiting))
            self.waiting.pop(oldest).cancel()
            self.open.discard(oldest)
            if oldest.transport is not None:
                oldest.transport.abort()

    def connection_lost(self, handler: web.RequestHandler, exc: BaseException | None = None) -> None:
        super().connection_lost(handler, exc)
        self.open.discard(handler)
        self.delivered(handler)

    def delivered(self, handler: web.RequestHandler) -> None:
        """A whole request has arrived: from now on the connection waits for us."""
        timer = self.waiting.pop(handler, None)
        if timer is not None:
            timer.cancel()


class Server:
    """A player behind a port. Use `start`, then `close`; both belong to the event loop."""

    def __init__(
        self,
        config: PlayerConfig,
        open_search: OpenSearch = open_search,
        *,
        spares: bool = False,
        request_seconds: float = REQUEST_SECONDS,
        max_connections: int = MAX_CONNECTIONS,
    ) -> None:
        self.config = config
        self.player = Player(config, open_search, spares=spares)
        self.request_seconds = request_seconds
        self.max_connections = max_connections
        self.long_bodies = asyncio.Semaphore(LONG_BODIES)
        self.port = config.port  # the real one once it listens: port 0 means any

    async def start(self) -> None:
        """Listen. The player is available when `player.warm_up` is through."""
        self.connections = Connections(self.handle, self.request_seconds, self.max_connections)
        loop = asyncio.get_running_loop()
        try:
            self.listener = await loop.create_server(
                self.connections, self.config.host, self.config.port, backlog=BACKLOG
            )
        except OSError as error:
            place = f"{self.config.host}:{self.config.port}"
            raise ConfigError(f"cannot listen on {place}: {error.strerror or error}; try another --port") from error
        self.port = self.listener.sockets[0].getsockname()[1]
        LOG.info("%s listens on port %d", self.config.name, self.port)

    async def close(self) -> None:
        self.listener.close()
        await self.player.close()
        await self.connections.shutdown(timeout=1.0)

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """One request, one reply, and the connection is closed."""
        arrived = time.monotonic()
        try:
            text = await self.text(request)
            self.connections.delivered(request.protocol)
            response = reply(await self.player.answer(text, arrived) if request.method != "OPTIONS" else "")
        except ProtocolError as error:
            response = reply(f"(error {spell(ascii(shorten(str(error), 300))[1:-1])})", status=400)
        except (ConnectionError, web.HTTPException):
            raise
        except Exception:
            LOG.exception("a request could not be answered")
            response = reply("nil", status=500)
        response.force_close()
        return response

    async def text(self, request: web.BaseRequest) -> str:
        """The message of a request; ProtocolError if it cannot hold one."""
        if request.method == "GET":
            return unquote_plus(request.raw_path.removeprefix("/"))
        if request.method == "OPTIONS":
            return ""
        if request.method != "POST":
            raise ProtocolError(f"{shorten(request.method, 20)} is no method of this server; use POST")
        if (request.content_length or 0) > MAX_BYTES:
            raise ProtocolError(f"the body has {request.content_length:,} bytes; it may have {MAX_BYTES:,}")
        body = await self.body(request)
        try:
            return body.decode("utf-8-sig")
        except UnicodeDecodeError:
            return body.decode("latin-1")

    async def body(self, request: web.BaseRequest) -> bytes:
        body = bytearray()
        slot = False
        try:
            while chunk := await request.content.readany():
                body += chunk
                if len(body) > MAX_BYTES:
                    raise ProtocolError(f"the body has more than {MAX_BYTES:,} bytes")
                if len(body) > SHORT_BYTES and not slot:
                    slot = await self.long_bodies.acquire()
            return bytes(body)
        finally:
            if slot:
                self.long_bodies.release()


def reply(text: str, status: int = 200) -> web.Response:
    # Names outside of ASCII are only ever sent back to a server that sent them first.
    return web.Response(body=text.encode(errors="replace"), status=status, headers=HEADERS)


async def serve(
    config: PlayerConfig,
    stop: asyncio.Event,
    open_search: OpenSearch = open_search,
    listening: Callable[[int], None] = lambda port: None,
) -> None:
    """Listen, say on which port, warm up, and play until `stop` is set."""
    sys.setswitchinterval(SWITCH_SECONDS)
    server = Server(config, open_search, spares=True)
    await server.start()
    listening(server.port)
    warm_up = asyncio.create_task(server.player.warm_up())
    try:
        await stop.wait()
    finally:
        warm_up.cancel()
        await server.close()
