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

from dpcourse.privacy_loss.base import PrivacyLoss, Tails, both_ways
from dpcourse.privacy_loss.direction import EitherDirection
from dpcourse.privacy_loss.discrete import DiscreteLoss
from dpcourse.randomness import Rng, generator


def subsample(base: PrivacyLoss, q: float) -> PrivacyLoss:
    """Both directions of the sampled pair; an asymmetric ``base`` brings its own two directions along."""
    if q == 1:
        return base
    if isinstance(base, EitherDirection):
        # ``removed`` is (with, without): the order that the mixture needs. ``added`` is the same pair reversed only
        # if base came from one pair; otherwise both orders are sampled and the worst of all four counts.
        return EitherDirection(removed=_mixture(base.removed, q), added=_mixture(base.added.reverse(), q).reverse())
    mixture = _mixture(base, q)
    return EitherDirection(removed=mixture, added=mixture.reverse())


def _mixture(base: PrivacyLoss, q: float) -> PrivacyLoss:
    """The pair ((1 - q) Q + q P, Q)."""
    base = base.as_discrete() if hasattr(base, "as_discrete") else base
    if isinstance(base, DiscreteLoss):
        losses = np.log1p(q * np.expm1(base.losses))
        masses = (1 - q) * base._q_masses + q * base.masses
        # Where only Q had mass the mixture has (1 - q) of it: no longer an impossible output.
        if base.only_q > 0:
            losses, masses = np.append(losses, math.log1p(-q)), np.append(masses, (1 - q) * base.only_q)
        return DiscreteLoss.from_atoms(losses, masses, only_p=q * base.only_p)
    return SubsampledLoss(base, q)


@dataclass(frozen=True)
class SubsampledLoss(PrivacyLoss):
    """(1 - q) Q + q P against Q, where (P, Q) is the pair of ``base``; reversed, Q against the mixture."""

    base: PrivacyLoss
    q: float
    reversed: bool = False

    def _base_loss(self, loss: np.ndarray) -> np.ndarray:
        """The base loss that becomes ``loss`` in the mixture; -inf below ln(1 - q), the smallest it can be."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.log1p(np.expm1(loss) / self.q)
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
            return -np.log1p(self.q * np.expm1(without))
        with_person = np.asarray(self.base.sample(size, rng=rng))
        taking_part = rng.random(size) < self.q
        return np.log1p(self.q * np.expm1(np.where(taking_part, with_person, without)))[()]

    def reverse(self) -> SubsampledLoss:
        return SubsampledLoss(self.base, self.q, not self.reversed)

    @cached_property
    def mean(self) -> float:
        """KL by quadrature: E[L] is the area above the cdf right of 0 minus the area below it left of 0."""
        from scipy.integrate import quad

        def area(tail: Any, sign: float) -> float:
            # Tails fall over many orders of magnitude: integrate between the points where they do.
            edges = np.concatenate(([0.0], np.geomspace(1e-9, 50.0, 60)))
            return sum(
                quad(lambda x: float(tail(sign * x)[0]), a, b, epsabs=1e-14, epsrel=1e-9, limit=100)[0]
                for a, b in pairwise(edges)
                if tail(sign * a)[0] > 1e-17
            )

        return area(self.above, 1.0) - area(self.below, -1.0)

    @property
    def max_loss(self) -> float:
        if self.reversed:
            # The best case of the mixture, ln(1 - q + q e^l) at the smallest base loss l = -(max of the reverse).
            return -math.log1p(self.q * math.expm1(-self.base.reverse().max_loss))
        largest = self.base.max_loss
        return math.log1p(self.q * math.expm1(largest)) if largest < 700 else largest + math.log(self.q)


__all__ = ["SubsampledLoss", "both_ways", "subsample"]
