"""The experiments of Van Eyck's thesis with nine and with twenty-seven moves.

The thesis does not say which exploration constant its base rows have. Ours are computed with 0.5 and with 1, its two
best, and a rate is that of the better one at each mark: this is what fits the base rows. The move that is selected is
the most visited one of the most visited group, and of those visited equally often the one with the better mean.

Rows 7 and 9 of table 5.1 are printed with the same groups, and the text describes other ones for row 7. The rates of
row 9 are those of the printed groups with the constant of row 7, so this is compared too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from ggp_agent.lab import bandit, thesis, thesis_27
from ggp_agent.lab.bandit import BEST_THREE, FIRST_THIRD_FOURTH, Problem
from ggp_agent.lab.bandit_figures import draw_nine, draw_twenty_seven
from ggp_agent.lab.record import Order, Record
from ggp_agent.lab.rows import Row, rate_errors, spread

BEST_CONSTANTS = (0.5, 1.0)
QUICK_RUNS, QUICK_STEP = 100, 28  # in the quick form, every so manieth grouping is tried
GROUPING_SHARE = 25  # runs of every grouping: one for so many of a table's


def groupings() -> Iterator[tuple[int, ...]]:
    """All 280 ways to put nine moves into three groups of three: the group of every move."""
    for first in combinations(range(1, 9), 2):
        rest = [move for move in range(1, 9) if move not in first]
        for second in combinations(rest[1:], 2):
            yield tuple(0 if move in (0, *first) else 1 if move in (rest[0], *second) else 2 for move in range(9))


def compare(
    table: str, name: str, ours: list[float], runs: int, theirs: tuple[float, ...], marks: tuple[int, ...]
) -> Iterator[Row]:
    """Rows for all marks for which the thesis prints a rate: the last ones."""
    shown = marks[len(marks) - len(theirs) :]
    for mark, rate, printed in zip(shown, ours[-len(theirs) :], theirs, strict=True):
        errors = rate_errors(rate, runs, printed, thesis.RUNS)
        yield Row(table=table, row=name, column=str(mark), ours=rate, theirs=printed, errors=errors)


class Nine:
    """Results for nine moves."""

    def __init__(self, record: Record, runs: int) -> None:
        self.record, self.runs = record, runs

    def result(self, name: str, problem: Problem, runs: int | None = None) -> dict[str, Any]:
        runs = runs or self.runs
        best = "easy" if problem.chances == thesis.EASY else f"best {problem.chances[-1]}"
        key = f"{best}, c={problem.exploration}, {name}, {runs} runs"
        return self.record.get(key, lambda seed: bandit.run(problem, runs, thesis.MARKS, seed))

    def rates(self, name: str, problem: Problem) -> list[float]:
        """At every mark, the rate with the better constant."""
        found = [self.result(name, replace(problem, exploration=c))["rates"] for c in BEST_CONSTANTS]
        return [max(rates) for rates in zip(*found, strict=True)]

    def grouping(self, grouping: tuple[int, ...], chances: tuple[float, ...], c: float, runs: int) -> dict[str, Any]:
        name = "groups " + "".join(map(str, grouping))
        return self.result(name, Problem(chances=chances, exploration=c, keys=(grouping,)), runs)


def statistics_rows(nine: Nine) -> Iterator[Row]:
    """Tables 4.1 to 4.4: groups from statistics."""
    for table, (structure, chances, theirs) in thesis.STATISTICS.items():
        for name, printed in theirs.items():
            groups = "none" if name == "none" else f"ranked:{structure}:{name}"
            ours = nine.rates(groups, Problem(chances=chances, groups=groups))
            yield from compare(table, name, ours, nine.runs, printed, thesis.MARKS)


def value_rows(nine: Nine) -> Iterator[Row]:
    """Tables 4.5 to 4.8: groups from values with noise."""
    for table, (structure, chances, theirs) in thesis.VALUES.items():
        prior = BEST_THREE if structure == "123" else FIRST_THIRD_FOURTH
        for name, printed in theirs.items():
            problem = Problem(chances=chances)
            if name != "none":
                problem = replace(problem, prior=prior, noise=float(name.split()[1]))
            text = "none" if name == "none" else f"prior {structure} {name}"
            yield from compare(table, name, nine.rates(text, problem), nine.runs, printed, thesis.MARKS)


def grouping_rows(nine: Nine, tried: list[tuple[int, ...]], runs: int) -> Iterator[Row]:
    """Table 3.1: how many groupings do as well as none, in percent, with each constant."""
    for c, theirs in thesis.TABLE_3_1.items():
        base = nine.result("none", Problem(chances=thesis.EASY, exploration=c))["rates"]
        found = [nine.grouping(grouping, thesis.EASY, c, runs)["rates"] for grouping in tried]
        for k, (mark, printed) in enumerate(zip(thesis.MARKS, theirs, strict=True)):
            share = sum(rates[k] >= base[k] for rates in found) / len(tried)
            errors = rate_errors(share, len(tried), printed / 100, 280)
            yield Row(table="3.1", row=f"c={c}", column=str(mark), ours=100 * share, theirs=printed, errors=errors)


def time_row(base: dict[str, Any], grouped: list[dict[str, Any]], table: str, name: str, theirs: float) -> Row:
    """The time that plays with groups take, as a share of that without."""
    per_run = base["seconds"] / base["runs"]
    shares = [result["seconds"] / result["runs"] / per_run for result in grouped]
    mean, error = spread(shares)
    return Row(
        table=table,
        row=name,
        column="time",
        ours=mean,
        theirs=theirs,
        errors=(mean - theirs) / error if error else None,
    )


def bandit9(order: Order) -> list[Row]:
    """Nine moves: tables 3.1 and 4.1 to 4.8, figures 3.2 to 3.13."""
    bandit.warm_up(thesis.EASY)
    runs = order.pick(order.runs, QUICK_RUNS, thesis.RUNS)
    nine = Nine(order.record("bandit9"), runs)
    tried = list(groupings())[:: QUICK_STEP if order.quick else 1]
    few = max(10, runs // GROUPING_SHARE)
    rows = [*statistics_rows(nine), *value_rows(nine), *grouping_rows(nine, tried, few)]
    base = nine.result("none", Problem(chances=thesis.EASY))
    grouped = [nine.grouping(grouping, thesis.EASY, 1.0, few) for grouping in tried]
    rows.append(time_row(base, grouped, "time", "3 groups of 3", thesis.TIME_9))
    draw_nine(nine.result, nine.grouping, tried, few, order.out)
    return rows


def bandit27(order: Order) -> list[Row]:
    """Twenty-seven moves: table 5.1 and figure 5.1."""
    bandit.warm_up(thesis.TWENTY_SEVEN)
    runs = order.pick(order.runs, QUICK_RUNS, thesis.RUNS)
    record = order.record("bandit27")
    marks = thesis.MARKS_27[: -2 if order.quick else None]

    def result(name: str, problem: Problem) -> dict[str, Any]:
        key = f"c={problem.exploration}, {name}, {marks[-1]} plays, {runs} runs"
        return record.get(key, lambda seed: bandit.run(problem, runs, marks, seed))

    bases = {c: result("none", Problem(chances=thesis.TWENTY_SEVEN, exploration=c)) for c in thesis.CONSTANTS}
    printed = [mark for mark in thesis.MARKS_27[:-1] if mark <= marks[-1]]
    count = len(printed)
    best = [max(rates) for rates in zip(*(base["rates"] for base in bases.values()), strict=True)]
    rows = list(compare("5.1", "best c", best[:count], runs, thesis_27.BASE[:count], tuple(printed)))
    rows += compare("5.1", "none, c=1", bases[1.0]["rates"][:count], runs, thesis_27.BASE[:count], tuple(printed))
    timed: dict[str, list[dict[str, Any]]] = {"9 groups of 3": [], "3 groups of 9": [], "3 x 3 x 3": []}
    for number, (c, text, theirs) in thesis_27.ROWS.items():
        found = result(f"row {number}", Problem(chances=thesis.TWENTY_SEVEN, exploration=c, keys=thesis_27.keys(text)))
        rows += compare("5.1", str(number), found["rates"][:count], runs, theirs[:count], tuple(printed))
        timed[list(timed)[(number - 1) // 5]].append(found)
    same = result("row 7", Problem(chances=thesis.TWENTY_SEVEN, keys=thesis_27.keys(thesis_27.ROWS[7][1])))
    rows += compare("5.1", "9 with c=1", same["rates"][:count], runs, thesis_27.ROWS[9][2][:count], tuple(printed))
    for name, some in timed.items():
        theirs_time = thesis.TIME_27_LEVELS if "x" in name else thesis.TIME_27
        rows.append(time_row(bases[1.0], some, "time", name, theirs_time))
    draw_twenty_seven(bases, marks, runs, order.out)
    return rows
