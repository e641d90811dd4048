"""What experiments write down: raw results with their seeds, and rows that compare two numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt
from pathlib import Path
from threading import Lock
from typing import Any

from ggp_agent.errors import ConfigError

Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One number of a paper beside ours."""

    table: str
    row: str
    column: str
    ours: float
    theirs: float | None  # None if the paper prints no number
    errors: float | None  # the difference in standard errors of it
    interval: float | None = None  # half the width of the 95 % interval of ours
    best: bool = False  # of its table, ours


class Record:
    """Results of one experiment: a file of JSON lines, one for each part that was computed."""

    def __init__(self, path: Path, seed: int, tell: Tell = lambda text: None) -> None:
        self.path, self.seed, self.tell = path, seed, tell
        self.known: dict[str, dict[str, Any]] = {}
        self.writing = Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        for number, line in enumerate(lines, 1):
            try:
                if line:
                    entry = json.loads(line)
                    self.known[entry["key"]] = entry
            except (ValueError, KeyError, TypeError) as error:
                if number < len(lines):  # else the last line was cut off when the experiment was
                    raise ConfigError(f"{path}:{number} is not a result of an experiment: {error}") from error
        if lines and lines[-1]:
            path.write_bytes(b"".join(line + b"\n" for line in lines[:-1]))

    def get(self, key: str, compute: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
        """The result under a key, computed with a seed of its own unless it is known."""
        key = f"seed {self.seed}: {key}"
        if key not in self.known:
            seed = int.from_bytes(blake2b(key.encode(), digest_size=7).digest(), "big")
            self.tell(key)
            entry = {"key": key, "seed": seed, **compute(seed)}
            with self.writing, self.path.open("a") as file:
                file.write(json.dumps(entry) + "\n")
                self.known[key] = entry
        return self.known[key]


def rate_errors(ours: float, runs: int, theirs: float, their_runs: int) -> float:
    """By how many standard errors two rates differ, each of some runs, as estimated from both together."""
    both = (ours * runs + theirs * their_runs) / (runs + their_runs)
    error = sqrt(both * (1 - both) * (1 / runs + 1 / their_runs))
    if error == 0:
        return 0.0
    return (ours - theirs) / error
