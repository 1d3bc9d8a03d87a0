"""What several submissions to homeworks 3 and 4 use: casts, patterns of wrong noise, and the exact delta."""

import math
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from statistics import NormalDist

import numpy as np

from testing.submissions.patterns import from_call, mixture, twice

PHI = NormalDist().cdf


def delta_normaldist(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    return PHI(mu / 2 - epsilon / mu) - math.exp(epsilon) * PHI(-mu / 2 - epsilon / mu)


def delta_scipy(epsilon, sigma, sensitivity):
    from scipy.stats import norm

    a, b = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return norm.cdf(a - b) - np.exp(epsilon) * norm.cdf(-a - b)


def delta_erfc(epsilon, sigma, sensitivity):
    mu = sensitivity / sigma
    tail = [math.erfc(x / math.sqrt(2)) / 2 for x in (epsilon / mu - mu / 2, epsilon / mu + mu / 2)]
    return np.array([tail[0] - math.exp(epsilon) * tail[1]])


def cast(function, kind):
    """The same answers as another type; of lists and tuples each part."""

    def part(value):
        if isinstance(value, dict):
            return {name: part(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(part(one) for one in value)
        return kind(value)

    @wraps(function)
    def same(*arguments, **named):
        return part(function(*arguments, **named))

    return same


def decimals(value):
    return [decimals(one) for one in value] if np.ndim(value) else Decimal(repr(float(value)))


def fractions(value):
    return [fractions(one) for one in value] if np.ndim(value) else Fraction(float(value))


def series(value):
    import pandas as pd

    return pd.Series(np.atleast_1d(value))


def tensor(value):
    import torch

    return torch.tensor(np.asarray(value, dtype=float))


def single_tensor(value):
    return tensor(value).float()


def zero_sum(rng, size):
    z = rng.normal(size=size)
    return (z - z.mean()) * math.sqrt(size / (size - 1))


def patterns(center, scale):
    """Wrong Gaussian noise around a right centre, with the right scale as far as it goes; by the pattern's name."""

    def noisy(noise, then=lambda answer: answer):
        return lambda rng, **asked: then(center(**asked) + scale(**asked) * noise(rng, len(center(**asked))))

    def normal(rng, size):
        return rng.normal(size=size)

    right = noisy(normal)
    wrong = {
        **{
            f"exact once in {round(1 / (1 - share))}": mixture(right, center, share) for share in (0.8, 0.9, 0.95, 0.99)
        },
        **{f"exact from call {calls} on": from_call(right, center, calls) for calls in (1, 30, 300, 1_000)},
        "every answer twice": twice(right),
        "zero sum": noisy(zero_sum),
        "one size, own signs": noisy(lambda rng, size: abs(rng.normal()) * rng.choice([-1, 1], size)),
        "one sign, own sizes": noisy(lambda rng, size: np.abs(rng.normal(size=size)) * rng.choice([-1, 1])),
        "second half mirrored": noisy(lambda rng, size: np.resize((z := rng.normal(size=(size + 1) // 2), -z), size)),
        "two alike": noisy(lambda rng, size: np.append((z := rng.normal(size=size - 1))[:1], z)),
        "cut at three": noisy(lambda rng, size: np.clip(rng.normal(size=size), -3, 3)),
        "Student's t": noisy(lambda rng, size: rng.standard_t(5, size) * math.sqrt(3 / 5)),
        "uniform": noisy(lambda rng, size: rng.uniform(-1, 1, size) * math.sqrt(3)),
        "logistic": noisy(lambda rng, size: rng.logistic(0, math.sqrt(3) / math.pi, size)),
        "mixture of widths": noisy(lambda rng, size: rng.normal(size=size) * rng.choice([0.5, 1.3], size)),
        "noise added twice": noisy(lambda rng, size: rng.normal(size=size) + rng.normal(size=size)),
        "cut at 0": noisy(normal, lambda answer: np.maximum(answer, 0)),
        "cut at the truth": lambda rng, **asked: np.maximum(right(**asked, rng=rng), center(**asked)),
        "a tenth wider": noisy(lambda rng, size: 1.1 * rng.normal(size=size)),
        "a tenth narrower": noisy(lambda rng, size: rng.normal(size=size) / 1.1),
        "two digits": noisy(normal, lambda answer: np.round(answer, 2)),
        "absolute value": noisy(normal, np.abs),
        "moved by a tenth": noisy(lambda rng, size: rng.normal(0.1, 1, size)),
    }
    return {name: (function, None) for name, function in wrong.items()}
