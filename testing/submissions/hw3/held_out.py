"""Submissions to homework 3 as somebody wrote them who had not seen the judges, if they taught us something."""

import math
from fractions import Fraction

import numpy as np

from testing.submissions.hw3.gaussian import sigma_brentq, vector_numpy, vector_sigma
from testing.submissions.hw3.shared import delta_normaldist


def loss_by_exponentials(data, neighbour, b, rng):
    z = rng.exponential(b) - rng.exponential(b)
    return np.float32(abs(data + z - neighbour) / b - abs(z) / b)


def leaks_by_bisection(delta, n, risk):
    nobody, low, high = math.prod([1 - delta] * n), 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if 1 - (1 - middle) ** n <= risk else (low, middle)
    return {"table": delta, "rows": 1 - nobody, "largest_delta": low}


def tail_of_three(epsilon, delta):
    theta = (math.exp(epsilon) + 0.9 * delta) / (math.exp(epsilon) + 1)
    return [theta / 2, theta / 2, 1 - theta], [(1 - theta) / 2, (1 - theta) / 2, theta]


def vector_polar(sums, cap, epsilon, delta, rng):
    sigma = vector_sigma(sums, cap, epsilon, delta)
    turns = [(math.sqrt(-2 * math.log(1 - rng.random())), 2 * math.pi * rng.random()) for _ in sums]
    return [value + sigma * r * math.cos(turn) for value, (r, turn) in zip(sums, turns, strict=True)]


def delta_by_integral(epsilon, sigma, sensitivity):
    x = np.linspace(-40 * sigma, 40 * sigma + sensitivity, 200_001)
    one, other = (np.exp(-((x - center) ** 2) / 2 / sigma**2) for center in (sensitivity, 0))
    return np.trapezoid(np.maximum(one - np.exp(epsilon) * other, 0), x) / sigma / np.sqrt(2 * np.pi)


def group_geometric(epsilon, delta, k):
    return np.float32(k * epsilon), delta * (k if epsilon == 0 else math.expm1(k * epsilon) / math.expm1(epsilon))


def ledger_of_fractions(costs, epsilon, delta):
    left, answered = [Fraction(epsilon), Fraction(delta)], []
    for cost in costs:
        fits = all(Fraction(price) <= rest for price, rest in zip(cost, left, strict=True))
        answered.append(fits)
        left = [rest - Fraction(price) * fits for price, rest in zip(cost, left, strict=True)]
    return answered, Fraction(epsilon) - left[0], Fraction(delta) - left[1]


RIGHT = {
    "laplace_loss_sample": {"difference of exponentials": loss_by_exponentials},
    "leaks": {"bisection, dict": leaks_by_bisection},
    "heavy_tail": {"three outputs": tail_of_three},
    "gaussian_release": {"polar": vector_polar},
    "exact_delta": {"integral on a grid": delta_by_integral},
    "group_guarantee": {"geometric, half in single precision": group_geometric},
    "ledger": {"what is left, as fractions": ledger_of_fractions},
}


def ledger_small_ones_free(costs, epsilon, delta):
    answered, spent = [], np.zeros(2)
    for cost in np.array(costs):
        answered.append(bool(np.all(spent + cost <= (epsilon, delta)) or cost[0] < 0.2))
        spent = spent + cost * answered[-1]
    return answered, spent[0], spent[1]


def _loss(z, data, neighbour, b):
    return (abs(data + z - neighbour) - abs(z)) / b


WRONG = {
    "laplace_loss_sample": {
        "b at least 1": (
            lambda data, neighbour, b, rng: _loss(rng.laplace(0, max(b, 1)), data, neighbour, b),
            None,
        ),
        "output rounded": (
            lambda data, neighbour, b, rng: _loss(round(rng.laplace(0, b)), data, neighbour, b),
            None,
        ),
    },
    "loss_mean": {
        "at most 1": (lambda p, q: min(1.0, np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0]))), None),
    },
    "leaks": {
        "one patient alone": (
            lambda delta, n, risk: (delta, 1 - (1 - delta) ** n, 1 - (1 - risk) ** (1 / n) if n > 1 else risk / 2),
            None,
        ),
    },
    "gaussian_release": {
        "a single sum without noise": (
            lambda sums, cap, epsilon, delta, rng: (
                vector_numpy(sums, cap, epsilon, delta, rng) if len(sums) > 1 else sums
            ),
            None,
        ),
        "cap at least 1": (
            lambda sums, cap, epsilon, delta, rng: vector_numpy(sums, max(1, cap), epsilon, delta, rng),
            None,
        ),
    },
    "exact_delta": {
        "epsilon at most 1": (
            lambda epsilon, sigma, sensitivity: delta_normaldist(min(1, epsilon), sigma, sensitivity),
            None,
        ),
        "sigma at least 1": (
            lambda epsilon, sigma, sensitivity: delta_normaldist(epsilon, max(1, sigma), sensitivity),
            None,
        ),
    },
    "smallest_sigma": {
        "at least 1": (lambda epsilon, delta, sensitivity: max(1, sigma_brentq(epsilon, delta, sensitivity)), None),
    },
    "group_guarantee": {
        "one person alone": (
            lambda epsilon, delta, k: group_geometric(epsilon, delta, k) if k > 1 else (epsilon, 0.0),
            None,
        ),
        "epsilon at most 1 in the sum": (
            lambda epsilon, delta, k: (k * epsilon, group_geometric(min(1, epsilon), delta, k)[1]),
            None,
        ),
    },
    "ledger": {"small queries are free": (ledger_small_ones_free, None)},
}
