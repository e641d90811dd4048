"""What is wanted of an experiment, and what it writes down: raw results with their seeds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from ggp_agent.errors import ConfigError

Tell = Callable[[str], None]


def cores() -> int:
    """How many this process may use: not all of the machine's, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What is wanted of an experiment. What is not said is as in the paper, or small in the quick form."""

    out: Path  # for raw results and pictures
    seed: int = 0
    quick: bool = False
    runs: int | None = None  # of every setting
    playouts: int | None = None  # a move
    seconds: float | None = None  # a move, instead of playouts
    games: tuple[str, ...] = ()  # the only ones
    tell: Tell = lambda text: None

    def record(self, name: str) -> Record:
        return Record(self.out / f"{name}.jsonl", self.seed, self.tell)

    def pick(self, chosen: int | None, quick: int, full: int) -> int:
        """A number that was asked for, or else that of the form."""
        return chosen or (quick if self.quick else full)


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
