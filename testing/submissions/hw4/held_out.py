"""Submissions to homework 4 as somebody wrote them who had not seen the judges, if they taught us something."""

import math

import numpy as np

from testing.submissions.hw4.budgets import steps_bisection
from testing.submissions.hw4.shared import average_numpy, clip_numpy
from testing.submissions.hw4.steps import step_numpy
from testing.submissions.hw4.training import exposure_numpy, users_numpy


def clip_hypot(gradients, clip):
    return [
        list(row) if (length := math.hypot(*row)) <= clip else [x * clip / length for x in row] for row in gradients
    ]


def lot_by_gaps(n, q, rng):
    members, place = [0] * n, rng.geometric(q) - 1
    while place < n:
        members[place], place = 1, place + rng.geometric(q)
    return members


def step_with_weights(weights, x, y, q, clip, sigma, rate, rng):
    inside = rng.random(len(y)) < q
    rows = (1 / (1 + np.exp(-x @ weights)) - y)[:, None] * x
    rows *= np.minimum(1, clip / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-12))
    noise = sigma * clip * rng.standard_normal(x.shape[1])
    return np.float32(weights - rate / (q * len(y)) * (inside @ rows + noise))


RIGHT = {
    "clip_gradients": {"hypot": clip_hypot},
    "poisson_lot": {"gaps, one after the other": lot_by_gaps},
    "dp_sgd_step": {"weights of 0 and 1": step_with_weights},
}


def _step_with(gradients):
    """A step with another gradient of each patient."""

    def step(weights, x, y, q, clip, sigma, rate, rng):
        lot = rng.random(len(y)) < q
        rows = clip_numpy(gradients(x[lot], weights, y[lot]), clip)
        return weights - rate * (rows.sum(axis=0) + rng.normal(0, sigma * clip, len(weights))) / (q * len(y))

    return step


def composed_one_step(epsilon, delta, k, slack):
    basic, advanced = k * epsilon, epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * math.expm1(epsilon)
    return (basic, k * delta + slack * (k == 1)) if basic <= advanced else (advanced, k * delta + slack)


WRONG = {
    "clip_gradients": {
        "a single row stays": (
            lambda gradients, clip: gradients if len(gradients) == 1 else clip_numpy(gradients, clip),
            None,
        ),
    },
    "poisson_lot": {"q at most 1/2": (lambda n, q, rng: rng.random(n) < min(q, 0.5), None)},
    "noisy_average": {
        "no noise on a single row": (
            lambda clipped, clip, sigma, expected, rng: average_numpy(
                clipped, clip, sigma * (len(clipped) != 1), expected, rng
            ),
            None,
        ),
        "expected at least 1": (
            lambda clipped, clip, sigma, expected, rng: average_numpy(clipped, clip, sigma, max(1, expected), rng),
            None,
        ),
        "sigma at least 1": (
            lambda clipped, clip, sigma, expected, rng: average_numpy(clipped, clip, max(1, sigma), expected, rng),
            None,
        ),
    },
    "dp_sgd_step": {
        "logistic turned round": (_step_with(lambda x, w, y: (1 / (1 + np.exp(x @ w)) - y)[:, None] * x), None),
        "squared loss": (_step_with(lambda x, w, y: (x @ w - y)[:, None] * x), None),
        "perceptron": (_step_with(lambda x, w, y: ((x @ w > 0) * 1.0 - y)[:, None] * x), None),
        "silent for one person": (
            lambda weights, x, y, q, clip, sigma, rate, rng: step_numpy(
                weights, x, y, q, clip, sigma * (len(y) > 1), rate, rng
            ),
            None,
        ),
        "C at most 1": (
            lambda weights, x, y, q, clip, sigma, rate, rng: step_numpy(
                weights, x, y, q, min(1, clip), sigma, rate, rng
            ),
            None,
        ),
    },
    "amplified_budget": {
        "q at most 1/2": (
            lambda epsilon, delta, q: (math.log1p(min(q, 0.5) * math.expm1(epsilon)), q * delta),
            None,
        ),
    },
    "composed_budget": {"slack for one step": (composed_one_step, None)},
    "steps_in_budget": {
        "sigma at least 1": (
            lambda epsilon, delta, sigma, q: steps_bisection(epsilon, delta, max(1, sigma), q),
            None,
        ),
    },
    "user_level_average": {
        "expected at least 1": (
            lambda gradients, users, clip, sigma, expected, rng: users_numpy(
                gradients, users, clip, sigma, max(1, expected), rng
            ),
            None,
        ),
    },
    "canary_exposure": {
        "scores at least 1": (
            lambda log_perplexities, canary: exposure_numpy(np.maximum(log_perplexities, 1), canary),
            None,
        ),
    },
}
