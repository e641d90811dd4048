"""The player over HTTP: the dialects of real servers byte for byte, and everything else that may come to a port."""

from __future__ import annotations

import asyncio
import contextlib
import resource
from random import Random
from urllib.parse import quote, quote_plus

import pytest

from ggp_agent.errors import ConfigError
from ggp_agent.net import PlayerConfig, Server
from tests.net.dialects import AVAILABLE, DIALECTS
from tests.net.fakes import MARKS, BusySearch, FakeSearch, ask, connected, exchange, post, serving

MATCH = "under.attack.1"
CORS = [
    b"Access-Control-Allow-Origin: *",
    b"Access-Control-Allow-Methods: POST, GET, OPTIONS",
    b"Access-Control-Allow-Headers: Content-Type",
    b"Access-Control-Allow-Age: 86400",
]


def check_form(reply: bytes, body: str) -> None:
    """The form that all servers can read. That the connection was closed is what ended the reply."""
    head, _, content = reply.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert content.decode("ascii") == body
    assert b"Content-Length: %d" % len(body) in lines
    assert not any(line.lower().startswith((b"transfer-encoding", b"connection: keep-alive")) for line in lines)
    for header in CORS:
        assert header in lines


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_byte_for_byte(name: str) -> None:
    async def run() -> None:
        async with serving() as server:
            for request, body in DIALECTS[name]:
                reply = await exchange(server.port, request)
                version = request.partition(b"\r\n")[0][-8:]
                assert reply.startswith(version + b" 200 OK\r\n")
                check_form(reply, body)

    asyncio.run(run())


REQUESTS = {
    "GET with an encoded message": b"GET /%28%20INFO%20%29 HTTP/1.0\r\n\r\n",
    "GET encoded as forms are": f"GET /{quote_plus('( INFO )')} HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
    "GET of a browser": b"GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n",
    "no content type, no host": post("(info)"),
    "a form": b"POST / HTTP/1.0\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 6\r\n\r\n(INFO)",
    "multipart": b"POST / HTTP/1.0\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 6\r\n\r\n(INFO)",
    "a wrong charset": b"POST / HTTP/1.0\r\nContent-Type: text/acl; charset=no\r\nContent-Length: 6\r\n\r\n(INFO)",
    "chunks": b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n(IN\r\n3\r\nFO)\r\n0\r\n\r\n",
    "an empty line behind the body": post("(INFO)") + b"\r\n",
    "another path": post("(INFO)").replace(b"POST /", b"POST /some/where?x=1"),
    "a byte order mark": post(b"\xef\xbb\xbf(INFO)"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_every_kind_of_request_is_understood(name: str) -> None:
    async def run() -> None:
        async with serving() as server:
            check_form(await exchange(server.port, REQUESTS[name]), AVAILABLE)

    asyncio.run(run())


def test_options_and_a_match_by_get() -> None:
    async def run() -> None:
        async with serving() as server:
            check_form(await exchange(server.port, b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n"), "")
            start = quote(f"(START m white ({' '.join(MARKS.split())}) 20 2)")
            check_form(await exchange(server.port, f"GET /{start} HTTP/1.0\r\n\r\n".encode()), "ready")
            check_form(await exchange(server.port, b"GET /(PLAY+m+NIL) HTTP/1.0\r\n\r\n"), "(mark 1)")

    asyncio.run(run())


def hostile(random: Random) -> bytes:
    """Some request that no server would send. Those that name the match never end it: they are all wrong."""
    noise = random.randbytes(random.randrange(1, 300))
    text = "".join(random.choices('()| ;#?nilPLAYSTOPmarkwhite12\n\\"\x00é', k=random.randrange(1, 200)))
    play = random.choice(["PLAY", "STOP", "ABORT", "START", "PREVIEW", "play", "INFO"])
    other = random.choice(["x", "M", "m.", "|m|x", "(m)", "(PLAY m NIL)", "nil"])
    wrong = random.choice(["((mark 1))", "(a b c)", "((mark 9) noop)", "(?x ?y)", "(noop noop noop noop)"])
    depth = random.randrange(1, 3000)
    return random.choice(
        [
            noise,
            post(noise),
            post(text),
            post(f"({play} {text})"),
            post(f"({play} {other} {text}"),
            post(f"({play} {other} NIL)"),
            post(f"(PLAY {MATCH} {wrong})"),
            post("(" * depth),
            post(f"({play} {MATCH} {'(' * depth}{')' * depth})"),
            post(f"(START {other} white ({MARKS}) 1 1)"),
            post(f"(START {other} white ({'(p a)' * 20000}) 1 1)"),
            b"POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n(INFO",
            b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n(INFO)",
            b"POST / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n(INFO)",
            b"GET /" + noise.hex().encode() * 20 + b" HTTP/1.1\r\n\r\n",
            b"GET /" + quote(text).encode() + b" HTTP/1.0\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\nxx",
            b"POST / HTTP/9.9\r\n" + b"X: y\r\n" * random.randrange(500) + b"\r\n",
            b"PUT / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + noise,
        ]
    )


async def attack(port: int, count: int, seed: int, at_once: int = 8) -> int:
    """Send hostile requests, some cut off in the middle; the number of those that got a reply."""
    replies = 0
    turns = iter(range(count))

    async def worker(number: int) -> None:
        nonlocal replies
        random = Random(f"{seed} {number}")
        for _ in turns:
            data = hostile(random)
            if random.random() < 0.2:
                data = data[: random.randrange(len(data) + 1)]
            with contextlib.suppress(OSError):
                reply = await exchange(port, data, patience=0.2)
                replies += reply.startswith(b"HTTP/")

    await asyncio.gather(*(worker(number) for number in range(at_once)))
    return replies


async def match_under_attack(requests: int, idle: int) -> int:
    """Play a match while all kinds of things arrive; returns how much memory grew, in kilobytes."""
    async with serving(BusySearch, request_seconds=600.0) as server, connected(server.port, idle):
        assert await ask(server.port, f"(START {MATCH} white ({MARKS}) 1 1)") == "ready"
        assert await attack(server.port, 100, seed=0) > 0
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        attacking = asyncio.create_task(attack(server.port, requests, seed=1))
        while not attacking.done():
            assert await ask(server.port, f"(PLAY {MATCH} NIL)") == "(mark 1)"
            assert await ask(server.port, "(INFO)") == "( ( name ggp_agent ) ( status busy ) )"
        assert await attacking > 0
        assert await ask(server.port, f"(PLAY {MATCH} ((mark 1) noop))") == "noop"
        assert await ask(server.port, f"(STOP {MATCH} (noop (mark 2)))") == "done"
        assert await ask(server.port, "(INFO)") == AVAILABLE
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


def test_a_match_goes_on_under_hostile_requests() -> None:
    asyncio.run(match_under_attack(requests=300, idle=30))


@pytest.mark.long
def test_a_match_goes_on_under_ten_thousand_hostile_requests() -> None:
    grown = asyncio.run(match_under_attack(requests=10_000, idle=500))
    assert grown < 100_000


BAD = {
    "too long": post("(START m x (" + "(p a) " * 700_000 + ") 1 1)"),
    "a length that is too long": b"POST / HTTP/1.0\r\nContent-Length: 100000000\r\n\r\n",
    "another method": b"DELETE / HTTP/1.0\r\n\r\n",
    "nonsense": post("nonsense"),
    "nonsense with strange characters": post("é\x00\x07(| ( "),
    "a gzip bomb": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00",
}


@pytest.mark.parametrize("name", BAD)
def test_bad_requests_are_told_what_is_wrong(name: str) -> None:
    async def run() -> None:
        async with serving() as server:
            reply = await exchange(server.port, BAD[name])
            # A client that is still sending may find the connection reset before it reads the reply.
            if reply or name != "too long":
                body = reply.partition(b"\r\n\r\n")[2].decode("ascii")
                assert reply.startswith(b"HTTP/1.") and b" 400 " in reply[:20]
                assert body.startswith("(error |") and body.endswith("|)") and body.isprintable()
            assert await ask(server.port, "(INFO)") == AVAILABLE

    asyncio.run(run())


def test_a_hundred_megabytes_are_not_kept() -> None:
    async def run() -> None:
        async with serving() as server:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            async with connected(server.port) as [(_, writer)]:
                writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                with contextlib.suppress(ConnectionError):
                    for _ in range(1600):
                        writer.write(b"10000\r\n" + b"(" * 65536 + b"\r\n")
                        await writer.drain()
            assert await ask(server.port, "(INFO)") == AVAILABLE
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000

    asyncio.run(run())


def test_half_requests_are_closed_in_the_end() -> None:
    async def run() -> None:
        async with serving(request_seconds=0.3) as server:
            halves = [b"", b"POST", b"POST / HTTP/1.0\r\nContent-Length: 10\r\n", post("(INFO)")[:-1]]
            assert await asyncio.gather(*(exchange(server.port, half) for half in halves)) == [b""] * len(halves)
            assert not server.connections.open and not server.connections.waiting

    asyncio.run(run())


def test_a_reply_may_take_longer_than_a_request() -> None:
    async def run() -> None:
        async with serving(BusySearch, request_seconds=0.2, margin_seconds=0.1) as server:
            assert await ask(server.port, f"(START m white ({MARKS}) 1 1)") == "ready"

    asyncio.run(run())


def test_idle_connections_give_way() -> None:
    async def run() -> None:
        async with serving(max_connections=20) as server, connected(server.port, 60) as held:
            assert await ask(server.port, "(INFO)") == AVAILABLE
            assert len(server.connections.open) <= 20
            with contextlib.suppress(ConnectionError):
                assert await held[0][0].read() == b""  # the oldest was closed

    asyncio.run(run())


def test_a_client_that_leaves_does_not_disturb_the_match() -> None:
    async def run() -> None:
        async with serving(BusySearch) as server:
            assert await ask(server.port, f"(START m white ({MARKS}) 1 1)") == "ready"
            async with connected(server.port, 5) as leaving:
                for _, writer in leaving:
                    writer.write(post("(PLAY m NIL)"))
                    await writer.drain()
                    writer.transport.abort()
            assert await ask(server.port, "(PLAY m NIL)") == "(mark 1)"

    asyncio.run(run())


def test_a_port_that_is_taken_is_named() -> None:
    async def run() -> None:
        async with serving() as server:
            second = Server(PlayerConfig(host="127.0.0.1", port=server.port), FakeSearch)
            with pytest.raises(ConfigError, match=f"127.0.0.1:{server.port}"):
                await second.start()

    asyncio.run(run())
