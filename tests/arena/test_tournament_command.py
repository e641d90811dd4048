"""`ggp tournament` as a user types it: reports, bad input, Ctrl-C, and being killed at any moment."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.test_cli import ggp

COMMAND = [sys.executable, "-c", "from ggp_agent.cli import main; main()", "tournament"]
SMALL = """
games = ["tic_tac_toe", "three_player_tic_tac_toe", "lights_out"]
players = ["random", "legal", "random,name=other"]
sets = 30
opening = 1
seed = 5
"""
FULL = """
games = ["connect_four", "breakthrough_6x6", "tron", "three_player_tic_tac_toe", "lights_out"]
players = ["random", "legal", "random,name=second", "random,name=third"]
sets = 60
opening = 2
"""


def rows(path: Path) -> list[tuple[Any, ...]]:
    """The matches in a store, without the time they took; nothing where there is no store yet."""
    try:
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return [row[:-1] for row in database.execute("SELECT * FROM matches ORDER BY set_number, assignment")]
        finally:
            database.close()
    except sqlite3.OperationalError:
        return []


def stop(process: subprocess.Popen[str], path: Path, matches: int, number: signal.Signals) -> int:
    """Send a signal once so many matches are stored; how many there were."""
    while process.poll() is None and len(rows(path)) < matches:
        time.sleep(0.002)
    process.send_signal(number)
    process.wait()
    return len(rows(path))


def check_kills(text: str, matches: int, kills: int, workers: int, folder: Path) -> None:
    """A run that is killed at random moments and resumed ends as one that never was."""
    for name in ("whole", "killed"):
        (folder / f"{name}.toml").write_text(text)
    whole = ggp("tournament", folder / "whole.toml", "--json", "--workers", str(workers))
    assert whole.returncode == 0 and len(rows(folder / "whole.sqlite")) == matches
    random = Random(kills)
    moments = sorted(random.sample(range(1, matches * 3 // 4), kills))
    command = [*COMMAND, str(folder / "killed.toml"), "--json", "--workers", str(workers)]
    kept: list[tuple[Any, ...]] = []
    killed = 0
    for moment in moments:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        found = stop(process, folder / "killed.sqlite", moment, signal.SIGKILL)
        process.communicate()
        assert moment <= found <= matches
        killed += process.returncode == -signal.SIGKILL and found < matches
        after = rows(folder / "killed.sqlite")
        assert [row for row in after if row in kept] == kept  # what was there is still there
        kept = after
    assert killed  # on a busy machine some of the signals may come too late
    resumed = ggp("tournament", folder / "killed.toml", "--json", "--workers", str(workers))
    assert resumed.returncode == 0 and resumed.stdout == whole.stdout
    assert rows(folder / "killed.sqlite") == rows(folder / "whole.sqlite")


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_killed_at_any_moment_and_resumed_it_ends_as_if_never_killed(workers: int, tmp_path: Path) -> None:
    check_kills(SMALL, 30 * (6 + 3 + 3), 3, workers, tmp_path)


@pytest.mark.long
def test_four_players_on_five_games_killed_five_times(tmp_path: Path) -> None:
    check_kills(FULL, 60 * (3 * 12 + 4 * 3 + 4), 5, 2, tmp_path)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_interrupted_it_reports_and_says_how_to_go_on(workers: str, tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(SMALL.replace("sets = 30", "sets = 3000"))
    command = [*COMMAND, str(tmp_path / "cup.toml"), "--workers", workers]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    stop(process, tmp_path / "cup.sqlite", 20, signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130 and "Traceback" not in err
    assert f"ggp tournament {tmp_path / 'cup.toml'} --workers {workers}" in err
    assert "Ratings" in out and "of 15,000 sets" in out


def test_the_report_comes_in_every_form(tmp_path: Path) -> None:
    options = [
        "--game",
        "tic_tac_toe",
        "--game",
        "lights_out",
        "--player",
        "random",
        "--player",
        "legal",
        "--sets",
        "12",
    ]
    files: list[str | Path] = [
        "--store",
        tmp_path / "s.sqlite",
        "--markdown",
        tmp_path / "r.md",
        "--plot",
        tmp_path / "r.png",
    ]
    done = ggp("tournament", *options, *files)
    assert done.returncode == 0
    for word in ("Ratings", "Pairings", "Games", "Roles", "24 of 24 sets, 48 matches", "tic_tac_toe", "LOS"):
        assert word in done.stdout
    assert "24/24 sets: " in done.stderr
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")
    assert "| player | Elo | 95 % |" in (tmp_path / "r.md").read_text()
    again = ggp("tournament", *options, *files, "--report", "--json")
    record = json.loads(again.stdout)
    assert record["sets"] == 24 and {line["player"] for line in record["players"]} == {"random", "legal"}
    assert {line["role"] for line in record["by_role"]} == {"x", "o", "player"}
    ratings = [line["elo"]["value"] for line in record["players"]]
    assert sum(ratings) == pytest.approx(0, abs=1e-9) and "24/24" not in again.stderr


def test_a_sequential_test_ends_with_a_verdict(tmp_path: Path) -> None:
    options = [
        "--game",
        "connect_four",
        "--player",
        "legal",
        "--player",
        "random",
        "--sets",
        "500",
        "--sprt",
        "0",
        "60",
    ]
    done = ggp("tournament", *options, "--opening", "2", "--store", tmp_path / "s.sqlite")
    assert done.returncode == 0 and "SPRT +0 +60: H1 accepted" in done.stdout


@pytest.mark.long
def test_a_player_against_itself_is_elo_0_and_the_test_accepts_h0(tmp_path: Path) -> None:
    options = ["--game", "connect_four", "--player", "random,name=a", "--player", "random,name=b", "--sets", "1000"]
    done = ggp("tournament", *options, "--store", tmp_path / "s.sqlite", "--workers", "2", "--json")
    (pair,) = json.loads(done.stdout)["pairs"]
    assert pair["sets"] == 1_000 and pair["elo"]["low"] <= 0 <= pair["elo"]["high"]
    test = ggp("tournament", *options, "--store", tmp_path / "s.sqlite", "--report", "--sprt", "0", "30")
    assert "H0 accepted" in test.stdout


def test_wrong_questions_get_a_message(tmp_path: Path) -> None:
    sound = ["--game", "tic_tac_toe", "--player", "random", "--player", "legal", "--store", str(tmp_path / "s.sqlite")]
    for options in (
        [],
        ["--game", "tic_tac_toe"],
        [*sound, "--game", "tic_tac_to"],
        [*sound, "--player", "minimax"],
        [*sound, "--kind", "swiss"],
        [*sound, "--sets", "0"],
        [*sound, "--workers", "0"],
        [*sound, "--sprt", "5", "0"],
        [*sound, "--report"],
        [str(tmp_path / "missing.toml")],
    ):
        done = ggp("tournament", *options)
        assert done.returncode == 2, options
        assert done.stderr.strip() and not done.stdout
    assert ggp("tournament", *sound, "--sets", "1").returncode == 0
    other = ggp("tournament", *sound, "--seed", "9")
    assert other.returncode == 2 and "another tournament" in other.stderr
    broken = ggp("tournament", *sound[2:], "--game", Path(__file__).parents[1] / "hostile" / "two_goals.kif")
    assert broken.returncode in (1, 2)
