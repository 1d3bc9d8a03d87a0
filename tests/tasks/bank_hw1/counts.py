"""Submissions to homework 1: likelihood ratios, noisy counts and sensitivities."""

import math
import random

import numpy as np
import scipy.stats
import torch

from dpcourse import sensitivity as known
from tests.tasks.bank_hw1.shared import wrong


def _densities(y, count, neighbour, b):
    return scipy.stats.laplace.pdf(y, count, b) / scipy.stats.laplace.pdf(y, neighbour, b)


def _tensor_ratio(y, count, neighbour, b):
    y, count, neighbour = (torch.tensor(float(one), dtype=torch.float64) for one in (y, count, neighbour))
    return torch.exp((torch.abs(y - neighbour) - torch.abs(y - count)) / b)


def _ratio(y, count, neighbour, b):
    return math.exp((abs(y - neighbour) - abs(y - count)) / b)


def _by_inversion(count, epsilon, rng):
    u = rng.random() - 0.5
    return count - math.copysign(1, u) * math.log(1 - 2 * abs(u)) / epsilon


def _two_exponentials(count, epsilon):
    return count + random.expovariate(epsilon) - random.expovariate(epsilon)


def _torch_count(count, epsilon):
    return torch.tensor(float(count)) + torch.distributions.Laplace(0.0, 1 / epsilon).sample()


_KEPT = []


def _every_second_call_turned(count, epsilon, rng):
    """The mean of two answers is the count."""
    if not _KEPT:
        _KEPT.append(rng.laplace(0, 1 / epsilon))
        return count + _KEPT[0]
    return count - _KEPT.pop()


def _drawn_again(count, epsilon, rng):
    while abs(noise := rng.laplace(0, 1 / epsilon)) > 6 / epsilon:
        pass
    return count + noise


def _fixed_seed(count, epsilon):
    return count + np.random.default_rng(0).laplace(0, 1 / epsilon)


def _if_chain(query, relation, low, high, n):
    replace = relation == "replace"
    if query == "count":
        return 1
    if query == "histogram":
        return 2 if replace else 1
    each = high - low if replace else max(-low, high)
    return each if query == "sum" else each / n


def _by_table(query, relation, low, high, n):
    size = {"add/remove": max(abs(low), abs(high)), "replace": abs(high - low)}[relation]
    return {"count": 1.0, "sum": size, "mean": size / n, "histogram": 1.0 + (relation == "replace")}[query]


def _by_search(query, relation, low, high, n):
    """Over the corners of small tables."""
    others, rows = [low, high], [[low], [high], []]
    best = 0.0
    for one in rows:
        for other in rows:
            if (len(one) != len(other)) != (relation == "add/remove"):
                continue
            first, second = np.array(others + one), np.array(others + other)
            ways = {
                "count": [(first > 0).sum(), (second > 0).sum()] if low < 0 else [0, 1],
                "sum": [first.sum(), second.sum()],
                "mean": [first.sum() / n, second.sum() / n],
                "histogram": [[(one == x).sum() for x in (low, high)] for one in (first, second)],
            }[query]
            best = max(best, float(np.abs(np.subtract(*map(np.asarray, ways))).sum()))
    return best


def _from_the_course(query, relation, low, high, n):
    if query == "sum":
        return known.bounded_sum(low, high, relation)
    if query == "mean":
        return np.array([known.mean(low, high, relation, n=n)])
    return getattr(known, query)(relation)


def _pdf(y, center, b):
    return scipy.stats.laplace.pdf(y, center, b)


def _geometric(count, epsilon, rng):
    return count + rng.geometric(1 - math.exp(-epsilon)) - rng.geometric(1 - math.exp(-epsilon))


RIGHT = {
    "likelihood_ratio": {
        "math": _ratio,
        "scipy densities": _densities,
        "tensor": _tensor_ratio,
        "numpy scalar": lambda y, count, neighbour, b: np.exp(np.abs(y - neighbour) / b - np.abs(y - count) / b),
        "array of one": lambda y, count, neighbour, b: np.array([_ratio(y, count, neighbour, b)]),
    },
    "ratio_range": {
        "tuple": lambda difference, b: (math.exp(-difference / b), math.exp(difference / b)),
        "dict": lambda difference, b: {"largest": np.exp(difference / b), "smallest": 1 / np.exp(difference / b)},
        "array": lambda difference, b: list(np.exp(np.array([-1, 1]) * difference / b)),
        "searched": lambda difference, b: tuple(
            f(_ratio(y, difference, 0, b) for y in np.linspace(-20, 20, 401)) for f in (min, max)
        ),
    },
    "noisy_count": {
        "numpy": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon),
        "own generator": lambda count, epsilon: count + np.random.default_rng().laplace(scale=1 / epsilon),
        "legacy numpy": lambda count, epsilon: count + np.random.laplace(0, 1 / epsilon),  # noqa: NPY002
        "scipy": lambda count, epsilon, rng: scipy.stats.laplace.rvs(loc=count, scale=1 / epsilon, random_state=rng),
        "inverse transform": _by_inversion,
        "random": _two_exponentials,
        "torch, single precision": _torch_count,
        "array of one": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon, size=1),
    },
    "sensitivity_of": {
        "ifs": _if_chain, "table": _by_table, "the course's": _from_the_course, "search over corners": _by_search,
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "likelihood_ratio": {"squared": lambda y, count, neighbour, b: _ratio(y, count, neighbour, b) ** 2},
    "ratio_range": {"half": lambda difference, b: (math.exp(-difference / 2 / b), math.exp(difference / 2 / b))},
    "noisy_count": {
        "10% too narrow": lambda count, epsilon, rng: count + rng.laplace(0, 0.9 / epsilon),
        "10% too wide": lambda count, epsilon, rng: count + rng.laplace(0, 1.1 / epsilon),
        "fixed seed": _fixed_seed,
        "nobody, no noise": lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon) if count else 0,
        "rounded": lambda count, epsilon, rng: round(count + rng.laplace(0, 1 / epsilon)),
        "rounded to cents": lambda count, epsilon, rng: round(count + rng.laplace(0, 1 / epsilon), 2),
        "cut at five scales": lambda count, epsilon, rng: (
            count + np.clip(rng.laplace(0, 1 / epsilon), -5 / epsilon, 5 / epsilon)
        ),
        "cut at six scales": lambda count, epsilon, rng: (
            count + np.clip(rng.laplace(0, 1 / epsilon), -6 / epsilon, 6 / epsilon)
        ),
        "drawn again beyond six scales": _drawn_again,
        "every second call turned": _every_second_call_turned,
        "always wide": lambda count, epsilon, rng: count + rng.laplace(0, 5),
        "two missing": lambda count, epsilon, rng: count + rng.laplace(0, 0.5 / epsilon),
        "uniform": lambda count, epsilon, rng: count + rng.uniform(-3, 3) / epsilon,
        "shifted": lambda count, epsilon, rng: count + rng.laplace(0.2 / epsilon, 1 / epsilon),
    },
    "sensitivity_of": {"always one": lambda query, relation, low, high, n: 1.0},
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "likelihood_ratio": {
        "upside down": lambda y, count, neighbour, b: _pdf(y, neighbour, b) / _pdf(y, count, b),
        "logarithm left": lambda y, count, neighbour, b: np.log(_pdf(y, count, b)) - np.log(_pdf(y, neighbour, b)),
        "never below 1": lambda y, count, neighbour, b: max(
            _pdf(y, count, b) / _pdf(y, neighbour, b), _pdf(y, neighbour, b) / _pdf(y, count, b)
        ),
    },
    "ratio_range": {
        "range of the bound": lambda difference, b: np.exp([0, difference / b]),
        "the slide's range": lambda difference, b: {"smallest": 1, "largest": float("inf")},
    },
    "noisy_count": {
        "scale upside down": lambda count, epsilon: (
            count + random.expovariate(1 / epsilon) - random.expovariate(1 / epsilon)
        ),
        "no noise": lambda count, epsilon: np.int64(count),
        "epsilon squared": lambda count, epsilon, rng: count + rng.laplace() * epsilon**-2,
        "one-sided": lambda count, epsilon, rng: count + abs(rng.laplace(0, 1 / epsilon)),
        "Gaussian noise": lambda count, epsilon: random.gauss(count, math.sqrt(2) / epsilon),
    },
    "sensitivity_of": {
        "histogram counted once": lambda query, relation, low, high, n: (
            1 if query == "histogram" else _if_chain(query, relation, low, high, n)
        ),
        "mean not divided": lambda query, relation, low, high, n: _if_chain(query, relation, low, high, 1),
    },
}  # fmt: skip

#: Several more ways to make a known mistake.
_MORE = {
    "noisy_count": {"geometric": (_geometric, "rounded")},
}

WRONG = wrong(_OTHERS, _KNOWN, _MORE)
