"""Submissions to homework 2: noise of one's own."""

import math
import random

import numpy as np


def laplace_numpy(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.laplace(0, 15 / epsilon)


def laplace_inverse_transform(skipped, epsilon):
    u = random.random() - 0.5
    return min(max(skipped, 0), 15) - 15 / epsilon * math.copysign(math.log(1 - 2 * abs(u)), u)


def laplace_two_exponentials(skipped, epsilon, rng):
    own = 0 if skipped < 0 else 15 if skipped > 15 else skipped
    return np.array([own + rng.exponential(15 / epsilon) - rng.exponential(15 / epsilon)])


def laplace_scipy(skipped, epsilon, rng):
    from scipy.special import xlog1py

    u = rng.uniform(-1, 1)
    return np.asarray(np.clip(skipped, 0, 15) - np.sign(u) * 15 / epsilon * xlog1py(1, -abs(u)))


def laplace_torch(skipped, epsilon):
    import torch

    own = torch.tensor(float(skipped), dtype=torch.float64).clamp(0, 15)
    return own + torch.empty((), dtype=torch.float64).exponential_(epsilon / 15) * (1 - 2 * torch.randint(0, 2, ()))


def laplace_ten_percent_off(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.laplace(0, 1.1 * 15 / epsilon)


def laplace_half_scale(skipped, epsilon, rng):
    """Half of the range: a missing factor 2."""
    return np.clip(skipped, 0, 15) + rng.laplace(0, 7.5 / epsilon)


def laplace_of_range(low, high, width=15, moved=0):
    """Another range, another scale, or another middle."""

    def report(skipped, epsilon, rng):
        return min(max(skipped, low), high) + moved + rng.laplace(0, width / epsilon)

    return report


def laplace_one_sided(skipped, epsilon, rng):
    return np.clip(skipped, 0, 15) + rng.exponential(15 / epsilon)


def laplace_seeded(skipped, epsilon):
    return np.clip(skipped, 0, 15) + np.random.default_rng(1).laplace(0, 15 / epsilon)


RIGHT = {
    "local_laplace": {
        "numpy": laplace_numpy,
        "inverse transform": laplace_inverse_transform,
        "two exponentials": laplace_two_exponentials,
        "scipy, 0-d": laplace_scipy,
        "torch": laplace_torch,
    },
}

WRONG = {
    "local_laplace": {
        "count": (lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + rng.laplace(0, 1 / epsilon), "sensitivity 1"),
        "times": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + rng.laplace(0, 15 * epsilon),
            "scale upside down",
        ),
        "unclipped": (lambda skipped, epsilon, rng: skipped + rng.laplace(0, 15 / epsilon), "value not clipped"),
        "clipped after": (
            lambda skipped, epsilon, rng: np.clip(skipped + rng.laplace(scale=15 / epsilon), 0, 15),
            "only the report clipped",
        ),
        "own scale": (
            lambda skipped, epsilon, rng: (own := np.clip(skipped, 0, 15)) + own / epsilon * rng.laplace(),
            "scale from the own value",
        ),
        "Gaussian": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + 15 / epsilon * 2**0.5 * rng.standard_normal(),
            "Gaussian noise",
        ),
        "ten percent off": (laplace_ten_percent_off, None),
        "factor 2": (laplace_half_scale, "half of the range"),
        "upper end only": (
            lambda skipped, epsilon, rng: np.minimum(skipped, 15) + 15 / epsilon * rng.laplace(),
            "no lower end",
        ),
        "lower end only": (
            lambda skipped, epsilon, rng: np.maximum(skipped, 0) + 15 / epsilon * rng.laplace(),
            "no upper end",
        ),
        "absolute value": (
            lambda skipped, epsilon, rng: np.minimum(abs(skipped), 15) + 15 / epsilon * rng.laplace(),
            "sign dropped",
        ),
        "sixteen": (
            lambda skipped, epsilon, rng: np.clip(skipped, 0, 15) + 16 / epsilon * rng.laplace(),
            "sixteen values",
        ),
        "up to 14": (laplace_of_range(0, 14), "ends off by one"),
        "from 1": (laplace_of_range(1, 15), "ends off by one below"),
        "up to 16": (laplace_of_range(0, 16), "ends off by one above"),
        "1 to 14": (laplace_of_range(1, 14), "ends off by one at both"),
        "one less": (laplace_of_range(0, 15, moved=-1), None),
        "one more, before the ends": (
            lambda skipped, epsilon, rng: np.clip(skipped + 1, 0, 15) + rng.laplace(0, 15 / epsilon),
            None,
        ),
        "fourteen": (laplace_of_range(0, 15, 14), None),
        "thirteen and a half": (laplace_of_range(0, 15, 13.5), None),
        "root of 2": (laplace_of_range(0, 15, 15 * math.sqrt(2)), None),
        "one-sided": (laplace_one_sided, None),
        "fixed seed": (laplace_seeded, None),
        "rounded": (lambda skipped, epsilon, rng: round(laplace_numpy(skipped, epsilon, rng)), None),
        "no noise": (lambda skipped, epsilon: np.clip(skipped, 0, 15), None),
    },
}
