"""Twins of the right submissions to homework 4."""

import random

import numpy as np
import torch
from scipy.special import ndtri

from tests.tasks.bank_hw4.lots import clip_loop
from tests.tasks.bank_hw4.shared import _gradients, clip_numpy
from tests.tasks.together.coins import normals, uniforms


def _lot_size_first(number, rng, n, q):
    ranks = np.argsort(rng.permuted(np.tile(np.arange(n), (number, 1)), axis=1), axis=1)
    return ranks < rng.binomial(n, q, number)[:, None]


def _average(number, rng, clipped, clip, sigma, expected):
    return (clipped.sum(axis=0) + rng.normal(0, sigma * clip, (number, clipped.shape[1]))) / expected


def _average_random(number, rng, clipped, clip, sigma, expected):
    return (clipped.sum(axis=0) + sigma * clip * normals(number, clipped.shape[1])) / expected


def _average_torch(number, rng, clipped, clip, sigma, expected):
    total = torch.tensor(clipped).sum(0)
    return (total + sigma * clip * torch.randn(number, len(total), dtype=torch.float64)) / expected


def _average_inverse(number, rng, clipped, clip, sigma, expected):
    noise = ndtri(rng.random((number, clipped.shape[1])))
    return clipped.sum(axis=0) / expected + sigma * clip / expected * noise


def _average_single(number, rng, clipped, clip, sigma, expected):
    noise = rng.standard_normal((number, clipped.shape[1]), dtype=np.float32)
    return ((clipped.sum(axis=0) + np.float32(sigma * clip) * noise) / expected).astype(np.float32)


def _moved(weights, rate, sums, size):
    return weights - rate * sums / size


def _step(number, rng, weights, x, y, q, clip, sigma, rate):
    rows, lots = clip_numpy(_gradients(weights, x, y), clip), rng.random((number, len(y))) < q
    return _moved(weights, rate, lots @ rows + rng.normal(0, sigma * clip, (number, len(weights))), q * len(y))


def _step_loop(number, rng, weights, x, y, q, clip, sigma, rate):
    rows = np.array(clip_loop(_gradients(weights, x, y), clip))
    lots = rng.random((number, len(y))) < q
    return _moved(weights, rate, lots @ rows + sigma * clip * rng.standard_normal((number, len(weights))), q * len(y))


def _step_random(number, rng, weights, x, y, q, clip, sigma, rate):
    rows, lots, noise = clip_numpy(_gradients(weights, x, y), clip), [], []
    for _ in range(number):
        lots.append([random.random() < q for _ in y])
        noise.append([random.gauss(0, sigma * clip) for _ in weights])
    return _moved(weights, rate, np.array(lots) @ rows + np.array(noise), q * len(y))


def _step_torch(number, rng, weights, x, y, q, clip, sigma, rate):
    w, a, b = torch.tensor(weights), torch.tensor(x), torch.tensor(y)
    rows = (torch.sigmoid(a @ w) - b)[:, None] * a
    rows = rows / (rows.norm(dim=1, keepdim=True) / clip).clamp(min=1)
    lots = torch.rand(number, len(y)) < q
    noise = sigma * clip * torch.randn(number, len(w), dtype=torch.float64)
    return w - rate * (lots.double() @ rows + noise) / (q * len(y))


def _by_user(gradients, users):
    return np.array([gradients[users == user].sum(axis=0) for user in np.unique(users)]).reshape(-1, gradients.shape[1])


def _users(number, rng, gradients, users, clip, sigma, expected):
    return _average(number, rng, clip_numpy(_by_user(gradients, users), clip), clip, sigma, expected)


def _users_random(number, rng, gradients, users, clip, sigma, expected):
    return _average_random(number, rng, clip_numpy(_by_user(gradients, users), clip), clip, sigma, expected)


def _users_add_at(number, rng, gradients, users, clip, sigma, expected):
    everybody, which = np.unique(users, return_inverse=True)
    sums = np.zeros((len(everybody), gradients.shape[1]))
    np.add.at(sums, which, gradients)
    noise = rng.normal(0, sigma * clip / expected, (number, gradients.shape[1]))
    return clip_numpy(sums, clip).sum(axis=0) / expected + noise


def _users_pandas(number, rng, gradients, users, clip, sigma, expected):
    import pandas as pd

    sums = pd.DataFrame(gradients).groupby(users).sum().to_numpy()
    return _average(number, rng, clip_numpy(sums, clip), clip, sigma, expected)


TOGETHER = {
    "poisson_lot": {
        "numpy": lambda number, rng, n, q: rng.random((number, n)) < q,
        "random, list": lambda number, rng, n, q: uniforms(number, n) < q,
        "binomial": lambda number, rng, n, q: rng.binomial(1, q, (number, n)),
        "size first": _lot_size_first,
        "torch": lambda number, rng, n, q: torch.bernoulli(torch.full((number, n), q, dtype=torch.float64)),
    },
    "noisy_average": {
        "numpy": _average, "random, list": _average_random, "torch": _average_torch, "inverse": _average_inverse,
        "single precision": _average_single,
    },
    "dp_sgd_step": {"numpy": _step, "loop": _step_loop, "random, list": _step_random, "torch": _step_torch},
    "user_level_average": {
        "numpy": _users, "dict, random": _users_random, "add.at": _users_add_at, "pandas": _users_pandas,
    },
}  # fmt: skip
