"""Langevin against its formula, against derivatives, and against the exact sampler; the sampler against quadrature."""

import copy
import math

import numpy as np
import pytest

from dpcourse.adaptive_ldp import RestrictedResponse
from dpcourse.adaptive_ldp.estimates import grouped, total_variation
from dpcourse.adaptive_ldp.gibbs import gibbs
from dpcourse.adaptive_ldp.langevin import Langevin, chi_square, langevin_step
from dpcourse.mechanisms import KaryResponse


def some_rows(n=11, k=5, seed=0):
    return np.random.default_rng(seed).uniform(0.1, 1, (n, k))


def log_posterior(phi, rows, prior):
    theta = phi / phi.sum()
    return ((prior - 1) * np.log(phi) - phi).sum() + np.log(rows @ theta).sum()


@pytest.mark.parametrize("prior", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("plain", [False, True])
def test_the_drift_is_the_gradient_of_the_log_posterior(prior, plain):
    rows, phi, gamma, h = some_rows(), np.array([0.3, 1.0, 2.0, 0.7, 0.1]), 1e-6, 1e-5
    slope = np.array([
        (log_posterior(phi + h * e, rows, prior) - log_posterior(phi - h * e, rows, prior)) / (2 * h)
        for e in np.eye(5)
    ])  # fmt: skip
    # In the metric diag(phi) the drift is phi * gradient + the derivative of phi, which is 1.
    expected = slope if plain else phi * slope + 1
    moved = langevin_step(phi, rows, len(rows), prior, gamma, np.zeros(5), plain)
    np.testing.assert_allclose((moved - phi) / (gamma / 2), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("prior", [1.0, 0.5])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("count", [3, 4, 11])
def test_the_batch_does_what_the_formula_says(prior, plain, count):
    chains = Langevin(3, 5, information=0.1, prior=prior, minibatch=4, plain=plain, step=0.3, rng=1)
    for seed in range(count):
        chains.add(some_rows(3, seed=seed))
    rng, phi = copy.deepcopy(chains.rng), chains.phi.astype(float)
    places, noise = rng.integers(0, count, 7), rng.standard_normal((7, 3, 5), dtype=np.float32).astype(float)
    chains.update(7)
    for place, shake in zip(places, noise, strict=True):
        block = slice(place // 4 * 4, min(place // 4 * 4 + 4, count))
        phi = np.array([
            langevin_step(p, rows[block], count, prior, chains.gamma, w, plain)
            for p, rows, w in zip(phi, chains.rows.astype(float), shake, strict=True)
        ])  # fmt: skip
    np.testing.assert_allclose(chains.phi, phi, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("count", [3, 8, 11])
def test_minibatches_are_unbiased(count):
    """Over all places that may be drawn, the mean move is that of all responses together."""
    chains = Langevin(1, 5, information=0.1, minibatch=4, step=1e-2, rng=1)
    chains.fill(some_rows(count))
    start, moves = chains.phi.copy(), []
    for place in range(count):
        chains.phi = start.copy()
        chains._move(np.array([place]), np.zeros((1, 1, 5), np.float32), None)
        moves.append(chains.phi[0].astype(float))
    whole = langevin_step(start[0].astype(float), some_rows(count), count, 1.0, chains.gamma, np.zeros(5))
    np.testing.assert_allclose(np.mean(moves, axis=0) - start[0], whole - start[0], rtol=1e-2, atol=1e-7)


def test_responses_are_kept_and_shuffled():
    chains = Langevin(2, 3, information=0.1, minibatch=4, rng=1)
    given = np.arange(1, 61, dtype=float).reshape(10, 2, 3)
    for rows in given:
        chains.add(rows)
    for run in range(2):
        kept = chains.rows[run]
        assert sorted(kept[:, 0]) == sorted(given[:, run, 0])
        assert list(kept[:, 0]) != list(given[:, run, 0])
    other = Langevin(2, 3, information=0.1, minibatch=4, rng=2)
    other.restore(chains.rows, chains.phi)
    np.testing.assert_array_equal(other.rows, chains.rows)


def test_chi_square_is_that_of_the_matrix():
    matrix = KaryResponse(epsilon=0.7, k=6).matrix
    assert chi_square(6, 0.7) == pytest.approx((6 * matrix[0] ** 2).sum() - 1)


def quadrature(rows, prior, cells=400):
    """The posterior mean for K = 3 by a sum over a fine grid of the simplex: no sampling, no augmentation."""
    a, b = np.meshgrid(*[(np.arange(cells) + 0.5) / cells] * 2, indexing="ij")
    inside = a + b < 1
    theta = np.stack([a[inside], b[inside], 1 - a[inside] - b[inside]], axis=1)
    log = np.log(theta @ rows.T).sum(axis=1) + (prior - 1) * np.log(theta).sum(axis=1)
    weight = np.exp(log - log.max())
    return weight @ theta / weight.sum()


@pytest.mark.parametrize("subset", [(), (1,), (0, 2)])
@pytest.mark.parametrize("prior", [1.0, 2.5])
def test_gibbs_is_exact(subset, prior):
    """Against quadrature, 60 responses. 40 x 1500 sweeps: a mean errs by about .001 (sd), so .008 fails by chance in
    fewer than 1e-6 of seeds; a sampler with prior 2.5 for 1 is off by .1."""
    mechanism = RestrictedResponse(3, subset, epsilon=1.5)
    reports = np.random.default_rng(5).choice(3, 60, p=[0.6, 0.3, 0.1])
    rows = mechanism.matrix.T[reports]
    found = gibbs(*grouped(rows), prior=prior, chains=40, sweeps=1500, burn=100, rng=1).mean(axis=(0, 1))
    assert total_variation(found, quadrature(rows, prior)) < 0.008


@pytest.mark.parametrize("rho", [1.0, 0.1])
def test_langevin_agrees_with_gibbs(rho):
    """The promise: posterior means within .02 in total variation, K = 20, 10,000 SRR responses, epsilon 1.

    Seeds fixed; ten others gave .006 to .011, half of it the exact sampler's own error. After as many updates the
    talk's step 0.5/n is off by .1 and more. Noise gamma W for sqrt(gamma) W moves the mean by only .02, but leaves
    .44 of the variance; the right noise, with what minibatches add, gave 1.23 to 1.51.
    """
    rng, mechanism = np.random.default_rng(7), KaryResponse(epsilon=1.0, k=20)
    people = rng.choice(20, 10_000, p=rng.dirichlet(np.full(20, rho)))
    rows = mechanism.matrix.T[mechanism.release(people, rng=rng)]
    exact = gibbs(*grouped(rows), chains=40, sweeps=6_000, burn=600, rng=rng)
    chains = Langevin(50, 20, information=chi_square(20, 1.0), rng=rng)
    chains.fill(rows)
    assert total_variation(chains.mean(8_000, burn=3_000).mean(axis=0), exact.mean(axis=(0, 1))) < 0.02
    assert 0.8 < chains.theta.var(axis=0).sum() / exact.var(axis=(0, 1)).sum() < 2


def test_bad_arguments_are_quoted():
    with pytest.raises(ValueError, match=r"prior.*-1"):
        Langevin(2, 3, information=0.1, prior=-1)
    with pytest.raises(ValueError, match=r"shape \(2, 3\), got \(3, 3\)"):
        Langevin(2, 3, information=0.1).add(np.ones((3, 3)))
    with pytest.raises(ValueError, match="no response"):
        Langevin(2, 3, information=0.1).update(1)
    with pytest.raises(ValueError, match="counts"):
        gibbs([[0.5, 0.5]], [-1])
    assert math.isclose(Langevin(1, 3, information=0.1, step=0.5).gamma, 0.5)
