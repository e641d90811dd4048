"""Experiments that are killed and started again: nothing is lost, computed twice, or comes out differently."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

GAMES = 40
COMMAND = f"""
import sys
from pathlib import Path
from ggp_agent.lab.leftrights import run
from ggp_agent.lab.record import Record
run(Record(Path(sys.argv[1]), 3), ["inf:0:1"], runs={GAMES}, steps=200)
"""
PATIENCE = 300.0  # seconds until something must be wrong


def start(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", COMMAND, str(path)])


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_killed_and_started_again_it_ends_with_the_same_results(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole.jsonl", tmp_path / "killed.jsonl"
    assert start(whole).wait(PATIENCE) == 0
    for enough in (5, 21):
        process = start(killed)
        until = time.monotonic() + PATIENCE
        while len(lines(killed)) < enough and process.poll() is None and time.monotonic() < until:
            time.sleep(0.001)
        process.kill()
        assert process.wait(PATIENCE) != 0  # it was not done yet
        assert enough <= len(lines(killed)) < GAMES
    assert start(killed).wait(PATIENCE) == 0
    assert lines(killed) == lines(whole) and len(set(lines(whole))) == GAMES
