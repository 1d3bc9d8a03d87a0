"""Independent ways to the same numbers: mpmath, brute force, and a contour integral. Nothing here imports dpcourse."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
from scipy import special

Curve = Callable[[float], float]


# ---- one release ------------------------------------------------------------------------------------------------
def gaussian_delta(mu: float, epsilon: float, digits: int = 60) -> mp.mpf:
    """Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu), with so many digits that the difference keeps most of them."""
    with mp.workdps(digits):
        mu, epsilon = mp.mpf(mu), mp.mpf(epsilon)
        return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def gaussian_epsilon(mu: float, delta: float, start: float) -> mp.mpf:
    """The root of ln delta(eps) = ln delta, polished from ``start`` by mpmath's secant method at 40 digits."""
    with mp.workdps(40):
        target = mp.log(mp.mpf(delta))
        return mp.findroot(lambda e: mp.log(gaussian_delta(mu, e)) - target, (mp.mpf(start), mp.mpf(start) * 1.0001))


def density_delta(p: Callable, q: Callable, epsilon: float, corners: Sequence[float]) -> mp.mpf:
    """The hockey-stick divergence straight from its definition, the integral of (p - e^eps q)+ between ``corners``."""
    with mp.workdps(25):
        ratio = mp.exp(mp.mpf(epsilon))
        return mp.quad(lambda t: max(p(t) - ratio * q(t), mp.mpf(0)), [mp.mpf(c) for c in corners])


def subset_delta(p: Sequence[float], q: Sequence[float], epsilon: float) -> float:
    """max over all events S of P(S) - e^eps Q(S): the definition of (eps, delta)-DP, event by event."""
    terms = [a - math.exp(epsilon) * b for a, b in zip(p, q, strict=True)]
    events = itertools.product((0, 1), repeat=len(terms))
    return max(math.fsum(t for t, chosen in zip(terms, event, strict=True) if chosen) for event in events)


def sampled_gaussian_hockey_stick(mu: float, q: float, epsilon: np.ndarray, *, added: bool) -> np.ndarray:
    """delta of one Poisson-sampled Gaussian at any real epsilon (negative ones included), full relative precision.

    Removed: E_a((1-q) Q + q P, Q) = q E_b(P, Q) with b = (a - 1 + q)/q, or 1 - a if b <= 0.
    Added:   E_a(Q, (1-q) Q + q P) = (1 - a(1-q)) E_c(Q, P) with c = aq/(1 - a(1-q)), or 0 if a(1-q) >= 1.
    """
    epsilon = np.asarray(epsilon, dtype=float)
    with np.errstate(all="ignore"):
        grow = np.expm1(epsilon)
        if added:
            rest = q - grow * (1 - q)  # 1 - a (1 - q)
            inner = epsilon + math.log(q) - np.log(np.maximum(rest, 1e-300))
            return np.where(rest > 0, rest * gaussian_hockey_stick(mu, inner), 0.0)
        inner = np.log1p(np.maximum(grow / q, -1.0))
        return np.where(grow > -q, q * gaussian_hockey_stick(mu, np.maximum(inner, -700.0)), -grow)


def gaussian_hockey_stick(mu: float, epsilon: np.ndarray) -> np.ndarray:
    """delta of one Gaussian at any real epsilon; E_a(P, Q) = 1 - a + a E_(1/a)(Q, P) serves the negative ones."""
    size = np.abs(epsilon)
    x = size / mu - mu / 2
    root = math.sqrt(math.pi / 2)
    mills = np.exp(-x * x / 2) / math.sqrt(2 * math.pi) * root * _erfcx_drop(x / math.sqrt(2), mu / math.sqrt(2))
    plain = special.ndtr(-x) - np.exp(size + special.log_ndtr(-x - mu))
    positive = np.where(x < -3, plain, mills)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(epsilon >= 0, positive, -np.expm1(epsilon) + np.exp(epsilon) * positive)


def _erfcx_drop(x: np.ndarray, width: float) -> np.ndarray:
    """erfcx(x) - erfcx(x + width); where that cancels, by integrating -erfcx' = 2/sqrt(pi) - 2 x erfcx."""
    if width > 0.5:
        return special.erfcx(x) - special.erfcx(x + width)
    nodes, weights = np.polynomial.legendre.leggauss(20)
    t = x[..., None] + width * (1 + nodes) / 2
    slope = np.where(t > 40, _erfcx_slope_far(np.maximum(t, 1.0)), 2 / math.sqrt(math.pi) - 2 * t * special.erfcx(t))
    return slope @ weights * width / 2


def _erfcx_slope_far(t: np.ndarray) -> np.ndarray:
    s = 1 / (2 * t * t)
    return 2 / math.sqrt(math.pi) * s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s * (1 - 9 * s * (1 - 11 * s)))))


def laplace_hockey_stick(shift: float, epsilon: np.ndarray) -> np.ndarray:
    """delta of one Laplace pair at any real epsilon."""
    inside = -np.expm1((np.abs(epsilon) - shift) / 2) * (np.abs(epsilon) < shift)
    return np.where(epsilon >= 0, inside, -np.expm1(epsilon) + np.exp(np.minimum(epsilon, 0.0)) * inside)


def sampled_laplace_hockey_stick(shift: float, q: float, epsilon: np.ndarray, *, added: bool) -> np.ndarray:
    """The same reduction as for the Gaussian."""
    epsilon = np.asarray(epsilon, dtype=float)
    grow = np.expm1(epsilon)
    with np.errstate(all="ignore"):
        if added:
            rest = q - grow * (1 - q)
            inner = epsilon + math.log(q) - np.log(np.maximum(rest, 1e-300))
            return np.where(rest > 0, rest * laplace_hockey_stick(shift, inner), 0.0)
        inner = np.log1p(np.maximum(grow / q, -1.0))
        return np.where(grow > -q, q * laplace_hockey_stick(shift, np.maximum(inner, -700.0)), -grow)


def discrete_hockey_stick(
    losses: np.ndarray, masses: np.ndarray, only_p: float, only_q: float, epsilon: np.ndarray
) -> np.ndarray:
    """delta of finitely many losses at any real epsilon, term by term; on the left from the other end."""
    gap = losses - np.asarray(epsilon, dtype=float)[:, None]
    right = only_p - (masses * np.expm1(-np.maximum(gap, 0.0))).sum(axis=1)
    total = masses.sum() + only_p - np.exp(epsilon) * ((masses * np.exp(-losses)).sum() + only_q)
    left = total + np.exp(epsilon) * only_q + (masses * np.expm1(np.maximum(-gap, 0.0))).sum(axis=1)
    return np.where(epsilon >= 0, right, left)


# ---- many releases: exact sums ----------------------------------------------------------------------------------
class BinomialSum:
    """The k-fold sum of a two-point loss +-step, with P[+] = theta: exact binomial tails in mpmath."""

    def __init__(self, theta: float, k: int, digits: int = 50) -> None:
        with mp.workdps(digits):
            theta = mp.mpf(theta)
            self.digits, self.step = digits, mp.log(theta) - mp.log(1 - theta)
            term, odds = theta**k, (1 - theta) / theta  # all k answers true; each lie costs a factor
            self.losses, masses = [], []
            for lies in range(k + 1):
                self.losses.append((k - 2 * lies) * self.step)
                masses.append(term)
                term = term * (k - lies) / (lies + 1) * odds
            self.p = list(itertools.accumulate(masses))
            self.q = list(itertools.accumulate(m * mp.exp(-x) for m, x in zip(masses, self.losses, strict=True)))

    def delta(self, epsilon: float) -> mp.mpf:
        with mp.workdps(self.digits):
            above = sum(1 for x in self.losses if x > epsilon)
            return self.p[above - 1] - mp.exp(epsilon) * self.q[above - 1] if above else mp.mpf(0)

    def epsilon(self, delta: float) -> mp.mpf:
        """Between two atoms delta = p - e^eps q is solved for epsilon."""
        with mp.workdps(self.digits):
            for p, q, x in zip(self.p, self.q, [*self.losses[1:], -mp.inf], strict=True):
                if x < 0 or p - mp.exp(x) * q >= delta:
                    return max(mp.log((p - delta) / q), mp.mpf(0)) if p > delta else mp.mpf(0)
        raise AssertionError("unreachable")


def convolved_atoms(parts: Sequence[tuple[Sequence[float], Sequence[float], int]]) -> tuple[np.ndarray, np.ndarray]:
    """All losses of a sum and their masses, by enumerating outcomes (multinomially: equal sums are not merged)."""
    losses, masses = np.zeros(1), np.ones(1)
    for values, weights, times in parts:
        for _ in range(times):
            losses = (losses[:, None] + np.asarray(values)).ravel()
            masses = (masses[:, None] * np.asarray(weights)).ravel()
    return losses, masses


def multinomial_atoms(values: Sequence[float], weights: Sequence[float], k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k-fold sum of a three-point loss: every count vector with its multinomial probability, in logarithms."""
    i, j = np.meshgrid(np.arange(k + 1), np.arange(k + 1), indexing="ij")
    i, j = i[i + j <= k], j[i + j <= k]
    counts = np.stack([i, j, k - i - j])
    log_mass = math.lgamma(k + 1) - special.gammaln(counts + 1).sum(axis=0) + np.log(weights) @ counts
    return np.asarray(values) @ counts, np.exp(log_mass)


def one_more(hockey_stick: Curve, losses: np.ndarray, masses: np.ndarray) -> Curve:
    """delta of (anything with this delta curve) + (an independent loss with these atoms or quadrature nodes)."""
    return lambda epsilon: float(masses @ hockey_stick(epsilon - losses))


def sampled_gaussian_nodes(mu: float, q: float, *, added: bool, h: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    """The loss of one sampled Gaussian as trapezoidal nodes in the output: losses and masses under the first world."""
    t = np.arange(-38.0, 38.0 + mu, h)
    density = np.exp(-t * t / 2) * h / math.sqrt(2 * math.pi)
    ratio = q * np.expm1(mu * t - mu * mu / 2)
    return (-np.log1p(ratio), density) if added else (np.log1p(ratio), density * (1 + ratio))


def laplace_nodes(shift: float, corners: Sequence[float], points: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """The loss of one Laplace pair: two atoms, and Gauss-Legendre nodes between ``corners`` of the loss."""
    x, w = np.polynomial.legendre.leggauss(points)
    edges = np.unique(np.clip([-shift, shift, *corners], -shift, shift))
    losses, masses = [shift, -shift], [0.5, 0.5 * math.exp(-shift)]
    for a, b in itertools.pairwise(edges):
        inner = (a + b) / 2 + (b - a) / 2 * x
        losses.extend(inner)
        masses.extend(w * (b - a) / 2 * 0.25 * np.exp(-(shift - inner) / 2))
    return np.array(losses), np.array(masses)
