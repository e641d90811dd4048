"""Fluents of which at most one is ever true, or exactly one: a cell holds one thing, one role has the turn.

Candidates are fluents that differ in one argument only, such as (cell 1 1 ?). They are proved by induction: the initial
state keeps to them, and whenever a state keeps to all of them and every role makes one legal move, the next state keeps
to them too. Candidates that a counterexample breaks are dropped, until no counterexample is left. The counterexamples
are found by clingo's solver on the ground rules, which leave the state and the moves open.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from time import process_time

import clingo

LOOK_SECONDS = 0.01  # between looks at the clock

# Keeping to a group is assumed for those that are `on`; `bad` finds a state and moves that break one of them.
PROGRAM = """
#external on(G) : group(G).
#external full(G) : group(G).
:- on(G), #count { F : k_true(F), member(G,F) } > 1.
:- full(G), #count { F : k_true(F), member(G,F) } = 0.
:- k_terminal.
:- k_does(R,M), not k_legal(R,M).
:- k_role(R), #count { M : k_does(R,M) } != 1.
broken(G) :- group(G), #count { F : k_next(F), member(G,F) } > 1.
empty(G) :- group(G), #count { F : k_next(F), member(G,F) } = 0.
bad :- on(G), broken(G).
bad :- full(G), empty(G).
:- not bad.
"""


def candidates(fluents: list[str], initial: set[str]) -> list[list[str]]:
    """Fluents of one function that differ in one argument, by the coded text of fluents: `f3(1,2,7)`."""
    families: dict[tuple[str, int], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for fluent in fluents:
        function, bracket, rest = fluent.partition("(")
        arguments = rest[:-1].split(",")
        if not bracket or "(" in rest:
            continue
        for position in range(len(arguments)):
            others = ",".join([*arguments[:position], "_", *arguments[position + 1 :]])
            families[f"{function}/{len(arguments)}", position][others].append(fluent)
    found = []
    for groups in families.values():
        large = [group for group in groups.values() if len(group) > 1]
        if large and all(sum(fluent in initial for fluent in group) <= 1 for group in large):
            found += large
    return found


def prove(
    rules: str, open_atoms: Iterable[str], groups: list[list[str]], initial: set[str], seconds: float
) -> list[tuple[list[str], bool]]:
    """The groups that hold in every state, each with whether exactly one of its fluents is true.

    `open_atoms` are the fluents and moves that the rules leave open. They are open without conditions here: in the
    program that grounds, a fluent must be possible because of some `next`, and no stable model lets it support itself.
    """
    choices = "".join(f"{{{atom}}}." for atom in open_atoms)
    members = "".join(f"member({number},{fluent})." for number, group in enumerate(groups) for fluent in group)
    numbers = "".join(f"group({number})." for number in range(len(groups)))
    control = clingo.Control(["--warn=none"])
    control.add("base", [], rules + choices + numbers + members + PROGRAM)
    control.ground([("base", [])])
    on = set(range(len(groups)))
    full = {number for number, group in enumerate(groups) if any(fluent in initial for fluent in group)}
    deadline = process_time() + seconds  # of the processor, so that a busy machine proves the same
    while on:
        for number in range(len(groups)):
            symbol = clingo.Number(number)
            control.assign_external(clingo.Function("on", [symbol]), number in on)
            control.assign_external(clingo.Function("full", [symbol]), number in full)
        broken = counterexample(control, deadline)
        if broken is None:
            return []  # nothing is proved until all is
        if not broken:
            break
        on -= {number for name, number in broken if name == "broken"}
        full -= {number for name, number in broken if name == "empty"}
        full &= on
    return [(groups[number], number in full) for number in sorted(on)]


def counterexample(control: clingo.Control, deadline: float) -> set[tuple[str, int]] | None:
    """What some state and moves break, as (broken or empty, group); nothing if nothing can; None if time is up."""
    with control.solve(yield_=True, async_=True) as handle:
        handle.resume()
        while not handle.wait(LOOK_SECONDS):
            if process_time() > deadline:
                handle.cancel()
                return None
        model = handle.model()
        if model is None:
            return set()
        found = {atom for atom in model.symbols(atoms=True) if atom.name in ("broken", "empty")}
        return {(atom.name, atom.arguments[0].number) for atom in found}


def choose(proved: list[tuple[list[str], bool]]) -> list[tuple[list[str], bool]]:
    """Groups that do not overlap, the largest first: a fluent belongs to one at most."""
    taken: set[str] = set()
    chosen = []
    for group, exactly_one in sorted(proved, key=lambda pair: (-pair[1], -len(pair[0]), pair[0])):
        if taken.isdisjoint(group):
            taken.update(group)
            chosen.append((group, exactly_one))
    return chosen
