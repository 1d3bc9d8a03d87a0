"""The six utilities in closed form against brute force: the talk's definitions, summed over the matrix."""

import math

import numpy as np
import pytest

from dpcourse.adaptive_ldp import UTILITIES, RestrictedResponse, first_epsilons, utilities


def matrix_and_marginal(theta, size, epsilon, first):
    subset = np.argsort(-theta, kind="stable")[:size]
    matrix = RestrictedResponse(len(theta), subset, epsilon=epsilon, first=first).matrix
    return matrix, theta @ matrix


def information(theta, matrix):
    """F of (theta_0, ..., theta_(K-2)): E[score score^T], the scores by their definition d ln Pr(y) / d theta_i."""
    marginal = theta @ matrix
    scores = (matrix[:-1] - matrix[-1]) / marginal  # raising theta_i lowers theta_(K-1)
    return sum(q * np.outer(score, score) for q, score in zip(marginal, scores.T, strict=True))


def by_definition(name, theta, size, epsilon, first):
    matrix, q = matrix_and_marginal(theta, size, epsilon, first)
    k, posterior = len(theta), theta[:, None] * matrix / q
    if name == "fisher":
        return -np.trace(np.linalg.inv(information(theta, matrix)))
    if name == "entropy":
        return -sum(value * math.log(value) for value in q)
    if name == "tv_posterior":
        return sum(q[y] * np.abs(posterior[:, y] - theta).sum() / 2 for y in range(k))
    if name == "tv_marginal":
        return -np.abs(q - theta).sum() / 2
    if name == "honest":
        return sum(theta[x] * matrix[x, x] for x in range(k))
    errors = ((np.eye(k)[:, :, None] - posterior) ** 2).sum(axis=1)  # of e_x and the posterior mean, for x and y
    return -(theta[:, None] * matrix * errors).sum()


def settings(number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        k = int(rng.integers(2, 10))
        theta = rng.dirichlet(np.full(k, rng.choice([0.1, 1, 10])))
        if rng.random() < 0.2 and k > 2:
            theta[rng.integers(k)] = 0
            theta /= theta.sum()
        epsilon = float(rng.choice([0.1, 0.5, 1, 3, 6]))
        # A tenth of epsilon inside leaves so much outside that eps2 = eps and the columns' step is positive.
        yield theta, epsilon, float(rng.choice([0.1, 0.5, 0.8, 0.95]) * epsilon)


@pytest.mark.parametrize("name", list(UTILITIES))
def test_the_closed_form_is_the_definition(name):
    for theta, epsilon, first in settings(120, seed=1):
        expected = [by_definition(name, theta, size, epsilon, first) for size in range(len(theta))]
        np.testing.assert_allclose(utilities(theta, epsilon, first, name), expected, rtol=1e-8, atol=1e-12)


def test_both_signs_of_the_step_were_among_the_settings():
    """Without both, half of tv_posterior would go untested."""
    steps = []
    for theta, epsilon, first in settings(120, seed=1):
        for size in range(1, len(theta) - 1):
            steps.append(RestrictedResponse(len(theta), range(size), epsilon=epsilon, first=first).column(size)[1])
    assert min(np.mean(np.array(steps) > 0), np.mean(np.array(steps) < 0)) > 0.1


@pytest.mark.parametrize("name", list(UTILITIES))
def test_many_thetas_at_once_are_each_by_itself(name):
    thetas = np.random.default_rng(2).dirichlet(np.full(20, 0.3), size=50)
    together = utilities(thetas, 1, 0.8, name)
    assert together.shape == (50, 20)
    np.testing.assert_allclose(together, [utilities(theta, 1, 0.8, name) for theta in thetas], rtol=1e-10)


@pytest.mark.parametrize("name", [name for name in UTILITIES if name != "fisher"])
def test_labels_do_not_matter(name):
    rng = np.random.default_rng(3)
    theta = rng.dirichlet(np.ones(8))
    np.testing.assert_allclose(
        utilities(rng.permutation(theta), 1, 0.8, name), utilities(theta, 1, 0.8, name), rtol=1e-12
    )


def test_fisher_leaves_out_the_last_label_only():
    """Over the choices of the dependent category: K - 1 times the sum of all variances, which has no favourite."""
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    each = [utilities(np.roll(theta, shift), 1, 0.8, "fisher") for shift in range(4)]
    for size in range(4):
        matrix, q = matrix_and_marginal(theta, size, 1, 0.8)
        back = np.linalg.inv(matrix.T)
        variances = np.diag(back @ (np.diag(q) - np.outer(q, q)) @ back.T)
        assert sum(values[size] for values in each) == pytest.approx(-3 * variances.sum(), rel=1e-9)


def test_fisher_is_minus_infinity_where_the_information_is_singular():
    theta = np.array([0.5, 0.2, 0.2, 0.1])
    values = utilities(theta, 1, 1, "fisher")  # eps1 = eps: eps2 = 0 wherever S is not empty and n >= 2
    assert values[1] == values[2] == -np.inf
    assert np.isfinite(values[[0, 3]]).all()
    matrix, _ = matrix_and_marginal(theta, 2, 1, 1)
    assert np.linalg.matrix_rank(information(theta, matrix), tol=1e-12) < 3
    assert np.linalg.matrix_rank(information(theta, matrix_and_marginal(theta, 3, 1, 1)[0]), tol=1e-12) == 3


@pytest.mark.parametrize("name", list(UTILITIES))
@pytest.mark.parametrize("epsilon", [1e-6, 30, 2_000])
@pytest.mark.parametrize("theta", [[1, 0, 0, 0], [0.25] * 4, [0, 0.5, 0.5, 0]], ids=["sure", "even", "half"])
def test_extremes_give_numbers(name, epsilon, theta):
    values = utilities(theta, epsilon, None, name)
    assert values.shape == (4,)
    assert not np.isnan(values).any()


def test_what_the_utilities_must_be_at_no_and_at_full_privacy():
    theta = np.array([0.5, 0.25, 0.15, 0.1])
    assert utilities(theta, 200, None, "honest") == pytest.approx(1)
    assert utilities(theta, 200, None, "squared_error") == pytest.approx(0, abs=1e-12)
    assert utilities(theta, 200, None, "tv_marginal") == pytest.approx(0, abs=1e-12)
    assert utilities(theta, 200, None, "entropy") == pytest.approx(-(theta * np.log(theta)).sum())
    assert utilities(theta, 200, None, "fisher") == pytest.approx(-(theta * (1 - theta))[:3].sum())  # one open answer
    assert utilities(theta, 1e-9, None, "tv_posterior") == pytest.approx(0, abs=1e-8)
    assert utilities(theta, 1e-9, None, "squared_error")[0] == pytest.approx((theta**2).sum() - 1)


def test_one_eps1_for_each_size():
    theta, firsts = np.array([0.5, 0.3, 0.1, 0.1]), first_epsilons(4, 2, 0.9)
    each = [utilities(theta, 2, firsts[size], "honest")[size] for size in range(4)]
    assert utilities(theta, 2, firsts, "honest").tolist() == each
    assert utilities(theta, 2, None, "honest")[3] == each[3] == utilities(theta, 2, 2, "honest")[3]


def test_integers_lose_nothing():
    theta = np.array([0.6, 0.3, 0.1])
    for name in UTILITIES:
        assert np.array_equal(
            utilities(theta, np.array([3])[0], np.array([2])[0], name), utilities(theta, 3.0, 2.0, name)
        )


@pytest.mark.parametrize(
    ("arguments", "quoted"),
    [
        (([0.5, 0.6], 1), r"1\.1"),
        (([1.5, -0.5], 1), r"-0\.5"),
        (([1.0], 1), r"\[1\.0\]"),
        (([[[0.5, 0.5]]], 1), r"0\.5"),
        (([0.5, math.nan], 1), "nan"),
        (([0.5, 0.5], 0), "got 0"),
        (([0.5, 0.5], 1, 2), "got 2"),
        (([0.5, 0.5], 1, [0.5] * 3), "subset sizes"),
        (([0.5, 0.5], 1, 0.5, "best"), "'best'"),
    ],
)
def test_bad_input_is_quoted(arguments, quoted):
    with pytest.raises((ValueError, TypeError), match=quoted):
        utilities(*arguments)
