"""The contract that every engine keeps.

Integers inside, terms at the edge. A `State` is an opaque hashable value; two states of one engine are equal exactly
if the same fluents are true in them. A `Move` is an index into `engine.moves[role]`. A joint move is a tuple with one
move a role, `noop`s included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ggp_agent.errors import EngineError, IllegalMove
from ggp_agent.gdl import Rule, Sheet, Term, load, playable_rules
from ggp_agent.gdl.check import is_goal_value

State = Hashable
Move = int
JointMove = tuple[Move, ...]

NO_GOAL = -1  # the goal of a playout that was cut off
MAX_PLIES = 10_000  # a playout longer than this is cut off


@dataclass(frozen=True, kw_only=True, slots=True)
class Game:
    """A rulesheet that was checked, ready for an engine."""

    name: str
    sheet: Sheet
    rules: tuple[Rule, ...]  # in normal form, without input

    @property
    def roles(self) -> tuple[str, ...]:
        return self.sheet.roles

    @classmethod
    def from_sheet(cls, sheet: Sheet, name: str) -> Self:
        return cls(name=name, sheet=sheet, rules=playable_rules(sheet))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        path = Path(path)
        return cls.from_sheet(load(path), path.parent.name if path.name == "rules.kif" else path.stem)


@dataclass(frozen=True, kw_only=True, slots=True)
class Position:
    """What the rules say of a state."""

    terminal: bool
    legal: tuple[tuple[Move, ...], ...]  # one tuple a role, without repeats, in the order of the moves' spaced text
    goals: tuple[int, ...] | None  # one a role, 0..100; None where some role has no goal


@dataclass(frozen=True, kw_only=True, slots=True)
class Playouts:
    """The ends of some random games."""

    goals: NDArray[np.int16]  # int16[playouts, roles]: 0..100, or NO_GOAL where the playout was cut off
    plies: NDArray[np.int32]  # int32[playouts]: joint moves played


class Engine(ABC):
    """Steps one game. Close it, or use it in a `with` statement."""

    name: str  # as `--engine` takes it
    game: Game
    moves: Sequence[Sequence[Term]]  # moves[role][move]; may grow as moves are met, never changes

    @abstractmethod
    def initial(self) -> State:
        """The state in which a match begins."""

    @abstractmethod
    def look(self, state: State) -> Position:
        """What the rules say of a state. An EngineError names the state if they break GDL there."""

    @abstractmethod
    def step(self, state: State, joint: JointMove) -> State:
        """The state after a joint move. The moves must be legal; this is not checked again."""

    @abstractmethod
    def fluents(self, state: State) -> list[Term]:
        """What is true in a state, in no particular order."""

    @abstractmethod
    def state(self, fluents: Iterable[Term]) -> State:
        """The state in which exactly these fluents are true. It must be one that a match can reach."""

    @abstractmethod
    def possible(self) -> list[Term]:
        """Fluents that may be true in some state, as `base` or the ground rules tell; empty if nothing tells."""

    @abstractmethod
    def playouts(self, state: State, count: int, seed: int, max_plies: int = MAX_PLIES) -> Playouts:
        """The ends of `count` games from `state` in which every role plays uniformly at random."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds."""

    def considered(self, state: State) -> tuple[tuple[Move, ...], ...]:
        """The moves of each role that a search considers in a state that is not terminal; nothing if all legal ones."""
        return ()

    def facts(self, state: State) -> list[str]:
        """What is true in a state, as sorted text such as `(cell 1 1 b)`."""
        return sorted(map(str, self.fluents(state)))

    def hash(self, state: State) -> int:
        """A 64-bit hash of a state, the same in every run, engine and process."""
        return hash_facts(map(str, self.fluents(state)))

    def move(self, state: State, role: int, text: str) -> Move:
        """The legal move that a text means; IllegalMove if there is none."""
        try:
            term = self.game.sheet.term(text)
        except ValueError as error:
            raise IllegalMove(f"{text!r} is not a move: {error}") from error
        legal = self.look(state).legal[role]
        for move in legal:
            if self.moves[role][move] == term:
                return move
        some = ", ".join(str(self.moves[role][move]) for move in legal[:8]) + (", ..." if len(legal) > 8 else "")
        raise IllegalMove(f"{term} is not legal for {self.game.roles[role]} here; legal are: {some or 'none'}")

    def position(self, *, terminal: bool, legal: list[list[Move]], goals: list[list[Term]], state: State) -> Position:
        """A Position of what an engine found, moves in order: every role can move or the game is over, goals agree."""
        roles = self.game.roles
        for role, moves in enumerate(legal):
            if not moves and not terminal:
                raise self.broken(state, f"{roles[role]} has no legal move, and the game is not over")
        values = [goal_of(role, found) for role, found in zip(roles, goals, strict=True)]
        for value in values:
            if isinstance(value, str):
                raise self.broken(state, value)
        known = tuple(value for value in values if isinstance(value, int))
        if terminal and len(known) < len(roles):
            missing = next(role for role, value in zip(roles, values, strict=True) if value is None)
            raise self.broken(state, f"the game is over, and {missing} has no goal")
        return Position(
            terminal=terminal, legal=tuple(map(tuple, legal)), goals=known if len(known) == len(roles) else None
        )

    def broken(self, state: State, what: str) -> EngineError:
        """The error for rules that break GDL in a state."""
        return EngineError(f"{self.game.name}: {what}; in the position {' '.join(self.facts(state)) or '(empty)'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def goal_of(role: str, found: Iterable[Term]) -> int | str | None:
    """The one goal value of a role; None without one; a text that says what is wrong with it."""
    values = sorted(set(found), key=str)
    if len(values) > 1:
        return f"{role} has {len(values)} goals at once: {', '.join(map(str, values))}"
    if values and not is_goal_value(values[0]):
        return f"the goal of {role} is {values[0]}, which is not an integer from 0 to 100"
    return int(values[0].name) if values else None


@lru_cache(maxsize=1 << 20)
def hash_fact(fact: str) -> int:
    """A 64-bit hash of the text of one fluent."""
    return int.from_bytes(blake2b(fact.encode(), digest_size=8).digest(), "big")


def hash_facts(facts: Iterable[str]) -> int:
    """The hash of a state: the exclusive or of the hashes of its fluents, so that their order does not matter."""
    total = 0
    for fact in facts:
        total ^= hash_fact(fact)
    return total
