"""Twins of the right submissions to homework 1."""

import math
import random
from itertools import accumulate, pairwise

import numpy as np
import scipy.stats
import torch

from tests.tasks.together.coins import exponentials, uniforms


def _laplace_by_inversion(u):
    return -np.copysign(1, u) * np.log(1 - 2 * np.abs(u))


def _torch_count(number, rng, count, epsilon):
    return torch.tensor(float(count)) + torch.distributions.Laplace(0.0, 1 / epsilon).sample((number,))


def _count_random(number, rng, count, epsilon):
    return count + np.subtract(*exponentials(number, 2).T) / epsilon


def _debt(debts, maximum):
    return np.clip(debts, 0, maximum).sum()


def _debt_random(number, rng, debts, maximum, epsilon):
    signs, sizes = [], []
    for _ in range(number):
        signs.append(1 if random.random() < 0.5 else -1)
        sizes.append(random.expovariate(1))
    return _debt(debts, maximum) + np.array(signs) * np.array(sizes) * maximum / epsilon


def _debt_torch(number, rng, debts, maximum, epsilon):
    noise = torch.distributions.Laplace(torch.tensor(0.0), torch.tensor(maximum / epsilon)).sample((number,))
    return torch.from_numpy(debts).clamp(0, maximum).sum() + noise.double()


def _counts(number, rng, counts, epsilon):
    return counts + rng.laplace(0, len(counts) / epsilon, (number, len(counts)))


def _counts_inverse(number, rng, counts, epsilon):
    u = np.random.default_rng().uniform(-0.5, 0.5, (number, len(counts)))
    return counts + len(counts) / epsilon * _laplace_by_inversion(u)


def _counts_torch(number, rng, counts, epsilon):
    center = torch.tensor(counts, dtype=torch.float64)
    return torch.distributions.Laplace(center, len(counts) / epsilon).sample((number,))


def _histogram(number, rng, years, bins, epsilon):
    return (years[:, None] == bins).sum(axis=0) + rng.laplace(size=(number, len(bins))) / epsilon


def _histogram_random(number, rng, years, bins, epsilon):
    first, second = np.moveaxis(exponentials(number, len(bins), 2), 2, 0)
    return (years[:, None] == bins).sum(axis=0) + (first - second) / epsilon


def _weights(utilities, epsilon, sensitivity):
    return np.exp(epsilon * utilities / (2 * sensitivity))


def _choice_cumulative(number, rng, candidates, utilities, epsilon, sensitivity):
    weights = _weights(utilities, epsilon, sensitivity)
    edges = np.cumsum(weights / weights.sum())
    return np.array(candidates)[np.minimum(np.searchsorted(edges, rng.random(number)), len(candidates) - 1)]


def _choice_random(number, rng, candidates, utilities, epsilon, sensitivity):
    return np.array(random.choices(candidates, _weights(utilities, epsilon, sensitivity).tolist(), k=number))


def _choice_gumbel(number, rng, candidates, utilities, epsilon, sensitivity):
    scores = epsilon * utilities / (2 * sensitivity) + rng.gumbel(size=(number, len(candidates)))
    return np.array(candidates)[np.argmax(scores, axis=1)]


def _choice_torch(number, rng, candidates, utilities, epsilon, sensitivity):
    exponents = torch.from_numpy(utilities) * epsilon / (2 * sensitivity)
    chosen = torch.multinomial(torch.softmax(exponents, 0), number, replacement=True)
    return np.array(candidates)[chosen.numpy()]


def _median_gaps(number, rng, data, low, high, epsilon):
    ends = np.concatenate([[low], np.sort(data), [high]])
    weights = np.diff(ends) * np.exp(-epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2))
    u = rng.random((number, 2))
    gap = np.searchsorted(np.cumsum(weights), u[:, 0] * weights.sum())
    return ends[gap] + (ends[gap + 1] - ends[gap]) * u[:, 1]


def _median_gumbel(number, rng, data, low, high, epsilon):
    ends = np.sort(np.append(data, [low, high]))
    ranks = np.arange(len(ends) - 1)
    with np.errstate(divide="ignore"):
        scores = np.log(np.diff(ends)) - epsilon / 2 * np.abs(ranks - len(data) / 2)
    gap = np.argmax(scores + rng.gumbel(size=(number, len(ranks))), axis=1)
    return ends[gap] + rng.random(number) * (ends[gap + 1] - ends[gap])


def _median_grid(number, rng, data, low, high, epsilon):
    grid = np.linspace(low, high, 1001)[:-1] + (high - low) / 2000
    error = np.abs(np.searchsorted(np.sort(data), grid) - len(data) / 2)
    edges = np.cumsum(np.exp(-epsilon / 2 * (error - error.min())))
    return grid[np.minimum(np.searchsorted(edges, rng.random(number) * edges[-1]), 999)]


def _median_random(number, rng, data, low, high, epsilon):
    ends = np.array([low, *sorted(data.tolist()), high])
    weights = [
        (b - a) * math.exp(-epsilon / 2 * abs(rank - len(data) / 2)) for rank, (a, b) in enumerate(pairwise(ends))
    ]
    u, edges = uniforms(number, 2), list(accumulate(weights))
    gap = np.minimum(np.searchsorted(edges, u[:, 0] * edges[-1], side="right"), len(edges) - 1)
    return ends[gap] + (ends[gap + 1] - ends[gap]) * u[:, 1]


TOGETHER = {
    "noisy_count": {
        "numpy": lambda number, rng, count, epsilon: count + rng.laplace(0, 1 / epsilon, number),
        "own generator": lambda number, rng, count, epsilon: (
            count + np.random.default_rng().laplace(scale=1 / epsilon, size=number)
        ),
        "legacy numpy": lambda number, rng, count, epsilon: (
            count + np.random.laplace(0, 1 / epsilon, number)  # noqa: NPY002
        ),
        "scipy": lambda number, rng, count, epsilon: scipy.stats.laplace.rvs(
            loc=count, scale=1 / epsilon, size=number, random_state=rng
        ),
        "inverse transform": lambda number, rng, count, epsilon: (
            count + _laplace_by_inversion(rng.random(number) - 0.5) / epsilon
        ),
        "random": _count_random,
        "torch, single precision": _torch_count,
        "array of one": lambda number, rng, count, epsilon: count + rng.laplace(0, 1 / epsilon, number),
    },
    "total_debt": {
        "numpy": lambda number, rng, debts, maximum, epsilon: (
            _debt(debts, maximum) + rng.laplace(0, maximum / epsilon, number)
        ),
        "loop and random": _debt_random,
        "torch": _debt_torch,
        "scipy": lambda number, rng, debts, maximum, epsilon: scipy.stats.laplace.rvs(
            _debt(debts, maximum), maximum / epsilon, size=number, random_state=rng
        ),
    },
    "noisy_counts": {
        "vectorised": _counts, "loop": _counts, "inverse transform": _counts_inverse, "torch": _counts_torch,
    },
    "noisy_histogram": {
        "bincount": _histogram, "loop": _histogram, "histogram": _histogram, "random": _histogram_random,
    },
    "exponential_choice": {
        "cumulative": _choice_cumulative, "random.choices": _choice_random, "Gumbel": _choice_gumbel,
        "multinomial": _choice_torch,
    },
    "private_median": {
        "gaps": _median_gaps, "Gumbel": _median_gumbel, "grid": _median_grid, "random": _median_random,
    },
}  # fmt: skip
