"""Fast point estimates of theta from responses: maximum likelihood by EM, and inversion with a projection."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse import door


def total_variation(p: Any, q: Any) -> Any:
    """1/2 sum |p - q|, over the last axis: the talk's error."""
    return 0.5 * np.abs(np.subtract(p, q)).sum(axis=-1)


def likelihood_rows(rows: Any, counts: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Check rows (groups, K), P(y | x) up to a factor for each response or group, and how often each occurs."""
    table = door.finite_array("rows", rows)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] < 2:
        raise ValueError(f"rows must be a table of at least one response and two categories, got shape {table.shape}")
    if table.min() < 0 or (table.sum(axis=1) <= 0).any():
        raise ValueError(f"rows must be probabilities, none all zero, got {table[(table <= 0).any(axis=1)][:1]!r}")
    if counts is None:
        return table, np.ones(len(table), dtype=np.int64)
    numbers = door.integer_array("counts", counts)
    if numbers.shape != (len(table),) or (numbers < 0).any() or numbers.sum() == 0:
        raise ValueError(f"counts must be one number >= 0 for each of the {len(table)} rows, got {counts!r}")
    return table, numbers


def grouped(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """The different rows among responses, and how often each occurs: what Gibbs and EM then work on."""
    table, _ = likelihood_rows(rows)
    return np.unique(table, axis=0, return_counts=True)


def maximum_likelihood(
    rows: Any, counts: Any = None, *, prior: float = 1.0, tolerance: float = 1e-6, most: int = 5_000
) -> np.ndarray:
    """argmax over the simplex of sum_i counts_i ln(rows_i theta) + (prior - 1) sum ln theta, by EM.

    One step gives every response to the categories in the proportion row theta (the iterative Bayesian update), and
    counts. With prior > 1 it is the mode of the posterior; with prior < 1 there is none inside the simplex, and it is
    refused. EM is slow where little is told, so its steps are extrapolated (SQUAREM, Varadhan & Roland 2008), and an
    extrapolation that lowers the likelihood is dropped. Ends when a step moves theta by less than ``tolerance`` in
    total variation relative to how fast steps shrink, or after ``most`` steps.
    """
    rows, numbers = likelihood_rows(rows, counts)
    if door.positive("prior", prior) < 1:
        raise ValueError(f"prior must be >= 1 for a mode inside the simplex, got {prior!r}")
    extra = prior - 1

    def step(theta: np.ndarray) -> np.ndarray:
        moved = theta * ((numbers / (rows @ theta)) @ rows) + extra
        return moved / moved.sum()

    def height(theta: np.ndarray) -> float:
        with np.errstate(divide="ignore"):
            value = numbers @ np.log(rows @ theta)
            return float(value + extra * np.log(theta).sum() if extra else value)

    theta = np.full(rows.shape[1], 1 / rows.shape[1])
    for _ in range(0, most, 3):
        one = step(theta)
        two = step(one)
        first, bend = one - theta, (two - one) - (one - theta)
        length = np.sqrt((first @ first) / max(bend @ bend, 1e-300))
        if total_variation(two, one) * max(length, 1.0) < tolerance:
            return two
        far = theta + 2 * length * first + length**2 * bend
        # A step to the very edge could never leave it again: stay a little inside.
        far = np.maximum(far, 1e-3 * two)
        far = step(far / far.sum())
        theta = far if height(far) >= height(two) else two
    return theta


def to_simplex(values: Any) -> np.ndarray:
    """The nearest point of the simplex (Euclidean) to each row: subtract a level, cut at 0 (Held et al. 1974)."""
    points = door.finite_array("values", values)
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
    table = door.finite_array("matrix", matrix)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or np.linalg.matrix_rank(table) < len(table):
        raise ValueError(f"matrix must be square and invertible, got {matrix!r}")
    answers = door.integer_array("reports", reports).ravel()
    if answers.size == 0 or answers.min() < 0 or answers.max() >= len(table):
        raise ValueError(f"reports must be some of the categories 0..{len(table) - 1}, got {reports!r}")
    return np.linalg.solve(table.T, np.bincount(answers, minlength=len(table)) / answers.size)
