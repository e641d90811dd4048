"""The reference engine: SWI-Prolog through pyswip, in a child process.

The child numbers the fluents and moves that it meets and tells the parent each one once; a state is the sorted tuple
of the numbers of its fluents. A child that loops or dies is replaced: the new one gets the same program and the same
numbers, so that states live on.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, cast

import numpy as np

from ggp_agent.engine.base import MAX_PLIES, NO_GOAL, Engine, Game, JointMove, Move, Playouts, Position, State, goal_of
from ggp_agent.engine.child import Child, Message
from ggp_agent.engine.coding import Coded
from ggp_agent.engine.prolog_program import Program
from ggp_agent.errors import EngineError
from ggp_agent.gdl import Term, spaced

SECONDS = 10.0  # to answer one question, or to play one playout
START_SECONDS = 30.0  # more, to start a child and load a program
MEMORY_BYTES = 2 << 30


class PrologEngine(Engine):
    name = "prolog"

    def __init__(self, game: Game, *, seconds: float = SECONDS, memory_bytes: int = MEMORY_BYTES) -> None:
        self.game = game
        self.seconds = seconds
        self.memory_bytes = memory_bytes
        self.program = Program(game.rules)
        self.modules = self.program.modules()
        self.terms: list[Term] = []  # by the child's number: fluents and moves
        self.coded: list[Coded] = []  # the same, as the child knows them
        self.moves: list[list[Term]] = [[] for _ in game.roles]
        self.move_terms: list[list[int]] = [[] for _ in game.roles]  # role, move -> number of its term
        self.move_keys: list[list[str]] = [[] for _ in game.roles]  # role, move -> the text that orders moves
        self.move_of: list[dict[int, Move]] = [{} for _ in game.roles]  # role, number of a term -> move
        self.lock = threading.Lock()
        self.child: Child | None = None
        self.started = False
        with self.lock:
            self.spawn()

    # The child

    def spawn(self) -> None:
        """Start a child and send it the game; its answer is awaited by the next question."""
        self.child = Child("ggp_agent.engine.prolog_child", self.memory_bytes)
        self.started = False
        self.child.send(
            {
                "modules": self.modules,
                "roles": self.program.roles,
                "terms": self.coded,
                "memory_bytes": self.memory_bytes,
            }
        )

    def replies(self, message: Message, count: int = 1) -> Iterator[Any]:
        """The results of one message. A child that does not answer is killed, and a new one is ready for the next."""
        with self.lock:
            if self.child is None:
                raise EngineError(f"{self.game.name}: this engine is closed")
            try:
                if not self.started:
                    self.child.receive(START_SECONDS)
                    self.started = True
                self.child.send(message)
                for _ in range(count):
                    new, failed, *result = self.child.receive(self.seconds)["reply"]
                    self.coded += new
                    self.terms += map(self.program.coder.decode, new)
                    if failed:
                        raise self.failure(*result)
                    yield result[0]
            except GeneratorExit:
                self.replace()
                raise
            except EngineError as error:
                if not isinstance(error, Broken):
                    self.replace()
                    raise type(error)(f"{self.game.name}: {error}") from error
                raise EngineError(*error.args) from error

    def replace(self) -> None:
        if self.child is not None:
            self.child.kill()
        self.spawn()

    def failure(self, kind: int, detail: Any, state: list[int]) -> EngineError:
        """The error for what the child reports; the kinds are those of runtime.pl."""
        roles = self.game.roles
        if kind == 1:
            what = f"{roles[detail]} has no legal move, and the game is not over"
        elif kind == 2:
            role, count = detail
            what = f"the game is over, and {roles[role]} has {count or 'no'} goal{'s at once' if count else ''}"
        elif kind == 3:
            what = "the rules negate a sentence that depends on itself, so that it is neither true nor false"
        elif kind == 4:
            return EngineError("the rules need more memory than the engine may use")
        else:
            return EngineError("SWI-Prolog could not run the rules")
        return Broken(str(self.broken(tuple(state), what)))

    def close(self) -> None:
        with self.lock:
            if self.child is not None:
                self.child.kill()
                self.child = None

    # The contract

    def ask(self, request: str) -> Any:
        (result,) = self.replies({"ask": request})
        return result

    def initial(self) -> State:
        return tuple(self.ask("initial"))

    def look(self, state: State) -> Position:
        terminal, legal, goals = self.ask(f"look({numbers(state)})")
        moves = [
            sorted([self.learn(role, number) for number in found], key=self.move_keys[role].__getitem__)
            for role, found in enumerate(legal)
        ]
        values = [[self.program.coder.decode(value) for value in found] for found in goals]
        return self.position(terminal=bool(terminal), legal=moves, goals=values, state=state)

    def learn(self, role: int, number: int) -> Move:
        """The index of a move, which may be new."""
        move = self.move_of[role].setdefault(number, len(self.moves[role]))
        if move == len(self.moves[role]):
            self.moves[role].append(self.terms[number])
            self.move_terms[role].append(number)
            self.move_keys[role].append(spaced(self.terms[number]))
        return move

    def step(self, state: State, joint: JointMove) -> State:
        terms = [self.move_terms[role][move] for role, move in enumerate(joint)]
        return tuple(self.ask(f"step({numbers(state)},{terms})"))

    def fluents(self, state: State) -> list[Term]:
        return [self.terms[number] for number in cast(tuple[int, ...], state)]

    def state(self, fluents: Iterable[Term]) -> State:
        known = self.program.coder.numbers
        coded = []
        for fluent in fluents:
            if strange := next((name for name in names(fluent) if name not in known), None):
                raise EngineError(f"{self.game.name}: {fluent} is no fluent of this game: it does not know {strange}")
            coded.append(self.program.coder.code(fluent))
        return tuple(sorted(set(self.ask(f"intern({coded})"))))

    def possible(self) -> list[Term]:
        return [self.terms[number] for number in self.ask("base")]

    def playouts(self, state: State, count: int, seed: int, max_plies: int = MAX_PLIES) -> Playouts:
        random = Random(seed)
        seeds = [[random.randrange(1, 2147483562), random.randrange(1, 2147483398)] for _ in range(count)]
        goals = np.full((count, len(self.game.roles)), NO_GOAL, np.int16)
        plies = np.zeros(count, np.int32)
        message = {"playouts": seeds, "state": numbers(state), "max_plies": max_plies}
        for index, (length, *values) in enumerate(self.replies(message, count)):
            plies[index] = length
            for role, value in enumerate(values):
                goal = goal_of(self.game.roles[role], [self.program.coder.decode(value)])
                if not isinstance(goal, int):
                    raise EngineError(f"{self.game.name}: {goal}")
                goals[index, role] = goal
        return Playouts(goals=goals, plies=plies)


class Broken(EngineError):
    """The rules are broken in a position; the child itself is well."""


def numbers(state: State) -> list[int]:
    return list(cast(tuple[int, ...], state))


def names(term: Term) -> Iterator[str]:
    yield term.name
    for arg in term.args:
        assert isinstance(arg, Term)
        yield from names(arg)
