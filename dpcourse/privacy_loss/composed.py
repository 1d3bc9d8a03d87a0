"""Composition: independent losses add, so their distributions convolve. Closed forms where they exist, else FFT."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.privacy_loss import fourier
from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails
from dpcourse.privacy_loss.closed import GaussianLoss
from dpcourse.privacy_loss.direction import EitherDirection
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.randomness import Rng, generator


def compose(parts: Iterable[tuple[PrivacyLoss, int]]) -> PrivacyLoss:
    """The sum of independent losses, each taken a number of times."""
    parts = list(parts)
    if any(isinstance(loss, EitherDirection) for loss, _ in parts):
        removed = [(loss.removed if isinstance(loss, EitherDirection) else loss, k) for loss, k in parts]
        added = [(loss.added if isinstance(loss, EitherDirection) else loss.reverse(), k) for loss, k in parts]
        return EitherDirection(removed=compose(removed), added=compose(added))
    counts: dict[PrivacyLoss, int] = {}
    mu_squared = 0.0
    for loss, k in parts:
        for inner, times in loss.parts if isinstance(loss, ComposedLoss) else [(loss, 1)]:
            if isinstance(inner, GaussianLoss):  # Gaussian losses are closed under addition
                mu_squared += k * times * inner.mu**2
            else:
                counts[inner] = counts.get(inner, 0) + k * times
    merged = tuple(counts.items())
    if mu_squared:
        gaussian = GaussianLoss(math.sqrt(mu_squared))
        merged = ((gaussian, 1), *merged)
    if len(merged) == 1 and merged[0][1] == 1:
        return merged[0][0]
    return ComposedLoss(merged)


@dataclass(frozen=True)
class ComposedLoss(PrivacyLoss):
    """The loss of several independent parts; each entry of ``parts`` is (loss, how many times)."""

    parts: tuple[tuple[PrivacyLoss, int], ...]

    @property
    def label(self) -> str:  # type: ignore[override]
        return "approximation" if any(loss.label == "approximation" for loss, _ in self.parts) else "upper bound"

    @cached_property
    def _discrete(self) -> DiscreteLoss:
        return fourier.dominating_discrete_loss(self.parts)

    def as_discrete(self) -> DiscreteLoss:
        """A discrete loss that dominates this one (never reports less than the true delta) and lies close to it."""
        return self._discrete

    def above(self, loss: Any) -> Tails:
        return self._discrete.above(loss)

    def below(self, loss: Any) -> Tails:
        return self._discrete.below(loss)

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        """Sums of draws of the parts, added one round at a time so that memory does not grow with the rounds."""
        rng = generator(rng)
        total: Any = np.zeros(size if size is not None else ())
        for loss, times in self.parts:
            for _ in range(times):
                total = total + loss.sample(size, rng=rng)
        return total[()]

    def reverse(self) -> PrivacyLoss:
        return compose((loss.reverse(), times) for loss, times in self.parts)

    @property
    def mean(self) -> float:
        return sum(times * loss.mean for loss, times in self.parts)

    @property
    def max_loss(self) -> float:
        return sum(times * loss.max_loss for loss, times in self.parts)

    @property
    def _max_finite_loss(self) -> float:
        return sum(times * loss._max_finite_loss for loss, times in self.parts)

    @property
    def infinite_mass(self) -> float:
        return -math.expm1(sum(times * math.log1p(-loss.infinite_mass) for loss, times in self.parts))

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        return fourier.delta(self.parts, epsilon, lower_too=lower_too)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        return fourier.epsilon(self.parts, delta, lower_too=lower_too, scale=scale)
