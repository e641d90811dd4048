"""The experiments of Van Eyck's thesis with twenty-seven moves (chapter 5), and the time that groups take.

Of moves visited equally often one is selected at random: this is what fits table 5.1. Its base row fits none of the
constants, so it is compared with the best of all at each mark.

Rows 7 and 9 of table 5.1 are printed with the same groups, and the text describes other ones for row 7: the best, the
second and the fourth best move together. The rates of row 9 are those of the printed groups with the constant of row 7.
So row 9 is compared with that too, and row 7 with some groupings of the kind that the text describes.

The numbers of table 5.1 scatter more around ours than those of 5,000 runs should, with groups and without. Another
table asks how many runs would scatter so; for it, ours to 1,024 plays are computed some times more, and whether these
scatter as they should is seen too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt
from random import Random
from statistics import fmean, variance
from typing import Any

from ggp_agent.lab import bandit, thesis, thesis_27
from ggp_agent.lab.bandit import Problem
from ggp_agent.lab.bandit_figures import draw_twenty_seven
from ggp_agent.lab.bandits import QUICK_RUNS, RULES, compare, ties_row
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, rate_errors

TOGETHER = (26, 25, 23)  # in row 7, as the text has it
TRIED, TRIED_SHARE = 8, 5  # groupings of that kind, and runs of each: one for so many of a row's
TRIED_MARKS = 8  # so many
FEW_PLAYS = 128  # where ties matter
AGAIN, AGAIN_MARKS = 4, 6  # so many times more, and so many marks
THEIR_RUNS = (5000, 2000, 1000, 500)  # that the thesis may have made for a number of table 5.1
SCATTERED = (0.02, 0.98)  # rates outside of these hardly scatter at all
TIMED_PLAYS, TIMED_RUNS, REPEATS = 4096, 100, 5
# Moves and groups -> how many groups at each stage, and the time that they take in the thesis, as a share
TIMED: dict[tuple[int, str], tuple[tuple[int, ...], float | None]] = {
    (9, "3 groups of 3"): ((3,), thesis.TIME_9),
    (27, "9 groups of 3"): ((9,), thesis.TIME_27),
    (27, "3 groups of 9"): ((3,), thesis.TIME_27),
    (27, "3 x 3 x 3"): ((3, 9), thesis.TIME_27_LEVELS),
    (81, "9 groups of 9"): ((9,), None),
    (243, "9 groups of 27"): ((9,), None),
    (729, "27 groups of 27"): ((27,), None),
    (729, "9 x 9 x 9"): ((9, 81), None),
}


class TwentySeven:
    """Results for twenty-seven moves."""

    def __init__(self, record: Record, runs: int, marks: Sequence[int]) -> None:
        self.record, self.runs = record, runs
        self.marks = marks
        self.printed = [mark for mark in thesis.MARKS_27[:-1] if mark <= marks[-1]]

    def result(self, name: str, c: float, keys: Any, marks: Sequence[int], runs: int) -> dict[str, Any]:
        problem = Problem(chances=thesis.TWENTY_SEVEN, exploration=c, keys=keys)
        key = f"c={c}, {name}, {marks[-1]} plays, {runs} runs"
        return self.record.get(key, lambda seed: bandit.run(problem, runs, marks, seed))

    def compare(self, name: str, ours: Sequence[float], theirs: Sequence[float]) -> list[Row]:
        count = len(self.printed)
        return list(compare("5.1", name, ours[:count], self.runs, theirs[:count], self.printed))


def best_rates(bases: Sequence[dict[str, Any]], what: str) -> list[float]:
    """Without groups, at every mark, the rate with the best constant."""
    return [max(rates) for rates in zip(*(base[what] for base in bases), strict=True)]


def table_5_1(some: TwentySeven, bases: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """The table, and how well either rule for ties fits it."""
    found: dict[str, dict[str, list[Row]]] = {"no groups": {}, "groups": {}}
    for rule, what in RULES.items():
        rates = best_rates(bases, what)
        found["no groups"][rule] = some.compare(f"none, best c, ties {rule}", rates, thesis_27.BASE)
        yield from found["no groups"][rule]
        found["groups"][rule] = []
    for number, (c, text, theirs) in thesis_27.ROWS.items():
        result = some.result(f"row {number}", c, thesis_27.keys(text), some.printed, some.runs)
        for rule, what in RULES.items():
            rows = some.compare(str(number), result[what], theirs)
            found["groups"][rule] += [] if number in (7, 9) else rows  # these have the groups of others
            if rule == "at random":
                yield from rows
    same = some.result("row 7", 1.0, thesis_27.keys(thesis_27.ROWS[7][1]), some.printed, some.runs)
    yield from some.compare("9 with c=1", same["at_random"], thesis_27.ROWS[9][2])
    for kind, rules in found.items():
        for last in (FEW_PLAYS, some.printed[-1]):
            for rule, rows in rules.items():
                yield ties_row(f"5.1, {kind}", rule, rows, last)


def repeated(some: TwentySeven, marks: Sequence[int]) -> Iterator[tuple[tuple[float, ...], float]]:
    """Rates with groups that were computed several times, and the one of table 5.1, where they scatter."""
    least, most = SCATTERED
    for number, (own, text, theirs) in thesis_27.ROWS.items():
        if number == 7:
            continue
        name, c = ("row 7", 1.0) if number == 9 else (f"row {number}", own)
        parts = [(name, some.printed), *((f"{name}, again {again + 1}", marks) for again in range(AGAIN))]
        found = [some.result(part, c, thesis_27.keys(text), there, some.runs)["at_random"] for part, there in parts]
        for rates, printed in zip(zip(*found, strict=False), theirs, strict=False):
            if least <= fmean(rates) <= most:
                yield rates, printed


def scatter(some: TwentySeven, bases: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """How the numbers of table 5.1 scatter around ours if they are of so many runs, and ours among themselves."""
    marks, times = some.printed[:AGAIN_MARKS], 1 + AGAIN
    found = list(repeated(some, marks))
    compared = {  # rates, the thesis's, and runs of ours
        "no groups": (best_rates(bases, "at_random")[: len(marks)], thesis_27.BASE[: len(marks)], some.runs),
        "groups": ([fmean(rates) for rates, _ in found], [printed for _, printed in found], times * some.runs),
    }
    table = f"5.1: differences in standard errors, to {marks[-1]} plays, if the thesis made so many runs"
    for kind, (ours, theirs, runs) in compared.items():
        for their_runs in THEIR_RUNS:
            pairs = zip(ours, theirs, strict=True)
            squares = [rate_errors(rate, runs, printed, their_runs) ** 2 for rate, printed in pairs]
            for name, value in {"mean square": fmean(squares), "largest": sqrt(max(squares))}.items():
                row = f"{kind}, {len(squares)} numbers: {name}"
                yield Row(table=table, row=row, column=str(their_runs), ours=value, theirs=None, errors=None)
    shares = [variance(rates) * some.runs / (fmean(rates) * (1 - fmean(rates))) for rates, _ in found]
    row = f"ours among themselves, {times} times: mean square"
    yield Row(table=table, row=row, column=str(some.runs), ours=fmean(shares), theirs=None, errors=None)


def row_7(some: TwentySeven) -> Iterator[Row]:
    """Row 7 beside groupings of the kind that the text describes."""
    random, marks = Random(some.record.seed), some.printed[:TRIED_MARKS]
    runs, rates = max(10, some.runs // TRIED_SHARE), []
    for number in range(TRIED):
        rest = [move for move in range(27) if move not in TOGETHER]
        random.shuffle(rest)
        group = {move: place // 9 for place, move in enumerate((*TOGETHER, *rest))}
        keys = (tuple(group[move] for move in range(27)),)
        rates.append(some.result(f"row 7 as in the text, {number}", 1.0, keys, marks, runs)["at_random"])
    for name, choose in (("least", min), ("most", max)):
        for mark, values, theirs in zip(marks, zip(*rates, strict=True), thesis_27.ROWS[7][2], strict=False):
            table = f"row 7 of 5.1: {TRIED} groupings with the best, second and fourth best move together"
            yield Row(table=table, row=name, column=str(mark), ours=choose(values), theirs=theirs, errors=None)


def time_rows(record: Record) -> Iterator[Row]:
    """The time of a play with groups as a share of that without, beside the share of edges that are looked at."""

    def measure(seed: int) -> dict[str, Any]:
        seconds: dict[str, list[float]] = {}
        for _ in range(REPEATS):  # in turns, because other work may run on the machine
            for moves in dict.fromkeys(moves for moves, _ in TIMED):
                seconds.setdefault(str(moves), []).append(timed(moves, (), seed))
            for (moves, name), (stages, _) in TIMED.items():
                seconds.setdefault(f"{moves}: {name}", []).append(timed(moves, stages, seed))
        return {"seconds": {name: min(some) for name, some in seconds.items()}}

    seconds = record.get(f"times, {TIMED_RUNS} runs of {TIMED_PLAYS} plays", measure)["seconds"]
    for (moves, name), (stages, theirs) in TIMED.items():
        counts = (1, *stages, moves)
        looked = sum(after // before for before, after in pairwise(counts)) / moves
        share = seconds[f"{moves}: {name}"] / seconds[str(moves)]
        for column, ours, printed in (("edges", looked, None), ("time", share, theirs)):
            row = f"{moves} moves, {name}"
            yield Row(table="share with groups of", row=row, column=column, ours=ours, theirs=printed, errors=None)


def timed(moves: int, stages: tuple[int, ...], seed: int) -> float:
    """The seconds of some plays."""
    chances = tuple(0.1 + 0.8 * move / moves for move in range(moves))
    keys = tuple(tuple(move % groups for move in range(moves)) for groups in stages)
    seconds: float = bandit.run(Problem(chances=chances, keys=keys), TIMED_RUNS, [TIMED_PLAYS], seed)["seconds"]
    return seconds


def bandit27(order: Order) -> list[Row]:
    """Twenty-seven moves: table 5.1 and figure 5.1."""
    runs = order.pick(order.runs, QUICK_RUNS, thesis.RUNS)
    some = TwentySeven(order.record("bandit27"), runs, thesis.MARKS_27[: -2 if order.quick else None])
    bases = {c: some.result("none", c, (), some.marks, runs) for c in thesis.CONSTANTS}
    bandit.run(Problem(chances=thesis.TWENTY_SEVEN), 1, [1], 0)  # compiles, so that no measured time holds it
    known = list(bases.values())
    rows = [*table_5_1(some, known), *scatter(some, known), *row_7(some), *time_rows(some.record)]
    draw_twenty_seven(bases, some.marks, runs, order.out)
    return rows
