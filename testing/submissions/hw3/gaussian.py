"""Submissions to homework 3: the Gaussian mechanism and its sigma."""

import math
import random
from decimal import Decimal
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from testing.submissions.hw3.shared import (
    cast,
    decimals,
    delta_erfc,
    delta_normaldist,
    delta_scipy,
    fractions,
    patterns,
)


def textbook_raises(epsilon, delta, sensitivity):
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon must be in (0, 1), got {epsilon}")
    return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon


def textbook_asserts(epsilon, delta, sensitivity):
    assert 0 < epsilon < 1, "the proof needs epsilon < 1"
    return np.sqrt(2 * np.log(1.25 / delta) * sensitivity**2 / epsilon**2)


def textbook_none(epsilon, delta, sensitivity):
    return None if epsilon >= 1 else np.array([(2 * np.log(1.25 / delta)) ** 0.5 * sensitivity / epsilon])


def textbook_nested(epsilon, delta, sensitivity):
    if epsilon < 1:
        variance = 2 * (math.log(1.25) - math.log(delta)) * (sensitivity / epsilon) ** 2
        return np.asarray(math.sqrt(variance))
    raise ValueError("too large")


def textbook_unchecked(epsilon, delta, sensitivity):
    return np.sqrt(2 * np.log(1.25 / delta)) * sensitivity / epsilon


def refusing(formula):
    def sigma(epsilon, delta, sensitivity):
        if epsilon >= 1:
            raise ValueError("epsilon must be below 1")
        return formula(epsilon, delta, sensitivity)

    return sigma


def textbook_one_allowed(epsilon, delta, sensitivity):
    if epsilon > 1:
        raise ValueError("epsilon must be at most 1")
    return textbook_unchecked(epsilon, delta, sensitivity)


def textbook_raising(error):
    def sigma(epsilon, delta, sensitivity):
        if epsilon >= 1:
            raise error
        return math.sqrt(2 * math.log(1.25 / delta)) * sensitivity / epsilon

    return sigma


def vector_sigma(sums, cap, epsilon, delta):
    return np.sqrt(2 * np.log(1.25 / delta)) * cap * np.sqrt(len(sums)) / epsilon


def vector_numpy(sums, cap, epsilon, delta, rng):
    return sums + rng.normal(0, vector_sigma(sums, cap, epsilon, delta), size=len(sums))


def vector_random(sums, cap, epsilon, delta):
    sigma = math.sqrt(2 * math.log(1.25 / delta)) * cap * math.sqrt(len(sums)) / epsilon
    return [random.gauss(value, sigma) for value in sums]


def vector_multivariate(sums, cap, epsilon, delta, rng):
    variance = 2 * np.log(1.25 / delta) * len(sums) * cap**2 / epsilon**2
    return np.sqrt(variance) * rng.standard_normal(sums.shape) + sums


def vector_box_muller(sums, cap, epsilon, delta, rng):
    u, v = rng.random(len(sums)), rng.random(len(sums))
    return sums + vector_sigma(sums, cap, epsilon, delta) * np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)


def vector_torch(sums, cap, epsilon, delta):
    import torch

    noise = torch.randn(len(sums), dtype=torch.float64) * float(vector_sigma(sums, cap, epsilon, delta))
    return torch.tensor(sums, dtype=torch.float64) + noise


def vector_times(factor):
    def release(sums, cap, epsilon, delta, rng):
        sigma = vector_sigma(sums, cap, epsilon, delta)
        return sums + rng.normal(0, sigma * factor(len(sums), cap, sigma), len(sums))

    return release


def vector_first_only(sums, cap, epsilon, delta, rng):
    noisy = np.array(sums)
    noisy[0] += rng.normal(0, vector_sigma(sums, cap, epsilon, delta))
    return noisy


def vector_laplace(sums, cap, epsilon, delta, rng):
    return sums + rng.laplace(0, vector_sigma(sums, cap, epsilon, delta) / math.sqrt(2), len(sums))


def vector_of_width(sigma):
    """Noise whose width is another function of what is given."""
    return lambda sums, cap, epsilon, delta, rng: sums + rng.normal(0, sigma(sums, cap, epsilon, delta), len(sums))


def vector_then(process):
    return lambda sums, cap, epsilon, delta, rng: process(vector_numpy(sums, cap, epsilon, delta, rng))


def vector_logistic(sums, cap, epsilon, delta, rng):
    return sums + rng.logistic(0, vector_sigma(sums, cap, epsilon, delta) * math.sqrt(3) / math.pi, len(sums))


def one_sigma(cap, epsilon, delta):
    return math.sqrt(2 * math.log(1.25 / delta)) * cap / epsilon


def vector_in_place(sums, cap, epsilon, delta, rng):
    sums += rng.normal(0, vector_sigma(sums, cap, epsilon, delta), size=len(sums))
    return sums


def sigma_bisection(epsilon, delta, sensitivity):
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_scipy(epsilon, middle, sensitivity) > delta else (low, middle)
    return high


sigma_once = lru_cache(64)(sigma_bisection)


def sigma_brentq(epsilon, delta, sensitivity):
    from scipy.optimize import brentq

    found = brentq(lambda x: math.log(max(delta_erfc(epsilon, math.exp(x), 1)[0], 1e-300) / delta), -4, 6)
    return np.exp(found) * sensitivity


def sigma_coarse(epsilon, delta, sensitivity):
    """A search that stops at five digits."""
    low, high = 0.01, 1e5
    while high / low > 1 + 1e-5:
        middle = (low + high) / 2 if high > 2 * low else math.sqrt(low * high)
        if delta_normaldist(epsilon, middle, sensitivity) > delta:
            low = middle
        else:
            high = middle
    return np.array([high])


def sigma_newton(epsilon, delta, sensitivity):
    from scipy.optimize import root_scalar
    from scipy.special import log_ndtr

    def excess(x):
        mu = math.exp(x)
        above, below = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
        return above + math.log1p(-math.exp(below - above)) - math.log(delta)

    return sensitivity / math.exp(root_scalar(excess, bracket=(-3, 3)).root)


def sigma_by_tail(epsilon, delta, sensitivity):
    z = NormalDist().inv_cdf(delta)
    return sensitivity / (z + math.sqrt(z * z + 2 * epsilon))


RIGHT = {
    "textbook_sigma": {
        "raises": textbook_raises,
        "else": textbook_nested,
    },
    "gaussian_release": {
        "numpy": vector_numpy,
        "random, list": vector_random,
        "standard normal": vector_multivariate,
        "Box-Muller": vector_box_muller,
        "torch": vector_torch,
    },
    "smallest_sigma": {
        "bisection": sigma_bisection,
        "brentq": sigma_brentq,
        "coarse, length 1": sigma_coarse,
        "log space": sigma_newton,
        "four digits": lambda epsilon, delta, sensitivity: float(f"{sigma_newton(epsilon, delta, sensitivity):.4g}"),
    },
}

WRONG = {
    "textbook_sigma": {
        "unchecked": (textbook_unchecked, "refuses nothing"),
        "one allowed": (textbook_one_allowed, "refuses too little"),
        "None": (textbook_none, "refuses in other words"),
        "asserts": (textbook_asserts, "refuses in other words"),
        "variance": (refusing(lambda e, d, s: 2 * math.log(1.25 / d) * s**2 / e**2), "the variance"),
        "no sensitivity": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d)) / e), "sensitivity forgotten"),
        "1/delta": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1 / d)) * s / e), "1.25 forgotten"),
        "log10": (refusing(lambda e, d, s: math.sqrt(2 * math.log10(1.25 / d)) * s / e), "base ten"),
        "no 2": (refusing(lambda e, d, s: math.sqrt(math.log(1.25 / d)) * s / e), "factor 2 forgotten"),
        "root of epsilon": (
            refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d) * s**2 / e)),
            "epsilon under the root",
        ),
        "analytic": (refusing(sigma_bisection), None),
        "refuses all": (lambda epsilon, delta, sensitivity: None, None),
        "not implemented": (textbook_raising(NotImplementedError("needs epsilon < 1")), "refuses in other words"),
        "any error": (textbook_raising(Exception("needs epsilon < 1")), "refuses in other words"),
    },
    "gaussian_release": {
        "l1": (vector_times(lambda k, cap, sigma: k**0.5), "l1 sensitivity"),
        "one sum": (vector_times(lambda k, cap, sigma: k**-0.5), "one coordinate only"),
        "no cap": (vector_times(lambda k, cap, sigma: 1 / cap), "cap forgotten"),
        "variance": (vector_times(lambda k, cap, sigma: sigma), "variance as scale"),
        "shared": (
            lambda sums, cap, epsilon, delta, rng: (
                sums + vector_sigma(sums, cap, epsilon, delta) * rng.standard_normal()
            ),
            "shared noise",
        ),
        "none": (lambda sums, cap, epsilon, delta: list(sums), "no noise"),
        "10% off": (vector_times(lambda k, cap, sigma: 0.9), None),
        "missing factor 2": (vector_times(lambda k, cap, sigma: 0.5**0.5), None),
        "first only": (vector_first_only, None),
        "Laplace": (vector_laplace, None),
        "in place": (vector_in_place, None),
        "split": (
            vector_of_width(lambda sums, cap, e, d: one_sigma(cap, e / len(sums), d / len(sums))),
            "budget split",
        ),
        "width of the sums": (
            vector_of_width(lambda sums, cap, e, d: one_sigma(np.linalg.norm(sums), e, d)),
            "noise from the data",
        ),
        "width of each sum": (
            vector_of_width(lambda sums, cap, e, d: one_sigma(1, e, d) * sums),
            "noise from each sum",
        ),
        "uneven": (
            vector_of_width(
                lambda sums, cap, e, d: vector_sigma(sums, cap, e, d) * np.sqrt(np.linspace(0.4, 1.6, len(sums)))
            ),
            None,
        ),
        "as even as the sums": (
            vector_of_width(lambda sums, cap, e, d: vector_sigma(sums, cap, e, d) * np.sqrt(sums / sums.mean())),
            None,
        ),
        "pure": (
            lambda sums, cap, epsilon, delta, rng: sums + rng.laplace(0, cap * len(sums) / epsilon, len(sums)),
            "Laplace noise",
        ),
        "cut": (vector_then(lambda noisy: np.maximum(0, noisy)), "cut off"),
        "whole numbers": (vector_then(np.round), "rounded"),
        "one decimal": (vector_then(lambda noisy: np.round(noisy, 1)), "rounded"),
        "logistic": (vector_logistic, None),
        "twice": (vector_times(lambda k, cap, sigma: 2), None),
        "one-sided": (
            lambda sums, cap, epsilon, delta, rng: sums + abs(vector_numpy(sums, cap, epsilon, delta, rng) - sums),
            None,
        ),
        "fixed seed": (
            lambda sums, cap, epsilon, delta: vector_numpy(sums, cap, epsilon, delta, np.random.default_rng(7)),
            None,
        ),
    },
    "smallest_sigma": {
        "textbook": (textbook_unchecked, "textbook formula"),
        "no sensitivity": (
            lambda epsilon, delta, sensitivity: sigma_newton(epsilon, delta, 1),
            "sensitivity forgotten",
        ),
        "mu": (
            lambda epsilon, delta, sensitivity: sensitivity / sigma_newton(epsilon, delta, sensitivity),
            "mu for sigma",
        ),
        "tail": (sigma_by_tail, "by the tail"),
        "variance": (
            lambda epsilon, delta, sensitivity: sigma_newton(epsilon, delta, sensitivity) ** 2,
            "the variance",
        ),
        "1% more": (lambda epsilon, delta, sensitivity: 1.01 * sigma_newton(epsilon, delta, sensitivity), None),
        "1% less": (lambda epsilon, delta, sensitivity: 0.99 * sigma_newton(epsilon, delta, sensitivity), None),
        "negative": (lambda epsilon, delta, sensitivity: -sigma_newton(epsilon, delta, sensitivity), None),
    },
}


class TooLarge(ValueError):
    """A refusal with a name of its own."""


def textbook_own_error(epsilon, delta, sensitivity):
    if epsilon >= 1.0:
        raise TooLarge(epsilon)
    return sensitivity / epsilon * math.sqrt(math.log(1.25 / delta) * 2)


def textbook_decimal(epsilon, delta, sensitivity):
    e, d, s = (Decimal(repr(value)) for value in (epsilon, delta, sensitivity))
    if e >= 1:
        raise ValueError(f"{e} is not below 1")
    return (2 * (Decimal("1.25") / d).ln()).sqrt() * s / e


def textbook_torch(epsilon, delta, sensitivity):
    import torch

    e, d, s = torch.tensor([epsilon, delta, sensitivity])  # in single precision
    if not 0 < e < 1:
        raise ValueError("the proof does not cover this")
    return (s / e * torch.sqrt(2 * torch.log(1.25 / d))).item()


def textbook_helper(epsilon, delta, sensitivity):
    """The check stands in a function of its own."""

    def below_one(value):
        if value >= 1:
            raise ValueError("epsilon >= 1")
        return value

    return np.array([np.hypot(1, 1) * np.sqrt(np.log(1.25) - np.log(delta)) * sensitivity / below_one(epsilon)])


def vector_single(sums, cap, epsilon, delta, rng):
    sigma = np.float32(vector_sigma(sums, cap, epsilon, delta))
    return np.float32(sums) + sigma * rng.standard_normal(len(sums), dtype=np.float32)


def vector_pandas(sums, cap, epsilon, delta, rng):
    import pandas as pd

    return pd.Series(sums).map(lambda value: rng.normal(value, vector_sigma(sums, cap, epsilon, delta)))


def vector_two_halves(sums, cap, epsilon, delta, rng):
    """Two draws of half the variance."""
    sigma = vector_sigma(sums, cap, epsilon, delta) / math.sqrt(2)
    return sums + rng.normal(0, sigma, len(sums)) - rng.normal(0, sigma, len(sums))


def vector_inverse(sums, cap, epsilon, delta, rng):
    from scipy.special import ndtri

    return [float(s + vector_sigma(sums, cap, epsilon, delta) * ndtri(rng.random())) for s in sums]


def vector_turned(sums, cap, epsilon, delta, rng):
    """Gaussian noise looks the same from every side."""
    k = len(sums)
    turned = np.eye(k) - 2 / k  # a mirror
    return sums + turned @ rng.normal(0, one_sigma(cap * math.sqrt(k), epsilon, delta), k)


def sigma_doubling(epsilon, delta, sensitivity):
    high = sensitivity
    while delta_normaldist(epsilon, high, sensitivity) > delta:
        high *= 2
    low = 0
    for _ in range(50):
        middle = (low + high) / 2
        if middle > 0 and delta_normaldist(epsilon, middle, sensitivity) <= delta:
            high = middle
        else:
            low = middle
    return high


def sigma_by_mu(epsilon, delta, sensitivity):
    """Search for mu = sensitivity / sigma."""
    from scipy.special import log_ndtr

    low, high = 0.0, 50.0
    for _ in range(60):
        mu = (low + high) / 2
        true = np.exp(log_ndtr(mu / 2 - epsilon / mu)) - np.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))
        low, high = (mu, high) if true <= delta else (low, mu)
    return sensitivity / low


def sigma_secant(epsilon, delta, sensitivity):
    from scipy.optimize import newton

    def excess(x):
        return math.log(delta_erfc(epsilon, math.exp(x), 1)[0] / delta)

    start = math.log(math.sqrt(2 * math.log(1.25 / delta)) / epsilon + 1 / math.sqrt(2 * epsilon)) - 0.2
    return sensitivity * math.exp(newton(excess, start, x1=start - 0.1))


RIGHT["textbook_sigma"] |= {
    "own error": textbook_own_error,
    "Decimal": textbook_decimal,
    "torch, single": textbook_torch,
    "helper": textbook_helper,
    "fraction": cast(textbook_raises, fractions),
}
RIGHT["gaussian_release"] |= {
    "single precision": vector_single,
    "pandas": vector_pandas,
    "two halves": vector_two_halves,
    "inverse": vector_inverse,
    "mirrored": vector_turned,
    "Decimal": cast(vector_numpy, decimals),
}
RIGHT["smallest_sigma"] |= {
    "doubling": sigma_doubling,
    "by mu": sigma_by_mu,
    "secant": sigma_secant,
    "single precision": cast(sigma_bisection, np.float32),
    "Decimal": cast(sigma_by_mu, decimals),
}

WRONG["textbook_sigma"] |= {
    "from 2 on": (lambda epsilon, delta, sensitivity: (
        refusing(textbook_unchecked)(epsilon / 2, delta, sensitivity) / 2), "refuses too little"),
    "where it fails": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 8 else textbook_raises(epsilon, delta, sensitivity)
    ), "refuses too little"),
    "from 0.95 on": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 0.95
        else textbook_raises(2, delta, sensitivity)), None),
    "prints and stops": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else print("too large")),
        "refuses in other words"),
    "a text": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else "refused"), "refuses in other words"),
    "infinite": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else math.inf), "refuses in other words"),
    "not a number": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else math.nan), None),
    "zero": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else 0.0), "refuses nothing"),
    "minus one": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else -1), "refuses nothing"),
    "a ZeroDivisionError": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1 else 1 / 0), None),
    "the smallest instead": (lambda epsilon, delta, sensitivity: (
        textbook_unchecked(epsilon, delta, sensitivity) if epsilon < 1
        else sigma_bisection(epsilon, delta, sensitivity)), "refuses nothing"),
    "bracket": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25) / d) * s / e), "classical bracket"),
    "log2": (refusing(lambda e, d, s: math.sqrt(2 * math.log2(1.25 / d)) * s / e), "base two"),
    "no root": (refusing(lambda e, d, s: 2 * math.log(1.25 / d) * s / e), "root forgotten"),
    "epsilon squared": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d)) * s / e**2), None),
    "upside down": (refusing(lambda e, d, s: math.sqrt(2 * math.log(1.25 / d)) * e / s), None),
}  # fmt: skip
WRONG["gaussian_release"] |= {
    "cut at 0": (vector_then(lambda noisy: np.maximum(0, noisy)), "cut off"),
    "as whole numbers": (vector_then(lambda noisy: noisy.astype(int)), "rounded"),
    "bracket": (
        vector_of_width(lambda sums, cap, e, d: math.sqrt(2 * math.log(1.25) / d) * cap * len(sums) ** 0.5 / e), None,
    ),
    "replaced": (vector_times(lambda k, cap, sigma: 2), None),
    "mean of two": (
        lambda sums, cap, epsilon, delta, rng: (
            vector_numpy(sums, cap, epsilon, delta, rng) + vector_numpy(sums, cap, epsilon, delta, rng)
        ) / 2,
        None,
    ),
    "analytic": (vector_of_width(lambda sums, cap, e, d: sigma_once(e, d, cap * len(sums) ** 0.5)), None),
    **patterns(
        lambda sums, cap, epsilon, delta: np.array(sums),
        lambda sums, cap, epsilon, delta: vector_sigma(sums, cap, epsilon, delta),
    ),
}  # fmt: skip
WRONG["smallest_sigma"] |= {
    "searches below the textbook": (
        lambda epsilon, delta, sensitivity: min(
            sigma_bisection(epsilon, delta, sensitivity), textbook_unchecked(epsilon, delta, sensitivity)
        ),
        "textbook as upper end",
    ),
    "both tails": (
        lambda epsilon, delta, sensitivity: 1.002 * sigma_by_tail(epsilon, delta, sensitivity), None,
    ),
    "two digits": (
        lambda epsilon, delta, sensitivity: float(f"{sigma_newton(epsilon, delta, sensitivity):.2g}"), None,
    ),
    "textbook, refusing": (refusing(textbook_unchecked), None),
    "textbook, cut at 1": (
        lambda epsilon, delta, sensitivity: textbook_unchecked(min(epsilon, 1), delta, sensitivity), None,
    ),
    "three halves": (lambda epsilon, delta, sensitivity: 1.5 * sigma_by_mu(epsilon, delta, sensitivity), None),
    "delta at 0": (lambda epsilon, delta, sensitivity: sensitivity / (2 * NormalDist().inv_cdf((1 + delta) / 2)), None),
    "None": (lambda epsilon, delta, sensitivity: None, None),
}  # fmt: skip
WRONG["gaussian_release"]["no noise on what is 0"] = (
    lambda sums, cap, epsilon, delta, rng: np.where(
        sums == 0,
        0,
        sums + rng.normal(0, math.sqrt(2 * math.log(1.25 / delta) * len(sums)) * cap / epsilon, len(sums)),
    ),
    None,
)
