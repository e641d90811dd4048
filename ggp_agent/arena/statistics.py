"""What the results of rotation sets say about strength: scores, Elo, likelihood of superiority, sequential tests.

Everything here is a pure function of set scores: what one player made of a rotation set, from 0 (lost every match) to
1 (won every match), a draw being half a win. Matches of one set share their opening and are not independent; sets are.
That is why variances are taken over sets: in chess, with two matches a set, this is the pentanomial model of fishtest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from ggp_agent.errors import ConfigError

NORMAL = NormalDist()
Z95 = NORMAL.inv_cdf(0.975)
TINY_COUNT = 1e-3  # sets that a score which never occurred counts as in a sequential test; the number is fishtest's
TINY_SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
MAX_ITERATIONS = 200
PRECISION = 1e-12

Verdict = Literal["H0", "H1"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number and its 95 % interval."""

    value: float
    low: float
    high: float


def expected_score(elo: float) -> float:
    """The score that a player is expected to make against one that is `elo` weaker."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """The other way: the Elo difference that makes this score expected; infinite for 0 and 1."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)


def score(scores: Sequence[float]) -> Estimate:
    """The mean of set scores. Nothing is known of a player without sets: 0.5, from 0 to 1.

    The interval is Wilson's, for as many wins and losses as the sets are worth (see `worth`): unlike the plain one it
    stays within 0 and 1, and does not shrink to nothing when all sets were won.
    """
    if not scores:
        return Estimate(0.5, 0.0, 1.0)
    mean = math.fsum(scores) / len(scores)
    trials, z2 = worth(scores), Z95**2
    centre = (mean + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 / (1 + z2 / trials) * math.sqrt(mean * (1 - mean) / trials + z2 / (4 * trials**2))
    return Estimate(mean, min(mean, max(0.0, centre - half)), max(mean, min(1.0, centre + half)))


def worth(scores: Sequence[float]) -> float:
    """How many independent wins and losses would tell the mean as precisely as these set scores do.

    That is more than there are sets, because a set of several matches varies less than a single win or loss. One
    imaginary set that varies as much as can be is counted in, so that sets that happen to be alike do not look certain.
    """
    count = len(scores)
    mean = math.fsum(scores) / count
    largest = mean * (1 - mean)  # the variance if every set were won or lost
    variance = math.fsum((value - mean) ** 2 for value in scores) / count
    dispersion = min(1.0, variance / largest) if largest > 0 else 1.0
    return count / ((count * dispersion + 1) / (count + 1))


def elo(scores: Sequence[float]) -> Estimate:
    """The Elo difference to the opponents of these sets, taken as one."""
    found = score(scores)
    return Estimate(elo_of(found.value), elo_of(found.low), elo_of(found.high))


def superiority(scores: Sequence[float]) -> float:
    """The likelihood of superiority: the chance that a player of equal strength would have scored less than this."""
    if not scores:
        return 0.5
    mean = math.fsum(scores) / len(scores)
    deviation = math.sqrt(mean * (1 - mean) / worth(scores))
    if deviation == 0:  # all won or all lost, which equals do with this chance if each set is a coin
        return 1 - 0.5 ** len(scores) if mean > 0.5 else 0.5 ** len(scores)
    return NORMAL.cdf((mean - 0.5) / deviation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Sprt:
    """A sequential probability ratio test: is the first player elo0 stronger (H0), or elo1 (H1)?"""

    elo0: float
    elo1: float
    alpha: float = 0.05  # the chance to accept H1 though H0 is true
    beta: float = 0.05  # the chance to accept H0 though H1 is true

    def __post_init__(self) -> None:
        if not (math.isfinite(self.elo0) and math.isfinite(self.elo1) and self.elo0 < self.elo1):
            raise ConfigError(f"sprt {self.elo0:g} {self.elo1:g} makes no sense: the first Elo must be the lower one")
        for name, chance in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < chance < 0.5:
                raise ConfigError(f"{name} is {chance:g}: a chance between 0 and 0.5 is needed")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which H0 and H1 are accepted."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


def log_likelihood_ratio(counts: Mapping[float, float], elo0: float, elo1: float) -> float:
    """The logarithm of how much likelier set scores are under elo1 than under elo0; `counts` says how often each came.

    Nothing is assumed about the shape of their distribution: each hypothesis is represented by the likeliest
    distribution with its mean (the generalised SPRT, https://stat.columbia.edu/~jcliu/paper/GSPRT_SQA3.pdf).
    """
    if not counts:
        return 0.0
    weights = dict.fromkeys(TINY_SCORES, TINY_COUNT) | {value: float(count) for value, count in counts.items() if count}
    zero = likeliest(weights, expected_score(elo0))
    one = likeliest(weights, expected_score(elo1))
    return math.fsum(weight * math.log(one[value] / zero[value]) for value, weight in weights.items())


def likeliest(weights: Mapping[float, float], mean: float) -> dict[float, float]:
    """The probabilities of values, seen with these weights, that are likeliest among those with this mean.

    They are weight / (total * (1 + t * (value - mean))) for the one t that gives them this mean, which lies between
    the two poles: https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf, proposition 1.1.
    """
    offsets = [(value - mean, weight) for value, weight in weights.items()]
    low, high = -1 / max(offsets)[0], -1 / min(offsets)[0]
    t = 0.0
    for _ in range(MAX_ITERATIONS):  # Newton's method, and halving where it would leave the bracket
        excess = sum(weight * offset / (1 + t * offset) for offset, weight in offsets)
        slope = -sum(weight * (offset / (1 + t * offset)) ** 2 for offset, weight in offsets)
        low, high = (t, high) if excess > 0 else (low, t)
        following = t - excess / slope
        if not low < following < high:
            following = (low + high) / 2
        step, t = following - t, following
        if abs(step) < PRECISION:
            break
    total = sum(weights.values())
    return {value: weight / total / (1 + t * (value - mean)) for value, weight in weights.items()}


class SequentialTest:
    """An SPRT under way: it looks after every set, and a verdict once reached stays."""

    def __init__(self, sprt: Sprt) -> None:
        self.sprt = sprt
        self.counts: Counter[float] = Counter()
        self.ratio = 0.0
        self.verdict: Verdict | None = None

    @property
    def sets(self) -> int:
        """The sets that were looked at."""
        return self.counts.total()

    def add(self, set_score: float) -> Verdict | None:
        """Look at the next set; those that come after the verdict are not counted."""
        if self.verdict is None:
            self.counts[set_score] += 1
            self.ratio = log_likelihood_ratio(self.counts, self.sprt.elo0, self.sprt.elo1)
            lower, upper = self.sprt.bounds
            self.verdict = "H0" if self.ratio <= lower else "H1" if self.ratio >= upper else None
        return self.verdict
