"""The moments accountant and Renyi DP: bounds by moment generating functions of the privacy loss.

M is (a, r)-RDP if the Renyi divergence of order a of every neighbouring pair is at most r (Mironov 2017). Orders add up
under composition, and each gives an epsilon; the best one is taken. Simple, fast, and never quite tight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.accounting.cost import Cost

#: Orders from 1.1 to 1024, dense where the optimum usually lies.
ORDERS = tuple([1 + x / 10 for x in range(1, 100)] + list(range(11, 65)) + [80, 96, 128, 192, 256, 384, 512, 1024])
#: The integer moments 1..32 of Abadi et al. 2016, as orders.
MOMENTS = tuple(range(2, 34))


@dataclass(frozen=True)
class Renyi:
    """An RDP curve: ``divergences[i]`` bounds the Renyi divergence of order ``orders[i]``."""

    orders: tuple[float, ...]
    divergences: tuple[float, ...]

    def compose(self, k: int) -> Renyi:
        """k rounds: k times every divergence."""
        k = checks.whole_number("k", k)
        return Renyi(self.orders, tuple(k * each for each in self.divergences))

    def __add__(self, other: Renyi) -> Renyi:
        if not isinstance(other, Renyi):
            return NotImplemented
        if self.orders != other.orders:
            raise ValueError("two Renyi curves can be added only if they have the same orders")
        sums = (a + b for a, b in zip(self.divergences, other.divergences, strict=True))
        return Renyi(self.orders, tuple(sums))

    def epsilon(self, delta: float, *, conversion: str = "improved") -> Cost:
        """The best epsilon over all orders.

        "moments": r + ln(1/delta)/(a - 1), the conversion of Abadi et al. 2016 and Mironov 2017.
        "improved": r + ln((a-1)/a) - (ln delta + ln a)/(a - 1) (Canonne, Kamath & Steinke 2020, Proposition 12).
        """
        delta = checks.small_delta("delta", delta, zero=False)
        checks.one_of("conversion", conversion, ("improved", "moments"))
        a, r = np.array(self.orders), np.array(self.divergences)
        candidates = r + math.log(1 / delta) / (a - 1)
        if conversion == "improved":
            candidates = np.minimum(candidates, r + np.log1p(-1 / a) - (math.log(delta) + np.log(a)) / (a - 1))
        name = "Renyi DP" if conversion == "improved" else "moments accountant"
        return Cost(max(float(candidates.min()), 0.0), delta, name)


def renyi_gaussian(sigma: float, *, sensitivity: float = 1.0, orders: Sequence[float] = ORDERS) -> Renyi:
    """a sensitivity^2 / (2 sigma^2)."""
    ratio = checks.positive("sensitivity", sensitivity) / checks.positive("sigma", sigma)
    return _curve(orders, lambda a: a * ratio**2 / 2)


def renyi_laplace(epsilon: float, *, orders: Sequence[float] = ORDERS) -> Renyi:
    """Mironov 2017, Proposition 6, for Laplace noise of scale sensitivity/epsilon."""
    epsilon = checks.positive("epsilon", epsilon)

    def divergence(a: float) -> float:
        up = math.log(a / (2 * a - 1)) + (a - 1) * epsilon
        down = math.log((a - 1) / (2 * a - 1)) - a * epsilon
        return float(np.logaddexp(up, down)) / (a - 1)

    return _curve(orders, divergence)


def renyi_sampled_gaussian(sigma: float, q: float, *, orders: Sequence[float] = ORDERS) -> Renyi:
    """The Poisson-sampled Gaussian of sensitivity 1 (Mironov, Talwar & Zhang 2019): ln E_Q[(P/Q)^a] / (a - 1).

    Q = N(0, sigma^2), P = (1 - q) N(0, sigma^2) + q N(1, sigma^2). The integrand is analytic and falls off like a
    Gaussian, so the trapezoidal rule converges geometrically: a step of sigma/16 leaves an error below 1e-15.
    """
    sigma, q = checks.positive("sigma", sigma), checks.fraction_of_one("q", q)
    if q == 1:
        return renyi_gaussian(sigma, orders=orders)

    def divergence(a: float) -> float:
        step = sigma / 16
        x = np.arange(-40 * sigma, a + 40 * sigma, step)
        with np.errstate(over="ignore"):
            exponent = (2 * x - 1) / (2 * sigma**2)
            loss = np.where(exponent < 700, np.log1p(q * np.expm1(np.minimum(exponent, 700))), exponent + math.log(q))
        terms = a * loss - x**2 / (2 * sigma**2)
        peak = terms.max()
        integral = math.log(np.exp(terms - peak).sum() * step) + peak - math.log(sigma * math.sqrt(2 * math.pi))
        return max(float(integral), 0.0) / (a - 1)

    return _curve(orders, divergence)


def _curve(orders: Sequence[float], divergence: Any) -> Renyi:
    if not len(orders):
        raise ValueError(f"orders must have at least one entry, got {orders!r}")
    for order in orders:
        if not checks.real("orders", order) > 1:
            raise ValueError(f"orders must all be > 1, got {order!r}")
    return Renyi(tuple(float(order) for order in orders), tuple(divergence(float(order)) for order in orders))
