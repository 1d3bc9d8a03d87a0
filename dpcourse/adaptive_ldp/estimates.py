"""Fast point estimates of theta from responses: maximum likelihood, and inversion with a projection."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse import checks


def total_variation(p: Any, q: Any) -> Any:
    """1/2 sum |p - q|, over the last axis: the talk's error."""
    return 0.5 * np.abs(np.subtract(p, q)).sum(axis=-1)


def likelihood_rows(rows: Any, counts: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Check rows (groups, K), P(y | x) up to a factor for each response or group, and how often each occurs."""
    table = checks.finite_array("rows", rows)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise ValueError(f"rows must be a table of at least one response and two categories, got shape {table.shape}")
    if table.min() < 0 or (table.sum(axis=1) <= 0).any():
        raise ValueError(f"rows must be probabilities, none all zero, got {table[(table <= 0).any(axis=1)][:1]!r}")
    if counts is None:
        return table, np.ones(len(table), dtype=np.int64)
    numbers = checks.integer_array("counts", counts)
    if numbers.shape != (len(table),) or (numbers < 0).any() or numbers.sum() == 0:
        raise ValueError(f"counts must be one number >= 0 for each of the {len(table)} rows, got {counts!r}")
    return table, numbers


def grouped(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """The different rows among responses, and how often each occurs: what Gibbs and EM then work on."""
    table, _ = likelihood_rows(rows)
    return np.unique(table, axis=0, return_counts=True)


def maximum_likelihood(
    rows: Any, counts: Any = None, *, prior: float = 1.0, tolerance: float = 1e-8, most: int = 5_000
) -> np.ndarray:
    """argmax over the simplex of sum_i counts_i ln(rows_i theta) + (prior - 1) sum ln theta, by EM and Newton's method.

    An EM step gives every response to the categories in the proportion row theta (the iterative Bayesian update), and
    counts. It never goes down, but creeps where little is told and towards shares of 0. So after a few steps an
    interior-point method takes over; should that not arrive, EM goes on. With prior > 1 it is the mode of the
    posterior; with prior < 1 there is none inside the simplex, and it is refused. Ends when the maximum is at most
    ``tolerance`` higher (the function is concave: by the largest slope at most), or after ``most`` steps.
    """
    rows, numbers = likelihood_rows(rows, counts)
    if checks.positive("prior", prior) < 1:
        raise ValueError(f"prior must be >= 1 for a mode inside the simplex, got {prior!r}")
    total = numbers.sum() + (prior - 1) * rows.shape[1]
    tolerance = max(checks.positive("tolerance", tolerance), 1e-13 * total)  # rounding hides what is less
    theta = np.full(rows.shape[1], 1 / rows.shape[1])
    for done in range(most):
        if done == 10:
            theta = _interior_point(rows, numbers, prior - 1, theta, tolerance)
        slope = (numbers / (rows @ theta)) @ rows - total
        if prior > 1:
            slope += (prior - 1) / theta
        if slope.max() <= tolerance:
            break
        theta = theta * (1 + slope / total)
        theta /= theta.sum()
    return theta


def _interior_point(
    rows: np.ndarray, numbers: np.ndarray, extra: float, theta: np.ndarray, tolerance: float, most: int = 60
) -> np.ndarray:
    """The same maximum by Newton's method, kept inside theta > 0 by a price on the edge that goes to 0.

    Maximising f(theta) - total * sum(theta) needs no other constraint: the sum comes out as 1. At the maximum
    slope + price = 0 and theta * price = 0; steps are taken towards theta * price = level, for ever smaller levels
    (the primal-dual method; for this likelihood Koenker & Mizera 2014, J. Amer. Statist. Assoc. 109).
    """
    inside = np.maximum(theta, 1e-6 / len(theta))
    price, k = 1 / inside, len(theta)
    total, diagonal = numbers.sum() + extra * k, np.diag_indices(k)
    for _ in range(most):
        ratios = rows / (rows @ inside)[:, None]
        slope = numbers @ ratios + extra / inside - total
        gap = inside @ price
        if gap <= tolerance / 2 and np.abs(slope + price).max() <= tolerance / 2:
            return inside / inside.sum()
        level = 0.1 * gap / k
        bend = (ratios.T * numbers) @ ratios
        bend[diagonal] += extra / inside**2 + price / inside
        try:
            move = np.linalg.solve(bend, slope + level / inside)
        except np.linalg.LinAlgError:
            break
        dearer = level / inside - price - price / inside * move
        inside = np.maximum(inside + _part_of_the_way(inside, move) * move, 1e-100)  # its square is divided by
        price = price + _part_of_the_way(price, dearer) * dearer
    return theta  # not there: as it was


def _part_of_the_way(values: np.ndarray, move: np.ndarray) -> float:
    """How much of a move keeps all values positive: all of it, or almost as much as leads to the edge."""
    down = move < 0
    return min(1.0, 0.99 * float((values[down] / -move[down]).min())) if down.any() else 1.0


def to_simplex(values: Any) -> np.ndarray:
    """The nearest point of the simplex (Euclidean) to each row: subtract a level, cut at 0 (Held et al. 1974)."""
    points = checks.finite_array("values", values)
    if points.ndim == 0 or points.shape[-1] == 0:
        raise ValueError(f"values must be vectors of at least one number, got {values!r}")
    down = -np.sort(-points, axis=-1)
    levels = (np.cumsum(down, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    kept = np.count_nonzero(down > levels, axis=-1, keepdims=True)
    return np.maximum(points - np.take_along_axis(levels, kept - 1, axis=-1), 0)


def inverted(reports: Any, matrix: Any) -> np.ndarray:
    """The unbiased estimate from reports 0..K-1 to one mechanism: solve frequency = matrix^T theta.

    It sums to one but may leave [0, 1]; ``to_simplex`` brings it back. A singular matrix is refused.
    """
    table = checks.finite_array("matrix", matrix)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or np.linalg.matrix_rank(table) < len(table):
        raise ValueError(f"matrix must be square and invertible, got {matrix!r}")
    answers = checks.integer_array("reports", reports).ravel()
    if answers.size == 0 or answers.min() < 0 or answers.max() >= len(table):
        raise ValueError(f"reports must be some of the categories 0..{len(table) - 1}, got {reports!r}")
    return np.linalg.solve(table.T, np.bincount(answers, minlength=len(table)) / answers.size)
