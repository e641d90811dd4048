"""Ratings against published numbers, and against simulations whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ggp_agent.arena.ratings import ELO, rate
from ggp_agent.arena.statistics import elo

# Citations between journals of statistics, Stigler 1994; the coefficients and standard errors that R's BradleyTerry2
# finds are in Turner and Firth, Bradley-Terry Models in R, Journal of Statistical Software 48(9), 2012, section 2.1.
JOURNALS = ("Biometrika", "Comm. Statist.", "JASA", "JRSS-B")
CITED = {(0, 1): (730, 33), (0, 2): (498, 320), (0, 3): (221, 284), (1, 2): (68, 813), (1, 3): (17, 276)}
CITED |= {(2, 3): (142, 325)}
COEFFICIENTS = (0.0, -2.94907, -0.47957, 0.26895)
ERRORS = (0.0, 0.10255, 0.06059, 0.07083)


def test_ratings_are_those_of_bradleyterry2() -> None:
    sets = [{pair: float(k < won)} for pair, (won, lost) in CITED.items() for k in range(won + lost)]
    found = rate(sets, 4)
    assert not found.bounded
    for journal in range(1, 4):
        difference = found.difference(journal, 0)
        assert difference.value / ELO == pytest.approx(COEFFICIENTS[journal], abs=1e-5)
        # The scatter of single wins is that of the model, so the clustered errors come near those of the model.
        error = (difference.high - difference.low) / 2 / 1.96 / ELO
        assert error == pytest.approx(ERRORS[journal], rel=0.05)


def test_two_players_are_rated_as_their_match_is() -> None:
    scores = [0.0] * 20 + [0.25] * 50 + [0.5] * 70 + [0.75] * 60 + [1.0] * 40
    alone = elo(scores)
    difference = rate([{(0, 1): value} for value in scores], 2).difference(0, 1)
    assert difference.value == pytest.approx(alone.value)
    assert difference.high - difference.low == pytest.approx(alone.high - alone.low, rel=0.02)


def held(found_low: np.ndarray, found_high: np.ndarray, truth: np.ndarray) -> float:
    return float(np.mean((found_low <= truth) & (truth <= found_high)))


def test_intervals_of_a_round_robin_hold_the_truth() -> None:
    """Pairs meet in 40 sets each; a set is won, drawn or lost, half of them drawn where the players are equal."""
    random = np.random.default_rng(3)
    truth = np.array([150.0, 30.0, -60.0, -120.0])
    lows, highs = [], []
    for _ in range(400):
        sets = []
        for i in range(4):
            for j in range(i + 1, 4):
                chance = 1 / (1 + 10 ** ((truth[j] - truth[i]) / 400))
                drawn = min(chance, 1 - chance)
                luck = random.random(40)
                made = np.where(luck < chance - drawn / 2, 1.0, np.where(luck < chance + drawn / 2, 0.5, 0.0))
                sets += [{(i, j): float(value)} for value in made]
        players = rate(sets, 4).players
        lows.append([player.low for player in players])
        highs.append([player.high for player in players])
    assert 0.93 <= held(np.array(lows), np.array(highs), truth) <= 0.97


def test_intervals_hold_the_truth_where_all_meet_in_one_set() -> None:
    """Goals of strength plus Gumbel noise make i better than j with just the chance of the model, and the comparisons
    of one set depend on each other, as they do in games of one role or of many."""
    random = np.random.default_rng(4)
    truth = np.array([100.0, 0.0, -20.0, -80.0])
    lows, highs = [], []
    for _ in range(400):
        goals = truth / ELO + random.gumbel(size=(80, 4))
        sets = [{(i, j): float(row[i] > row[j]) for i in range(4) for j in range(i + 1, 4)} for row in goals]
        players = rate(sets, 4).players
        lows.append([player.low for player in players])
        highs.append([player.high for player in players])
    assert 0.93 <= held(np.array(lows), np.array(highs), truth) <= 0.97


def test_who_wins_everything_gets_a_finite_rating() -> None:
    found = rate([{(0, 1): 1.0}, {(1, 2): 0.75}, {(0, 2): 1.0}] * 20, 3)
    assert found.bounded
    values = [player.value for player in found.players]
    assert values == sorted(values, reverse=True) and values[0] < 2_000
    assert sum(values) == pytest.approx(0, abs=1e-6)


def test_who_has_not_played_is_not_known() -> None:
    nothing = rate([], 3)
    assert [player.value for player in nothing.players] == [0, 0, 0]
    assert all(player.low == -math.inf for player in nothing.players)
    found = rate([{(0, 1): 0.75}] * 10, 3)
    assert found.bounded and math.isfinite(found.players[0].low) and found.players[2].low == -math.inf
