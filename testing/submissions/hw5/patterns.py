"""Wrong submissions to homework 5 in the patterns that fool a judge who looks once, or only at marginals."""

import math

import numpy as np

from testing.submissions.hw5.learning import _likeliest, _sgld, sgld_numpy
from testing.submissions.hw5.reports import epsilon_columns
from testing.submissions.hw5.restricted import _with_second, rrrr_algorithm
from testing.submissions.hw5.shared import matrix_cases, second_math, srr_matrix_numpy, srr_numpy, subset_closed
from testing.submissions.hw5.styles import _surveying
from testing.submissions.hw5.utilities import _six_but, six_numpy
from testing.submissions.patterns import from_call, mixture, twice


def _itself(x, k, epsilon, rng=None):
    return x


def _itself_restricted(x, k, subset, epsilon, first, rng=None):
    return x


def _still(phi, rows, n, rho, gamma, rng=None):
    return np.abs(_sgld(phi, rows, n, rho, gamma))


def rrrr_left_over(x, k, subset, epsilon, first, rng):
    """eps - eps1 outside S."""
    matrix = _with_second(lambda e, f, s, n: e - f)(k, subset, epsilon, first)
    return rng.choice(k, p=matrix[x])


def rrrr_published(x, k, subset, epsilon, first, rng):
    """|S| for its complement in eps2."""
    matrix = _with_second(lambda e, f, s, n: second_math(e, f, s, max(s, 1)))(k, subset, epsilon, first)
    return rng.choice(k, p=matrix[x])


def rrrr_one_step(x, k, subset, epsilon, first, rng):
    """Somebody outside S reports R at once."""
    if x in subset:
        return rrrr_algorithm(x, k, subset, epsilon, first, rng)
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    weights = np.where(np.array(outside) == x, math.exp(second), 1.0)
    return rng.choice(outside, p=weights / weights.sum())


def rrrr_not_for_nobody(x, k, subset, epsilon, first, rng):
    """Right unless S is empty."""
    return rrrr_algorithm(x, k, subset, epsilon, first, rng) if subset else int(rng.integers(k))


def _largest(number):
    """The subset is always the so many largest."""
    return lambda theta, epsilon, first: np.argsort(-theta, kind="stable")[:number].tolist()


def _with_matrix(matrix):
    """EM with another matrix for each round."""

    def estimate(members, counts, epsilon, first):
        k = members.shape[1]
        tables = [matrix(k, tuple(np.flatnonzero(row).tolist()), epsilon, first) for row in members]
        rows, seen, theta = np.hstack(tables), counts.ravel(), np.full(k, 1 / k)
        for _ in range(3_000):
            theta = theta * (rows @ (seen / (theta @ rows))) / seen.sum()
        return theta / theta.sum()

    return estimate


WRONG = {
    "srr": {
        "exact in a fifth": (mixture(srr_numpy, _itself, 0.8), None),
        "exact from 1,000 on": (from_call(srr_numpy, _itself, 1_000), None),
        "the same draw twice": (twice(srr_numpy), None),
        "half of eps": (lambda x, k, epsilon, rng: srr_numpy(x, k, epsilon / 2, rng), "half of epsilon"),
        "K + 1 categories": (lambda x, k, epsilon, rng: srr_numpy(x, k + 1, epsilon, rng), None),
        "None": (lambda x, k, epsilon, rng: None, None),
        "fixed seed 0": (
            lambda x, k, epsilon: srr_numpy(x, k, epsilon, np.random.default_rng(0)), "always the same coin",
        ),
    },
    "srr_matrix": {
        "lies by K": (
            lambda k, epsilon: np.where(
                np.eye(k) == 1, t := math.exp(epsilon) / (math.exp(epsilon) + k - 1), (1 - t) / k
            ),
            "lies shared by K",
        ),
        "half of eps": (lambda k, epsilon: srr_matrix_numpy(k, epsilon / 2), "half of epsilon"),
        "identity": (lambda k, epsilon: np.eye(k), None),
        "first row twice": (lambda k, epsilon: srr_matrix_numpy(k, epsilon)[[0, *range(k - 1)]], None),
    },
    "matrix_epsilon": {
        "log10": (lambda matrix: epsilon_columns(matrix) / math.log(10), "base ten"),
        "bits": (lambda matrix: epsilon_columns(matrix) / math.log(2), "base two"),
        "first column": (lambda matrix: epsilon_columns(matrix[:, :1]) if matrix[:, 0].any() else 0.0, None),
        "at most 10": (lambda matrix: min(epsilon_columns(matrix), 10.0), None),
        "None for infinity": (lambda matrix: e if (e := epsilon_columns(matrix)) < math.inf else None, None),
    },
    "second_epsilon": {
        "all of eps": (lambda epsilon, first, inside, outside: epsilon, "all of epsilon"),
        "first": (lambda epsilon, first, inside, outside: first, None),
        "None where it has no value": (
            lambda epsilon, first, inside, outside: (
                second_math(epsilon, first, inside, outside) if inside and outside > 1 else None
            ),
            None,
        ),
        "0 for one outside": (
            lambda epsilon, first, inside, outside: (
                0.0 if outside == 1 else second_math(epsilon, first, inside, outside)
            ),
            None,
        ),
    },
    "rrrr": {
        "exact in a fifth": (mixture(rrrr_algorithm, _itself_restricted, 0.8), None),
        "exact from 1,000 on": (from_call(rrrr_algorithm, _itself_restricted, 1_000), None),
        "the same draw twice": (twice(rrrr_algorithm), None),
        "left over": (rrrr_left_over, "eps2 = eps - eps1"),
        "|S| for n": (rrrr_published, "|S| for its complement"),
        "one step": (rrrr_one_step, "R not among the answers"),
        "not for an empty S": (rrrr_not_for_nobody, None),
    },
    "rrrr_matrix": {
        "left over": (_with_second(lambda e, f, s, n: e - f), "eps2 = eps - eps1"),
        "|S| for n": (_with_second(lambda e, f, s, n: second_math(e, f, s, max(s, 1))), "|S| for its complement"),
        "logarithms": (lambda k, subset, epsilon, first: np.log(matrix_cases(k, subset, epsilon, first)), "logarithms"),
        "sorted labels": (
            lambda k, subset, epsilon, first: matrix_cases(k, tuple(range(len(subset))), epsilon, first), None,
        ),
    },
    "six_utilities": {
        "entropy of X": (_six_but(entropy=lambda t, m, right: -(t * np.log(t)).sum()), "entropy of X"),
        "no inverse": (
            _six_but(fisher=lambda t, m, right: -((m[:-1] - m[-1]) ** 2 / (t @ m)).sum()), "minus trace of F",
        ),
        "twice U3": (_six_but(tv_posterior=lambda t, m, right: 2 * right["tv_posterior"]), "half forgotten in U3"),
        "one lost": (_six_but(squared_error=lambda t, m, right: right["squared_error"] + 1), "one forgotten"),
        "trace": (_six_but(honest=lambda t, m, right: np.trace(m)), "trace of the matrix"),
        "turned around": (lambda theta, matrix: six_numpy(theta, matrix.T), None),
        "all None": (lambda theta, matrix: (None,) * 6, None),
        "rounded": (lambda theta, matrix: {n: round(float(v), 2) for n, v in six_numpy(theta, matrix).items()}, None),
    },
    "best_subset": {
        "above 1/K": (lambda theta, epsilon, first: np.flatnonzero(theta > 1 / len(theta)), "above the average"),
        "one more": (
            lambda theta, epsilon, first: _largest(len(subset_closed(theta, epsilon, first)) + 1)(theta, 1, 1), None,
        ),
        "stops at the first fall": (
            lambda theta, epsilon, first: s if len(s := subset_closed(theta, epsilon, first)) < 2 else s[:1], None,
        ),
        "a mask": (
            lambda theta, epsilon, first: np.isin(np.arange(len(theta)), subset_closed(theta, epsilon, first)), None,
        ),
        "None for nobody": (lambda theta, epsilon, first: subset_closed(theta, epsilon, first) or None, None),
    },
    "sgld_step": {
        "no noise in a twentieth": (mixture(sgld_numpy, _still, 0.95), None),
        "no noise from 500 on": (from_call(sgld_numpy, _still, 500), None),
        "the same draw twice": (twice(sgld_numpy), None),
        "reflected before the noise": (
            lambda phi, rows, n, rho, gamma, rng: (
                _still(phi, rows, n, rho, gamma) + rng.normal(0, math.sqrt(gamma), len(phi))
            ),
            "no reflection",
        ),
        "zero-sum noise": (
            lambda phi, rows, n, rho, gamma, rng: np.abs(
                _sgld(phi, rows, n, rho, gamma)
                + (w := rng.normal(0, math.sqrt(gamma * len(phi) / (len(phi) - 1)), len(phi))) - w.mean()
            ),
            None,
        ),
        "one magnitude, many signs": (
            lambda phi, rows, n, rho, gamma, rng: np.abs(
                _sgld(phi, rows, n, rho, gamma)
                + abs(rng.normal(0, math.sqrt(gamma))) * rng.choice([-1, 1], len(phi))
            ),
            None,
        ),
        "downhill": (
            lambda phi, rows, n, rho, gamma, rng: np.abs(
                _sgld(phi, rows, n, rho, gamma, step=-0.5) + rng.normal(0, math.sqrt(gamma), len(phi))
            ),
            "downhill",
        ),
    },
    "adaptive_survey": {
        "EM with SRR": (
            _surveying(_with_matrix(lambda k, subset, epsilon, first: srr_matrix_numpy(k, epsilon))), "EM as if SRR",
        ),
        "EM with eps2 = eps": (_surveying(_with_matrix(_with_second(lambda e, f, s, n: e))), "eps2 = eps"),
        "the ten largest": (_surveying(_with_matrix(matrix_cases), _largest(10)), "too many favoured"),
        "the five largest": (_surveying(_with_matrix(matrix_cases), _largest(5)), "too many favoured"),
        "the ten first": (
            _surveying(_likeliest, lambda theta, epsilon, first: list(range(10))), "too many favoured",
        ),
    },
}  # fmt: skip

RIGHT = {}
