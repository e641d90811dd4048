"""Forced wins and forced blocks in Connect Four, by brute force on bit boards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

COLUMNS, ROWS = 7, 6
HEIGHT = ROWS + 1
Discs = tuple[int, int]  # of the role to move, of the other


@dataclass(frozen=True)
class Task:
    """A position, told by the columns played, and the moves that are right there."""

    kind: str  # "win in 1", "block", "win in 2", "win in 3"
    columns: tuple[int, ...]
    right: frozenset[int]


def lines(discs: int) -> bool:
    for shift in (1, HEIGHT - 1, HEIGHT, HEIGHT + 1):
        pairs = discs & discs >> shift
        if pairs & pairs >> 2 * shift:
            return True
    return False


def drops(board: Discs) -> list[tuple[int, int]]:
    """The columns that are not full, and the discs that fall there."""
    taken, found = board[0] | board[1], []
    for column in range(COLUMNS):
        disc = (taken + (1 << HEIGHT * column)) & ((1 << ROWS) - 1) << HEIGHT * column
        if disc:
            found.append((column, disc))
    return found


def wins(board: Discs, moves: int) -> bool:
    """Can the role to move force a line within so many moves of its own?"""
    return any(wins_by(board, disc, moves) for _, disc in drops(board))


def wins_by(board: Discs, disc: int, moves: int) -> bool:
    mine = board[0] | disc
    if lines(mine):
        return True
    other = (board[1], mine)
    if moves == 1 or any(lines(board[1] | reply) for _, reply in drops(other)):
        return False
    replies = drops(other)
    return bool(replies) and all(wins((mine, board[1] | reply), moves - 1) for _, reply in replies)


def winning(board: Discs, moves: int) -> frozenset[int]:
    return frozenset(column for column, disc in drops(board) if wins_by(board, disc, moves))


def classify(columns: tuple[int, ...], board: Discs) -> Task | None:
    """What is forced in a position, if anything is and there are wrong moves too."""
    legal = drops(board)
    for moves in (1, 2, 3):
        if right := winning(board, moves):
            return Task(f"win in {moves}", columns, right) if len(right) < len(legal) else None
        if moves == 1:
            safe = frozenset(c for c, disc in legal if not wins((board[1], board[0] | disc), 1))
            lasting = frozenset(c for c, disc in legal if c in safe and not wins((board[1], board[0] | disc), 3))
            if len(safe) == 1:
                return Task("block", columns, safe) if safe == lasting and len(legal) > 1 else None
    return None


def tasks(seed: int, wanted: dict[str, int]) -> Iterator[Task]:
    """Positions of random games, so many of each kind."""
    random, left = Random(seed), dict(wanted)
    while any(left.values()):
        board: Discs = (0, 0)
        columns: tuple[int, ...] = ()
        for _ in range(random.randrange(6, 30)):
            free = drops(board)
            if not free:
                break
            column, disc = random.choice(free)
            if lines(board[0] | disc):
                break
            board, columns = (board[1], board[0] | disc), (*columns, column)
        task = classify(columns, board)
        if task and left.get(task.kind):
            left[task.kind] -= 1
            yield task
