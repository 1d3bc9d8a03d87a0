"""What a subset is good for: the talk's six utilities of RRRR, in closed form, for all subset sizes at once.

X ~ Categorical(theta), Y = RRRR(X; S, eps), S the ``size`` most probable categories. Because every column of the
matrix is base + step [x in S] + peak [x = y], a sum over x is a few cumulative sums of theta; each function below takes
many thetas (R rows) and returns an (R, K) array, one column for each size 0..K-1. Larger is better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpcourse import door
from dpcourse.adaptive_ldp.columns import Columns, columns


class Ranked:
    """Rows of probabilities in descending order (equal ones in the order of their labels), with cumulative sums."""

    def __init__(self, thetas: np.ndarray) -> None:
        self.order = np.argsort(-thetas, axis=1, kind="stable")
        self.p = np.take_along_axis(thetas, self.order, axis=1)

    @cached_property
    def inside(self) -> np.ndarray:
        """(R, K): the probability of S for each size 0..K-1."""
        return _before(self.p)

    @cached_property
    def squares_inside(self) -> np.ndarray:
        """(R, K): the sum of theta^2 over S for each size."""
        return _before(self.p**2)

    @cached_property
    def squares(self) -> np.ndarray:
        """(R, 1): the sum of theta^2 over all categories."""
        return (self.p**2).sum(axis=1, keepdims=True)


def _before(values: np.ndarray) -> np.ndarray:
    sums = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    return sums


class _Grid:
    """base, step and peak for (size, y): y counts down the ranking, so y < size is inside S."""

    def __init__(self, c: Columns) -> None:
        size, y = np.ogrid[: c.k, : c.k]
        inside = y < size
        self.is_inside = inside
        self.base = np.maximum(np.where(inside, c.inside[:, None], c.missed[:, None]), 1e-300)
        self.step = np.where(inside, 0.0, c.outside_step[:, None])
        self.peak = np.where(inside, c.inside_peak[:, None], c.outside_peak[:, None])


@lru_cache(maxsize=64)
def _grid(c: Columns) -> _Grid:
    return _Grid(c)


def _marginal(r: Ranked, c: Columns) -> np.ndarray:
    """Pr(Y = y) as an (R, size, y) array."""
    g = _grid(c)
    q = g.peak * r.p[:, None, :]
    q += g.base
    q += g.step * r.inside[:, :, None]
    return q


def honest(r: Ranked, c: Columns) -> np.ndarray:
    """U6 = Pr(Y = X)."""
    return c.found + (c.told - c.found) * r.inside


def entropy(r: Ranked, c: Columns) -> np.ndarray:
    """U2 = -sum_y Pr(Y = y) ln Pr(Y = y), as on the slide (the authors' published code has its negative)."""
    q = _marginal(r, c)
    return -np.einsum("rsy,rsy->rs", q, np.log(q))


def tv_marginal(r: Ranked, c: Columns) -> np.ndarray:
    """U4 = -TV(Pr(Y), Pr(X)) = -1/2 sum_y |Pr(Y = y) - theta_y|."""
    difference = _marginal(r, c)
    difference -= r.p[:, None, :]
    return -0.5 * np.abs(difference, out=difference).sum(axis=2)


def tv_posterior(r: Ranked, c: Columns) -> np.ndarray:
    """U3 = E[TV(Pr(X | Y), Pr(X))] = 1/2 sum_y sum_x theta_x |P(y | x) - Pr(Y = y)|.

    For y in S the sum over x is 2 peak theta_y (1 - theta_y). For y outside, P(y | x) has three values, of which that
    of x = y is the largest; the sum over x is twice that over the values above Pr(Y = y).
    """
    g, p, inside = _grid(c), r.p[:, None, :], r.inside[:, :, None]
    q = _marginal(r, c)
    above = p * (c.found[:, None] - q)
    above += inside * np.maximum(c.crossed[:, None] - q, 0)
    above += np.maximum(1 - inside - p, 0) * np.maximum(c.missed[:, None] - q, 0)
    above[:, g.is_inside] = 0
    return above.sum(axis=2) + c.inside_peak * (r.inside - r.squares_inside)


def squared_error(r: Ranked, c: Columns) -> np.ndarray:
    """U5 = -min E||e_X - estimate(Y)||^2: minus the error of the posterior mean.

    It is sum_y sum_x (theta_x P(y | x))^2 / Pr(Y = y) - 1.
    """
    g = _grid(c)
    q = _marginal(r, c)
    common_in = c.inside**2 * r.squares
    common_out = c.crossed**2 * r.squares_inside + c.missed**2 * (r.squares - r.squares_inside)
    top = np.where(g.is_inside, common_in[:, :, None], common_out[:, :, None])
    top += (g.peak * (g.peak + 2 * g.base)) * (r.p**2)[:, None, :]
    top /= q
    return top.sum(axis=2) - 1


def fisher(r: Ranked, c: Columns) -> np.ndarray:
    """U1 = -Tr F^-1, F the Fisher information of one report about (theta_0, ..., theta_(K-2)).

    The last category's share is what the others leave, theta_(K-1) = 1 - sum, and is no parameter. F^-1 is the
    covariance of the estimate that undoes the matrix: inside S theta_i = (q_i - base) / peak, outside
    theta_i = (q_i - base - step Theta(S)) / peak. -inf where F is singular (eps2 = 0 with n >= 2 outside).
    """
    size, n = np.arange(c.k), c.k - np.arange(c.k)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q_in = size * c.inside + c.inside_peak * r.inside  # Pr(Y in S)
        squares_in = size * c.inside**2 + 2 * c.inside * c.inside_peak * r.inside + c.inside_peak**2 * r.squares_inside
        base = c.missed + c.outside_step * r.inside
        squares_out = (
            n * base**2
            + 2 * base * c.outside_peak * (1 - r.inside)
            + c.outside_peak**2 * (r.squares - r.squares_inside)
        )
        slope = np.where(size > 0, c.outside_step / c.inside_peak, 0.0)
        spread = slope**2 * q_in * (1 - q_in)
        variance_in = (q_in - squares_in) / c.inside_peak**2
        variance_out = ((1 - q_in) * (1 + 2 * slope * q_in) - squares_out + n * spread) / c.outside_peak**2
        # What the last category adds to the two sums is taken out again.
        rank = np.argmax(r.order == c.k - 1, axis=1)[:, None]
        last = np.take_along_axis(r.p, rank, axis=1)
        q_last_in, q_last_out = c.inside + c.inside_peak * last, base + c.outside_peak * last
        own = np.where(
            rank < size,
            q_last_in * (1 - q_last_in) / c.inside_peak**2,
            (q_last_out * (1 - q_last_out) + spread + 2 * slope * q_in * q_last_out) / c.outside_peak**2,
        )
        total = variance_in + variance_out - own
    return np.where(c.outside_peak > 0, -total, -np.inf)


#: The talk's U1..U6 by name. Each takes (Ranked, Columns) and gives (R, K) values for the sizes 0..K-1.
UTILITIES: dict[str, Callable[[Ranked, Columns], np.ndarray]] = {
    "fisher": fisher,
    "entropy": entropy,
    "tv_posterior": tv_posterior,
    "tv_marginal": tv_marginal,
    "squared_error": squared_error,
    "honest": honest,
}


def probability_rows(name: str, value: Any) -> np.ndarray:
    """A vector of at least two probabilities, or rows of them, as an (R, K) array; checked."""
    array = door.finite_array(name, value)
    rows = array[None, :] if array.ndim == 1 else array
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"{name} must be a vector of at least two probabilities or rows of them, got {value!r}")
    if rows.size and (rows.min() < 0 or np.abs(rows.sum(axis=1) - 1).max() > 1e-6):
        raise ValueError(f"{name} must be probabilities that sum to 1 in each row, got {value!r}")
    return rows


def utilities(thetas: Any, epsilon: float, first: Any = None, utility: str = "honest") -> np.ndarray:
    """The utility of the subset sizes 0..K-1 for theta (K values), or for each row of thetas (an (R, K) array).

    ``first`` is eps1, one eps1 for each size, or None (0.8 epsilon; all of it where one category is outside S).
    """
    rows = probability_rows("thetas", thetas)
    measure = UTILITIES[door.one_of("utility", utility, list(UTILITIES))]
    values = measure(Ranked(rows), columns(rows.shape[1], epsilon, first))
    return values if np.ndim(thetas) == 2 else values[0]
