"""`ggp serve`, `ggp match`, `ggp replay` and server.py as a user types them."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_cli import ggp

ROOT = Path(__file__).parents[2]


def test_a_match_with_a_server_over_http(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "server.py"), "--port", "0", "--host", "127.0.0.1", "--set", "lanes=64"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        port = re.search(r"listens on port (\d+)", server.stderr.readline())
        assert port is not None
        path = tmp_path / "match.json"
        try:
            players = ["legal", f"http://127.0.0.1:{port.group(1)}"]
            done = ggp(
                "match", "tic_tac_toe", *players, "--wait", "100", "--scramble",
                "--start-clock", "5", "--play-clock", "1", "--record", path,
            )  # fmt: skip
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.stderr.read()
        assert server.wait() == 0, said
    assert done.returncode == 0, done.stderr
    assert "result: x" in done.stdout and "   1 2 3" in done.stdout
    record = json.loads(path.read_text())
    assert record["isCompleted"] and {error for row in record["errors"] for error in row} == {""}
    again = ggp("replay", path)
    assert again.returncode == 0 and again.stdout.splitlines()[-1] == done.stdout.splitlines()[-1]
    assert json.loads(ggp("replay", path, "--json").stdout) == record


def test_a_server_can_be_ended_while_it_warms_up() -> None:
    command = [sys.executable, str(ROOT / "server.py"), "--port", "0", "--host", "127.0.0.1"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None and "listens" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        assert "available" not in server.stderr.read()
        assert server.wait() == 0


def test_print_config_is_a_config(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text(ggp("serve", "--print-config").stdout + "nonsense = 1\n")
    done = ggp("serve", "--config", tmp_path / "my.toml")
    assert done.returncode == 2 and "there is no setting nonsense" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--set", "d"],
        ["serve", "--set", "d=9"],
        ["serve", "--name", "two words"],
        ["serve", "--port", "70000"],
        ["serve", "--config", "/nowhere/my.toml"],
        ["serve", "--host", "not.a.host.invalid", "--port", "0"],
        ["match", "tic_tac_toe", "random"],
        ["match", "tic_tac_toe", "random", "nonsense"],
        ["match", "tic_tac_toe", "random", "http://x:y"],
        ["match", "tic_tac_toe", "random", "http://127.0.0.1:1", "--wait", "0.1"],
        ["match", "tic_tac_toe", "random", "random", "--play-clock", "0"],
        ["replay", "/nowhere/match.json"],
    ],
)
def test_wrong_questions_are_named(arguments: list[str]) -> None:
    done = ggp(*arguments)
    assert done.returncode == 2 and done.stderr and not done.stdout


def test_a_match_with_a_person() -> None:
    done = ggp("match", "tic_tac_toe", "human", "legal", "--engine", "prolog", stdin="(mark 2 2)\n" + "1\n" * 9)
    assert done.returncode == 0 and "x (mark 2 2)" in done.stdout and "result: x" in done.stdout
    assert ggp("match", "tic_tac_toe", "human", "legal", "--engine", "prolog", stdin="1\n").returncode == 130


def test_an_interrupted_match_is_aborted() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        code = "from ggp_agent.cli import main; main()"
        arguments = ["match", "tic_tac_toe", url, "random", "--engine", "prolog", "--start-clock", "600"]
        with subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True) as match:
            first, _ = silent.accept()
            with first:
                assert b"START" in first.recv(100_000)
                match.send_signal(signal.SIGINT)
                last, _ = silent.accept()
                with last:
                    assert b"( ABORT ggp_agent.tic_tac_toe." in last.recv(100_000)
            assert match.stderr is not None and "interrupted" in match.stderr.read()
            assert match.wait() == 130


def test_json_prints_only_the_record() -> None:
    done = ggp("match", "tic_tac_toe", "random", "legal", "--seed", "3", "--json", "--engine", "prolog")
    record = json.loads(done.stdout)
    assert record["ggpAgent"]["seed"] == 3 and record["matchId"].startswith("ggp_agent.tic_tac_toe.")
    short = ggp("match", "tic_tac_toe", "random", "legal", "--max-steps", "2", "--json", "--engine", "prolog")
    assert short.returncode == 1 and json.loads(short.stdout)["isAborted"]


def test_a_replay_of_nonsense(tmp_path: Path) -> None:
    for text in ("", "[]", "{}", '{"matchId": "m", "states": ["x"], "moves": []}', "[" * 100_000):
        (tmp_path / "bad.json").write_text(text)
        assert ggp("replay", tmp_path / "bad.json").returncode == 2
