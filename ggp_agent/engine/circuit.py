"""Ground rules -> a circuit: which literals say that a move is legal, that the game is over, what comes next.

The nodes of a circuit are rows, in this order: the constant true; the fluents; the moves of each role, in blocks of
BLOCK rows; the latches; the gates that say which moves are legal, in the same blocks; those that say which fluents will
be true; and all other gates. Gates are computed in three phases: what a position needs (`legal`, `terminal`), what its
goals need besides, and, once the moves are chosen, what the next state needs.

Where a role has very many moves, they come in groups (see `grouping`). Playouts then choose by groups, and two phases
have what they leave out: LEGAL, the gates that only say which moves are legal, and SUMS, those that only say that none
of some moves is made.

Sentences that depend on themselves, such as "this stone is connected to the edge", become loops: each has a latch that
begins as false, and the gates of the loop are computed again until no latch changes. That is the least fixpoint,
because nothing in a loop is negated (`CannotGround` says so if the rules do that).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ggp_agent.errors import EngineError

POSITION, GOALS, NEXT, LEGAL, SUMS = range(5)
PHASES = ("position", "goals", "next", "legal moves", "sums of moves")

BAD_GOAL = -2  # a goal that is not an integer from 0 to 100
BLOCK = 8  # moves are chosen in blocks of so many


@dataclass(frozen=True, kw_only=True, slots=True)
class Circuit:
    """A game as arrays. Literals are 2 * row + negated."""

    roles: tuple[str, ...]
    fluents: tuple[str, ...]  # texts, sorted; fluent f is row 1 + f
    moves: tuple[tuple[str, ...], ...]  # role -> texts in the order of their spaced text
    move_starts: NDArray[np.int64]  # int64[roles + 1]: the first row of the moves of each role; the end of the last
    legal_starts: NDArray[np.int64]  # int64[roles + 1]: the same for the rows that say that these moves are legal
    next_start: int  # row: fluent f will be true if row next_start + f is
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
    # The families of groups of moves; none if moves are chosen by their rows. A move is legal if the guard of its
    # family, the rest of its group and its own rest hold.
    family_starts: NDArray[np.int64]  # int64[roles + 1]: the families of each role
    guards: NDArray[np.int32]  # int32[families]: literals
    family_offsets: NDArray[np.int64]  # int64[families + 1]: the groups of each family
    group_rests: NDArray[np.int32]  # int32[groups]: literals
    group_bounds: NDArray[np.int64]  # int64[groups, 2]: the first member and the last + 1; groups may have the same
    members: NDArray[np.int32]  # int32[members]: moves of the role, counted from 0
    rests: NDArray[np.int32]  # int32[members]: literals
    terminal: int  # literal
    goal_literals: NDArray[np.int32]  # int32[goals]
    goal_roles: NDArray[np.int32]  # int32[goals]
    goal_values: NDArray[np.int32]  # int32[goals]: 0..100, or BAD_GOAL
    ground_rules: int  # before anything was made smaller
    ground_literals: int

    @property
    def gates(self) -> int:
        return len(self.targets)

    def depths(self) -> NDArray[np.int64]:
        """int64[rows]: how many gates lie between a row and the inputs, one round of every loop counted."""
        depths = np.zeros(self.rows, np.int64)
        for gate, target in enumerate(self.targets.tolist()):
            used = self.literals[self.offsets[gate] : self.offsets[gate + 1]] >> 1
            depths[target] = depths[used].max() + 1
        return depths

    def validate(self) -> None:
        """Every index is in its range: compiled code trusts these arrays blindly."""
        gates, rows, roles = len(self.targets), self.rows, len(self.roles)
        literals = (self.literals, self.goal_literals, np.array([self.terminal]), *self.conditions)
        latches = range(self.first_latch, self.first_gate)
        blocks = [padded(len(moves)) for moves in self.moves]
        sound = [
            all(((array >= 0) & (array < 2 * rows)).all() for array in literals),
            ((self.first_latch <= self.targets) & (self.targets < rows)).all(),
            len(self.offsets) == gates + 1 and self.offsets[0] == 0 and self.offsets[-1] == len(self.literals),
            (np.diff(self.offsets) > 0).all(),
            roles == len(self.moves) > 0 and len(self.initial) == len(self.fluents),
            np.array_equal(self.move_starts, np.cumsum([1 + len(self.fluents), *blocks])),
            np.array_equal(self.legal_starts, np.cumsum([self.first_gate, *blocks])),
            self.move_starts[-1] == self.first_latch <= self.first_gate,
            self.legal_starts[-1] == self.next_start <= rows - len(self.fluents),
            self.grouped_soundly(),
            len(self.goal_literals) == len(self.goal_roles) == len(self.goal_values),
            ((self.goal_roles >= 0) & (self.goal_roles < roles)).all(),
            all(
                0 <= first <= last <= gates and (low >= high or (low in latches and high - 1 in latches))
                for _, first, last, low, high in self.segments.tolist()
            ),
        ]
        if not all(sound):
            raise EngineError("the arrays of this circuit do not fit together")

    @property
    def conditions(self) -> tuple[NDArray[np.int32], ...]:
        """The literals by which moves in groups are legal."""
        return self.guards, self.group_rests, self.rests

    def grouped_soundly(self) -> bool:
        groups, bounds = len(self.group_rests), self.group_bounds
        for starts, parents, children in (
            (self.family_starts, len(self.roles), len(self.guards)),
            (self.family_offsets, len(self.guards), groups),
        ):
            if len(starts) != parents + 1 or starts[0] != 0 or starts[-1] != children or (np.diff(starts) < 0).any():
                return False
        if bounds.shape != (groups, 2) or len(self.members) != len(self.rests) or (self.members < 0).any():
            return False
        if not ((bounds[:, 0] >= 0) & (bounds[:, 0] < bounds[:, 1]) & (bounds[:, 1] <= len(self.members))).all():
            return False
        roles = zip(self.moves, pairwise(self.family_offsets[self.family_starts].tolist()), strict=True)
        return all(
            self.members[first:last].max() < len(moves)
            for moves, (start, end) in roles
            for first, last in bounds[start:end].tolist()
        )


def padded(moves: int) -> int:
    """The rows of so many moves: whole blocks, and at least one."""
    return max(1, -(-moves // BLOCK)) * BLOCK
