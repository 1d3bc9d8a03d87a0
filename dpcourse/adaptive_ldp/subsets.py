"""Which subset S RRRR should use: the best of the sizes 0..K-1, or the smallest that holds enough probability.

S is always the most probable categories of theta; equal probabilities are taken in the order of their labels, and of
equally good sizes the smallest. (The sizes 0 and K-1 are both SRR; where that is the best, rounding may choose K-1.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.utilities import Ranked, probability_rows, values


def best_subset_sizes(thetas: Any, epsilon: float, first: Any = None, utility: str = "honest") -> np.ndarray:
    """k* = argmax over 0..K-1 of the utility, for each row of thetas (an (R, K) array)."""
    return _best(probability_rows("thetas", thetas), epsilon, first, utility)[0]


def best_subsets(thetas: Any, epsilon: float, first: Any = None, utility: str = "honest") -> np.ndarray:
    """The best subset for each row of thetas: an (R, K) array that is True where a category is in S."""
    return _marked(*_best(probability_rows("thetas", thetas), epsilon, first, utility))


def best_subset(theta: Any, epsilon: float, first: Any = None, utility: str = "honest") -> tuple[int, ...]:
    """The categories of the best subset for one theta, most probable first."""
    sizes, order = _best(checks.probability_vector("theta", theta, tolerance=1e-6)[None, :], epsilon, first, utility)
    return tuple(order[0, : sizes[0]].tolist())


def semi_adaptive_sizes(thetas: Any, alpha: float) -> np.ndarray:
    """For each row: the smallest size whose cumulative probability reaches ``alpha``, at most K-1."""
    return _reaching(probability_rows("thetas", thetas), alpha)[0]


def semi_adaptive_subsets(thetas: Any, alpha: float) -> np.ndarray:
    """The semi-adaptive subset for each row of thetas: an (R, K) array that is True where a category is in S."""
    return _marked(*_reaching(probability_rows("thetas", thetas), alpha))


def semi_adaptive_subset(theta: Any, alpha: float) -> tuple[int, ...]:
    """The categories of the semi-adaptive subset for one theta, most probable first."""
    sizes, order = _reaching(checks.probability_vector("theta", theta, tolerance=1e-6)[None, :], alpha)
    return tuple(order[0, : sizes[0]].tolist())


def _best(rows: np.ndarray, epsilon: float, first: Any, utility: str) -> tuple[np.ndarray, np.ndarray]:
    ranked = Ranked(rows)
    return values(ranked, epsilon, first, utility).argmax(axis=0), ranked.order


def _reaching(rows: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    alpha, ranked = checks.probability("alpha", alpha), Ranked(rows)
    # .7 + .1 + .1 is to reach .9, though its float is a little less.
    short = ranked.inside < alpha - 1e-12
    return np.minimum(short.sum(axis=0), rows.shape[1] - 1), ranked.order


def _marked(sizes: np.ndarray, order: np.ndarray) -> np.ndarray:
    marks = np.zeros(order.shape, dtype=bool)
    np.put_along_axis(marks, order, np.arange(order.shape[1]) < sizes[:, None], axis=1)
    return marks
