"""A second oracle, for the few and rough rounds where the contour integral is slow: a grid, refined and extrapolated.

The losses of quadrature points in the *output* are shared linearly between the two nearest grid points, which keeps the
mean; the error of delta is then c h^2 + O(h^4) for an epsilon that lies on the grid, so (4 fine - coarse)/3 removes its
leading term. Two extrapolations must agree. No bound is used and none is claimed.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import fft


class Unresolved(Exception):
    """The extrapolations disagree: the grid is too coarse for this loss."""


def delta(
    losses: np.ndarray, masses: np.ndarray, times: int, epsilon: float, theta: float, agreement: float = 1e-6
) -> float:
    """delta(epsilon) of the ``times``-fold sum of a loss given by quadrature nodes, tilted by ``theta``."""
    log_weight = theta * losses + np.log(np.maximum(masses, 1e-320))
    log_norm = float(np.logaddexp.reduce(log_weight))
    weight = np.exp(log_weight - log_norm)
    low, high = (_edge(losses, weight, times, sign) for sign in (-1, 1))
    low, high = min(low, epsilon, 0.0), max(high, epsilon, 0.0)
    scale = math.exp(times * log_norm - theta * epsilon)

    def on_grid(h: float) -> float:
        n = fft.next_fast_len(int((high - low) / h) + 4, real=True)
        position = losses / h
        left = np.floor(position).astype(np.int64)
        share = position - left
        first = int(left.min())
        single = np.bincount((left - first) % n, weight * (1 - share), n) + np.bincount(
            (left + 1 - first) % n, weight * share, n
        )
        start = math.floor(low / h) - 1
        total = np.roll(fft.irfft(fft.rfft(single) ** times, n), (first * times - start) % n)
        gap = np.maximum(h * (start + np.arange(n)) - epsilon, 0.0)
        return scale * float(total @ (np.exp(-theta * gap) * -np.expm1(-gap)))

    h = (high - low) / 120_000
    h = epsilon / math.ceil(epsilon / h) if epsilon > 0 else h
    coarse, middle, fine = (on_grid(h / f) for f in (1, 3, 9))
    once, twice = (9 * middle - coarse) / 8, (9 * fine - middle) / 8
    if not abs(once - twice) <= agreement * abs(twice):
        raise Unresolved(f"{once!r} against {twice!r}")
    return twice


def _edge(losses: np.ndarray, weight: np.ndarray, times: int, sign: int) -> float:
    """Chernoff: beyond this point lies less than e^-34 of the tilted sum."""
    inside = weight > 0
    losses, log_weight = losses[inside], np.log(weight[inside])
    tilts = np.geomspace(1e-3, 1e6, 100)
    bounds = [(times * float(np.logaddexp.reduce(sign * t * losses + log_weight)) + 34) / t for t in tilts]
    return sign * min(*bounds, times * float((sign * losses).max()))
