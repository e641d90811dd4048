"""Ground rules -> a circuit: which literals say that a move is legal, that the game is over, what comes next.

The nodes of a circuit are rows, in this order: the constant true, the fluents, the moves of the first role, those of
the second, ..., the latches, and the gates in the order in which they are computed. They are computed in three
phases: what a position needs (`legal`, `terminal`), what its goals need besides, and, once the moves are chosen, what
the next state needs.

Sentences that depend on themselves, such as "this stone is connected to the edge", become loops: each has a latch that
begins as false, and the gates of the loop are computed again until no latch changes. That is the least fixpoint,
because nothing in a loop is negated (`CannotGround` says so if the rules do that).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.errors import EngineError

POSITION, GOALS, NEXT = range(3)
PHASES = ("position", "goals", "next")


@dataclass(frozen=True, kw_only=True, slots=True)
class Circuit:
    """A game as arrays. Literals are 2 * row + negated."""

    roles: tuple[str, ...]
    fluents: tuple[str, ...]  # texts, sorted; fluent f is row 1 + f
    moves: tuple[tuple[str, ...], ...]  # role -> texts in the order of their spaced text; each move is a row
    initial: NDArray[np.bool_]  # bool[fluents]
    rows: int  # in all
    first_latch: int  # row; the latches end where the gates begin
    first_gate: int  # row
    # A gate computes the AND of literals[offsets[g] : offsets[g + 1]] into row targets[g]. A gate whose target is a
    # latch renews it, and has one literal.
    targets: NDArray[np.int32]  # int32[gates]
    offsets: NDArray[np.int64]  # int64[gates + 1]
    literals: NDArray[np.int32]  # int32[literals of all gates]
    # What is computed in turn: int64[segments, 5] of phase, first gate, last gate + 1, first latch row, last + 1.
    # A segment with latches is a loop: they begin as false, and its gates are computed until no latch changes.
    segments: NDArray[np.int64]
    legal: NDArray[np.int32]  # int32[moves of all roles]: the literal that says that a move is legal
    terminal: int  # literal
    goal_literals: NDArray[np.int32]  # int32[goals]
    goal_roles: NDArray[np.int32]  # int32[goals]
    goal_values: NDArray[np.int32]  # int32[goals]: 0..100
    next: NDArray[np.int32]  # int32[fluents]: the literal that says that a fluent will be true
    ground_rules: int  # before anything was made smaller
    ground_literals: int

    @property
    def gates(self) -> int:
        return len(self.targets)

    @property
    def move_rows(self) -> list[range]:
        """The rows of the moves of each role."""
        rows, start = [], 1 + len(self.fluents)
        for moves in self.moves:
            rows.append(range(start, start + len(moves)))
            start += len(moves)
        return rows

    def validate(self) -> None:
        """Every index is in its range: compiled code trusts these arrays blindly."""
        gates, rows = len(self.targets), self.rows
        literals = (self.literals, self.legal, self.goal_literals, self.next, np.array([self.terminal]))
        latches = range(self.first_latch, self.first_gate)
        sound = [
            all(((array >= 0) & (array < 2 * rows)).all() for array in literals),
            ((self.first_latch <= self.targets) & (self.targets < rows)).all(),
            len(self.offsets) == gates + 1 and self.offsets[0] == 0 and self.offsets[-1] == len(self.literals),
            (np.diff(self.offsets) > 0).all(),
            1 + len(self.fluents) + len(self.legal) == self.first_latch <= self.first_gate <= rows,
            len(self.initial) == len(self.next) == len(self.fluents),
            len(self.legal) == sum(map(len, self.moves)) and len(self.moves) == len(self.roles) > 0,
            len(self.goal_literals) == len(self.goal_roles) == len(self.goal_values),
            ((self.goal_roles >= 0) & (self.goal_roles < len(self.roles))).all(),
            all(
                0 <= first <= last <= gates and (low >= high or (low in latches and high - 1 in latches))
                for _, first, last, low, high in self.segments.tolist()
            ),
        ]
        if not all(sound):
            raise EngineError("the arrays of this circuit do not fit together")
