"""Servers that a match starts by itself: they play over HTTP, and are gone when whoever started them is."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ggp_agent.errors import ConfigError, EngineError
from ggp_agent.net.bench import Figures
from ggp_agent.net.client import Address
from ggp_agent.net.own_servers import OwnServer, settings_for, started
from ggp_agent.play.spec import PlayerSpec
from tests.test_cli import ggp

START = """
import time
from ggp_agent.net.own_servers import started
from ggp_agent.play.spec import PlayerSpec
with started([PlayerSpec.parse("server"), PlayerSpec.parse("server,playouts=5")], 1) as players:
    print(*(player.url for player in players), flush=True)
    time.sleep(600)
"""
PATIENCE_SECONDS = 60.0


def listens(url: str) -> bool:
    address = Address.parse(url)
    try:
        socket.create_connection((address.host, address.port)).close()
    except ConnectionRefusedError:
        return False
    return True


def wait_until_silent(url: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while listens(url):
        assert time.monotonic() < deadline, f"{url} is still there"
        time.sleep(0.05)


def test_a_match_between_servers_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "match.json"
    players = ["server,name=one,lanes=64", "server,name=two,playouts=50"]
    done = ggp("match", "tic_tac_toe", *players, "--start-clock", "2", "--play-clock", "1", "--record", path)
    assert done.returncode == 0, done.stderr
    assert "tic_tac_toe: x one, o two" in done.stdout and "result: x" in done.stdout and "   1 2 3" in done.stdout
    assert "starting servers" in done.stderr
    record = json.loads(path.read_text())
    assert record["isCompleted"] and {error for row in record["errors"] for error in row} == {""}
    assert record["ggpAgent"]["players"] == players


def test_servers_end_with_the_block_even_after_an_error() -> None:
    players = [PlayerSpec.parse(text) for text in ("random", "server")]
    with pytest.raises(ZeroDivisionError), started(players, 0) as found:
        assert found[0] is players[0] and found[1].kind == "http" and found[1].text == "server"
        assert listens(found[1].url)
        raise ZeroDivisionError
    assert not listens(found[1].url)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_servers_end_with_the_process_that_started_them(number: signal.Signals) -> None:
    command = [sys.executable, "-c", START]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        urls = process.stdout.readline().split()
        assert len(urls) == 2 and all(map(listens, urls))
        process.send_signal(number)
        process.wait()
    for url in urls:
        wait_until_silent(url)


def test_an_interrupted_match_says_so() -> None:
    code = "from ggp_agent.cli import main; main()"
    command = [sys.executable, "-c", code, "match", "tic_tac_toe", "server", "server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as match:
        assert match.stderr is not None and "starting servers" in match.stderr.readline()
        match.send_signal(signal.SIGINT)
        assert "interrupted" in match.stderr.read()
        assert match.wait() == 130


def test_a_server_that_cannot_start_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    with OwnServer({"name": "two words"}) as server, pytest.raises(EngineError, match="two words ended by itself"):
        server.wait_for_url()
    assert "letters, digits" in capfd.readouterr().err


def test_servers_are_told_what_the_text_of_the_player_says() -> None:
    settings = settings_for(PlayerSpec.parse("server,d=2:1:2,playouts=70,name=weak"), 3)
    assert settings == {"name": "weak", "playouts": 70, "seed": 3, "search": {"d": "2:1:2"}}
    assert settings_for(PlayerSpec.parse("server,c=0.3"), 0)["name"] == "ggp_agent"  # its text is no name for a server
    for text in ("server,seconds=3", "server,nodes=5", "server,d=x"):
        with pytest.raises(ConfigError):
            PlayerSpec.parse(text)


def test_matches_in_a_row() -> None:
    done = ggp("bench", "http", "tic_tac_toe", "rock_paper_scissors", "--matches", "2", "--playouts", "20", "--json")
    assert done.returncode == 0, done.stderr
    first, second, total = map(json.loads, done.stdout.splitlines())
    assert (first["game"], second["game"], total["game"]) == ("tic_tac_toe", "rock_paper_scissors", "all")
    assert total["matches"] == 2 and total["plies"] == first["plies"] + second["plies"] and total["errors"] == 0
    assert total["infos"] > 0 and "0 errors in 2 matches" in done.stderr


def test_shares_of_times() -> None:
    figures = Figures(info_seconds=[float(number) for number in range(1, 201)][::-1])
    assert (figures.info(0.5), figures.info(0.99), figures.info(1.0)) == (100, 198, 200)
    assert Figures(info_seconds=[3.0]).info(0.5) == 3.0
