"""Counting on a real computer: the discrete Laplace mechanism, sampled exactly and from cryptographic randomness."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism, release_shape
from dpcourse.mechanisms.exact_sampling import sample_two_sided_geometric
from dpcourse.privacy_loss import DiscreteLoss, PrivacyLoss, compose
from dpcourse.randomness import ByteSource, Rng, SystemRandomness, generator


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(Mechanism):
    """Add integer noise with Pr[k] proportional to exp(-epsilon |k| / sensitivity) to an integer answer.

    The two-sided geometric distribution (Ghosh, Roughgarden & Sundararajan 2009): pure epsilon-DP for integer answers
    of *l1* sensitivity ``sensitivity``, like the Laplace mechanism, but every output is a whole number that both worlds
    can produce, so there are no low-order bits to betray the secret (Mironov 2012). Probabilities are compared exactly,
    bit by bit; no floating-point number is drawn.

    Without an ``rng`` the bits come from a cryptographic generator. A numpy Generator or a seed
    gives reproducible lectures instead.
    """

    epsilon: float
    sensitivity: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", checks.whole_number("sensitivity", self.sensitivity))
        if not 1e-9 <= self.rate <= 500:
            raise ValueError(
                f"epsilon / sensitivity must lie in [1e-9, 500], got {self.epsilon!r} / {self.sensitivity!r}"
            )
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours, "neighbours"))

    @property
    def rate(self) -> float:
        """epsilon / sensitivity: each step away from the truth is e^rate times less likely."""
        return self.epsilon / self.sensitivity

    @property
    def variance(self) -> float:
        """2 e^-rate / (1 - e^-rate)^2, a little below the 2/rate^2 of the continuous Laplace."""
        return 0.5 / math.sinh(self.rate / 2) ** 2

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, self.neighbours)

    def release(self, data: Any, *, size: int | None = None, rng: Rng | ByteSource = None) -> Any:
        """Whole numbers; ``rng`` may also be any object with ``bytes(n)``, such as SystemRandomness()."""
        data = checks.integer_array("data", data)
        if rng is None:
            rng = SystemRandomness()
        source: ByteSource = rng if hasattr(rng, "bytes") else generator(rng)
        shape = release_shape(data, size)
        noise = sample_two_sided_geometric(self.rate, math.prod(shape), source).reshape(shape)
        noise += data
        return noise if noise.ndim else int(noise)

    @cached_property
    def _log_top(self) -> float:
        """ln Pr[noise = 0] = ln tanh(rate / 2), without cancellation for small and for large rates."""
        return math.log(-math.expm1(-self.rate)) - math.log1p(math.exp(-self.rate))

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log probability of each output; a vector-valued answer counts as one output, its last axis summed."""
        data = checks.integer_array("data", data)
        each = self._log_top - self.rate * np.abs(checks.integer_array("output", output) - data)
        return each.sum(axis=-1) if data.ndim else each[()]

    def worst_case(self) -> tuple[int, int]:
        return self.sensitivity, 0

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        data = checks.integer_array("data", data)
        checks.same_shape("neighbour", neighbour, data)
        distance = np.abs(data - checks.integer_array("neighbour", neighbour))
        moved = distance[distance > 0]
        if not moved.size:
            return DiscreteLoss.from_atoms([0.0], [1.0])
        return compose([(self._loss_of_shift(int(shift)), 1) for shift in moved])

    def _loss_of_shift(self, shift: int) -> DiscreteLoss:
        """shift + 1 atoms, from -rate * shift to rate * shift in steps of 2 rate; the end ones carry the tails."""
        if shift > 10_000_000:
            raise ValueError(f"the loss of a shift of {shift!r} has as many atoms; at most 10,000,000 are supported")
        outputs = np.arange(shift + 1)  # the noise that takes the truth towards the neighbour's answer
        masses = np.exp(self._log_top - self.rate * outputs)
        tail = 1 / -math.expm1(-self.rate)  # 1 + e^-rate + e^-2rate + ...: everything beyond an end
        masses[0] *= tail
        masses[-1] *= tail
        losses = self.rate * (shift - 2 * outputs)
        return DiscreteLoss.from_atoms(losses, masses, step=self.rate if shift % 2 else 2 * self.rate)
