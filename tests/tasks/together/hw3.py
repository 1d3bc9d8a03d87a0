"""Twins of the right submissions to homework 3."""

import math

import numpy as np
import torch

from tests.tasks.together.coins import exponentials, normals, uniforms


def _loss(t, data, neighbour, b):
    return (abs(t - neighbour) - abs(t - data)) / b


def _loss_densities(number, rng, data, neighbour, b):
    u = uniforms(number) - 0.5
    t = data - b * np.copysign(1, u) * np.log(1 - 2 * np.abs(u))
    here, there = (np.log(np.exp(-np.abs(t - center) / b) / (2 * b)) for center in (data, neighbour))
    return here - there


def _loss_exponentials(number, rng, data, neighbour, b):
    return _loss(data + b * np.subtract(*exponentials(number, 2).T), data, neighbour, b)


def _loss_clipping(number, rng, data, neighbour, b):
    shift = abs(data - neighbour) / b
    return np.clip(shift - 2 * rng.laplace(size=number), -shift, shift)


def _loss_torch(number, rng, data, neighbour, b):
    size = torch.empty(number, dtype=torch.float64).exponential_()
    return _loss(data + b * size * (1 - 2 * torch.randint(0, 2, (number,))), data, neighbour, b)


def _loss_single(number, rng, data, neighbour, b):
    size = torch.empty(number).exponential_()
    return _loss(torch.tensor(float(data)) + b * size * (1 - 2 * torch.randint(0, 2, (number,))), data, neighbour, b)


def _sigma(sums, cap, epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) * cap * math.sqrt(len(sums)) / epsilon


def _vector(number, rng, sums, cap, epsilon, delta):
    return sums + rng.normal(0, _sigma(sums, cap, epsilon, delta), (number, len(sums)))


def _vector_random(number, rng, sums, cap, epsilon, delta):
    return sums + normals(number, len(sums)) * _sigma(sums, cap, epsilon, delta)


def _vector_box_muller(number, rng, sums, cap, epsilon, delta):
    u, v = np.moveaxis(rng.random((number, 2, len(sums))), 1, 0)
    return sums + _sigma(sums, cap, epsilon, delta) * np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def _vector_torch(number, rng, sums, cap, epsilon, delta):
    noise = torch.randn(number, len(sums), dtype=torch.float64) * _sigma(sums, cap, epsilon, delta)
    return torch.tensor(sums, dtype=torch.float64) + noise


TOGETHER = {
    "laplace_loss_sample": {
        "numpy": lambda number, rng, data, neighbour, b: _loss(data + rng.laplace(0, b, number), data, neighbour, b),
        "densities": _loss_densities,
        "exponentials, length 1": _loss_exponentials,
        "clipping": _loss_clipping,
        "torch": _loss_torch,
        "single precision": _loss_single,
    },
    "gaussian_release": {
        "numpy": _vector, "random, list": _vector_random, "standard normal": _vector,
        "Box-Muller": _vector_box_muller, "torch": _vector_torch,
    },
}  # fmt: skip
