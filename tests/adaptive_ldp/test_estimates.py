"""Point estimates against brute force over a grid, against the conditions of optimality, and against exact moments."""

import numpy as np
import pytest

from dpcourse.adaptive_ldp import RestrictedResponse
from dpcourse.adaptive_ldp.estimates import grouped, inverted, maximum_likelihood, to_simplex, total_variation


def simplex_grid(cells=300):
    a, b = np.meshgrid(*[np.arange(cells + 1) / cells] * 2, indexing="ij")
    keep = a + b <= 1 + 1e-12
    return np.stack([a[keep], b[keep], np.maximum(1 - a[keep] - b[keep], 0)], axis=1)


@pytest.mark.parametrize("shares", [(0.6, 0.3, 0.1), (1.0, 0.0, 0.0), (0.2, 0.2, 0.6)])
@pytest.mark.parametrize("prior", [1.0, 3.0])
def test_em_finds_the_highest_point(shares, prior):
    mechanism = RestrictedResponse(3, (0,), epsilon=1.0)
    reports = np.random.default_rng(1).choice(3, 80, p=np.array(shares) @ mechanism.matrix)
    rows, counts = grouped(mechanism.matrix.T[reports])
    grid = simplex_grid()
    with np.errstate(divide="ignore"):
        heights = np.log(grid @ rows.T) @ counts + ((prior - 1) * np.log(grid).sum(axis=1) if prior > 1 else 0)
    assert total_variation(maximum_likelihood(rows, counts, prior=prior), grid[heights.argmax()]) < 2 / 300


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
def test_em_meets_the_conditions_of_a_maximum(epsilon):
    """At the maximum sum_i counts_i rows_i[x] / (rows_i theta) = n where theta_x > 0, and <= n elsewhere."""
    rng, mechanism = np.random.default_rng(2), RestrictedResponse(20, (0, 1, 2), epsilon=epsilon)
    people = rng.choice(20, 10_000, p=rng.dirichlet(np.full(20, 0.3)))
    rows, counts = grouped(mechanism.matrix.T[mechanism.release(people, rng=rng)])
    theta = maximum_likelihood(rows, counts)
    slope = (counts / (rows @ theta)) @ rows / counts.sum()
    assert theta.sum() == pytest.approx(1)
    assert slope.max() < 1 + 1e-9
    assert theta @ np.abs(slope - 1) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_any_likelihood_is_climbed_to_its_top(seed):
    """Zeros, peaks of fifty orders of magnitude, few or many responses: no slope is left that leads up."""
    rng = np.random.default_rng(seed)
    for _ in range(15):
        k, prior = int(rng.integers(2, 30)), float(rng.choice([1, 2, 1.001]))
        rows = rng.random((int(rng.integers(1, 60)), k)) ** float(rng.choice([1, 10, 50]))
        rows[rng.random(rows.shape) < rng.choice([0, 0.5])] = 0
        rows[:, 0] += 1e-6
        counts = rng.integers(1, 10 ** int(rng.integers(1, 9)), len(rows))
        theta, total = maximum_likelihood(rows, counts, prior=prior), counts.sum() + (prior - 1) * k
        slope = (counts / (rows @ theta)) @ rows - total + (0 if prior == 1 else (prior - 1) / theta)
        assert theta.min() >= 0
        assert theta.sum() == pytest.approx(1, abs=1e-9)
        assert slope.max() <= 1.01 * max(1e-8, 1e-13 * total), (k, prior, len(rows))


def test_grouping_changes_nothing():
    rows = np.repeat([[0.7, 0.2, 0.1], [0.2, 0.3, 0.5]], [5, 3], axis=0)
    table, counts = grouped(rows)
    assert sorted(counts) == [3, 5]
    np.testing.assert_allclose(maximum_likelihood(table, counts), maximum_likelihood(rows), atol=1e-5)


def test_the_projection_is_the_nearest_point():
    grid = simplex_grid()
    for point in np.random.default_rng(3).normal(0.3, 0.6, (40, 3)):
        nearest = to_simplex(point)
        assert nearest.min() >= 0
        assert nearest.sum() == pytest.approx(1)
        best = ((grid - point) ** 2).sum(axis=1).min()
        assert ((nearest - point) ** 2).sum() <= best + 1e-12
    np.testing.assert_allclose(to_simplex([[0.2, 0.8], [2.0, 0.0]]), [[0.2, 0.8], [1, 0]])


def test_inversion_undoes_the_matrix():
    mechanism = RestrictedResponse(3, (2,), epsilon=2.0)
    reports = np.repeat([0, 1, 2], [50, 30, 20])
    theta = inverted(reports, mechanism.matrix)
    np.testing.assert_allclose(theta @ mechanism.matrix, [0.5, 0.3, 0.2])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: inverted([0, 1], np.full((2, 2), 0.5)), "invertible"),
        (lambda: inverted([0, 5], np.eye(2)), "0..1"),
        (lambda: maximum_likelihood([[0.5, 0.5]], prior=0.5), "0.5"),
        (lambda: maximum_likelihood([[0.5, -0.5]]), "-0.5"),
        (lambda: maximum_likelihood([[0.5, 0.5]], [1, 2]), "counts"),
        (lambda: maximum_likelihood([]), "rows"),
    ],
)
def test_bad_input_is_quoted(call, words):
    with pytest.raises(ValueError, match=words):
        call()
