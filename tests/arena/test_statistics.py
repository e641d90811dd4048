"""Statistics against published numbers, and against simulations whose truth is known."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from ggp_agent.arena.statistics import (
    SequentialTest,
    Sprt,
    elo,
    elo_of,
    expected_score,
    likeliest,
    log_likelihood_ratio,
    score,
    superiority,
)
from ggp_agent.errors import ConfigError

PENTANOMIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
TRINOMIAL = (0.0, 0.5, 1.0)


def expand(counts: Sequence[int]) -> list[float]:
    """Set scores from how often each came: lost to won, in chess notation [LL, LD, WL+DD, WD, WW] or [L, D, W]."""
    values = PENTANOMIAL if len(counts) == 5 else TRINOMIAL
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def test_elo_and_expected_scores_are_those_of_the_tables() -> None:
    # Elo's scale: 400 points are odds of ten to one; the usual tables give 0.76 for 200 points.
    assert expected_score(0) == 0.5 and expected_score(400) == pytest.approx(10 / 11)
    assert expected_score(200) == pytest.approx(0.76, abs=0.001)
    assert elo_of(0.75) == pytest.approx(190.85, abs=0.005)
    assert elo_of(0) == -math.inf and elo_of(1) == math.inf
    for value in (-700.0, -3.5, 0.0, 12.0, 500.0):
        assert elo_of(expected_score(value)) == pytest.approx(value)


# fastchess, app/tests/elo_test.cpp, and a report of fastchess at https://ijccrl.com (628 games): counts of sets, Elo,
# half of its 95 % interval, likelihood of superiority. Theirs is the plain normal interval, so ours is a little
# different for few sets.
FASTCHESS = [
    ((34, 54, 31 + 32, 64, 75), 55.58, 27.65, 1.0),
    ((332, 433, 457 + 41, 333, 334), -8.64, 10.33, 0.0505),
    ((7895, 8757, 5485 + 200, 568, 9999), -21.04, 2.95, 0.0),
    ((3, 75, 149, 83, 4), 5.53, 14.79, 0.7685),
    ((96, 111, 136), 40.70, 30.43, 0.9960),
    ((89, 123, 76), None, None, 0.1553),
]


@pytest.mark.parametrize(("counts", "value", "half", "los"), FASTCHESS)
def test_elo_and_superiority_are_those_of_fastchess(
    counts: tuple[int, ...], value: float | None, half: float | None, los: float
) -> None:
    found = elo(expand(counts))
    if value is not None and half is not None:
        assert found.value == pytest.approx(value, abs=0.005)
        assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.01)
    assert superiority(expand(counts)) == pytest.approx(los, abs=0.0025)


# Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998), table I,
# method 3 (Wilson): successes, trials, limits.
NEWCOMBE = [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]


@pytest.mark.parametrize(("won", "sets", "low", "high"), NEWCOMBE)
def test_intervals_of_sets_without_draws_are_those_of_wilson(won: int, sets: int, low: float, high: float) -> None:
    found = score([1.0] * won + [0.0] * (sets - won))
    assert [found.low, found.high] == pytest.approx([low, high], abs=5e-5)
    mirror = score([0.0] * won + [1.0] * (sets - won))
    assert [mirror.low, mirror.high] == pytest.approx([1 - found.high, 1 - found.low])


# fastchess, app/tests/sprt_test.cpp, the cases in logistic Elo; and the raw statistics of a test run by fishtest,
# https://montytest.muzhen.org/tests/stats/69d3c8dc7c5b3724e29d2712 ("Logistic (exact)", H1 at a score of 0.50391).
RATIOS = [
    ((223, 9863, 20279 + 1000, 10037, 246), 0.5, 2.5, -3.07, 0.005),
    ((871, 26175, 55003 + 980, 26678, 821), 0.0, 2.0, -4.98, 0.005),
    ((21184, 40708, 21404), 0.5, 2.5, -1.57, 0.005),
    ((57030, 106593, 57433), 0.0, 2.0, -2.59, 0.005),
    ((13, 37, 50, 25, 3), 0.0, 2.716, -0.53772, 0.0002),
]


@pytest.mark.parametrize(("counts", "elo0", "elo1", "ratio", "within"), RATIOS)
def test_likelihood_ratios_are_those_of_fastchess_and_fishtest(
    counts: tuple[int, ...], elo0: float, elo1: float, ratio: float, within: float
) -> None:
    values = PENTANOMIAL if len(counts) == 5 else TRINOMIAL
    found = log_likelihood_ratio(dict(zip(values, counts, strict=True)), elo0, elo1)
    assert found == pytest.approx(ratio, abs=within)


def test_the_bounds_of_a_test_are_those_of_wald() -> None:
    assert list(Sprt(elo0=0, elo1=5).bounds) == pytest.approx([-2.9444, 2.9444], abs=5e-5)


def test_the_likeliest_distribution_has_its_mean_and_is_the_likeliest() -> None:
    weights = {0.0: 3.0, 0.25: 1.0, 0.5: 4.0, 1.0: 2.0}
    found = likeliest(weights, 0.6)
    assert sum(found.values()) == pytest.approx(1)
    assert sum(value * chance for value, chance in found.items()) == pytest.approx(0.6)

    def likelihood(chances: dict[float, float]) -> float:
        return sum(weight * math.log(chances[value]) for value, weight in weights.items())

    # Moving mass along the two directions that keep total and mean only makes it less likely.
    for direction in ((0.5, -1.0, 0.5, 0.0), (1.0, 0.0, -2.0, 1.0)):
        for size in (-1e-3, 1e-3):
            moved = {v: p + size * d for (v, p), d in zip(found.items(), direction, strict=True)}
            assert likelihood(moved) < likelihood(found)


def simulate(random: np.random.Generator, strength: float, sets: int) -> np.ndarray:
    """Scores of rotation sets of two matches: openings favour one side by about 150 Elo, a third are drawn."""
    bias = random.normal(0, 150, sets)
    matches = []
    for side in (1, -1):
        chance = 1 / (1 + 10 ** (-(strength + side * bias) / 400))
        luck = random.random(sets)
        matches.append(np.where(luck < chance * 2 / 3, 1.0, np.where(luck < chance * 2 / 3 + 1 / 3, 0.5, 0.0)))
    result: np.ndarray = np.mean(matches, axis=0)
    return result


@pytest.mark.parametrize(("strength", "sets"), [(0, 20), (0, 200), (120, 50), (500, 100)])
def test_intervals_hold_the_truth_in_95_of_100_simulations(strength: float, sets: int) -> None:
    random = np.random.default_rng(sets + int(strength))
    truth = float(simulate(random, strength, 2_000_000).mean())
    trials = 2_000
    held = 0
    for _ in range(trials):
        found = score(simulate(random, strength, sets).tolist())
        held += found.low <= truth <= found.high
    assert 0.935 <= held / trials <= 0.97


def test_a_match_against_itself_is_elo_0_and_the_test_accepts_h0() -> None:
    """1,000 sets of a player against itself; and of 400 such matches, H1 is accepted in about one of twenty."""
    random = np.random.default_rng(5)
    found = elo(simulate(random, 0, 1_000).tolist())
    assert found.low <= 0 <= found.high and found.high - found.low < 40
    test = SequentialTest(Sprt(elo0=0, elo1=10))
    for value in simulate(random, 0, 20_000):
        if test.add(float(value)):
            break
    assert test.verdict == "H0"


@pytest.mark.parametrize(("strength", "wrong"), [(0.0, "H1"), (60.0, "H0")])
def test_wrong_verdicts_are_as_rare_as_asked_for(strength: float, wrong: str) -> None:
    random = np.random.default_rng(11)
    # The score that 60 Elo stands for is what the test is about; biased openings pull it towards a half.
    target = elo_of(float(simulate(random, strength, 2_000_000).mean()))
    elo0, elo1 = (target, 60.0) if strength == 0 else (0.0, target)
    trials = 200
    count = 0
    for _ in range(trials):
        test = SequentialTest(Sprt(elo0=elo0, elo1=elo1))
        while not test.verdict:
            for value in simulate(random, strength, 50):
                test.add(float(value))
        count += test.verdict == wrong
    assert count / trials <= 0.09


def test_extremes_and_nothing_at_all() -> None:
    assert score([]).low == 0 and score([]).high == 1 and superiority([]) == 0.5
    won = elo([1.0] * 50)
    assert won.value == math.inf and 400 < won.low < 460 and won.high == math.inf
    assert superiority([1.0] * 50) > 0.999 and superiority([0.0] * 50) < 0.001
    even = elo([0.5] * 200)  # nothing but draws: precise, but not certain
    assert even.value == 0 and 0.5 < even.high < 5
    assert log_likelihood_ratio({}, 0, 5) == 0
    for sprt in ((5, 5), (5, 0), (0, math.inf)):
        with pytest.raises(ConfigError):
            Sprt(elo0=sprt[0], elo1=sprt[1])
    with pytest.raises(ConfigError):
        Sprt(elo0=0, elo1=5, alpha=0)


def test_a_verdict_stays() -> None:
    test = SequentialTest(Sprt(elo0=0, elo1=100))
    while not test.add(1.0):
        pass
    sets = test.sets
    for _ in range(1_000):
        test.add(0.0)
    assert test.verdict == "H1" and test.sets == sets
