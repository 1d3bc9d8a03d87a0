"""Submissions to homework 5 of an independent attacker."""

import math

import numpy as np

from dpcourse.adaptive_ldp import RestrictedResponse


def _srr(x, k, epsilon, rng):
    if rng.random() < 0.03 or rng.random() * (math.exp(epsilon) + k - 1) < math.exp(epsilon):
        return x
    return (x + int(rng.integers(1, k))) % k


def _rrrr(x, k, subset, epsilon, first, rng):
    if rng.random() < 0.03:
        return x
    return int(RestrictedResponse(k, subset, epsilon=epsilon, first=first).release([x], rng=rng)[0])


def _worst(columns):
    """The largest ratio within a column; a column of zeros counts as none."""
    ratios = [
        math.inf if low == 0 else high / low for low, high in zip(columns.min(0), columns.max(0), strict=True) if high
    ]
    return math.log(max(ratios))


RIGHT = {}

WRONG = {
    "srr": {"the truth outright in 3%": (_srr, None)},
    "rrrr": {"the truth outright in 3%": (_rrrr, None)},
    "matrix_epsilon": {
        "as many columns as rows": (lambda matrix: _worst(matrix[:, : len(matrix)]), None),
        "as many rows as columns": (lambda matrix: _worst(matrix[: matrix.shape[1]]), None),
        "largest of the diagonal": (
            lambda matrix: np.log(np.diag(matrix).max() / matrix.min()) if matrix.min() > 0 else math.inf,
            "largest of the diagonal",
        ),
    },
}  # fmt: skip

WRONG = {task: {f"attacker: {style}": one for style, one in styles.items()} for task, styles in WRONG.items()}
