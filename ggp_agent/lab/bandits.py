"""The experiments of Van Eyck's thesis with nine moves (chapters 3 and 4).

The thesis does not say which exploration constant the rows of chapter 4 have. A rate of ours is that of the best of its
eight constants at each mark: this is what fits. Nor does it say which of moves visited equally often is selected: ours
is the one with more wins, and another table compares that with chance, which is what fits table 3.1. Nor which of moves
with equal means is ranked first when groups are formed: any of ours, and one more table compares that with the last
one, which is the best of the nine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from math import sqrt
from typing import Any, Self

from ggp_agent.lab import bandit, thesis
from ggp_agent.lab.bandit import BEST_THREE, FIRST_THIRD_FOURTH, Problem
from ggp_agent.lab.bandit_figures import draw_nine
from ggp_agent.lab.record import Order, Record, cores
from ggp_agent.lab.rows import Row, rate_errors

QUICK_RUNS, QUICK_STEP = 40, 28  # in the quick form, every so manieth grouping is tried
MIDDLE = thesis.MARKS[:7]  # where ties matter; and the groupings of figures 3.10 and 3.11 are not played farther
DIFFICULTY_SHARE = 5  # runs for figures 3.12 and 3.13: one for so many of a table's
TINY = 1e-9  # rates that differ by less are equal
RULES = {"by wins": "rates", "at random": "at_random"}  # for ties, and where their rates are


def groupings() -> Iterator[tuple[int, ...]]:
    """All 280 ways to put nine moves into three groups of three: the group of every move."""
    for first in combinations(range(1, 9), 2):
        rest = [move for move in range(1, 9) if move not in first]
        for second in combinations(rest[1:], 2):
            yield tuple(0 if move in (0, *first) else 1 if move in (rest[0], *second) else 2 for move in range(9))


def compare(
    table: str, name: str, ours: Sequence[float], runs: int, theirs: Sequence[float], marks: Sequence[int]
) -> Iterator[Row]:
    """Rows for all marks for which the thesis prints a rate: the last ones."""
    shown = marks[len(marks) - len(theirs) :]
    for mark, rate, printed in zip(shown, ours[-len(theirs) :], theirs, strict=True):
        errors = rate_errors(rate, runs, printed, thesis.RUNS)
        yield Row(table=table, row=name, column=str(mark), ours=rate, theirs=printed, errors=errors)


def ties_row(name: str, rule: str, rows: Sequence[Row], last: int) -> Row:
    """How well a rule for ties fits: the mean square of differences in standard errors; about 1 if all is the same."""
    squares = [(row.errors or 0.0) ** 2 for row in rows if int(row.column) <= last]
    mean = sum(squares) / len(squares)
    table = "ties: mean square of the differences in standard errors"
    return Row(table=table, row=f"{name}, to {last}", column=rule, ours=mean, theirs=None, errors=None)


class Nine:
    """Results for nine moves."""

    def __init__(self, record: Record, runs: int) -> None:
        self.record, self.runs = record, runs
        self.workers = ThreadPoolExecutor(cores())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.workers.shutdown(cancel_futures=True)

    def result(
        self, name: str, problem: Problem, runs: int | None = None, marks: Sequence[int] = thesis.MARKS
    ) -> dict[str, Any]:
        runs = runs or self.runs
        best = "easy" if problem.chances == thesis.EASY else f"best {problem.chances[-1]}"
        key = f"{best}, c={problem.exploration}, {name}, {marks[-1]} plays, {runs} runs"
        return self.record.get(key, lambda seed: bandit.run(problem, runs, marks, seed))

    def rates(self, name: str, problem: Problem, what: str) -> list[float]:
        """At every mark, the rate with the best constant."""

        def compute(c: float) -> list[float]:
            rates: list[float] = self.result(name, replace(problem, exploration=c))[what]
            return rates

        return [max(rates) for rates in zip(*self.workers.map(compute, thesis.CONSTANTS), strict=True)]

    def groupings(self, tried: Sequence[tuple[int, ...]], chances: tuple[float, ...], c: float) -> list[dict[str, Any]]:
        """The results of some groupings, one thread for each core."""
        marks = thesis.MARKS if chances == thesis.EASY else MIDDLE

        def compute(grouping: tuple[int, ...]) -> dict[str, Any]:
            name = "groups " + "".join(map(str, grouping))
            return self.result(name, Problem(chances=chances, exploration=c, keys=(grouping,)), marks=marks)

        return list(self.workers.map(compute, tried))

    def difficulty(self, best: float, c: float) -> dict[str, Any]:
        """One grouping, with another value of the best move."""
        problem = Problem(chances=(*thesis.EASY[:8], best), exploration=c, keys=(thesis.GOOD_GROUP,))
        return self.result("one grouping", problem, max(10, self.runs // DIFFICULTY_SHARE))


def statistics_problems() -> Iterator[tuple[str, str, str, Problem, tuple[float, ...]]]:
    """Tables 4.1 to 4.4: groups from statistics. Table, row, name of the problem, problem, what is printed."""
    for table, (structure, chances, theirs) in thesis.STATISTICS.items():
        for row, printed in theirs.items():
            groups = "none" if row == "none" else f"ranked:{structure}:{row}"
            yield table, row, groups, Problem(chances=chances, groups=groups), printed


def value_problems() -> Iterator[tuple[str, str, str, Problem, tuple[float, ...]]]:
    """Tables 4.5 to 4.8: groups from values with noise."""
    for table, (structure, chances, theirs) in thesis.VALUES.items():
        prior = BEST_THREE if structure == "123" else FIRST_THIRD_FOURTH
        for row, printed in theirs.items():
            problem = Problem(chances=chances)
            if row != "none":
                problem = replace(problem, prior=prior, noise=float(row.split()[1]))
            yield table, row, "none" if row == "none" else f"prior {structure} {row}", problem, printed


def chapter_4(nine: Nine) -> Iterator[Row]:
    """Tables 4.1 to 4.8, and how well either rule for ties fits them."""
    found: dict[str, dict[str, list[Row]]] = {}  # of base rows and others, by rule
    for table, row, name, problem, printed in (*statistics_problems(), *value_problems()):
        for rule, what in RULES.items():
            rows = list(compare(table, row, nine.rates(name, problem, what), nine.runs, printed, thesis.MARKS))
            kind = f"{table}, {'no groups' if row == 'none' else 'groups'}"
            found.setdefault(kind, {}).setdefault(rule, []).extend(rows)
            if rule == "by wins":
                yield from rows
    for kind, rules in found.items():
        for rule, rows in rules.items():
            yield ties_row(kind, rule, rows, MIDDLE[-1])


def equal_means(nine: Nine) -> Iterator[Row]:
    """The rows "powers" of tables 4.1 to 4.4, with either rule for moves whose means are equal when they are ranked.

    Their first groups are formed after 16 plays, when most means are 0, a half or 1.
    """
    for table, row, name, problem, printed in statistics_problems():
        for in_order in (False, True) if row == "powers" else ():
            rule = "in order" if in_order else "at random"
            rates = nine.rates(f"{name}, in order" if in_order else name, replace(problem, in_order=in_order), "rates")
            for found in compare(f"equal means {rule}", table, rates, nine.runs, printed, thesis.MARKS):
                if int(found.column) <= MIDDLE[-1]:
                    yield replace(found, errors=None)  # it is counted among the others


def table_3_1(nine: Nine, tried: Sequence[tuple[int, ...]]) -> Iterator[Row]:
    """How many groupings do as well as none, in percent, with each constant; not where nearly all do or none.

    What none does is known to a standard error, or a run, in the thesis too: one more or less changes the share.
    """
    for c, theirs in thesis.TABLE_3_1.items():
        base = nine.result("none", Problem(chances=thesis.EASY, exploration=c))["at_random"]
        found = [result["at_random"] for result in nine.groupings(tried, thesis.EASY, c)]
        for k, (mark, printed) in enumerate(zip(thesis.MARKS, theirs, strict=True)):
            error = max(sqrt(base[k] * (1 - base[k]) / nine.runs), 1 / nine.runs)
            high, share, low = (
                sum(rates[k] > least - TINY for rates in found) / len(tried)
                for least in (base[k] - error, base[k], min(base[k] + error, 1.0))
            )
            errors = rate_errors(share, len(tried), printed / 100, 280, (high - low) / 2)
            yield Row(table="3.1", row=f"c={c}", column=str(mark), ours=100 * share, theirs=printed, errors=errors)


def bandit9(order: Order) -> list[Row]:
    """Nine moves: tables 3.1 and 4.1 to 4.8, figures 3.2 to 3.13."""
    tried = list(groupings())[:: QUICK_STEP if order.quick else 1]
    with Nine(order.record("bandit9"), order.pick(order.runs, QUICK_RUNS, thesis.RUNS)) as nine:
        rows = [*chapter_4(nine), *equal_means(nine), *table_3_1(nine, tried)]
        draw_nine(nine.result, nine.groupings, nine.difficulty, tried, order.out)
    return rows
