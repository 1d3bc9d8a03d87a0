"""Poisson sampling: each person takes part with probability q, and the observer does not know who did.

With P (the person is in the sample) and Q (is not), a mechanism run on the sample draws from (1 - q) Q + q P if the
person is in the dataset and from Q if not. The two orders of that pair are the two directions (Zhu, Dong & Wang 2022,
Theorem 11). An output of base loss L has in the sampled world the loss ln(1 - q + q e^L), which is increasing in L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails, invert_delta
from dpcourse.privacy_loss.composed import ComposedLoss
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.privacy_loss.either_direction import EitherDirection
from dpcourse.randomness import Rng, generator


def subsample(base: PrivacyLoss, q: float) -> PrivacyLoss:
    """Both directions of the sampled pair; an asymmetric ``base`` brings its own two directions along."""
    if q == 1:
        return base
    if isinstance(base, EitherDirection):  # its two directions need not be each other's reverse
        return EitherDirection(removed=_mixture(base.removed, q), added=_mixture(base.added.reverse(), q).reverse())
    mixture = _mixture(base, q)
    return EitherDirection(removed=mixture, added=mixture.reverse())


def _mixture(base: PrivacyLoss, q: float) -> PrivacyLoss:
    """The pair ((1 - q) Q + q P, Q)."""
    if isinstance(base, DiscreteLoss):
        losses = mixed_loss(base.losses, q)
        masses = (1 - q) * base._q_masses + q * base.masses
        # Where only Q had mass the mixture has (1 - q) of it: no longer an impossible output.
        if base.only_q > 0:
            losses, masses = np.append(losses, math.log1p(-q)), np.append(masses, (1 - q) * base.only_q)
        return DiscreteLoss._merged(losses, masses, q * base.only_p, 0.0, label=base.label)
    return SubsampledLoss(base, q)


@dataclass(frozen=True)
class SubsampledLoss(PrivacyLoss):
    """(1 - q) Q + q P against Q, where (P, Q) is the pair of ``base``; reversed, Q against the mixture."""

    base: PrivacyLoss
    q: float
    reversed: bool = False

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.base.label

    def _base_loss(self, loss: np.ndarray) -> np.ndarray:
        """The base loss that becomes ``loss`` in the mixture; -inf below ln(1 - q), the smallest it can be."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.where(loss < 500, np.log1p(np.expm1(np.minimum(loss, 500)) / self.q), loss - math.log(self.q))
            # Near ln(1 - q), its end, 1 + expm1/q would cancel; e^loss - (1 - q) cancels less.
            inner = np.where(loss < -0.3, np.log((np.exp(loss) - (1 - self.q)) / self.q), inner)
        return np.where(loss > math.log1p(-self.q), inner, -np.inf)

    def _mixture_above(self, loss: np.ndarray) -> Tails:
        p, q = self.base.above(self._base_loss(loss))
        everything = loss < math.log1p(-self.q)
        p, q = np.where(everything, 1.0, p), np.where(everything, 1.0, q)
        return (1 - self.q) * q + self.q * p, q

    def _mixture_below(self, loss: np.ndarray) -> Tails:
        p, q = self.base.below(self._base_loss(loss))
        nothing = loss <= math.log1p(-self.q)
        p, q = np.where(nothing, 0.0, p), np.where(nothing, 0.0, q)
        return (1 - self.q) * q + self.q * p, q

    def above(self, loss: Any) -> Tails:
        loss = np.asarray(loss, dtype=float)
        if not self.reversed:
            return self._mixture_above(loss)
        mixture, q = self._mixture_below(-loss)
        return q, mixture

    def below(self, loss: Any) -> Tails:
        loss = np.asarray(loss, dtype=float)
        if not self.reversed:
            return self._mixture_below(loss)
        mixture, q = self._mixture_above(-loss)
        return q, mixture

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        rng = generator(rng)
        without = -np.asarray(self.base.reverse().sample(size, rng=rng))  # the base loss of outputs drawn from Q
        if self.reversed:
            return -mixed_loss(without, self.q)
        with_person = np.asarray(self.base.sample(size, rng=rng))
        taking_part = rng.random(size) < self.q
        return mixed_loss(np.where(taking_part, with_person, without), self.q)

    def reverse(self) -> SubsampledLoss:
        return SubsampledLoss(self.base, self.q, not self.reversed)

    @cached_property
    def mean(self) -> float:
        """KL by quadrature: E[L] is the area above the cdf right of 0 minus the area below it left of 0."""
        from scipy.integrate import quad

        if self.infinite_mass > 0:
            return math.inf
        if isinstance(self.base, ComposedLoss):  # no closed tails: sum over the base's own grid
            grid = self.base.as_discrete()
            weights = grid._q_masses if self.reversed else (1 - self.q) * grid._q_masses + self.q * grid.masses
            return float(np.sum(weights * mixed_loss(grid.losses, self.q)) * (-1 if self.reversed else 1))

        def area(tail: Any, sign: float) -> float:
            # Tails fall over many orders of magnitude: integrate between the points where they do.
            edges = np.concatenate(([0.0], np.geomspace(1e-9, 1e6, 90)))
            return sum(
                quad(lambda x: float(tail(sign * x)[0]), a, b, epsabs=1e-14, epsrel=1e-9, limit=100)[0]
                for a, b in pairwise(edges)
                if tail(sign * a)[0] > 1e-17
            )

        return max(area(self.above, 1.0) - area(self.below, -1.0), 0.0)

    @property
    def max_loss(self) -> float:
        if self.reversed:
            # The best case of the mixture, ln(1 - q + q e^l) at the smallest base loss l = -(max of the reverse).
            return -math.log1p(self.q * math.expm1(-self.base.reverse().max_loss))
        return float(mixed_loss(np.float64(self.base.max_loss), self.q))

    @property
    def infinite_mass(self) -> float:
        """A leak of the base shows only if the person is in the sample; the mixture itself can produce all of Q."""
        return 0.0 if self.reversed else self.q * self.base.infinite_mass

    @property
    def _max_finite_loss(self) -> float:
        return self.max_loss if self.reversed else float(mixed_loss(np.float64(self.base._max_finite_loss), self.q))

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        """By the base pair's own exact delta.

        (1 - q) Q + q P - e^eps Q = q (P - e^g Q) with g the base loss that becomes eps, and the other way round
        Q - e^eps ((1 - q) Q + q P) = q e^(eps + t) (Q - e^-t P) with t the base loss that becomes -eps.
        """
        g = float(self._base_loss(np.asarray(-epsilon if self.reversed else epsilon)))
        if not self.reversed:
            inner, factor = self.base._delta(g, lower_too=lower_too), self.q
        elif g == -math.inf:  # no output can be that much likelier without the person
            return Bracket(0.0, 0.0)
        else:
            inner, factor = self.base.reverse()._delta(-g, lower_too=lower_too), self.q * math.exp(epsilon + g)
        return Bracket(factor * inner.lower, factor * inner.upper)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        upper = invert_delta(lambda epsilon: self._delta(epsilon, lower_too=False).upper, delta)
        if self.label == "exact" or not lower_too:
            return Bracket(upper if self.label == "exact" else 0.0, upper)
        return Bracket(invert_delta(lambda epsilon: self._delta(epsilon).lower, delta), upper)


def mixed_loss(loss: Any, q: float) -> Any:
    """ln(1 - q + q e^loss): what a base loss becomes in the mixture, also where e^loss overflows."""
    middle = np.log1p(q * np.expm1(np.clip(loss, -0.5, 500)))
    low = np.log((1 - q) + q * np.exp(np.minimum(loss, 0.0)))  # does not cancel where the sum is small
    return np.where(loss < -0.3, low, np.where(loss < 500, middle, loss + math.log(q)))[()]
