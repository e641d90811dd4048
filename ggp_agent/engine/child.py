"""A child process of ours that can be limited and killed.

Rulesheets come from strangers: whatever may loop or eat memory runs in a child, and the parent only waits as long as
it wants to. Both sides speak JSON, one message a line. The child's module calls `serve` with a function that turns a
request into replies. Where every moment counts, spare children can be started before they are needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ggp_agent.errors import EngineError, EngineTimeout

Message = dict[str, Any]
PACKAGE_PARENT = Path(__file__).parents[2]
MAX_REPLY_BYTES = 1 << 30


class Running:
    """A process that waits for its first request."""

    def __init__(self, module: str, memory_bytes: int) -> None:
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        search = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]))
        self.ready, theirs = os.pipe()  # can be read, to its end, when the child has begun to wait for requests
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, str(memory_bytes), str(theirs)],
            pass_fds=[theirs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": search},
            start_new_session=True,  # Ctrl-C is for the parent, which then ends the child
        )
        os.close(theirs)

    def close(self) -> None:
        """End it at once, whatever it is doing."""
        self.process.kill()
        self.process.wait()
        os.close(self.ready)
        for pipe in (self.process.stdin, self.process.stdout, self.errors):
            if pipe is not None:
                with contextlib.suppress(OSError):  # unsent bytes of a request have no reader any more
                    pipe.close()


SPARES: dict[tuple[str, int], Running] = {}  # by module and memory: what the next child of the kind will be
SPARES_LOCK = threading.Lock()


def keep_spare(module: str, memory_bytes: int) -> None:
    """Start a child of this kind for whoever needs the next one, unless there is one already."""
    with SPARES_LOCK:
        if (module, memory_bytes) not in SPARES:
            SPARES[module, memory_bytes] = Running(module, memory_bytes)


def wait_for_spares(seconds: float) -> None:
    """Until all spares wait for requests, or so many seconds have passed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with SPARES_LOCK:  # whoever takes a spare may close it at any time
            loading = [spare for spare in SPARES.values() if not select.select([spare.ready], [], [], 0)[0]]
        if not loading:
            return
        time.sleep(0.02)


def end_spares() -> None:
    """End all children that nobody has needed."""
    with SPARES_LOCK:
        while SPARES:
            SPARES.popitem()[1].close()


class Child:
    """The parent's side: one running child."""

    def __init__(self, module: str, memory_bytes: int) -> None:
        with SPARES_LOCK:
            spare = SPARES.pop((module, memory_bytes), None)
        if spare is not None and spare.process.poll() is not None:
            spare.close()  # it died while it waited
            spare = None
        self.running = spare or Running(module, memory_bytes)
        self.process, self.errors = self.running.process, self.running.errors
        self.buffer = bytearray()

    @property
    def pid(self) -> int:
        return self.process.pid

    def send(self, message: Message) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            self.process.stdin.flush()
        except OSError as error:
            raise self.crash() from error

    def receive(self, seconds: float) -> Message:
        """The next reply; EngineTimeout if it does not come in time, EngineError if the child died."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + seconds
        pipe = self.process.stdout.fileno()
        while (end := self.buffer.find(b"\n")) < 0:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise EngineTimeout(f"no answer within {seconds:g} s; the child process was stopped")
            chunk = os.read(pipe, 1 << 20)
            if not chunk:
                raise self.crash()
            self.buffer += chunk
            if len(self.buffer) > MAX_REPLY_BYTES:
                raise EngineError("the answer of the child process is too long")
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        reply: Message = json.loads(line)
        return reply

    def crash(self) -> EngineError:
        """The error for a child that died by itself."""
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        killed = code < 0 or any("memory" in line.lower() for line in said[-5:])
        reason = ", most likely for want of memory" if killed else ""
        return EngineError(f"the child process ended with code {code}{reason}{': ' + said[-1] if said else ''}")

    def kill(self) -> None:
        """End the child at once, whatever it is doing."""
        self.running.close()


def serve(answer: Callable[[Message], Iterator[Message]]) -> None:
    """The child's side: answer requests from standard input until it ends."""
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for ready in sys.argv[2:]:
        os.close(int(ready))
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    # Replies go to a copy of standard output; anything else that is printed goes to standard error.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        for reply in answer(json.loads(line)):
            replies.write(json.dumps(reply, separators=(",", ":")).encode() + b"\n")
            replies.flush()


def _end_with_parent(parent: int) -> None:
    """A parent that was killed cannot end its child, so the child looks whether it is still there."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)
