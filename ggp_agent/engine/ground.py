"""Ground rules, by clingo's grounder in a child process.

The grounder finds what could ever hold: any fluent that `init` or `next` derives may be true, any move that `legal`
derives may be done. So far this serves one question, which only the ground rules can answer: does a sentence depend
on its own negation? Among relations such circles are common and harmless, (goal ?r 0) if not (goal ?r 100).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ggp_agent.engine.base import Game
from ggp_agent.engine.child import Child
from ggp_agent.engine.coding import Coder
from ggp_agent.errors import CannotGround, EngineError, EngineTimeout, Finding
from ggp_agent.gdl import Literal, Rule
from ggp_agent.gdl.depend import negates_within, reachable, relation_graph, rule_cycles
from ggp_agent.gdl.reader import shorten

SECONDS = 20.0
MEMORY_BYTES = 4 << 30

# What the rules leave open: the state and the moves.
CHOICES = """
{k_true(F)} :- k_init(F).
{k_true(F)} :- k_next(F).
{k_does(R,M)} :- k_legal(R,M).
"""


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


def negative_cycle(rules: Sequence[Rule], seconds: float = SECONDS, memory_bytes: int = MEMORY_BYTES) -> list[str]:
    """Ground sentences that depend on each other through a negation; empty if there are none."""
    circles = suspects(rules)
    if not circles:
        return []
    coder = Coder()
    text = program_text(needed(rules, circles), coder)
    child = Child("ggp_agent.engine.ground_child", memory_bytes)
    try:
        child.send({"negative_cycle": text})
        reply = child.receive(seconds)
    except EngineTimeout as error:
        raise CannotGround(f"the rules could not be made ground within {seconds:g} s") from error
    except EngineError as error:
        raise CannotGround(f"the rules could not be made ground: {error}") from error
    finally:
        child.kill()
    names = {coder.predicate((name, 0)): name for name in (*coder.names, "goal", "legal", "terminal", "next", "init")}
    found = []
    for predicate, args in reply["cycle"]:
        words = " ".join([names[predicate], *(str(coder.decode(arg)) for arg in args)])
        found.append(f"({words})" if args else words)
    return sorted(found)


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
