"""What the non-adaptive mechanisms have in common: a report supports some categories, and nothing else matters.

In all five of ``competitors``

    P(y | x) = low(y) * (e^eps if y supports x else 1),

which is why each is exactly eps-LDP, why the same two numbers (how often a report supports one's own category, how
often another one) give the unbiased estimate, and why the likelihood row of a report is 1 + (e^eps - 1) support.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.estimates import grouped, maximum_likelihood
from dpcourse.randomness import Rng, generator

LARGEST = 30.0  # epsilon: e^30 still has a place in the whole numbers that floats hold exactly


@dataclass(frozen=True, kw_only=True)
class Oracle(ABC):
    """A way to learn the shares of the categories 0..k-1 from eps-LDP reports."""

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", checks.whole_number("k", self.k, at_least=2))
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        if self.epsilon > LARGEST:
            raise ValueError(f"epsilon must be at most {LARGEST:g} (beyond, nothing is hidden), got {self.epsilon!r}")

    @property
    @abstractmethod
    def own(self) -> float:
        """Pr(y supports x | x)."""

    @property
    @abstractmethod
    def other(self) -> float:
        """Pr(y supports x' | x) for x' != x."""

    @abstractmethod
    def _report(self, people: np.ndarray, rng: np.random.Generator) -> np.ndarray: ...

    @abstractmethod
    def support(self, reports: Any) -> np.ndarray:
        """Which categories each report supports: truth values (n, k)."""

    @abstractmethod
    def _check(self, reports: np.ndarray, raw: Any) -> None:
        """Refuse reports that this mechanism never makes."""

    @abstractmethod
    def _log_low(self, reports: np.ndarray) -> Any:
        """Log probability of each report from somebody whom it does not support."""

    def release(self, data: Any, rng: Rng = None) -> np.ndarray:
        """A report of each person in ``data`` (categories 0..k-1)."""
        people = checks.integer_array("data", data).ravel()
        if people.size and (people.min() < 0 or people.max() >= self.k):
            raise ValueError(f"data must be some of the categories 0..{self.k - 1}, got {data!r}")
        return self._report(people, generator(rng))

    def log_prob(self, reports: Any) -> np.ndarray:
        """ln P(y | x) for each report and every x: (n, k)."""
        low = np.asarray(self._log_low(np.asarray(reports)))
        return low[..., None] + self.epsilon * self.support(reports)

    def estimate(self, reports: Any) -> np.ndarray:
        """The unbiased shares (share of reports that support it - other) / (own - other); may leave [0, 1]."""
        return (self._supported(reports).mean(axis=0) - self.other) / (self.own - self.other)

    def rows(self, reports: Any) -> np.ndarray:
        """The likelihood rows of reports, up to a factor: 1, or e^eps where x is supported."""
        return np.where(self._supported(reports), math.exp(self.epsilon), 1.0)

    def maximum_likelihood(self, reports: Any) -> np.ndarray:
        """The most likely shares, by EM over the different reports."""
        supported = self._supported(reports)
        if self.k > 62:
            return maximum_likelihood(*grouped(self.rows(reports)))
        # The set of supported categories as one number: far quicker to sort than rows.
        numbers = supported @ (1 << np.arange(self.k, dtype=np.int64))
        _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        return maximum_likelihood(np.where(supported[first], math.exp(self.epsilon), 1.0), counts)

    def _supported(self, reports: Any) -> np.ndarray:
        self._check(np.asarray(reports), reports)
        supported = self.support(reports)
        if len(supported) == 0:
            raise ValueError(f"reports must not be empty, got {reports!r}")
        return supported
