"""Local privacy for a secret answer: randomized response for one bit (Warner 1965) and for one of k categories."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism, release_shape
from dpcourse.mechanisms.category_sampling import moved
from dpcourse.mechanisms.estimate import Estimate
from dpcourse.privacy_loss import DiscreteLoss
from dpcourse.randomness import Rng, generator

#: The lecture's three ways from epsilon to theta, the probability of telling the truth. Each bounds
#: theta/(1 - theta) by e^epsilon: with the line 1 + eps, with one more term of the series, and with equality.
ATTEMPTS = ("first", "quadratic", "tight")


def theta(epsilon: float, attempt: str = "tight") -> float:
    """The probability of reporting the truth: (eps+1)/(eps+2), with 1+eps+eps^2/2 for eps+1, or e^eps/(e^eps+1)."""
    epsilon = checks.positive("epsilon", epsilon)
    checks.one_of("attempt", attempt, ATTEMPTS)
    if attempt == "tight":
        return 1 / (1 + math.exp(-epsilon))
    odds = 1 + epsilon + (epsilon**2 / 2 if attempt == "quadratic" else 0.0)
    return odds / (1 + odds)


class _Response(Mechanism):
    """What all responses share: one's own category with probability ``truth``, any given other one with ``other``."""

    k: int

    @property
    def truth(self) -> float:
        """Probability of reporting one's own category."""
        raise NotImplementedError

    @property
    def spent_epsilon(self) -> float:
        """The epsilon that is really spent: ln(truth / other)."""
        raise NotImplementedError

    @property
    def other(self) -> float:
        """Probability of reporting one given other category."""
        return math.exp(-self.spent_epsilon) * self.truth

    @property
    def matrix(self) -> np.ndarray:
        """P(y | x): a row for each true answer x, a column for each report y."""
        matrix = np.full((self.k, self.k), self.other)
        np.fill_diagonal(matrix, self.truth)
        return matrix

    def _one(self, name: str, value: Any) -> int:
        array = checks.categories(name, value, self.k)
        if array.ndim:
            raise ValueError(f"{name} must be one person's category, got {value!r}")
        return int(array)

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """Reports, one for each person's category in ``data``."""
        rng, categories = generator(rng), checks.categories("data", data, self.k)
        shape = release_shape(categories, size)
        reports = moved(np.broadcast_to(categories, shape), self.k, self.other, rng)
        return reports if np.ndim(reports) else int(reports)

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log probability of each person's report."""
        same = checks.categories("output", output, self.k) == checks.categories("data", data, self.k)
        return np.where(same, math.log(self.truth), math.log(self.truth) - self.spent_epsilon)[()]

    def worst_case(self) -> tuple[int, int]:
        """Any two different categories."""
        return 1, 0

    def _plrv_of(self, data: Any, neighbour: Any) -> DiscreteLoss:
        if self._one("data", data) == self._one("neighbour", neighbour):
            return DiscreteLoss.from_atoms([0.0], [1.0])
        # Exactly -eps, 0 and eps: written down, so that no rounding splits the middle atom.
        losses = np.array([-self.spent_epsilon, 0.0, self.spent_epsilon])
        masses = np.array([self.other, (self.k - 2) * self.other, self.truth])
        keep = np.array([True, self.k > 2, True])
        return DiscreteLoss._merged(losses[keep], masses[keep], 0.0, 0.0, step=self.spent_epsilon)

    def _shares(self, reports: Any) -> tuple[np.ndarray, np.ndarray]:
        """Unbiased shares of all categories, and their variance over the coins with those shares put back in."""
        reports = checks.categories("reports", reports, self.k)
        if reports.size == 0:
            raise ValueError(f"reports must not be empty, got {reports!r}")
        gain = self.truth * -math.expm1(-self.spent_epsilon)  # truth - other, without cancellation
        shares = (np.bincount(reports.ravel(), minlength=self.k) / reports.size - self.other) / gain
        coins = shares * self.truth * (1 - self.truth) + (1 - shares) * self.other * (1 - self.other)
        return shares, np.maximum(coins, 0.0) / (reports.size * gain**2)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(_Response):
    """Report one's bit with probability theta, its opposite otherwise; theta is public.

    ``attempt`` chooses theta(epsilon): "tight" uses all of epsilon; "first" and "quadratic" are also epsilon-DP but
    spend only ln(1 + eps) and ln(1 + eps + eps^2/2) of it, so they answer less accurately than they might.
    """

    epsilon: float
    attempt: str = "tight"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        checks.one_of("attempt", self.attempt, ATTEMPTS)

    @property
    def k(self) -> int:  # type: ignore[override]
        """Two categories: 0 and 1."""
        return 2

    @property
    def theta(self) -> float:
        """The probability of telling the truth."""
        return theta(self.epsilon, self.attempt)

    truth = theta

    @property
    def spent_epsilon(self) -> float:
        """The epsilon that is really spent, ln(theta / (1 - theta)): at most the epsilon that was allowed."""
        if self.attempt == "tight":
            return self.epsilon
        return math.log1p(self.epsilon + (self.epsilon**2 / 2 if self.attempt == "quadratic" else 0.0))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, Neighbours.REPLACE, tight=self.attempt == "tight")

    def estimate(self, reports: Any) -> Estimate:
        """The share of ones among those asked: (mean - (1 - theta)) / (2 theta - 1), unbiased; it may leave [0, 1].

        Its variance over the coins is theta (1 - theta) / (n (2 theta - 1)^2), whatever the true bits are.
        """
        shares, variances = self._shares(reports)
        return Estimate(float(shares[1]), float(variances[1]))

    def posterior(self, report: Any, prior: float) -> float:
        """Pr[the bit is 1 | report], for somebody who believed ``prior`` before: what deniability leaves."""
        prior, report = checks.probability("prior", prior), self._one("report", report)
        if prior in (0, 1):
            return prior  # whoever is certain learns nothing
        log_odds = math.log(prior) - math.log1p(-prior) + (self.spent_epsilon if report else -self.spent_epsilon)
        return 1 / (1 + math.exp(-log_odds)) if log_odds > -700 else 0.0


@dataclass(frozen=True, kw_only=True)
class KaryResponse(_Response):
    """k-ary (standard, generalised) randomized response: the truth with e^eps / (e^eps + k - 1), else any other.

    The direct extension of Warner's method to categories 0..k-1 (Kairouz, Bonawitz & Ramage 2016).
    """

    epsilon: float
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        object.__setattr__(self, "k", checks.whole_number("k", self.k, at_least=2))

    @property
    def truth(self) -> float:
        return 1 / (1 + (self.k - 1) * math.exp(-self.epsilon))

    @property
    def spent_epsilon(self) -> float:
        """All of it."""
        return self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, Neighbours.REPLACE)

    def estimate(self, reports: Any) -> Estimate:
        """The share of each category: (frequency - other) / (truth - other), unbiased; it may leave [0, 1].

        The variance (over the coins) depends on the true shares; the unbiased ones are put in their place.
        """
        return Estimate(*self._shares(reports))
