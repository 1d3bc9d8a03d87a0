"""The Gaussian mechanism: noise for many coordinates, at the price of a delta."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.additive import AdditiveNoise
from dpcourse.privacy_loss import GaussianLoss, PrivacyLoss
from dpcourse.privacy_loss.closed import gaussian_delta, gaussian_mu
from dpcourse.randomness import Rng, generator
from dpcourse.solve import root


@dataclass(frozen=True, kw_only=True)
class Gaussian(AdditiveNoise):
    """Add independent N(0, sigma^2) noise to every coordinate; ``sensitivity`` is the global *l2* sensitivity.

    Three ways to get one: ``Gaussian(sigma=..., sensitivity=...)`` from a given sigma; ``Gaussian.analytic(epsilon=...,
    delta=...)``, the smallest sigma there is (Balle & Wang 2018); ``Gaussian.classical(...)``, the textbook formula.

    A Gaussian has no single epsilon but a whole curve, ``plrv().delta(eps)``; ``guarantee`` is its point at ``delta``.
    """

    sigma: float
    sensitivity: float
    delta: float = 1e-5
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    # Set by the calibrating constructors only: whoever changes sigma gets the exact epsilon, not an old claim.
    _claimed_epsilon: float | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", checks.positive("sigma", self.sigma))
        object.__setattr__(self, "sensitivity", checks.positive("sensitivity", self.sensitivity))
        object.__setattr__(self, "delta", checks.small_delta("delta", self.delta, zero=False))
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours, "neighbours"))

    @classmethod
    def analytic(
        cls,
        *,
        epsilon: float,
        delta: float,
        sensitivity: float = 1.0,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Gaussian:
        """The smallest sigma that is (epsilon, delta)-DP, for every epsilon > 0 (Balle & Wang 2018, Algorithm 1)."""
        epsilon, delta = checks.positive("epsilon", epsilon), checks.small_delta("delta", delta, zero=False)
        sigma = checks.positive("sensitivity", sensitivity) / gaussian_mu(epsilon, delta)
        return cls(sigma=sigma, sensitivity=sensitivity, delta=delta, neighbours=neighbours)._claiming(epsilon)

    @classmethod
    def classical(
        cls,
        *,
        epsilon: float,
        delta: float,
        sensitivity: float = 1.0,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Gaussian:
        """sigma = sensitivity sqrt(2 ln(1.25/delta)) / epsilon (Dwork & Roth 2014, Theorem A.1); epsilon < 1 only."""
        epsilon, delta = checks.positive("epsilon", epsilon), checks.small_delta("delta", delta, zero=False)
        if epsilon >= 1:
            raise ValueError(
                f"epsilon must be in (0, 1) for the classical Gaussian, got {epsilon!r}: its proof needs epsilon < 1, "
                "and for large epsilon the formula really gives too little noise. Use Gaussian.analytic(epsilon=..., "
                "delta=...), which is exact for every epsilon and needs less noise below 1 as well"
            )
        sigma = checks.positive("sensitivity", sensitivity) * classical_sigma(epsilon, delta)
        return cls(sigma=sigma, sensitivity=sensitivity, delta=delta, neighbours=neighbours)._claiming(epsilon)

    def _claiming(self, epsilon: float) -> Gaussian:
        object.__setattr__(self, "_claimed_epsilon", epsilon)
        return self

    @property
    def guarantee(self) -> Guarantee:
        exact = self.plrv().epsilon(self.delta)
        if self._claimed_epsilon is None:
            return Guarantee(exact, self.delta, self.neighbours)
        tight = math.isclose(exact, self._claimed_epsilon, rel_tol=1e-9)
        return Guarantee(self._claimed_epsilon, self.delta, self.neighbours, tight=tight)

    def _noise(self, shape: tuple[int, ...], rng: Rng) -> np.ndarray:
        return generator(rng).normal(0.0, self.sigma, shape or None)

    def _log_density(self, noise: np.ndarray) -> np.ndarray:
        return -((noise / self.sigma) ** 2) / 2 - math.log(self.sigma * math.sqrt(2 * math.pi))

    def privacy_loss(self, output: Any, data: Any, neighbour: Any) -> Any:
        """(data - neighbour)(output - (data + neighbour)/2) / sigma^2, summed over coordinates: nothing cancels."""
        output, data = checks.finite_array("output", output), checks.finite_array("data", data)
        neighbour = checks.same_shape("neighbour", neighbour, data)
        each = (data - neighbour) / self.sigma * ((output - (data + neighbour) / 2) / self.sigma)
        return self._over_coordinates(each, data)

    def _loss_of_shift(self, distances: np.ndarray) -> PrivacyLoss:
        return GaussianLoss(float(np.linalg.norm(distances)) / self.sigma)


def classical_sigma(epsilon: float, delta: float) -> float:
    """The classical formula for sensitivity 1, *without* its condition epsilon < 1, to study where it fails."""
    epsilon, delta = checks.positive("epsilon", epsilon), checks.small_delta("delta", delta, zero=False)
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def classical_limit(delta: float) -> float:
    """The epsilon from which on the classical formula gives too little noise: 8.42 for delta = 1e-5.

    There its sigma is the smallest one that is (epsilon, delta)-DP; below, it is larger. (That the formula cannot hold
    for large epsilon is shown by Balle & Wang 2018.)
    """
    delta = checks.small_delta("delta", delta, zero=False)

    def excess(log_epsilon: float) -> float:
        epsilon = math.exp(log_epsilon)
        return math.log(gaussian_delta(epsilon, 1 / classical_sigma(epsilon, delta)) / delta)

    return math.exp(root(excess, math.log(1.0), math.log(100.0), tolerance=1e-12))
