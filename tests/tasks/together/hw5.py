"""Twins of the right submissions to homework 5."""

import math
import random

import numpy as np
import torch
from scipy.special import ndtri

from tests.tasks.bank_hw5.learning import _sgld
from tests.tasks.bank_hw5.reports import GENERATOR
from tests.tasks.bank_hw5.restricted import _row
from tests.tasks.bank_hw5.shared import _truth, second_math
from tests.tasks.together.coins import normals, uniforms


def _srr(number, rng, x, k, epsilon):
    told = rng.random(number) < np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    return np.where(told, x, (x + rng.integers(1, k, number)) % k)


def _srr_random(number, rng, x, k, epsilon):
    truth, others = 1 / (1 + (k - 1) * math.exp(-epsilon)), [y for y in range(k) if y != x]
    return [x if random.random() < truth else random.choice(others) for _ in range(number)]


def _weights(x, k, epsilon):
    return np.where(np.arange(k) == x, math.exp(epsilon), 1.0)


def _srr_choice(number, rng, x, k, epsilon):
    p = _weights(x, k, epsilon)
    return rng.choice(k, p=p / p.sum(), size=number)


def _srr_inverse(number, rng, x, k, epsilon):
    edges = np.cumsum(_weights(x, k, epsilon))
    return np.searchsorted(edges, rng.random(number) * edges[-1], side="right")


def _srr_gumbel(number, rng, x, k, epsilon):
    return np.argmax(epsilon * (np.arange(k) == x) + rng.gumbel(size=(number, k)), axis=1)


def _one_of(labels, u):
    return labels[(u * len(labels)).astype(int)]


def _rrrr(number, draw, x, k, subset, epsilon, first):
    """draw() gives ``number`` uniform numbers: for R, then for the report."""
    inside, outside = np.array(subset, dtype=int), np.array([y for y in range(k) if y not in subset])
    if x in subset:
        r = _one_of(outside, draw())
    elif len(outside) == 1:
        r = np.full(number, x)
    else:
        second = second_math(epsilon, first, len(subset), len(outside))
        r = np.where(draw() < _truth(second, len(outside) - 1), x, _one_of(outside[outside != x], draw()))
    if len(inside) == 0:
        return r
    told, u = draw() < _truth(first, len(inside)), draw()
    if x not in subset:
        return np.where(told, r, _one_of(inside, u))
    lie = (u * len(inside)).astype(int)  # among the others of the subset, and R
    others = np.append(inside[inside != x], -1)
    return np.where(told, x, np.where(lie == len(inside) - 1, r, others[lie]))


def _rrrr_numpy(number, rng, **probe):
    return _rrrr(number, lambda: rng.random(number), **probe)


def _rrrr_random(number, rng, **probe):
    return _rrrr(number, lambda: uniforms(number), **probe)


def _rrrr_matrix(number, rng, x, k, subset, epsilon, first):
    edges = _row(x, k, tuple(subset), epsilon, first)
    return np.minimum(np.searchsorted(edges, rng.random(number), side="right"), k - 1)


def _sgld_numpy(number, rng, phi, rows, n, rho, gamma):
    return np.abs(_sgld(phi, rows, n, rho, gamma) + np.sqrt(gamma) * rng.normal(size=(number, len(phi))))


def _sgld_random(number, rng, phi, rows, n, rho, gamma):
    return np.abs(_sgld(phi, rows, n, rho, gamma) + math.sqrt(gamma) * normals(number, len(phi)))


def _sgld_torch(number, rng, phi, rows, n, rho, gamma):
    at, table = torch.tensor(phi), torch.tensor(rows)
    gradient = (rho - 1) / at - 1 + n / len(rows) * ((table / (table @ at)[:, None]).sum(0) - len(rows) / at.sum())
    return (at + gamma / 2 * gradient + gamma**0.5 * torch.randn(number, len(phi), dtype=torch.float64)).abs()


def _sgld_inverse(number, rng, phi, rows, n, rho, gamma):
    return np.abs(_sgld(phi, rows, n, rho, gamma) + math.sqrt(gamma) * ndtri(rng.random((number, len(phi)))))


TOGETHER = {
    "srr": {
        "numpy": _srr, "random": _srr_random, "choice": _srr_choice, "inverse, array": _srr_inverse,
        "gumbel, float": _srr_gumbel,
        "own generator": lambda number, rng, x, k, epsilon: _srr(number, GENERATOR, x, k, epsilon),
    },
    "rrrr": {
        "algorithm": _rrrr_numpy, "random": _rrrr_random, "from the matrix": _rrrr_matrix,
        "length-1 array": _rrrr_numpy,
    },
    "sgld_step": {"numpy": _sgld_numpy, "loops": _sgld_random, "torch": _sgld_torch, "inverse": _sgld_inverse},
}  # fmt: skip
