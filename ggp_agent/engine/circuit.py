"""Ground rules -> a circuit: which literals say that a move is legal, that the game is over, what comes next.

The nodes of a circuit are rows, in this order: the constant true; the fluents; the moves of each role, in blocks of
BLOCK rows; the latches; the gates that say which moves are legal, in the same blocks; those that say which fluents will
be true; those that say which moves are worth considering, in the same blocks as the legal ones (see `decisive`), if the
circuit has them; and all other gates. Gates are computed in three phases: what a position needs (`legal`, `terminal`),
what its goals need besides, and, once the moves are chosen, what the next state needs. What only searches need, that
is which moves are worth considering, is a phase of its own, DECISIVE, after the first.

Where a role has very many moves, they come in groups (see `grouping`). Playouts then choose by groups, and two phases
have what they leave out: LEGAL, the gates that only say which moves are legal, and SUMS, those that only say that none
of some moves is made.

Sentences that depend on themselves, such as "this stone is connected to the edge", become loops: each has a latch that
begins as false, and the gates of the loop are computed again until no latch changes. That is the least fixpoint,
because nothing in a loop is negated (`CannotGround` says so if the rules do that).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.errors import EngineError

POSITION, GOALS, NEXT, LEGAL, SUMS, DECISIVE = range(6)
PHASES = ("position", "goals", "next", "legal moves", "sums of moves", "decisive moves")

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
    # int64[roles + 1]: as legal_starts, for the rows that say which moves to consider; no numbers if there are none
    decisive_starts: NDArray[np.int64]
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
    # The families of groups of moves, as the words that a lane reads (see `packing`); none if moves are chosen by their
    # rows. A move is legal if the guard of its family, the rest of its group and its own rest hold.
    words: NDArray[np.int32]  # int32[words, 64]: the literals of their bits; the words of guards come first
    guard_words: NDArray[np.int64]  # int64[roles + 1]: the words of the guards of each role; a bit is a family
    # int64[64 * words of guards, 3]: the word of the rests of the groups of a family, their mask, and the group that
    # bit 0 would be. Families may have the same groups.
    families: NDArray[np.int64]
    # Of each piece of a group: the word of rests, their mask, and the member of the lowest bit of the mask.
    # The members of a second piece follow those of the first.
    piece_words: NDArray[np.int32]  # int32[groups, 2]
    piece_masks: NDArray[np.uint64]  # uint64[groups, 2]
    piece_starts: NDArray[np.int32]  # int32[groups, 2]
    members: NDArray[np.int32]  # int32[members]: moves of the role, counted from 0
    terminal: int  # literal
    goal_literals: NDArray[np.int32]  # int32[goals]
    goal_roles: NDArray[np.int32]  # int32[goals]
    goal_values: NDArray[np.int32]  # int32[goals]: 0..100, or BAD_GOAL
    ground_rules: int  # before anything was made smaller
    ground_literals: int

    @property
    def gates(self) -> int:
        return len(self.targets)

    @property
    def plain_gates(self) -> int:
        """The gates that are not DECISIVE; those come last."""
        return int(min((first for phase, first, *_ in self.segments.tolist() if phase == DECISIVE), default=self.gates))

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
        literals = (self.literals, self.goal_literals, np.array([self.terminal]), self.words)
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
            len(self.decisive_starts) == 0 or self.decisive_soundly(blocks),
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

    def decisive_soundly(self, blocks: list[int]) -> bool:
        wanted = np.cumsum([self.next_start + len(self.fluents), *blocks])
        return np.array_equal(self.decisive_starts, wanted) and bool(wanted[-1] <= self.rows)

    def grouped_soundly(self) -> bool:
        words, starts, groups = len(self.words), self.guard_words, len(self.piece_words)
        if len(starts) != len(self.roles) + 1 or starts[0] != 0 or (np.diff(starts) < 0).any() or starts[-1] > words:
            return False
        if self.words.shape != (words, 64) or self.families.shape != (64 * int(starts[-1]), 3):
            return False
        if not self.piece_words.shape == self.piece_masks.shape == self.piece_starts.shape == (groups, 2):
            return False
        read = np.concatenate([self.families[:, 0], self.piece_words.ravel()])
        sizes = np.bitwise_count(self.piece_masks)
        if (read < 0).any() or (read >= max(words, 1)).any() or (self.members < 0).any():
            return False
        if (self.piece_starts < 0).any() or (self.piece_starts + sizes > len(self.members)).any():
            return False
        if (self.piece_starts[:, 1] != self.piece_starts[:, 0] + sizes[:, 0])[sizes[:, 1] > 0].any():
            return False
        return all(self.role_grouped_soundly(role, groups) for role in range(len(self.roles)))

    def role_grouped_soundly(self, role: int, groups: int) -> bool:
        """Are the groups and the moves of a role in their range?"""
        for _, mask, number in self.families[64 * self.guard_words[role] : 64 * self.guard_words[role + 1]].tolist():
            if mask:
                first, last = number + (mask & -mask).bit_length() - 1, number + mask.bit_length() - 1
                if mask < 0 or first < 0 or last >= groups:
                    return False
                begin, end = self.piece_starts[first : last + 1], np.bitwise_count(self.piece_masks[first : last + 1])
                moves = self.members[begin.min() : (begin + end).max()]
                if moves.max(initial=0) >= len(self.moves[role]):
                    return False
        return True


def padded(moves: int) -> int:
    """The rows of so many moves: whole blocks, and at least one."""
    return max(1, -(-moves // BLOCK)) * BLOCK
