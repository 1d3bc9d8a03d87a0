"""What a transition matrix really promises: the smallest epsilon that is true of it, and who attains it.

A matrix has a row for each true category x and a column for each report y, P(y | x). It is epsilon-LDP when no two
entries of a column differ by more than the factor e^epsilon (Kasiviswanathan et al. 2011, Definition 2.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.rrrr import RestrictedResponse

#: A row may miss 1 by this much: what sums of rounded probabilities do.
ROUNDING = 1e-9


def transition_matrix(name: str, value: Any) -> np.ndarray:
    """A row-stochastic matrix, checked: at least one row, entries in [0, 1], every row sums to 1."""
    matrix = checks.finite_array(name, value)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"{name} must have a row for each true category and a column for each report, got {value!r}")
    outside = (matrix < 0) | (matrix > 1 + ROUNDING)
    if outside.any():
        x, y = np.argwhere(outside)[0].tolist()
        raise ValueError(f"{name} must consist of probabilities, got {float(matrix[x, y])!r} in row {x}, column {y}")
    sums = matrix.sum(axis=1)
    wrong = np.abs(sums - 1) > ROUNDING
    if wrong.any():
        x = int(np.argmax(wrong))
        raise ValueError(f"every row of {name} must sum to 1, got {float(sums[x])!r} for row {x}: {matrix[x].tolist()}")
    return matrix


def true_epsilon(matrix: Any) -> tuple[float, tuple[int, int, int]]:
    """The smallest epsilon of a transition matrix, and (x, x', y) with ln(P(y | x) / P(y | x')) equal to it.

    A report that nobody ever gives (0/0) tells nothing and is left out; one that somebody gives and somebody else
    never does (p/0) is certainty: infinity. Reports need not be categories: the matrix may have any number of columns.
    """
    matrix = transition_matrix("matrix", matrix)
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    highest, lowest = logs.max(axis=0), logs.min(axis=0)
    with np.errstate(invalid="ignore"):
        losses = np.where(highest == -np.inf, -np.inf, highest - lowest)
    y = int(np.argmax(losses))
    return float(losses[y]), (int(np.argmax(logs[:, y])), int(np.argmin(logs[:, y])), y)


def naive_matrix(k: int, subset: Iterable[int], epsilon: float) -> np.ndarray:
    """The talk's naive idea: SRR within S for those in it, anything outside S, drawn uniformly, for the others.

    For the lecture: it is *not* private. A report outside S comes from nobody in S.
    """
    shape = RestrictedResponse(k, tuple(subset), epsilon=epsilon)  # checks k, subset and epsilon
    inside, outside = np.flatnonzero(shape.member), np.flatnonzero(~shape.member)
    matrix = np.zeros((shape.k, shape.k))
    truth = 1 / (1 + (len(inside) - 1) * math.exp(-shape.epsilon))
    matrix[np.ix_(inside, inside)] = truth * math.exp(-shape.epsilon)
    matrix[inside, inside] = truth
    matrix[np.ix_(outside, outside)] = 1 / len(outside)
    return matrix


def restricted_matrix(k: int, subset: Iterable[int], first: float, second: float) -> np.ndarray:
    """The matrix of RRRR on 0..k-1 for *any* two budgets eps1 and eps2, whatever epsilon comes of them.

    Straight from the algorithm: the law of the extra category R for each x, then SRR on S + {R}.
    """
    shape = RestrictedResponse(k, tuple(subset), epsilon=checks.positive("first", first))  # checks k and subset
    second, member = checks.non_negative("second", second), shape.member
    inside, outside = np.flatnonzero(member), np.flatnonzero(~member)
    lie, n = math.exp(-second), len(outside)
    extra = np.zeros((shape.k, shape.k))  # Pr(R = r | x)
    extra[np.ix_(inside, outside)] = 1 / n
    extra[np.ix_(outside, outside)] = lie / (1 + (n - 1) * lie)
    extra[outside, outside] = 1 / (1 + (n - 1) * lie)
    truth = 1 / (1 + len(inside) * math.exp(-first))
    other = math.exp(-first) * truth
    matrix = (
        extra * np.where(member, other, truth)[:, None]
    )  # R is reported: a lie from inside, the answer from outside
    matrix[:, inside] = other
    matrix[inside, inside] = truth
    return matrix


def published_second_epsilon(epsilon: float, first: float, inside: int) -> float:
    """eps2 as the authors' published code has it, which is *wrong*: no logarithm, and |S| in place of |S^c|.

    min(eps, (m - 1) / (m e^(eps1 - eps) - 1)) with m = |S| where the slide has the logarithm of that and m = |S^c|.
    """
    epsilon, first = checks.positive("epsilon", epsilon), checks.positive("first", first)
    inside = checks.whole_number("inside", inside, at_least=0)
    below = inside * math.exp(first - epsilon) - 1
    return min(epsilon, (inside - 1) / below) if inside > 0 and below > 0 else epsilon


def published_matrix(k: int, subset: Iterable[int], epsilon: float, first: float) -> np.ndarray:
    """The matrix that the authors' published code uses for RRRR at a claimed epsilon: it is *not* epsilon-LDP.

    For the lecture. At K = 20, eps = 1, eps1 = .8 and one category in S its true epsilon is 1.713.
    """
    subset = tuple(subset)
    return restricted_matrix(k, subset, first, published_second_epsilon(epsilon, first, len(subset)))
