"""Circuits in files: numpy's format for the arrays, JSON for the texts. Nothing in such a file is ever executed."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from ggp_agent.engine.circuit import Circuit
from ggp_agent.errors import EngineError

TEXTS = ("roles", "fluents", "moves")
NUMBERS = ("rows", "next_start", "first_latch", "first_gate", "terminal", "ground_rules", "ground_literals")


def save(circuit: Circuit, path: Path) -> None:
    """Write a file that is either whole or not there."""
    header = {name: getattr(circuit, name) for name in (*TEXTS, *NUMBERS)}
    arrays = {f.name: getattr(circuit, f.name) for f in fields(circuit) if f.name not in header}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    with os.fdopen(handle, "wb") as file:
        np.savez(file, **arrays)
    Path(temporary).replace(path)


def load(path: Path) -> Circuit:
    """Read a circuit; EngineError if the file is damaged."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as data:
            arrays = {name: data[name] for name in data.files}
        header = json.loads(arrays.pop("header").tobytes())
        texts: dict[str, Any] = {
            "roles": tuple(header["roles"]),
            "fluents": tuple(header["fluents"]),
            "moves": tuple(map(tuple, header["moves"])),
        }
        circuit = Circuit(**texts, **{name: header[name] for name in NUMBERS}, **arrays)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise EngineError(f"{path} is not a circuit: {error}") from error
    circuit.validate()
    return circuit
