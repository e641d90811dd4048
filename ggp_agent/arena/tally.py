"""Results as they come in, and the scores of the rotation sets that are complete."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from ggp_agent.arena.schedule import RotationSet, Schedule, Seats
from ggp_agent.arena.statistics import SequentialTest, Verdict

DIGITS = 12  # of a set score, so that sums in different order are one number
Goals = tuple[int, ...]


class Tally:
    """What has been played of a schedule so far, in whatever order."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.goals: dict[int, dict[int, Goals]] = defaultdict(dict)  # set -> assignment -> a goal a role
        self.errors: dict[int, dict[int, int]] = defaultdict(dict)  # set -> assignment -> how many
        self.scores: dict[int, dict[tuple[int, int], float]] = {}  # complete set -> (i, j) -> what i made against j
        self.matches = 0
        sprt = schedule.tournament.sprt
        self.test = SequentialTest(sprt) if sprt else None
        self.looked = 0  # sets that the test has looked at, which it does in the order of their numbers

    def add(self, set_number: int, assignment: int, goals: Goals, errors: int) -> None:
        """A match that was played. Those of sets that are no longer asked for are left out."""
        if set_number >= len(self.schedule):
            return
        self.goals[set_number][assignment] = goals
        self.errors[set_number][assignment] = errors
        self.matches += 1
        rotation = self.schedule[set_number]
        if len(self.goals[set_number]) == len(rotation.seats):
            self.scores[set_number] = set_scores(rotation, self.goals[set_number])
            self.look()

    def has(self, set_number: int, assignment: int) -> bool:
        return set_number in self.goals and assignment in self.goals[set_number]

    def look(self) -> None:
        """Let the test look at every set whose predecessors are complete.

        In this order its verdict does not depend on which match happened to end first.
        """
        while self.test is not None and self.test.verdict is None and self.looked in self.scores:
            self.test.add(self.scores[self.looked][0, 1])
            self.looked += 1

    @property
    def verdict(self) -> Verdict | None:
        return self.test.verdict if self.test else None

    def counted(self) -> list[int]:
        """The sets that results are taken from: all that are complete, or those up to the verdict of the test."""
        last = self.looked if self.verdict else len(self.schedule)
        return sorted(number for number in self.scores if number < last)


def set_scores(rotation: RotationSet, goals: dict[int, Goals]) -> dict[tuple[int, int], float]:
    """What every player of a set made against every other, from 0 to 1: the mean of all comparisons between them."""
    points: dict[tuple[int, int], list[float]] = defaultdict(list)
    if len(rotation.seats[0]) == 1:  # everybody played alone: compare across the matches
        alone = {seats[0]: goals[assignment][0] for assignment, seats in enumerate(rotation.seats)}
        rows = [(tuple(alone), tuple(alone.values()))]
    else:
        rows = [(seats, goals[assignment]) for assignment, seats in enumerate(rotation.seats)]
    for seats, values in rows:
        for i, j, result in comparisons(seats, values):
            points[i, j].append(result)
    return {pair: round(sum(results) / len(results), DIGITS) for pair, results in points.items()}


def comparisons(seats: Seats, goals: Goals) -> list[tuple[int, int, float]]:
    """(i, j, points of i) for every two roles with different players, i being the lower number.

    The higher goal wins, whatever the difference, because that is what a rating can predict; equal goals are a draw.
    """
    found = []
    for (i, mine), (j, theirs) in combinations(zip(seats, goals, strict=True), 2):
        if i != j:
            result = 0.5 if mine == theirs else float(mine > theirs)
            found.append((i, j, result) if i < j else (j, i, 1 - result))
    return found
