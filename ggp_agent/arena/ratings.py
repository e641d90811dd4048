"""Ratings of several players at once: the Bradley-Terry model by maximum likelihood, draws as half a win.

The chance that i beats j is 1 / (1 + 10 ** ((r_j - r_i) / 400)). Ratings are in Elo and their mean is 0. Intervals do
not come from the curvature of the likelihood alone, which would take draws for coin flips and the matches of a set for
independent ones: the scatter of whole sets about their expectation is measured (the sandwich estimator, clustered).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ggp_agent.arena.statistics import Z95, Estimate

Floats = NDArray[np.float64]
SetScores = Mapping[tuple[int, int], float]  # of one set: (i, j) -> what i made against j, 0..1; each pair once
ELO = 400 / math.log(10)  # Elo in one unit of log-odds
MAX_STEP = 2.0  # of log-odds in one iteration
MAX_ITERATIONS = 1_000
PRECISION = 1e-10


@dataclass(frozen=True, kw_only=True, slots=True)
class Ratings:
    """What `rate` found."""

    players: tuple[Estimate, ...]
    covariance: Floats  # float64[players, players], in Elo squared
    bounded: bool  # imaginary draws were needed, because somebody won or lost everything

    def difference(self, i: int, j: int) -> Estimate:
        """How much stronger i is than j, all matches of all players considered."""
        value = self.players[i].value - self.players[j].value
        variance = self.covariance[i, i] + self.covariance[j, j] - 2 * self.covariance[i, j]
        half = Z95 * math.sqrt(max(0.0, float(variance)))
        return Estimate(value, value - half, value + half)


def rate(sets: Sequence[SetScores], players: int) -> Ratings:
    """The ratings of players 0, 1, ... from the scores that they made against each other in rotation sets."""
    flat = [(number, i, j, points) for number, pairs in enumerate(sets) for (i, j), points in pairs.items()]
    which = np.array([row[0] for row in flat], np.int64)  # int64[pairs]: the set that a pair score belongs to
    first = np.array([row[1] for row in flat], np.int64)
    second = np.array([row[2] for row in flat], np.int64)
    points = np.array([row[3] for row in flat], np.float64)
    won: Floats = np.zeros((players, players))  # float64[players, players]: sets that i took from j
    np.add.at(won, (first, second), points)
    np.add.at(won, (second, first), 1 - points)
    met = (won + won.T) > 0
    bounded = not strongly_connected(won > 0)
    if bounded:  # the likelihood has no maximum (Ford 1957); one imaginary drawn set for every two players gives it one
        won += 0.5 * (1 - np.eye(players))
    strengths = maximum(won)

    chance = chances(strengths)
    surprise: Floats = np.zeros((len(sets), players))  # float64[sets, players]: score beyond expectation
    np.add.at(surprise, (which, first), points - chance[first, second])
    np.add.at(surprise, (which, second), chance[first, second] - points)
    # One imaginary set a pair that varies as much as can be, as in `statistics.worth`.
    scatter = surprise.T @ surprise + laplacian(met * chance * (1 - chance))
    inverse = np.linalg.pinv(information(won, strengths))
    covariance: Floats = ELO**2 * inverse @ scatter @ inverse
    halves = Z95 * np.sqrt(np.maximum(0, np.diag(covariance)))
    if bounded:
        lonely = ~met.any(axis=1)
        halves[lonely] = math.inf  # nothing is known of who has not played yet
    ratings = ELO * strengths
    return Ratings(
        players=tuple(Estimate(float(r), float(r - h), float(r + h)) for r, h in zip(ratings, halves, strict=True)),
        covariance=covariance,
        bounded=bounded,
    )


def chances(strengths: Floats) -> Floats:
    """float64[players, players]: the chance that i beats j, from strengths in log-odds."""
    difference = strengths[:, None] - strengths[None, :]
    result: Floats = 1 / (1 + np.exp(-difference))
    return result


def laplacian(weights: Floats) -> Floats:
    """The matrix of the quadratic form: the sum over pairs of weight * (x_i - x_j) ** 2."""
    result: Floats = np.diag(weights.sum(axis=1)) - weights
    return result


def information(won: Floats, strengths: Floats) -> Floats:
    """Minus the second derivatives of the log-likelihood."""
    chance = chances(strengths)
    return laplacian((won + won.T) * chance * (1 - chance))


def maximum(won: Floats) -> Floats:
    """The strengths, in log-odds and of mean 0, that make these results likeliest: Newton's method in short steps."""
    strengths: Floats = np.zeros(len(won))
    for _ in range(MAX_ITERATIONS):
        gradient = (won - (won + won.T) * chances(strengths)).sum(axis=1)
        step = np.linalg.pinv(information(won, strengths)) @ gradient
        longest = np.abs(step).max(initial=0.0)
        strengths = strengths + step * min(1.0, MAX_STEP / max(longest, PRECISION))
        if longest < PRECISION:
            break
    result: Floats = strengths - strengths.mean()
    return result


def strongly_connected(beats: NDArray[np.bool_]) -> bool:
    """Is everybody linked to everybody by a chain of wins (or draws)? Then the ratings are finite."""
    reach = beats | np.eye(len(beats), dtype=bool)
    for _ in range(len(beats).bit_length()):
        reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
    return bool(reach.all())
