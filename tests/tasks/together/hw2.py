"""Twins of the right submissions to homework 2."""

import math
import random

import numpy as np
import torch
from scipy.special import xlog1py

from tests.tasks.together.coins import uniforms


def _theta(epsilon):
    return 1 / (1 + math.exp(-epsilon))


def _response_legacy(number, rng, bit, epsilon):
    theta = _theta(epsilon)
    return np.random.choice([bit, 1 - bit], p=[theta, 1 - theta], size=number)  # noqa: NPY002


def _response_torch(number, rng, bit, epsilon):
    return torch.where(torch.bernoulli(torch.full((number,), _theta(epsilon))) == 1, bit, 1 - bit)


def _kary_numpy(number, rng, category, k, epsilon):
    truth = rng.random(number) < np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    other = rng.integers(k - 1, size=number)
    return np.where(truth, category, other + (other >= category))


def _kary_choices(number, rng, category, k, epsilon):
    weights = [math.exp(epsilon) if y == category else 1 for y in range(k)]
    return random.choices(range(k), weights=weights, k=number)


def _kary_rejection(number, rng, category, k, epsilon):
    truth, reports = 1 / (1 + (k - 1) * math.exp(-epsilon)), []
    for _ in range(number):
        report = category
        if random.random() >= truth:
            while (report := random.randrange(k)) == category:
                pass
        reports.append(report)
    return reports


def _kary_inverse(number, rng, category, k, epsilon):
    probabilities = np.ones(k)
    probabilities[category] = np.exp(epsilon)
    return np.searchsorted(np.cumsum(probabilities), rng.random(number) * probabilities.sum())


def _kary_torch(number, rng, category, k, epsilon):
    weights = torch.ones(k, dtype=torch.float64)
    weights[category] = math.exp(epsilon)
    return torch.multinomial(weights, number, replacement=True)


def _inside(skipped):
    return min(max(skipped, 0), 15)


def _laplace_inverse(number, rng, skipped, epsilon):
    u = uniforms(number) - 0.5
    return _inside(skipped) - 15 / epsilon * np.copysign(np.log(1 - 2 * np.abs(u)), u)


def _laplace_scipy(number, rng, skipped, epsilon):
    u = rng.uniform(-1, 1, number)
    return _inside(skipped) - np.sign(u) * 15 / epsilon * xlog1py(1, -np.abs(u))


def _laplace_torch(number, rng, skipped, epsilon):
    own = torch.tensor(float(skipped), dtype=torch.float64).clamp(0, 15)
    size = torch.empty(number, dtype=torch.float64).exponential_(epsilon / 15)
    return own + size * (1 - 2 * torch.randint(0, 2, (number,)))


TOGETHER = {
    "randomized_response": {
        "numpy": lambda number, rng, bit, epsilon: np.where(rng.random(number) < _theta(epsilon), bit, 1 - bit),
        "random": lambda number, rng, bit, epsilon: bit ^ (uniforms(number) > _theta(epsilon)),
        "binomial": lambda number, rng, bit, epsilon: np.where(
            rng.binomial(1, _theta(epsilon), number) == 1, bit, 1 - bit
        ),
        "legacy numpy": _response_legacy,
        "torch": _response_torch,
        "bool": lambda number, rng, bit, epsilon: bool(bit) != (uniforms(number) < 1 / (1 + math.exp(epsilon))),
    },
    "kary_response": {
        "numpy": _kary_numpy, "choices": _kary_choices, "rejection": _kary_rejection,
        "inverse transform": _kary_inverse, "torch": _kary_torch,
    },
    "local_laplace": {
        "numpy": lambda number, rng, skipped, epsilon: _inside(skipped) + rng.laplace(0, 15 / epsilon, number),
        "inverse transform": _laplace_inverse,
        "two exponentials": lambda number, rng, skipped, epsilon: (
            _inside(skipped) + np.subtract(*rng.exponential(15 / epsilon, (number, 2)).T)
        ),
        "scipy, 0-d": _laplace_scipy,
        "torch": _laplace_torch,
    },
}  # fmt: skip
