"""Choosing S: against a search over the sizes one by one, ties and all."""

import math

import numpy as np
import pytest

from dpcourse.adaptive_ldp import (
    UTILITIES,
    best_subset,
    best_subset_sizes,
    best_subsets,
    semi_adaptive_sizes,
    semi_adaptive_subset,
    semi_adaptive_subsets,
    utilities,
)

THETAS = np.random.default_rng(1).dirichlet(np.full(7, 0.5), size=40)


def descending(theta):
    """Categories from the most probable on; of equal ones the smaller label first."""
    return sorted(range(len(theta)), key=lambda category: (-theta[category], category))


@pytest.mark.parametrize("name", list(UTILITIES))
@pytest.mark.parametrize(("epsilon", "first"), [(0.5, 0.4), (1, None), (5, 4.5)])
def test_the_best_subset_has_the_largest_utility(name, epsilon, first):
    sizes = best_subset_sizes(THETAS, epsilon, first, name)
    marks = best_subsets(THETAS, epsilon, first, name)
    for theta, size, mark in zip(THETAS, sizes, marks, strict=True):
        values = utilities(theta, epsilon, first, name).tolist()
        assert values[size] >= max(values) - 1e-9 * abs(max(values))
        chosen = best_subset(theta, epsilon, first, name)
        assert chosen == tuple(descending(theta)[: len(chosen)])
        assert len(chosen) == size
        assert sorted(chosen) == np.flatnonzero(mark).tolist()


def test_the_sizes_really_vary():
    """Otherwise the test above could be passed by a constant."""
    sizes = best_subset_sizes(THETAS, 1, 0.8, "honest")
    assert len(set(sizes.tolist())) >= 3


def test_a_singular_information_is_never_the_best():
    sizes = best_subset_sizes(THETAS, 1, 1, "fisher")  # eps1 = eps: only the empty subset, or all but one
    assert set(sizes.tolist()) <= {0, 6}


def test_equal_probabilities_are_taken_by_label():
    theta = np.array([0.1, 0.3, 0.1, 0.3, 0.1, 0.1])
    assert semi_adaptive_subset(theta, 0.75) == (1, 3, 0, 2)
    assert best_subset(theta, 5, 4.5, "honest") == tuple([1, 3, 0, 2, 4, 5][: len(best_subset(theta, 5, 4.5))])
    many = np.tile([1.0, 2.0, 3.0], 200) / 1_200  # long enough for an unstable sort to mix them up
    assert semi_adaptive_subset(many, 0.9) == tuple(descending(many)[: len(semi_adaptive_subset(many, 0.9))])


def test_of_equally_good_sizes_the_smallest():
    """Two categories: with all of eps1 on one of them RRRR is SRR, as it is with an empty subset."""
    assert best_subset([0.5, 0.5], 1, 1, "honest") == ()


@pytest.mark.parametrize("alpha", [0, 0.3, 0.8, 0.9, 0.95, 0.999, 1])
def test_the_semi_adaptive_subset_is_the_smallest_that_reaches_alpha(alpha):
    sizes, marks = semi_adaptive_sizes(THETAS, alpha), semi_adaptive_subsets(THETAS, alpha)
    for theta, size, mark in zip(THETAS, sizes, marks, strict=True):
        ranked = descending(theta)
        enough = [s for s in range(7) if math.fsum(theta[ranked[:s]]) >= alpha - 1e-12]
        assert size == min([*enough, 6])
        assert semi_adaptive_subset(theta, alpha) == tuple(ranked[:size])
        assert np.flatnonzero(mark).tolist() == sorted(ranked[:size])


def test_sums_that_floats_miss_by_a_hair_reach_alpha():
    theta = [0.7, 0.1, 0.1, 0.05, 0.05]
    assert 0.7 + 0.1 + 0.1 < 0.9
    assert semi_adaptive_subset(theta, 0.9) == (0, 1, 2)
    assert semi_adaptive_subset([0.8, 0.05, 0.05, 0.05, 0.05], 0.8) == (0,)
    assert semi_adaptive_subset([0.25] * 4, 1) == (0, 1, 2)  # never all of them


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan, "0.5", None])
def test_a_bad_alpha_is_quoted(alpha):
    with pytest.raises((ValueError, TypeError), match="alpha"):
        semi_adaptive_subset([0.5, 0.5], alpha)


def test_a_bad_theta_is_quoted():
    for call in (best_subset, best_subset_sizes, best_subsets):
        with pytest.raises(ValueError, match=r"1\.25"):
            call([0.5, 0.75], 1)
    for call in (semi_adaptive_subset, semi_adaptive_sizes):
        with pytest.raises(ValueError, match=r"-0\.5"):
            call([1.5, -0.5], 0.9)
