"""The game master with players that are slow, lying, crashing, garbled or silent; and the records it writes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ggp_agent.engine import Engine, Game, PrologEngine
from ggp_agent.errors import ConfigError, EngineError
from ggp_agent.gdl import parse
from ggp_agent.net import Master, Record, Terms, master
from ggp_agent.net.scramble import Scrambler
from ggp_agent.play.spec import PlayerSpec
from tests.net.fakes import MARKS, FakePlayer, FakeSearch, respond, serving

TERMS = Terms(start_clock=1, play_clock=1, seed=7, match="test.1")
KEYS = {
    "matchId", "randomToken", "startTime", "isCompleted", "isAborted", "states", "moves", "stateTimes", "errors",
    "previewClock", "startClock", "playClock", "playerNamesFromHost", "isPlayerHuman", "scrambled", "ggpAgent",
}  # fmt: skip

# One role makes one step; what it does not choose is up to chance.
ONE_STEP = """(role r) (init begin) (legal r a) (legal r b) (legal r (c 1))
(<= (next (did ?m)) (does r ?m)) (<= terminal (true (did ?m))) (goal r 50)"""


def engine_for(rules: str) -> Engine:
    return PrologEngine(Game.from_sheet(parse(rules), "test"))


def check_record(record: Record) -> dict[str, Any]:
    """What holds for every record, finished or not; returns it as JSON."""
    data: dict[str, Any] = json.loads(json.dumps(record.to_json()))
    assert set(data) >= KEYS and ("goalValues" in data) == data["isCompleted"]
    assert len(data["states"]) == len(data["stateTimes"]) == len(data["errors"]) == len(data["moves"]) + 1
    assert len(data["ggpAgent"]["turns"]) == len(data["moves"])
    assert re.fullmatch("[A-Za-z0-9]{32}", data["randomToken"]) and data["previewClock"] == -1
    assert data["stateTimes"] == sorted(data["stateTimes"]) and data["startTime"] <= data["stateTimes"][0]
    assert all(re.fullmatch(r"\( .* \)", state) for state in data["states"])
    assert all(re.fullmatch("|TO|CE|IL .+", error) for row in data["errors"] for error in row)
    assert Record.from_json(data).to_json() == data
    return data


def play(rules: str, *players: str, terms: Terms = TERMS, **options: Any) -> dict[str, Any]:
    async def run() -> Record:
        with engine_for(rules) as engine:
            return await Master(engine, [PlayerSpec.parse(text) for text in players], terms, **options).run()

    return check_record(asyncio.run(run()))


Behave = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


def play_against(behave: Behave, terms: Terms = TERMS, rules: str = ONE_STEP) -> tuple[dict[str, Any], list[str]]:
    """The record of a match of one fake player, and what it was sent."""

    async def run() -> tuple[Record, list[str]]:
        async with FakePlayer(behave) as player:
            with engine_for(rules) as engine:
                record = await Master(engine, [PlayerSpec.parse(player.url)], terms).run()
            return record, player.bodies

    record, bodies = asyncio.run(run())
    return check_record(record), bodies


def test_players_of_this_process() -> None:
    data = play(MARKS, "legal", "ucd,name=searcher,playouts=50", open_search=FakeSearch)
    assert data["moves"] == [["( mark 1 )", "noop"], ["noop", "( mark 1 )"]]
    assert data["goalValues"] == [100, 100] and data["playerNamesFromHost"] == ["legal", "searcher"]
    assert data["errors"] == [["", ""]] * 3
    assert data["states"][0] == "( ( control white ) ( step 1 ) )"
    assert data["ggpAgent"]["seed"] == 7 and data["ggpAgent"]["roles"] == ["white", "black"]


def test_a_search_tells_what_it_thought() -> None:
    data = play(MARKS, "ucd,playouts=100", "legal")
    turn = data["ggpAgent"]["turns"][0][0]
    # It may have proven its move after a few of them.
    assert 0 < turn["visits"] <= turn["simulations"] <= 100 and turn["value"] == 1.0
    assert data["moves"][0] == ["( mark 1 )", "noop"] and turn["seconds"] > 0


def test_chance_repeats_with_its_seed() -> None:
    games = [play(MARKS, "random", "random", terms=Terms(seed=seed, match="m"))["moves"] for seed in (1, 1, 2, 3, 4)]
    assert games[0] == games[1] and any(game != games[0] for game in games)


def test_requests_are_those_of_ggp_base() -> None:
    async def behave(body: str, writer: asyncio.StreamWriter) -> None:
        respond(writer, "ready" if "START" in body else "( c 1 )")

    async def run() -> None:
        async with FakePlayer(behave) as player:
            with engine_for(ONE_STEP) as engine:
                record = await Master(engine, [PlayerSpec.parse(player.url)], TERMS).run()
            rules = (
                "( role r ) ( init begin ) ( legal r a ) ( legal r b ) ( legal r ( c 1 ) ) ( <= ( next ( did ?m ) ) "
                "( does r ?m ) ) ( <= terminal ( true ( did ?m ) ) ) ( goal r 50 )"
            )
            assert player.bodies == [
                f"( START test.1 r ({rules}) 1 1)",
                "( PLAY test.1 NIL )",
                "( STOP test.1 (( c 1 ) ) )",
            ]
            assert player.requests[1] == (
                b"POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: 127.0.0.1\r\nSender: GAMESERVER\r\nReceiver: "
                + player.url.encode()
                + b"\r\nContent-Type: text/acl\r\nContent-Length: 19\r\n\r\n( PLAY test.1 NIL )"
            )
            assert record.moves == [["( c 1 )"]] and record.errors == [[""], [""]]

    asyncio.run(run())


def reply(text: str) -> Behave:
    async def behave(body: str, writer: asyncio.StreamWriter) -> None:
        respond(writer, text)

    return behave


@pytest.mark.parametrize("text", ["b", "(b)", " b\n", "b (explanation good)", "; thinking\nb"])
def test_replies_in_any_form_are_understood(text: str) -> None:
    data, _ = play_against(reply(text))
    assert data["moves"] == [["b"]] and data["errors"] == [[""], [""]]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("d", "IL d"),
        ("(c 2)", "IL (c 2)"),
        ("B", "IL B"),  # the case of names matters, as it does for ggp-base
        ("nil", "IL nil"),
        ("", "IL null"),
        ("((", "IL null"),
        ("\x00\xff|", "IL null"),
        ("(" * 5000, "IL null"),
        ("x" * 900, "IL " + "x" * 97 + "..."),
        ("x" * 60_000, "IL null"),
    ],
)
def test_lies_and_garbage_are_replaced_and_recorded(text: str, error: str) -> None:
    data, bodies = play_against(reply(text))
    assert data["errors"] == [[""], [error]]
    assert data["moves"][0][0] in ("a", "b", "( c 1 )") and data["isCompleted"]
    # The player hears what was moved in its place.
    assert bodies[-1] == f"( STOP test.1 ({data['moves'][0][0]} ) )"


async def crash(body: str, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def no_http(body: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x00\x01\x02garbage\n\n")


async def half_a_reply(body: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.0 200 OK\r\nContent-Le")


async def long_head(body: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.0 200 OK\r\n" + b"X: y\r\n" * 10_000 + b"\r\nb")


async def long_line(body: str, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.0 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\nb")


@pytest.mark.parametrize("behave", [crash, no_http, half_a_reply, long_head, long_line])
def test_lost_connections_are_recorded(behave: Behave) -> None:
    data, _ = play_against(behave)
    assert data["errors"] == [["CE"], ["CE"]] and data["isCompleted"]


async def flood(body: str, writer: asyncio.StreamWriter) -> None:
    """A reply without end, of which the beginning is good."""
    writer.write(b"HTTP/1.0 200 OK\r\n\r\nb ")
    while not writer.is_closing():
        writer.write(b"b " * 4096)
        await writer.drain()


def test_a_reply_without_end_is_cut() -> None:
    data, _ = play_against(flood)
    assert data["isCompleted"] and data["errors"][1][0] in ("", "CE")


def test_slow_and_silent_players_run_out_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "LATENCY_SECONDS", 0.0)

    async def run() -> None:
        over = asyncio.Event()

        async def silent(body: str, writer: asyncio.StreamWriter) -> None:
            await over.wait()

        async def drop_by_drop(body: str, writer: asyncio.StreamWriter) -> None:
            for byte in b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n" + b" " * 1000:
                writer.write(bytes([byte]))
                await asyncio.sleep(0.02)
                if over.is_set():
                    return

        async with FakePlayer(silent) as one, FakePlayer(drop_by_drop) as two:
            with engine_for(MARKS) as engine:
                specs = [PlayerSpec.parse(one.url), PlayerSpec.parse(two.url)]
                record = await Master(engine, specs, TERMS).run()
            over.set()
        data = check_record(record)
        assert data["errors"] == [["TO", "TO"]] * 3 and data["isCompleted"]

    asyncio.run(run())


def test_nobody_at_the_address() -> None:
    data = play(ONE_STEP, "http://127.0.0.1:1")
    assert data["errors"] == [["CE"], ["CE"]] and data["isCompleted"]


def test_nature_is_played_by_the_master() -> None:
    rules = ONE_STEP.replace("(role r)", "(role r) (role random)") + "(legal random x) (legal random y) (goal random 0)"
    data = play(rules, "legal")
    assert data["moves"][0][0] == "( c 1 )" and data["moves"][0][1] in ("x", "y")
    assert data["playerNamesFromHost"] == ["legal", "random"] and data["errors"] == [["", ""]] * 2


def test_scrambled_rules_are_played_and_recorded_in_plain_words() -> None:
    async def run() -> None:
        async with serving() as server:
            with engine_for(MARKS) as engine:
                specs = [PlayerSpec.parse(f"http://127.0.0.1:{server.port}"), PlayerSpec.parse("legal")]
                terms = Terms(start_clock=20, play_clock=2, scramble=True, match="s")
                record = await Master(engine, specs, terms).run(wait_seconds=20)
        data = check_record(record)
        assert data["scrambled"] and data["errors"] == [["", ""]] * 3
        assert {move for row in data["moves"] for move in row} <= {"( mark 1 )", "( mark 2 )", "noop"}

    asyncio.run(run())


def test_scrambling_renames_everything_but_the_language() -> None:
    scrambler = Scrambler(3)
    text = scrambler.scramble(MARKS)
    words = set(re.findall(r"[^\s()]+", text))
    assert {"role", "init", "<=", "legal", "true", "next", "does", "terminal", "goal", "1", "100"} <= words
    assert not words & {"white", "black", "mark", "noop", "cell", "chosen", "?r", "?x"}
    assert parse(text).roles == tuple(scrambler.words[role] for role in ("white", "black"))
    move = scrambler.scramble("(mark 1)")
    assert scrambler.restore(move.upper() + " trailing") == "(mark 1)" and scrambler.restore("(mark 2)") == "(mark 2)"
    assert scrambler.scramble("(role Random) nil") == "(role Random)\nnil"
    assert Scrambler(3).scramble(MARKS) == text != Scrambler(4).scramble(MARKS)


def test_a_match_that_breaks_is_recorded_as_aborted() -> None:
    rules = ONE_STEP.replace("(<= terminal (true (did ?m)))", "(<= terminal (true (did z)))")
    rules = rules.replace("(legal r a) (legal r b) (legal r (c 1))", "(<= (legal r a) (true begin))")

    async def run() -> None:
        bodies = []

        async def behave(body: str, writer: asyncio.StreamWriter) -> None:
            bodies.append(body)
            respond(writer, "a")

        async with FakePlayer(behave) as player:
            with engine_for(rules) as engine:
                match = Master(engine, [PlayerSpec.parse(player.url)], TERMS)
                with pytest.raises(EngineError, match="no legal move"):
                    await match.run()
        assert match.record.aborted and bodies[-1] == "( ABORT test.1 )"
        assert not check_record(match.record)["isCompleted"]

    asyncio.run(run())


def test_a_match_may_only_have_so_many_steps() -> None:
    rules = (
        "(role r) (legal r a) (goal r 0) (init x) (<= terminal (true y)) (<= (next x) (true x)) (<= (next y) (true z))"
    )
    data = play(rules, "legal", terms=Terms(max_steps=3, match="m"))
    assert data["isAborted"] and not data["isCompleted"] and len(data["moves"]) == 3


def test_a_game_that_is_over_at_once() -> None:
    data = play("(role r) (legal r a) (goal r 30) (terminal)", "legal")
    assert data["goalValues"] == [30] and data["moves"] == []


def test_wrong_questions() -> None:
    with engine_for(MARKS) as engine:
        with pytest.raises(ConfigError, match="needs 2 players, for white, black; there are 1"):
            Master(engine, [PlayerSpec.parse("random")], TERMS)
        with pytest.raises(ConfigError, match="terminal"):
            Master(engine, [PlayerSpec.parse("human"), PlayerSpec.parse("random")], TERMS)
        for url in ("http://", "http://host:99999", "http://ho st"):
            with pytest.raises(ConfigError):
                Master(engine, [PlayerSpec.parse(url), PlayerSpec.parse("random")], TERMS)
    with pytest.raises(ConfigError):
        Terms(play_clock=0)


def test_records_are_read_again(tmp_path: Path) -> None:
    data = play(MARKS, "legal", "random")
    path = tmp_path / "match.json"
    Record.from_json(data).save(path)
    record = Record.load(path)
    assert record.to_json() == data
    assert sorted(map(str, record.fluents(0))) == ["(control white)", "(step 1)"]
    # A record of ggp-base has no part of ours.
    foreign = {key: value for key, value in data.items() if key not in ("ggpAgent", "errors", "isPlayerHuman")}
    assert Record.from_json(foreign).roles == ["role 1", "role 2"]


@pytest.mark.parametrize(
    "change",
    [
        {"states": None},
        {"states": []},
        {"states": [1, 2, 3]},
        {"moves": [["a"]]},
        {"moves": "none"},
        {"errors": [["", ""]]},
        {"goalValues": [1]},
        {"goalValues": "x"},
        {"stateTimes": ["x"]},
        {"matchId": 5},
        {"playerNamesFromHost": ["x"]},
        {"ggpAgent": {"roles": [1]}},
    ],
)
def test_files_that_are_no_records_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    data = play(MARKS, "legal", "legal") | change
    (tmp_path / "bad.json").write_text(json.dumps(data))
    with pytest.raises(ConfigError, match=r"bad\.json is no match record"):
        Record.load(tmp_path / "bad.json")


def test_states_that_cannot_be_read() -> None:
    data = play(MARKS, "legal", "legal")
    for state in ("( (", "", "x", "( ?x )", "( a ) ( b )"):
        data["states"][1] = state
        with pytest.raises(ConfigError, match="state 1"):
            Record.from_json(data).fluents(1)
