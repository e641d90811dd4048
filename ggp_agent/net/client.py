"""Sends messages to players as ggp-base does, and reads whatever comes back with care.

One connection a message, HTTP/1.0. The status of a reply is ignored; its body ends where Content-Length says, or where
the connection does. A player is a stranger: its reply may only be so long, and all of it has to arrive in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from ggp_agent.errors import ConfigError

DEFAULT_PORT = 9147
CONNECT_SECONDS = 5.0
MAX_HEAD_BYTES = 16_384
MAX_BODY_BYTES = 65_536


class ConnectionFailure(Exception):
    """No connection, a lost one, or a reply that is no HTTP: what a record calls CE."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """Where a player listens."""

    host: str
    port: int
    path: str
    secure: bool

    @classmethod
    def parse(cls, url: str) -> Self:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ConfigError(f"{url} is no address of a player: {error}") from error
        if parts.scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
            raise ConfigError(f"{url} is no address of a player: write http://host:port")
        return cls(host=host, port=port or DEFAULT_PORT, path=parts.path or "/", secure=parts.scheme == "https")


async def post(address: Address, text: str, seconds: float, receiver: str = "player") -> str:
    """The body of the reply to a message; TimeoutError if it is not there in time, ConnectionFailure if it never
    will be."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    writer: asyncio.StreamWriter | None = None
    try:
        connect_by = min(deadline, loop.time() + CONNECT_SECONDS)
        async with asyncio.timeout_at(connect_by):
            context = ssl.create_default_context() if address.secure else None
            reader, writer = await asyncio.open_connection(
                address.host, address.port, ssl=context, limit=MAX_HEAD_BYTES
            )
    except TimeoutError as error:
        raise ConnectionFailure(f"{address.host}:{address.port} does not answer") from error
    except OSError as error:
        raise ConnectionFailure(f"{address.host}:{address.port}: {error.strerror or error}") from error
    try:
        async with asyncio.timeout_at(deadline):
            writer.write(request(address, text, receiver))
            await writer.drain()
            return (await read_body(reader)).decode("utf-8", errors="replace")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
        if isinstance(error, TimeoutError):
            raise
        raise ConnectionFailure(f"{address.host}:{address.port}: {error}") from error
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(0.1):
                await writer.wait_closed()


def request(address: Address, text: str, receiver: str) -> bytes:
    """The bytes of a message, as ggp-base sends them."""
    body = text.encode(errors="replace")
    head = [
        f"POST {address.path} HTTP/1.0",
        "Accept: text/delim",
        f"Host: {address.host}",
        "Sender: GAMESERVER",
        f"Receiver: {receiver}",
        "Content-Type: text/acl",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*head, "", ""]).encode(errors="replace") + body


async def read_body(reader: asyncio.StreamReader) -> bytes:
    status = await reader.readuntil(b"\n")
    if not status.startswith(b"HTTP/"):
        raise ConnectionFailure("the reply is not HTTP")
    length = MAX_BODY_BYTES
    size = len(status)
    while (line := (await reader.readuntil(b"\n"))).strip():
        size += len(line)
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length" and value.strip().isdigit():
            length = min(length, int(value[:20]))
        if size > MAX_HEAD_BYTES:
            raise ConnectionFailure("the head of the reply is too long")
    body = bytearray()
    while len(body) < length and (chunk := await reader.read(length - len(body))):
        body += chunk
    return bytes(body)
