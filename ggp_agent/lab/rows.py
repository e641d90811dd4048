"""Rows that compare a number of a paper with ours, and the errors of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, nan, sqrt

from ggp_agent.arena.statistics import Z95


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One number of a paper beside ours."""

    table: str
    row: str
    column: str
    ours: float
    theirs: float | None  # None if the paper prints no number
    errors: float | None  # the difference in standard errors of it
    interval: float | None = None  # half the width of the 95 % interval of ours
    best: bool = False  # of its table, ours


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error: unknown if there is one value only."""
    count = len(values)
    mean = sum(values) / count
    if count == 1:
        return mean, nan
    return mean, sqrt(sum((value - mean) ** 2 for value in values) / (count - 1) / count)


def rate_errors(ours: float, runs: int, theirs: float, their_runs: int, luck: float = 0.0) -> float:
    """By how many standard errors two rates differ, each of some runs, as estimated from both together.

    `luck` is a standard error that either has besides.
    """
    both = (ours * runs + theirs * their_runs) / (runs + their_runs)
    error = sqrt(both * (1 - both) * (1 / runs + 1 / their_runs) + 2 * luck**2)
    if error == 0:
        return 0.0
    return (ours - theirs) / error


def percent_errors(ours: float, error: float, theirs: float | None, their_games: int) -> float | None:
    """By how many standard errors a score in percent differs from a printed one, of so many games without draws."""
    if theirs is None:
        return None
    both = sqrt(error**2 + theirs * (100 - theirs) / their_games)
    return (ours - theirs) / both


def mean_row(rows: Sequence[Row], table: str, name: str, column: str, their_games: int | None = None) -> Row:
    """The mean of some scores in percent, all independent; with that of the paper's, of so many games each."""
    count = len(rows)
    ours, error = sum(row.ours for row in rows) / count, hypot(*(row.interval or 0.0 for row in rows)) / count / Z95
    printed = [row.theirs for row in rows if row.theirs is not None]
    theirs = sum(printed) / count if len(printed) == count and their_games else None
    games = count * (their_games or 0)
    return Row(
        table=table,
        row=name,
        column=column,
        ours=ours,
        theirs=theirs,
        errors=percent_errors(ours, error, theirs, games),
        interval=Z95 * error,
    )
