"""The bandits: their groups, and the kernel beside UCB as the thesis writes it."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from ggp_agent.lab import bandit, thesis, thesis_27
from ggp_agent.lab.bandit import BEST_THREE, Problem, run
from ggp_agent.lab.bandits import groupings, ties_row
from ggp_agent.lab.bandits_27 import TIMED
from ggp_agent.lab.rows import Row, rate_errors


def test_there_are_280_groupings_of_nine_moves() -> None:
    found = {frozenset(frozenset(np.flatnonzero(np.array(g) == k)) for k in range(3)) for g in groupings()}
    assert len(found) == 280 and all(len(group) == 3 for some in found for group in some)


def test_the_groups_of_the_tables_are_whole() -> None:
    for number, (_, text, rates) in thesis_27.ROWS.items():
        keys = thesis_27.keys(text)
        assert all(len(stage) == 27 for stage in keys) and len(keys) == (2 if number > 10 else 1)
        sizes = [np.bincount(stage).tolist() for stage in keys]
        assert sizes[-1] == [9] * 3 if 6 <= number <= 10 else [3] * 9
        assert number <= 10 or sizes[0] == [9] * 3
        assert len(rates) == len(thesis_27.BASE)
    for _, _, table in (*thesis.STATISTICS.values(), *thesis.VALUES.values()):
        assert all(0 <= rate <= 1 for row in table.values() for rate in row)


def plain_rate(groups: list[list[int]], chances: tuple[float, ...], plays: int, runs: int) -> float:
    """How often the best move has been played most after so many plays, with groups chosen by UCB and c = 1."""
    random, best, hits = Random(1), len(chances) - 1, 0

    def choose(options: list[list[float]], total: float) -> int:
        worth = [w / n + math.sqrt(math.log(total) / n) if n else math.inf for n, w in options]
        return random.choice([k for k, u in enumerate(worth) if u == max(worth)])

    for _ in range(runs):
        moves = [[0.0, 0.0] for _ in chances]
        for _ in range(plays):
            above = [[sum(moves[m][k] for m in group) for k in range(2)] for group in groups]
            group = groups[choose(above, max(1.0, sum(n for n, _ in above)))]
            inside = [moves[m] for m in group]
            move = group[choose(inside, max(1.0, sum(n for n, _ in inside)))]
            moves[move][0] += 1
            moves[move][1] += random.random() < chances[move]
        group = max(groups, key=lambda group: ([sum(moves[m][k] for m in group) for k in range(2)], random.random()))
        hits += max(group, key=lambda m: (moves[m], random.random())) == best
    return hits / runs


@pytest.mark.parametrize("key", [(0,) * 9, (0, 1, 2, 0, 1, 2, 0, 1, 2), (0, 0, 0, 1, 1, 1, 2, 2, 2)])
def test_the_kernel_is_ucb(key: tuple[int, ...]) -> None:
    groups = [[move for move in range(9) if key[move] == k] for k in sorted(set(key))]
    plain = plain_rate(groups, thesis.EASY, 64, 800)
    keys = (key,) if len(groups) > 1 else ()
    ours = run(Problem(chances=thesis.EASY, keys=keys), 4000, [16, 64], 7)["rates"][1]
    assert abs(rate_errors(ours, 4000, plain, 800)) < 4


def test_values_without_noise_make_the_same_groups_every_time() -> None:
    fixed = run(Problem(chances=thesis.EASY, keys=((0, 0, 0, 1, 1, 1, 2, 2, 2),)), 4000, [64], 1)["rates"][0]
    made = run(Problem(chances=thesis.EASY, prior=BEST_THREE), 4000, [64], 2)["rates"][0]
    assert abs(made - fixed) < 0.06  # the other six moves are arranged at random
    assert (
        run(Problem(chances=thesis.EASY), 50, [64], 3)["rates"]
        == run(Problem(chances=thesis.EASY), 50, [64], 3)["rates"]
    )


def test_equal_means_in_order_favour_the_last_move() -> None:
    problem = Problem(chances=thesis.HARD, groups="ranked:134:powers")
    any_first, last_first = (run(replace(problem, in_order=rule), 4000, [32], 1)["rates"][0] for rule in (False, True))
    assert last_first - any_first > 0.04  # the last move is the best


@pytest.mark.long
def test_kernels_that_know_the_rules_play_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem(chances=thesis.EASY, keys=((0, 1, 2, 0, 1, 2, 0, 1, 2),))
    found = []
    for many in (bandit.MANY_PLAYS, 0):
        monkeypatch.setattr(bandit, "MANY_PLAYS", many)
        found.append(run(problem, 100, [16, 1024], 3))
    for what in ("rates", "at_random", "simple", "cumulative"):
        assert found[0][what] == found[1][what]


def test_either_rule_selects_one_of_the_most_visited() -> None:
    found = run(Problem(chances=thesis.TWENTY_SEVEN), 4000, [32, 4096], 5)
    early, late = zip(found["rates"], found["at_random"], strict=True)
    assert early[0] - early[1] > 0.01  # ties are many, and the one with more wins is rather the best
    assert late[0] == pytest.approx(late[1], abs=0.005)


def test_how_well_a_rule_fits() -> None:
    rows = [
        Row(table="4.1", row="none", column=str(mark), ours=0, theirs=0, errors=errors)
        for mark, errors in ((16, 1.0), (32, -3.0), (64, 100.0))
    ]
    found = ties_row("4.1", "by wins", rows, 32)
    assert (found.row, found.column, found.ours) == ("4.1, to 32", "by wins", 5.0)


def test_groups_that_are_timed_lie_within_each_other() -> None:
    for (moves, name), (stages, _) in TIMED.items():
        for before, after in zip((1, *stages), (*stages, moves), strict=True):
            assert after % before == 0 and after > before, name
