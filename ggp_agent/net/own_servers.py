"""Player servers in processes of their own, for whoever wants to play over HTTP without starting servers by hand.

A server of ours ends when its standard input does. That happens when we say so, and also when we are gone, however we
ended: no server outlives the process that started it. Ctrl-C does not reach it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from ggp_agent.errors import EngineError
from ggp_agent.net.config import NAME, PlayerConfig
from ggp_agent.net.server import serve
from ggp_agent.play.spec import PlayerSpec

PACKAGE_PARENT = Path(__file__).parents[2]
HOST = "127.0.0.1"
END_SECONDS = 5.0  # for a server to end by itself
WARM_UP_SECONDS = 600.0  # for a server to become available, on a slow machine that has to compile all kernels


class OwnServer:
    """One server process. Use it in a `with` statement."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """`settings` are those of a file for `ggp serve`; the port is any that is free."""
        self.name = str(settings.get("name", PlayerConfig().name))
        search = os.pathsep.join(filter(None, [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]))
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, json.dumps({**settings, "host": HOST, "port": 0})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": search},
            start_new_session=True,  # Ctrl-C is for us, and we end the server
        )

    def wait_for_url(self) -> str:
        """Where it listens; EngineError if it never will."""
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        if not port:
            raise EngineError(f"the server {self.name} ended by itself, with code {self.process.wait()}")
        return f"http://{HOST}:{int(port)}"

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except BaseException as error:  # a second Ctrl-C is one of them
            self.process.kill()
            self.process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        finally:
            self.process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def settings_for(spec: PlayerSpec, seed: int) -> dict[str, Any]:
    """What a player of the kind `server` is told."""
    return {
        "name": spec.name if NAME.fullmatch(spec.name) and spec.name.lower() != "random" else PlayerConfig().name,
        "playouts": (spec.limit and spec.limit.playouts) or 0,
        "seed": seed,
        "search": spec.config.settings(),
    }


@contextmanager
def started(specs: Sequence[PlayerSpec], seed: int) -> Iterator[list[PlayerSpec]]:
    """The same players, with a server for each that is to have one. They listen, but may not be available yet."""
    with ExitStack() as stack:
        servers = {
            number: stack.enter_context(OwnServer(settings_for(spec, seed + number)))
            for number, spec in enumerate(specs)
            if spec.kind == "server"
        }
        urls = {number: server.wait_for_url() for number, server in servers.items()}
        yield [
            replace(spec, kind="http", url=urls[number]) if number in urls else spec
            for number, spec in enumerate(specs)
        ]


# The process itself


async def serve_until_alone(config: PlayerConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin.fileno(), stop.set)  # nothing is ever written there: it can only end
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    await serve(config, stop, listening=lambda port: print(port, flush=True))


def main() -> None:
    config = PlayerConfig.parse(json.loads(sys.argv[1]))
    logging.basicConfig(format=f"{config.name}: %(message)s", level=logging.WARNING)
    asyncio.run(serve_until_alone(config))


if __name__ == "__main__":
    main()
