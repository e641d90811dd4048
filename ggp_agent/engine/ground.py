"""Ground rules, by clingo's grounder in a child process.

The grounder finds what could ever hold: any fluent that `init` or `next` derives may be true, any move that `legal`
derives may be done. `base` and `input` are not asked: half of the public rulesheets lack them.

Only ground rules can tell whether a sentence depends on its own negation. Among relations such circles are common and
harmless: (goal ?r 0) if not (goal ?r 100).
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ggp_agent.engine.base import Game
from ggp_agent.engine.child import Child, Message
from ggp_agent.engine.coding import CHOICES, Coder
from ggp_agent.engine.split import split
from ggp_agent.errors import CannotGround, EngineError, EngineTimeout, Finding
from ggp_agent.gdl import Literal, Rule
from ggp_agent.gdl.depend import negates_within, reachable, relation_graph, rule_cycles
from ggp_agent.gdl.reader import shorten

WAIT_SECONDS = 0.1  # between looks whether anybody still waits


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What making rules ground may cost."""

    seconds: float = 30.0
    memory_bytes: int = 8 << 30
    rules: int = 3_000_000


USUAL = Limits()  # unless somebody asks for others


def literal_text(literal: Literal, coder: Coder, variables: dict[str, str]) -> str:
    sentence = literal.sentence
    if sentence.name == "distinct":
        left, right = (coder.term(arg, variables) for arg in sentence.args)
        return f"{left} {'!=' if literal.positive else '='} {right}"
    return ("" if literal.positive else "not ") + coder.sentence(sentence, variables)


def program_text(rules: Iterable[Rule], coder: Coder) -> str:
    """The rules as an answer set program."""
    lines = []
    for rule in rules:
        variables: dict[str, str] = {}
        head = coder.sentence(rule.head, variables)
        body = ", ".join(literal_text(literal, coder, variables) for literal in rule.body)
        lines.append(f"{head} :- {body}." if body else f"{head}.")
    return "\n".join(lines) + CHOICES


def suspects(rules: Sequence[Rule]) -> list[set[int]]:
    """Circles of rules, by index, that hold a negation."""
    return [part for part in rule_cycles(rules) if negates_within(rules, part)]


def needed(rules: Sequence[Rule], circles: Iterable[set[int]]) -> list[Rule]:
    """The rules that these circles depend on, those that make fluents and moves possible included."""
    graph = relation_graph(rules)
    graph[("true", 1)] = {("init", 1), ("next", 1)}
    graph[("does", 2)] = {("legal", 2)}
    wanted = reachable(graph, {rules[index].head.signature for circle in circles for index in circle})
    return [rule for rule in rules if rule.head.signature in wanted]


def ask_child(rules: Iterable[Rule], message: Message, limits: Limits, stop: threading.Event | None = None) -> Message:
    """Send rules to a child that makes them ground; CannotGround if it takes too long or too much, or on `stop`."""
    coder = Coder()
    program = program_text(split(list(rules)), coder)
    child = Child("ggp_agent.engine.ground_child", limits.memory_bytes)
    try:
        child.send({"program": program, "names": coder.names, "max_rules": limits.rules, **message})
        reply = receive(child, limits.seconds, stop)
    except EngineTimeout as error:
        raise CannotGround(f"the rules could not be made ground within {limits.seconds:g} s") from error
    except EngineError as error:
        raise CannotGround(f"the rules could not be made ground: {error}") from error
    finally:
        child.kill()
    if "cannot" in reply:
        raise CannotGround(reply["cannot"])
    if "error" in reply:
        raise EngineError(reply["error"])
    return reply


def receive(child: Child, seconds: float, stop: threading.Event | None) -> Message:
    """The reply of a child, awaited for so long unless `stop` is set before."""
    deadline = time.monotonic() + seconds
    while stop is not None and time.monotonic() < deadline - WAIT_SECONDS:
        if stop.is_set():
            raise EngineError("nobody waits for the circuit any more")
        with contextlib.suppress(EngineTimeout):
            return child.receive(WAIT_SECONDS)
    return child.receive(max(0.0, deadline - time.monotonic()))


def negative_cycle(rules: Sequence[Rule], limits: Limits = USUAL) -> list[str]:
    """Ground sentences that depend on each other through a negation; empty if there are none."""
    circles = suspects(rules)
    if not circles:
        return []
    cycle: list[str] = ask_child(needed(rules, circles), {}, limits)["cycle"]
    return cycle


def make_circuit(
    game: Game,
    path: Path,
    limits: Limits = USUAL,
    stop: threading.Event | None = None,
) -> None:
    """Write the circuit of a game to a file; `stop` gives up."""
    rules = [rule for rule in game.rules if rule.head.name != "base"]
    try:
        ask_child(rules, {"circuit": str(path), "roles": game.roles}, limits, stop)
    except EngineError as error:
        raise type(error)(f"{game.name}: {error}") from error


def check_negation(game: Game) -> list[Finding]:
    """The finding of the checker that needs ground rules."""
    place = min((game.rules[index].place for part in suspects(game.rules) for index in part), default=(0, 0))

    def finding(severity: str, message: str) -> list[Finding]:
        return [Finding(*place, severity, "negation", message, source=game.sheet.source)]  # type: ignore[arg-type]

    try:
        cycle = negative_cycle(game.rules)
    except CannotGround as error:
        return finding("warning", f"a relation depends on its own negation, perhaps a sentence does too: {error}")
    if not cycle:
        return []
    return finding("error", f"these sentences depend on their own negation: {shorten(' '.join(cycle), 200)}")
