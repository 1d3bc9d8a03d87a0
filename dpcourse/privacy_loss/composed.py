"""Composition: independent losses add, so their distributions convolve. Closed forms where they exist, else FFT."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse.guarantee import Neighbours
from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails
from dpcourse.privacy_loss.closed import GaussianLoss
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.privacy_loss.either_direction import EitherDirection
from dpcourse.privacy_loss.numerics import fft
from dpcourse.privacy_loss.numerics.exact_sum import exact_sum
from dpcourse.randomness import Rng, generator

_NEGLIGIBLE = 1e-9  # a total loss below this is not worth a grid


def compose(parts: Iterable[tuple[PrivacyLoss, int]]) -> PrivacyLoss:
    """The sum of independent losses, each taken a number of times."""
    parts = list(parts)
    if not parts:
        raise ValueError("compose needs at least one (loss, times), got none")
    return _sum(parts).between(common_neighbours([loss for loss, _ in parts]))


def common_neighbours(losses: Iterable[PrivacyLoss]) -> Neighbours | None:
    """The neighbour relation of losses that may be added up; two different ones are refused."""
    kinds = list(dict.fromkeys(loss.neighbours for loss in losses if loss.neighbours is not None))
    if len(kinds) > 1:
        one, other = kinds
        raise ValueError(
            f"losses of different neighbours cannot be added: one is for {one.value!r}, another for {other.value!r}. "
            "Build both mechanisms for the same neighbours="
        )
    return kinds[0] if kinds else None


def _sum(parts: list[tuple[PrivacyLoss, int]]) -> PrivacyLoss:
    if any(isinstance(loss, EitherDirection) for loss, _ in parts):
        removed = [(loss.removed if isinstance(loss, EitherDirection) else loss, k) for loss, k in parts]
        added = [(loss.added if isinstance(loss, EitherDirection) else loss.reverse(), k) for loss, k in parts]
        return EitherDirection(removed=_sum(removed), added=_sum(added))
    counts: dict[PrivacyLoss, int] = {}
    mu_squared, constant = 0.0, ConstantLoss()
    for loss, k in parts:
        for inner, times in loss.parts if isinstance(loss, ComposedLoss) else [(loss, 1)]:
            if isinstance(inner, GaussianLoss):  # Gaussian losses are closed under addition
                mu_squared += k * times * inner.mu**2
            elif isinstance(inner, DiscreteLoss) and inner.losses.size == 1:  # ... and so are those of one value
                constant = constant.plus(inner, k * times)
            else:
                counts[inner] = counts.get(inner, 0) + k * times
    if mu_squared:
        counts[GaussianLoss(math.sqrt(mu_squared))] = 1
    if not counts:
        return constant.loss
    if constant != ConstantLoss():
        counts[constant.loss] = 1
    merged = tuple(counts.items())
    return merged[0][0] if len(merged) == 1 and merged[0][1] == 1 else ComposedLoss(merged)


@dataclass(frozen=True)
class ConstantLoss:
    """A running sum of losses that take one finite value each (and may be infinite): exact, no grid needed."""

    value: float = 0.0
    log_p: float = 0.0  # of being finite, under P
    log_q: float = 0.0  # and under Q

    def plus(self, loss: DiscreteLoss, times: int) -> ConstantLoss:
        log_p, value = math.log(loss.masses[0]), float(loss.losses[0])
        return ConstantLoss(
            self.value + times * value, self.log_p + times * log_p, self.log_q + times * min(log_p - value, 0.0)
        )

    @property
    def loss(self) -> DiscreteLoss:
        only_p, only_q = -math.expm1(self.log_p), -math.expm1(self.log_q)
        return DiscreteLoss(np.array([self.value]), np.array([math.exp(self.log_p)]), only_p, only_q)


@dataclass(frozen=True)
class ComposedLoss(PrivacyLoss):
    """The loss of several independent parts; each entry of ``parts`` is (loss, how many times)."""

    parts: tuple[tuple[PrivacyLoss, int], ...]

    @property
    def label(self) -> str:  # type: ignore[override]
        if self._exact is not None:
            return "exact"
        return "approximation" if any(loss.label == "approximation" for loss, _ in self.parts) else "upper bound"

    @cached_property
    def _exact(self) -> DiscreteLoss | None:
        discrete = [(loss, times) for loss, times in self.parts if isinstance(loss, DiscreteLoss)]
        whole = len(discrete) == len(self.parts) and all(loss.label == "exact" for loss, _ in discrete)
        return exact_sum(discrete) if whole else None

    @property
    def _rounding(self) -> float:
        """The relative error that multiplying and adding masses may have caused: a few units for every round."""
        return 2**-52 * (16 + 8 * sum(times for _, times in self.parts))

    @cached_property
    def _discrete(self) -> DiscreteLoss:
        return self._exact if self._exact is not None else fft.dominating_discrete_loss(self.parts)

    def as_discrete(self) -> DiscreteLoss:
        """A discrete loss that dominates this one (never reports less than the true delta) and lies close to it."""
        return self._discrete

    def above(self, loss: Any) -> Tails:
        """The tails of a dominating loss: P's is never below the truth by more than the grid's error."""
        return self._discrete.above(loss)

    def below(self, loss: Any) -> Tails:
        """From the reversed sum, so that it dominates in that direction too."""
        if self._exact is not None:
            return self._exact.below(loss)
        q, p = _sum([(part.reverse(), times) for part, times in self.parts]).above(-np.asarray(loss, dtype=float))
        return p, q

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        """Sums of draws of the parts, added one round at a time so that memory does not grow with the rounds."""
        rng = generator(rng)
        total: Any = np.zeros(size if size is not None else ())
        for loss, times in self.parts:
            for _ in range(times):
                total = total + loss.sample(size, rng=rng)
        return total[()]

    def _reversed(self) -> PrivacyLoss:
        return _sum([(loss.reverse(), times) for loss, times in self.parts])

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
        finite = [1 - loss.infinite_mass for loss, _ in self.parts]
        if min(finite) <= 0:
            return 1.0
        logs = (times * math.log1p(-loss.infinite_mass) for loss, times in self.parts)
        return -math.expm1(sum(logs)) + 0.0

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        if self._exact is not None:
            value, rounding = self._exact._delta(epsilon).upper, self._rounding
            return Bracket(value * (1 - rounding), min(value * (1 + rounding), 1.0))
        if epsilon >= self._max_finite_loss:  # every finite loss is covered
            return Bracket(self.infinite_mass, self.infinite_mass)
        return fft.delta(self.parts, epsilon, lower_too=lower_too and self._exact_parts)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        if self._exact is not None:
            more, less = (min(delta * (1 + sign * self._rounding), 1 - 2**-53) for sign in (1, -1))
            bounds = (self._exact._epsilon_bounds(each, lower_too=False).upper for each in (more, less))
            return Bracket(*(min(bound, max(self._max_finite_loss, 0.0)) for bound in bounds))
        largest = max(self._max_finite_loss, 0.0)  # basic composition: never more than the sum of the largest losses
        if largest < _NEGLIGIBLE:
            return Bracket(0.0, largest)
        lower, upper = fft.epsilon(self.parts, delta, lower_too=lower_too and self._exact_parts, scale=scale)
        return Bracket(min(lower, largest), min(upper, largest))

    @property
    def _exact_parts(self) -> bool:
        """Whether lower bounds mean anything: a part that only dominates another loss has none."""
        return all(loss.label == "exact" for loss, _ in self.parts)
