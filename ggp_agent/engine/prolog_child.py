"""The child process of the Prolog engine: SWI-Prolog through pyswip, one request a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyswip import Prolog

from ggp_agent.engine.child import Message, serve

# What Prolog may use of the memory that the child may use; the rest is for the program and for tables.
STACK_SHARE = 0.25
TABLE_SHARE = 0.25


def quote(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def ask(request: str) -> Any:
    """One call into Prolog: [new terms, 0, result] or [new terms, 1, kind of error, detail, state]."""
    (solution,) = Prolog.query(f"runtime:answer({request}, Reply)", maxresult=1)
    return json.loads(solution["Reply"])


def start(modules: dict[str, str], roles: list[int], memory_bytes: int) -> None:
    run = list[Any]
    run(Prolog.query(f"set_prolog_flag(stack_limit, {int(memory_bytes * STACK_SHARE)})"))
    run(Prolog.query(f"set_prolog_flag(table_space, {int(memory_bytes * TABLE_SHARE)})"))
    run(Prolog.query(f"consult({quote(str(Path(__file__).with_name('runtime.pl')))})"))
    pairs = ",".join(f"{name}-{quote(text)}" for name, text in modules.items())
    if not run(Prolog.query(f"runtime:load([{pairs}], {roles})")):
        raise RuntimeError("the program of the game could not be loaded")


def answer(message: Message) -> Iterator[Message]:
    if "modules" in message:
        start(message["modules"], message["roles"], message["memory_bytes"])
        yield {"reply": ask(f"terms({message['terms']})")}
    elif "playouts" in message:
        for seeds in message["playouts"]:
            reply = ask(f"playout({message['state']}, {seeds[0]}, {seeds[1]}, {message['max_plies']})")
            yield {"reply": reply}
            if reply[1]:
                break
    else:
        yield {"reply": ask(message["ask"])}


if __name__ == "__main__":
    serve(answer)
