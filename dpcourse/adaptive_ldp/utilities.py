"""What a subset is good for: the talk's six utilities of RRRR, in closed form, for all subset sizes at once.

X ~ Categorical(theta), Y = RRRR(X; S, eps), S the ``size`` most probable categories. Every column of the matrix is
base + step [x in S] + peak [x = y] (see ``columns``), so sums over x are cumulative sums of theta. Categories are
numbered by rank here, so that y < size says y is in S. An online survey asks for all sizes at every arrival, for many
runs side by side: arrays have one row for each size and one column for each run, (K, R). Larger is better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.rrrr_columns import Columns, columns


class Ranked:
    """R thetas in descending order (equal ones in the order of their labels), as (K, R) arrays, with running sums."""

    def __init__(self, thetas: np.ndarray) -> None:
        runs, k = thetas.shape
        #: (R, K): the categories of each run, most probable first
        self.order = (-thetas).argsort(axis=1, kind="stable")
        self.p = np.ascontiguousarray(thetas.ravel()[self.order + k * np.arange(runs)[:, None]].T)

    @cached_property
    def inside(self) -> np.ndarray:
        """The probability of S, for each size."""
        return _before(self.p)

    @cached_property
    def squares_inside(self) -> np.ndarray:
        """The sum of theta^2 over S, for each size."""
        return _before(self.p**2)

    @cached_property
    def squares(self) -> np.ndarray:
        """(R,): the sum of theta^2 over all categories."""
        return (self.p**2).sum(axis=0)


def _before(values: np.ndarray) -> np.ndarray:
    """Sums over the ranks below 0, 1, ..., K-1."""
    sums = np.zeros_like(values)
    np.cumsum(values[:-1], axis=0, out=sums[1:])
    return sums


class Family:
    """The RRRR of every subset size of one (K, eps, eps1): its probabilities as (K, 1) columns, and its matrices."""

    def __init__(self, c: Columns) -> None:
        self.k = c.k
        self.size = np.arange(c.k)[:, None]
        self.told, self.inside, self.crossed, self.found, self.missed = (
            values[:, None] for values in (c.told, c.inside, c.crossed, c.found, c.missed)
        )
        self.inside_peak, self.step, self.peak = (
            values[:, None] for values in (c.inside_peak, c.outside_step, c.outside_peak)
        )
        y, size, x = np.ogrid[: c.k, : c.k, : c.k]
        outside = self.missed + self.step * (x < size) + self.peak * (x == y)
        matrices = np.where(y < size, self.inside + self.inside_peak * (x == y), outside)
        #: P(y | x) with (y, size) as rows and x as columns. No probability is 0, so that none is divided by 0.
        self.matrices = np.maximum(matrices, 1e-300).reshape(c.k**2, c.k)
        self.squared = self.matrices**2
        self.less_truth = self.matrices - np.broadcast_to(x == y, matrices.shape).reshape(c.k**2, c.k)
        self.is_outside = np.where(y >= size, 1.0, 0.0)

    def by_report(self, rows: np.ndarray, values: np.ndarray) -> np.ndarray:
        """sum over x of rows[y, size, x] values[x], as a (K, K, R) array over y, size and run."""
        return (rows @ values).reshape(self.k, self.k, -1)


@lru_cache(maxsize=64)
def family(c: Columns) -> Family:
    """The :class:`Family` of these columns, made once."""
    return Family(c)


def honest(r: Ranked, f: Family) -> np.ndarray:
    """U6 = Pr(Y = X)."""
    return f.found + (f.told - f.found) * r.inside


def entropy(r: Ranked, f: Family) -> np.ndarray:
    """U2 = -sum_y Pr(Y = y) ln Pr(Y = y), as on the slide (the authors' published code has its negative)."""
    q = f.by_report(f.matrices, r.p)
    log_q = np.log(q)
    log_q *= q
    return -log_q.sum(axis=0)


def tv_marginal(r: Ranked, f: Family) -> np.ndarray:
    """U4 = -TV(Pr(Y), Pr(X)) = -1/2 sum_y |Pr(Y = y) - theta_y|."""
    difference = f.by_report(f.less_truth, r.p)
    return -0.5 * np.abs(difference, out=difference).sum(axis=0)


def squared_error(r: Ranked, f: Family) -> np.ndarray:
    """U5 = -min E||e_X - estimate(Y)||^2, the minimum (not its argument): minus the error of the posterior mean.

    That is sum_y sum_x (theta_x P(y | x))^2 / Pr(Y = y) - 1.
    """
    share = f.by_report(f.squared, r.p**2)
    share /= f.by_report(f.matrices, r.p)
    return share.sum(axis=0) - 1


def tv_posterior(r: Ranked, f: Family) -> np.ndarray:
    """U3 = E[TV(Pr(X | Y), Pr(X))] = sum_y sum_x theta_x max(P(y | x) - Pr(Y = y), 0).

    Of a column inside S only x = y exceeds the mean: peak theta_y (1 - theta_y). Of a column outside, x = y does, and
    also, by the sign of step, the other x outside S (step < 0) or those in S (step > 0), where they do.
    """
    c, rest = r.inside, 1 - r.inside
    own = f.inside_peak * (c - r.squares_inside)
    own += f.peak * (rest - r.squares + r.squares_inside) - f.step * c * rest
    falling = f.step < 0
    others = np.where(falling, -f.step * c, f.step * rest) - f.peak * r.p[:, None, :]  # P(y | x) - Pr(Y = y)
    np.maximum(others, 0, out=others)
    others *= f.is_outside
    # Theta of those others: all of S, or what is outside S without y (0 up to rounding where y is all of it)
    return own + np.where(falling, rest, c) * others.sum(axis=0) - falling * np.einsum("ysr,yr->sr", others, r.p)


def fisher(r: Ranked, f: Family) -> np.ndarray:
    """U1 = -Tr F^-1, F the Fisher information of one report about (theta_0, ..., theta_(K-2)).

    The share of the last category (by label) is what the others leave, 1 - sum, and is no parameter. F^-1 is the
    covariance of the one-report estimate that undoes the matrix: theta_i = (q_i - base) / peak inside S, and
    (q_i - base - step Theta(S)) / peak outside. -inf where F is singular (eps2 = 0 with n >= 2 outside).
    """
    n, c = f.k - f.size, r.inside
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q_in = f.size * f.inside + f.inside_peak * c  # Pr(Y in S)
        squares_in = f.inside * (q_in + f.inside_peak * c) + f.inside_peak**2 * r.squares_inside
        base = f.missed + f.step * c
        squares_out = base * (n * base + 2 * f.peak * (1 - c)) + f.peak**2 * (r.squares - r.squares_inside)
        slope = np.where(f.size > 0, f.step / f.inside_peak, 0.0)  # the estimate of theta_i takes slope q(S) from q_i
        drift, spread = 2 * slope * q_in, slope**2 * q_in * (1 - q_in)
        inside = (q_in - squares_in) / f.inside_peak**2
        outside = ((1 - q_in) * (1 + drift) - squares_out + n * spread) / f.peak**2
        # What the last category added to the two sums is taken out again.
        rank = np.argmax(r.order == f.k - 1, axis=1)
        last = r.p[rank, np.arange(rank.size)]
        q_last = np.where(rank < f.size, f.inside + f.inside_peak * last, base + f.peak * last)
        own_inside = q_last * (1 - q_last) / f.inside_peak**2
        own_outside = (q_last * (1 - q_last + drift) + spread) / f.peak**2
        total = inside + outside - np.where(rank < f.size, own_inside, own_outside)
    return np.where(f.peak > 0, -total, -np.inf)


#: The talk's U1..U6 by name. Each takes (Ranked, Family) and gives a (K, R) array: sizes 0..K-1, runs.
UTILITIES: dict[str, Callable[[Ranked, Family], np.ndarray]] = {
    "fisher": fisher,
    "entropy": entropy,
    "tv_posterior": tv_posterior,
    "tv_marginal": tv_marginal,
    "squared_error": squared_error,
    "honest": honest,
}


def probability_rows(name: str, value: Any) -> np.ndarray:
    """A vector of at least two probabilities, or rows of them, as an (R, K) array; checked."""
    array = checks.finite_array(name, value)
    rows = array[None, :] if array.ndim == 1 else array
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"{name} must be a vector of at least two probabilities or rows of them, got {value!r}")
    if rows.size and rows.min() < 0:
        raise ValueError(f"{name} must be probabilities, got {float(rows.min())!r} in {value!r}")
    sums = rows.sum(axis=1)
    if rows.size and np.abs(sums - 1).max() > 1e-6:
        worst = float(sums[np.argmax(np.abs(sums - 1))])
        raise ValueError(f"{name} must be probabilities that sum to 1, got a sum of {worst!r} in {value!r}")
    return rows


def values(ranked: Ranked, epsilon: float, first: Any, utility: str) -> np.ndarray:
    """The (K, R) values of a utility by its name."""
    measure = UTILITIES[checks.one_of("utility", utility, list(UTILITIES))]
    return measure(ranked, family(columns(len(ranked.p), epsilon, first)))


def utilities(thetas: Any, epsilon: float, first: Any = None, utility: str = "honest") -> np.ndarray:
    """The utility of the subset sizes 0..K-1 for theta (K values), or for each row of thetas (an (R, K) array).

    ``first`` is eps1, one eps1 for each size, or None (0.8 epsilon; all of it where one category is outside S).
    """
    found = values(Ranked(probability_rows("thetas", thetas)), epsilon, first, utility).T
    return found if np.ndim(thetas) == 2 else found[0]
