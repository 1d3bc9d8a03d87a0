"""Closed forms: the privacy loss of Gaussian and of Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails
from dpcourse.randomness import Rng, generator

_SQRT2 = math.sqrt(2.0)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class GaussianLoss(PrivacyLoss):
    """N(0, 1) against N(mu, 1), with mu = (l2 distance of the true answers) / sigma.

    L ~ N(mu^2/2, mu^2), and delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) (Balle & Wang 2018, eq. 6).
    Independent Gaussian losses add up to one: mu = sqrt(mu_1^2 + mu_2^2 + ...).
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", checks.positive("mu", self.mu))

    def above(self, loss: Any) -> Tails:
        from scipy.special import ndtr

        z = np.asarray(loss, dtype=float) / self.mu
        return ndtr(self.mu / 2 - z), ndtr(-self.mu / 2 - z)

    def below(self, loss: Any) -> Tails:
        from scipy.special import ndtr

        z = np.asarray(loss, dtype=float) / self.mu
        return ndtr(z - self.mu / 2), ndtr(z + self.mu / 2)

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        return self.mu * (self.mu / 2 + generator(rng).standard_normal(size))

    def reverse(self) -> GaussianLoss:
        return self  # both distributions look the same from the other side

    @property
    def mean(self) -> float:
        return self.mu**2 / 2

    @property
    def max_loss(self) -> float:
        return math.inf

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        value = gaussian_delta(epsilon, self.mu)
        return Bracket(value, value)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """The exact delta of a Gaussian pair, to full relative precision even where it is 1e-300.

    The textbook difference of two Phi cancels. With R(x) = Phi(-x)/phi(x) (Mills' ratio) and x = eps/mu - mu/2 it is
    phi(x) (R(x) - R(x + mu)); for small mu the difference is integrated, since -R' = 1 - x R(x) does not cancel.
    """
    from scipy.special import erfcx, log_ndtr, ndtr

    x = epsilon / mu - mu / 2
    if x < -4:  # delta is close to 1 and nothing cancels
        return float(max(ndtr(-x) - math.exp(epsilon + log_ndtr(-x - mu)), 0.0))
    root = math.sqrt(math.pi / 2)
    if mu > 0.5:
        difference = root * (erfcx(x / _SQRT2) - erfcx((x + mu) / _SQRT2))
    else:
        t = x + mu * (1 + _NODES) / 2
        # 1 - t R(t) itself cancels for large t, where its asymptotic series takes over.
        with np.errstate(over="ignore"):
            direct = 1 - t * root * erfcx(t / _SQRT2)
            series = (1 - (3 - (15 - (105 - (945 - 10395 / t**2) / t**2) / t**2) / t**2) / t**2) / t**2
        difference = float(mu / 2 * np.sum(_WEIGHTS * np.where(t > 60, series, direct)))
    return float(max(math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * difference, 0.0))


@dataclass(frozen=True)
class LaplaceLoss(PrivacyLoss):
    """Lap(0, 1) against Lap(shift, 1), with shift = (distance of the true answers) / b.

    L = |t - shift| - |t| lies in [-shift, shift], with atoms at both ends: P[L = shift] = 1/2, P[L = -shift] =
    e^(-shift)/2; delta(eps) = 1 - e^((eps - shift)/2).
    """

    shift: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shift", checks.positive("shift", self.shift))

    def above(self, loss: Any) -> Tails:
        loss = np.asarray(loss, dtype=float)
        inside = np.clip(loss, -self.shift, self.shift)
        p = -0.5 * np.expm1(-(self.shift - inside) / 2) + 0.5
        q = 0.5 * np.exp(-(self.shift + inside) / 2)
        return _beyond(loss, p, self.shift), _beyond(loss, q, self.shift)

    def below(self, loss: Any) -> Tails:
        q, p = self.above(-np.asarray(loss, dtype=float))
        return p, q

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        t = generator(rng).laplace(size=size)
        return np.clip(self.shift - 2 * t, -self.shift, self.shift)

    def reverse(self) -> LaplaceLoss:
        return self

    @property
    def mean(self) -> float:
        # KL = shift - 1 + e^-shift, written so that it does not cancel for small shifts.
        return self.shift + math.expm1(-self.shift) if self.shift > 1e-2 else _small_laplace_mean(self.shift)

    @property
    def max_loss(self) -> float:
        return self.shift

    @property
    def natural_step(self) -> float:
        return self.shift

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        value = -math.expm1((epsilon - self.shift) / 2) if epsilon < self.shift else 0.0
        return Bracket(value, value)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        value = max(self.shift + 2 * math.log1p(-delta), 0.0)
        return Bracket(value, value)


def _beyond(loss: np.ndarray, tail: np.ndarray, end: float) -> np.ndarray:
    """Outside the support a tail is 1 on the left and 0 on the right (the atom at the right end is not above it)."""
    return np.where(loss < -end, 1.0, np.where(loss >= end, 0.0, tail))


def _small_laplace_mean(shift: float) -> float:
    return shift**2 / 2 * (1 - shift / 3 * (1 - shift / 4 * (1 - shift / 5 * (1 - shift / 6))))


def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu = sensitivity/sigma for which a Gaussian is (epsilon, delta)-DP: the analytic calibration."""
    from scipy.optimize import brentq

    target = math.log(delta)

    def excess(log_mu: float) -> float:
        return math.log(max(gaussian_delta(epsilon, math.exp(log_mu)), 5e-324)) - target

    low, high = math.log(epsilon + delta) - 5, 0.0
    while excess(high) < 0:
        high += 2
    while excess(low) > 0:
        low -= 5
    return math.exp(brentq(excess, low, high, xtol=1e-15, rtol=8.9e-16))


__all__ = ["GaussianLoss", "LaplaceLoss", "gaussian_delta", "gaussian_mu"]
