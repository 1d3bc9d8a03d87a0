"""The Laplace mechanism (Dwork, McSherry, Nissim & Smith 2006): counts, sums, vectors; and one person's own value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism, release_shape
from dpcourse.mechanisms.estimate import Estimate
from dpcourse.privacy_loss import DiscreteLoss, LaplaceLoss, PrivacyLoss, compose
from dpcourse.randomness import Rng, generator


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """Add independent Lap(b) noise with b = sensitivity/epsilon to every coordinate of the true answer.

    Pure epsilon-DP if ``sensitivity`` is the *global l1* sensitivity: the largest ||f(D) - f(D')||_1 over all
    neighbours that the domain allows, whatever this dataset looks like (Dwork & Roth 2014, Theorem 3.6).

    The noise is drawn in floating point, as in every textbook. On a real computer its low-order bits can betray the
    true answer (Mironov 2012): for anything but teaching, count with :class:`DiscreteLaplace`.
    """

    epsilon: float
    sensitivity: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", checks.positive("sensitivity", self.sensitivity))
        checks.positive("scale (sensitivity / epsilon)", self.sensitivity / self.epsilon)
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours, "neighbours"))

    @property
    def scale(self) -> float:
        """b = sensitivity / epsilon; the noise has mean absolute value b and variance 2 b^2."""
        return self.sensitivity / self.epsilon

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, self.neighbours)

    def margin(self, probability: float = 0.95) -> float:
        """With probability p one coordinate's noise stays within +- b ln(1/(1 - p)) (Dwork & Roth 2014, Fact 3.7)."""
        if checks.probability("probability", probability) == 1:
            raise ValueError(
                f"probability must be below 1, because the noise has no largest value, got {probability!r}"
            )
        return -self.scale * math.log1p(-probability)

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        data = checks.finite_array("data", data)
        noisy = generator(rng).laplace(0.0, self.scale, release_shape(data, size) or None)
        if not np.ndim(noisy):
            return float(data + noisy)
        noisy += data
        return noisy

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log density of each output; a vector-valued answer counts as one output, its last axis summed."""
        data = checks.finite_array("data", data)
        each = -np.abs(np.asarray(output, dtype=float) - data) / self.scale - math.log(2 * self.scale)
        return each.sum(axis=-1) if data.ndim else each[()]

    def privacy_loss(self, output: Any, data: Any, neighbour: Any) -> Any:
        """(|output - neighbour| - |output - data|) / b, summed over coordinates.

        Written as 2 output - data - neighbour, clipped to +-|data - neighbour|: the same, but an output far away does
        not cancel the difference.
        """
        output, data = checks.finite_array("output", output), checks.finite_array("data", data)
        neighbour = checks.same_shape("neighbour", neighbour, data)
        distance = np.abs(data - neighbour)
        each = np.clip(2 * output - data - neighbour, -distance, distance) * np.sign(data - neighbour) / self.scale
        return each.sum(axis=-1) if data.ndim else each[()]

    def worst_case(self) -> tuple[float, float]:
        """One person moves the answer by the whole sensitivity."""
        return self.sensitivity, 0.0

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        data = checks.finite_array("data", data)
        distance = np.abs(data - checks.same_shape("neighbour", neighbour, data))
        moved = distance[distance > 0] / self.scale
        if not moved.size:
            return DiscreteLoss.from_atoms([0.0], [1.0])
        return compose([(LaplaceLoss(float(shift)), 1) for shift in moved])  # coordinates are independent


@dataclass(frozen=True, kw_only=True)
class LocalLaplace(Mechanism):
    """Each person adds Laplace noise to their own value in [low, high] before telling anybody.

    Neighbours are any two values one person might have (REPLACE), so the sensitivity is the whole range high - low.
    Values outside the public range are clipped to it, or the noise would not hide them.
    """

    epsilon: float
    low: float
    high: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        low, high = checks.interval(self.low, self.high)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        checks.positive("scale ((high - low) / epsilon)", (high - low) / self.epsilon)

    @property
    def _noise(self) -> Laplace:
        return Laplace(epsilon=self.epsilon, sensitivity=self.high - self.low, neighbours=Neighbours.REPLACE)

    @property
    def scale(self) -> float:
        """b = (high - low) / epsilon."""
        return self._noise.scale

    @property
    def guarantee(self) -> Guarantee:
        return self._noise.guarantee

    def _clip(self, name: str, value: Any) -> np.ndarray:
        return np.clip(checks.finite_array(name, value), self.low, self.high)

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """Noisy reports, one for each value in ``data`` (each is a person of their own)."""
        return self._noise.release(self._clip("data", data), size=size, rng=rng)

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log density of each person's report."""
        distance = np.abs(np.asarray(output, dtype=float) - self._clip("data", data))
        return (-distance / self.scale - math.log(2 * self.scale))[()]

    def worst_case(self) -> tuple[float, float]:
        return self.high, self.low

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        one, other = self._clip("data", data), self._clip("neighbour", neighbour)
        if one.ndim or other.ndim:
            raise ValueError(f"data and neighbour must be one person's value each, got {data!r} and {neighbour!r}")
        return self._noise._plrv_of(one, other)

    def estimate(self, reports: Any) -> Estimate:
        """The population's mean: the reports' average, unbiased; its variance is that of the noise, 2 b^2 / n.

        The variance is over the mechanism's coins, for the people who were asked.
        """
        reports = checks.finite_array("reports", reports)
        if reports.size == 0:
            raise ValueError(f"reports must not be empty, got {reports!r}")
        return Estimate(float(reports.mean()), 2 * self.scale**2 / reports.size)
