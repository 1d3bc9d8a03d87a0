"""Batches that were shuffled, not sampled: a privacy loss that they surely have.

One epoch over shuffled data, cut into T batches of equal size, each released as a sum (sensitivity 1) with Gaussian
noise. The relation is "zero out": the person keeps a place in a batch, but contributes nothing; for Poisson sampling
that is the same as removing the person. Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha & Zhang 2024, "How Private are
DP-SGD Implementations?" (ICML), look at data in which everybody else contributes -1. The batch with the person
then stands out in *both* worlds: its sum is higher by 2 if the person contributes +1, and by 1 if nothing.
"""

from __future__ import annotations

import math

import numpy as np

from dpcourse import checks
from dpcourse.randomness import Rng, generator


def _log_max_above(threshold: np.ndarray, shift: float, sigma: float, steps: int) -> np.ndarray:
    """ln Pr[max > threshold] of T Gaussians, one of them shifted."""
    from scipy.special import log_ndtr

    inside = log_ndtr((threshold - shift) / sigma) + (steps - 1) * log_ndtr(threshold / sigma)
    return np.log(-np.expm1(inside))


def shuffled_epsilon_at_least(sigma: float, steps: int, delta: float) -> float:
    """A lower bound on the epsilon of one epoch of ``steps`` shuffled batches: no accountant may report less.

    For every threshold c, (epsilon, delta)-DP demands Pr[max > c] <= e^epsilon Pr'[max > c] + delta, where max is the
    largest of the released sums (after adding the batch size). The threshold that demands most is found on a grid; any
    other grid would give a valid bound, too.
    """
    sigma, steps = checks.positive("sigma", sigma), checks.whole_number("steps", steps)
    delta = checks.small_delta("delta", delta, zero=False)
    c = np.linspace(0, 2 + 12 * sigma, 4001)
    p, q = (_log_max_above(c, shift, sigma, steps) for shift in (2.0, 1.0))
    seen = p > math.log(delta)
    demanded = p[seen] + np.log1p(-np.exp(math.log(delta) - p[seen])) - q[seen]
    return max(0.0, float(demanded.max()))


def shuffled_maxima(sigma: float, steps: int, *, contributes: bool, size: int, rng: Rng = None) -> np.ndarray:
    """The largest of the released sums (after adding the batch size), for ``size`` independent epochs: an audit's data.

    ``contributes`` says whether the person contributes +1, or nothing, while everybody else contributes -1.
    """
    sigma, steps = checks.positive("sigma", sigma), checks.whole_number("steps", steps)
    sums = generator(rng).normal(0, sigma, (checks.whole_number("size", size), steps))
    sums[:, 0] += 2 if contributes else 1  # which of the batches it is does not matter for the largest
    return np.asarray(sums.max(1))
