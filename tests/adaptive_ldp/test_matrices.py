"""The true epsilon of any matrix against brute force, and what the published code's matrix really promises."""

import itertools
import math

import numpy as np
import pytest

from dpcourse import KaryResponse, RandomizedResponse
from dpcourse.adaptive_ldp import (
    RestrictedResponse,
    published_matrix,
    published_second_epsilon,
    restricted_matrix,
    true_epsilon,
)


def brute_force(matrix):
    """The largest log ratio over all x, x', y, one by one."""
    worst = 0.0
    for x, other in itertools.product(range(len(matrix)), repeat=2):
        for p, q in zip(matrix[x], matrix[other], strict=True):
            if p > 0:
                worst = max(worst, math.log(p / q) if q > 0 else math.inf)
    return worst


def random_matrices(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        rows, reports = rng.integers(1, 7), rng.integers(1, 7)
        matrix = rng.dirichlet(np.full(reports, 2.0), size=rows)
        if rng.random() < 0.4:  # zeros: some in one row only, some in a whole column
            matrix[rng.integers(rows), rng.integers(reports)] = 0
            if reports > 1 and rng.random() < 0.5:
                matrix[:, rng.integers(reports)] = 0
            matrix += np.where(matrix.sum(axis=1, keepdims=True) == 0, np.eye(1, reports), 0)
            matrix /= matrix.sum(axis=1, keepdims=True)
        yield matrix


def test_true_epsilon_is_the_largest_log_ratio_and_names_a_pair_that_attains_it():
    infinite = finite = 0
    for matrix in random_matrices(500, seed=1):
        epsilon, (x, other, y) = true_epsilon(matrix)
        assert epsilon == pytest.approx(brute_force(matrix), rel=1e-12, abs=1e-14)
        p, q = matrix[x, y], matrix[other, y]
        if math.isinf(epsilon):
            infinite += 1
            assert (p > 0, q) == (True, 0)
        else:
            finite += 1
            assert math.log(p / q) == pytest.approx(epsilon, rel=1e-12, abs=1e-14)
    assert min(infinite, finite) > 50


def test_matrices_whose_epsilon_is_known():
    assert true_epsilon(KaryResponse(epsilon=1.7, k=9).matrix)[0] == pytest.approx(1.7, rel=1e-12)
    wasteful = RandomizedResponse(epsilon=1, attempt="first")
    assert true_epsilon(wasteful.matrix)[0] == pytest.approx(math.log(2), rel=1e-12)
    assert true_epsilon(np.full((4, 3), 1 / 3)) == (0.0, (0, 0, 0))
    assert true_epsilon(np.eye(3))[0] == math.inf
    assert true_epsilon([[1, 0], [1, 0]])[0] == 0  # the second report never comes: 0/0 tells nothing
    assert true_epsilon([[1]]) == (0.0, (0, 0, 0))


@pytest.mark.parametrize(
    ("bad", "quoted"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], r"0\.9 for row 0: \[0\.5, 0\.4\]"),
        ([[0.5, 0.5], [1.5, -0.5]], r"1\.5 in row 1, column 0"),
        ([[0.5, math.nan]], "nan"),
        ([0.5, 0.5], r"\[0\.5, 0\.5\]"),
        ([[]], r"\[\[\]\]"),
        ([["a"]], "'a'"),
        (None, "None"),
    ],
)
def test_what_is_no_transition_matrix_is_quoted(bad, quoted):
    with pytest.raises((ValueError, TypeError), match=quoted):
        true_epsilon(bad)


def test_the_published_matrix_breaks_its_promise():
    """ERRATA's figure: K = 20, eps = 1, eps1 = .8, and the largest of all subset sizes is 1.713."""
    true = [true_epsilon(published_matrix(20, range(size), 1, 0.8))[0] for size in range(20)]
    assert max(true) == pytest.approx(1.713, abs=5e-4)
    assert int(np.argmax(true)) == 1
    assert sum(epsilon > 1 + 1e-9 for epsilon in true) == 18  # all but none, and all but one, of the categories
    kept = [true_epsilon(RestrictedResponse(20, range(size), epsilon=1, first=0.8).matrix)[0] for size in range(20)]
    assert max(kept) == pytest.approx(1, rel=1e-12)


def test_the_published_eps2_written_out():
    """(m - 1) / (m e^(eps1 - eps) - 1) with m = |S|, cut at epsilon, and epsilon where e^(eps - eps1) >= m."""
    assert published_second_epsilon(1, 0.8, 4) == 1  # 3 / (4 e^-.2 - 1) = 1.32: the cut
    assert published_second_epsilon(3, 2.9, 6) == pytest.approx(5 / (6 * math.exp(-0.1) - 1))
    assert published_second_epsilon(1, 0.8, 1) == published_second_epsilon(1, 0.8, 0) == 1
    matrix = published_matrix(8, [0, 1, 2], 3, 2.9)
    expected = restricted_matrix(8, [0, 1, 2], 2.9, min(3, 2 / (3 * math.exp(-0.1) - 1)))
    assert np.array_equal(matrix, expected)


def test_any_two_budgets_make_a_matrix():
    matrix = restricted_matrix(4, [2], first=0.5, second=0)
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    with pytest.raises(ValueError, match="second"):
        restricted_matrix(4, [2], first=0.5, second=-1)
    with pytest.raises(ValueError, match="subset"):
        restricted_matrix(4, [0, 1, 2, 3], first=0.5, second=1)
