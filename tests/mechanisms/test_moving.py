"""The sampler behind every response on categories: its table against exact fractions, its draws against the matrix."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpcourse import KaryResponse
from dpcourse.mechanisms.category_sampling import CROWD, _piece, _steps, _table, moved

CASES = [(2, 0.3), (3, 1 / 3), (20, 0.045), (20, 1e-4), (7, 1e-9), (300, 0.003), (40_000, 2e-5)]


@pytest.mark.parametrize(("k", "other"), CASES)
def test_the_table_settles_only_what_is_certain(k, other):
    """Exactly: a cell of 2^-16 stands for one step if it lies within that step's piece, and else is left open."""
    table, cells, piece = _table(k, other), 1 << 16, Fraction(other)
    steps = np.unique(table)
    for step in steps[:60].tolist() + steps[-60:].tolist():
        found = np.flatnonzero(table == step).tolist()
        if step == k:  # left open: a cut j * other, with j in 1..k-1, runs through each of these
            after = [found_cell // (piece * cells) + 1 for found_cell in found]
            assert all(j < k and j * piece * cells < cell + 1 for j, cell in zip(after, found, strict=True))
            continue
        low, high = (piece * (step - 1), piece * step) if step else (piece * (k - 1), Fraction(1))
        slack = Fraction(1, 10**15)  # of the division by `other` in floats
        assert low - slack <= Fraction(found[0], cells)
        assert Fraction(found[-1] + 1, cells) <= high + slack
        assert len(found) == found[-1] - found[0] + 1
    assert np.count_nonzero(table == k) <= k - 1


def test_positions_next_to_a_cut_fall_on_their_side():
    other, k = 0.05, 9
    cut = other * 3 * (1 << 16)
    assert _piece(np.array([cut - 1e-6, cut + 1e-6]), k, other).tolist() == [3, 4]
    end = other * (k - 1) * (1 << 16)
    assert _piece(np.array([0.0, end - 1e-6, end + 1e-6, 65535.9]), k, other).tolist() == [1, k - 1, 0, 0]


@pytest.mark.parametrize("size", [1_000, 400_000], ids=["a small crowd", "by the table"])
@pytest.mark.parametrize(("k", "epsilon"), [(2, 0.1), (5, 1), (20, 3), (300, 4)])
def test_draws_fit_the_probabilities(k, epsilon, size):
    """A chi-square test of 400,000 reports at level 1e-6: so often a right sampler would fail on a new seed.

    It notices with probability .99 any one probability of 0.05 that is off by 0.003.
    """
    response, rng = KaryResponse(epsilon=epsilon, k=k), np.random.default_rng(20_261_116)
    reports = np.concatenate([response.release(np.ones(size, dtype=int), rng=rng) for _ in range(400_000 // size)])
    expected = response.matrix[1]
    counts = np.bincount(reports, minlength=k)
    assert stats.chisquare(counts, expected / expected.sum() * reports.size).pvalue > 1e-6


def test_every_person_is_moved_round_the_circle_from_their_own_category():
    rng, k = np.random.default_rng(5), 200  # 2 k does not fit into 8 bits
    categories = np.arange(CROWD) % k
    steps = _steps(categories.shape, k, 0.004, np.random.default_rng(5))
    assert np.array_equal(moved(categories, k, 0.004, rng), (categories + steps) % k)
    assert moved(np.array(3), 5, 0.1, rng).shape == ()
    assert moved(np.zeros(3, dtype=int), 1, 0.1, rng).tolist() == [0, 0, 0]  # nowhere to go


@pytest.mark.parametrize("epsilon", [40, 800, 1e5])
def test_a_huge_epsilon_is_no_division_by_zero(epsilon):
    categories = np.arange(2 * CROWD) % 7
    assert np.array_equal(KaryResponse(epsilon=epsilon, k=7).release(categories, rng=1), categories)


def test_integers_of_any_width_are_welcome_and_bounds_are_kept():
    response = KaryResponse(epsilon=50, k=4)
    for kind in (np.uint8, np.int16, np.uint64, float, bool):
        assert response.release(np.array([0, 1], dtype=kind), rng=1).tolist() == [0, 1]
    for bad in (np.array([4]), np.array([-1]), np.array([2**63], dtype=np.uint64), np.array([-(2**63)])):
        with pytest.raises(ValueError, match="data must"):
            response.release(bad, rng=1)
