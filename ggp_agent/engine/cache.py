"""What is kept on disk between runs: circuits, machine code, compiled kernels. All of it can be deleted at any time.

The folder is GGP_AGENT_CACHE, else ggp_agent in XDG_CACHE_HOME or ~/.cache. Names are digests of all that a file
depends on, the sources of this package included, so that nothing old is ever used.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cache
from hashlib import blake2b
from pathlib import Path

MAX_BYTES = 2 << 30  # the oldest files go when the folder grows beyond this
KERNEL_ROOMS = ("engine", "search")  # whose kernels call each other
KERNEL_MARKS = (b"@njit", b"@kernel", b"@intrinsic", b"@row_operation", b"njit(")
KERNEL_CONSTANTS = (
    "engine/native.py",
    "engine/circuit.py",
    "engine/group_tables.py",
    "search/graph.py",
    "search/config.py",
)


@cache
def folder() -> Path:
    """The folder, made if need be; a temporary one where the user's cannot be written."""
    named = os.environ.get("GGP_AGENT_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ggp_agent"
    path = Path(named) if named else usual
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return Path(tempfile.mkdtemp(prefix="ggp_agent-"))


@cache
def sources() -> str:
    """A digest of all modules that have a part in making circuits and machine code."""
    package = Path(__file__).parents[1]
    return digest(*(part.read_bytes() for room in ("engine", "gdl") for part in sorted((package / room).glob("*.py"))))


@cache
def kernel_sources() -> str:
    """A digest of all modules that hold kernels, and of those they take constants from."""
    package = Path(__file__).parents[1]
    named = {package / name for name in KERNEL_CONSTANTS}
    texts = {part: part.read_bytes() for room in KERNEL_ROOMS for part in sorted((package / room).glob("*.py"))}
    return digest(
        *(text for part, text in texts.items() if part in named or any(mark in text for mark in KERNEL_MARKS))
    )


def digest(*parts: str | bytes) -> str:
    """A name for what depends on these parts."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(8, "big") + data)
    return state.hexdigest()


def shrink() -> None:
    """Delete the oldest files until the folder is small enough."""
    files = []
    for path in folder().glob("*.*"):
        with contextlib.suppress(FileNotFoundError):  # other processes write and delete here too
            if path.is_file():
                status = path.stat()
                files.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MAX_BYTES:
            return
        total -= size
        path.unlink(missing_ok=True)
