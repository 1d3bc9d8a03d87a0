"""Submissions to homework 1: likelihood ratios, noisy counts and sensitivities."""

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import scipy.stats
import torch

from dpcourse import sensitivity as known
from testing.submissions.hw1.shared import NUMBERS, in_forms, noisy_in_forms, spoilt, wrong


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


def _numpy_count(count, epsilon, rng):
    return count + rng.laplace(0, 1 / epsilon)


def _decimal_ratio(y, count, neighbour, b):
    y, count, neighbour, b = (Decimal(float(one)) for one in (y, count, neighbour, b))
    return ((abs(y - neighbour) - abs(y - count)) / b).exp()


def _by_match(query, relation, low, high, n):
    match query, relation:
        case ("count", _) | ("histogram", "add/remove"):
            return 1
        case ("histogram", _):
            return 2
    ends = [low, high, 0.0] if relation == "add/remove" else [low, high]
    away = max(ends) - min(ends) if relation == "replace" else max(map(abs, ends))
    return away / (n if query == "mean" else 1)


def _by_fractions(query, relation, low, high, n):
    low, high = Fraction(low), Fraction(high)
    rows = [low, high] if relation == "replace" else [low, high, Fraction(0)]
    moves = [abs(one - other) for one in rows for other in (rows if relation == "replace" else [Fraction(0)])]
    each = {"count": Fraction(1), "histogram": Fraction(1 + (relation == "replace"))}
    return each.get(query, max(moves) / (n if query == "mean" else 1))


RIGHT = {
    "likelihood_ratio": {
        "math": _ratio,
        "scipy densities": _densities,
        "tensor": _tensor_ratio,
        "numpy scalar": lambda y, count, neighbour, b: np.exp(np.abs(y - neighbour) / b - np.abs(y - count) / b),
        "array of one": lambda y, count, neighbour, b: np.array([_ratio(y, count, neighbour, b)]),
        "Decimals throughout": _decimal_ratio,
        "logarithms of densities": lambda y, count, neighbour, b: math.exp(
            scipy.stats.laplace.logpdf(y, count, b) - scipy.stats.laplace.logpdf(y, neighbour, b)
        ),
        "single precision throughout": lambda y, count, neighbour, b: np.exp(
            (np.abs(np.float32(y) - np.float32(neighbour)) - np.abs(np.float32(y) - np.float32(count))) / np.float32(b)
        ),
        "cut": lambda y, count, neighbour, b: math.exp(
            (2 * min(max(y, min(count, neighbour)), max(count, neighbour)) - count - neighbour)
            * (1 if count > neighbour else -1) / b
        ),
        **in_forms(_ratio, NUMBERS),
    },
    "ratio_range": {
        "tuple": lambda difference, b: (math.exp(-difference / b), math.exp(difference / b)),
        "dict": lambda difference, b: {"largest": np.exp(difference / b), "smallest": 1 / np.exp(difference / b)},
        "array": lambda difference, b: list(np.exp(np.array([-1, 1]) * difference / b)),
        "tensor": lambda difference, b: torch.exp(torch.tensor([-difference, difference]) / b),
        "Decimals": lambda difference, b: [(Decimal(sign * difference) / Decimal(b)).exp() for sign in (-1, 1)],
        "single precision": lambda difference, b: np.exp(np.array([-1, 1], np.float32) * np.float32(difference / b)),
        "column": lambda difference, b: {
            "smallest": np.array([math.e ** (-difference / b)]), "largest": np.array(math.e ** (difference / b)),
        },
        "hyperbolic": lambda difference, b: (
            np.cosh(difference / b) - np.sinh(difference / b), np.cosh(difference / b) + np.sinh(difference / b),
        ),
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
        "quotient of uniforms": lambda count, epsilon, rng: (
            count + math.log((1 - rng.random()) / (1 - rng.random())) / epsilon
        ),
        "a normal of random width": lambda count, epsilon, rng: (
            count + math.sqrt(2 * rng.exponential()) * rng.standard_normal() / epsilon
        ),
        "gammas": lambda count, epsilon, rng: count + (rng.gamma(1) - rng.gamma(1)) / epsilon,
        **noisy_in_forms(_numpy_count, NUMBERS),
    },
    "sensitivity_of": {
        "ifs": _if_chain, "table": _by_table, "the course's": _from_the_course, "search over corners": _by_search,
        "match": _by_match, "fractions": _by_fractions, **in_forms(_by_table, NUMBERS),
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "likelihood_ratio": {
        "squared": lambda y, count, neighbour, b: _ratio(y, count, neighbour, b) ** 2,
        "rounded": lambda y, count, neighbour, b: round(_ratio(y, count, neighbour, b), 2),
        "at most 1": lambda y, count, neighbour, b: min(1, _ratio(y, count, neighbour, b)),
        "difference of densities": lambda y, count, neighbour, b: _pdf(y, count, b) - _pdf(y, neighbour, b),
        "without b, rounded": lambda y, count, neighbour, b: round(_ratio(y, count, neighbour, 1)),
        "at least 1": lambda y, count, neighbour, b: max(_ratio(y, count, neighbour, b), 1.0),
        "half a unit off": lambda y, count, neighbour, b: _ratio(y + 0.5, count, neighbour, b),
        "both": lambda y, count, neighbour, b: (_pdf(y, count, b), _pdf(y, neighbour, b)),
    },
    "ratio_range": {
        "half": lambda difference, b: (math.exp(-difference / 2 / b), math.exp(difference / 2 / b)),
        "twice": lambda difference, b: (math.exp(-2 * difference / b), math.exp(2 * difference / b)),
        "largest only": lambda difference, b: math.exp(difference / b),
        "densities": lambda difference, b: (math.exp(-difference / b) / (2 * b), 1 / (2 * b)),
        "searched too near": lambda difference, b: (
            min(_ratio(y, difference, 0, b) for y in np.linspace(0.2, 1, 50)),
            max(_ratio(y, difference, 0, b) for y in np.linspace(0.2, 1, 50)),
        ),
        "rounded": lambda difference, b: (round(math.exp(-difference / b), 3), round(math.exp(difference / b), 3)),
    },
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
    "sensitivity_of": {
        "always one": lambda query, relation, low, high, n: 1.0,
        "relations swapped": lambda query, relation, low, high, n: _if_chain(
            query, "replace" if relation == "add/remove" else "add/remove", low, high, n
        ),
        "n - 1 rows": lambda query, relation, low, high, n: _if_chain(query, relation, low, high, n - 1),
        "half the range": lambda query, relation, low, high, n: (
            (high - low) / 2 / (n if query == "mean" else 1)
            if query in ("sum", "mean")
            else _if_chain(query, relation, low, high, n)
        ),
        "None for a histogram": lambda query, relation, low, high, n: (
            None if query == "histogram" else _if_chain(query, relation, low, high, n)
        ),
        "negative": lambda query, relation, low, high, n: (
            low - high if (query, relation) == ("sum", "replace") else _if_chain(query, relation, low, high, n)
        ),
        "the middle for a mean": lambda query, relation, low, high, n: (
            (high + low) / 2 if query == "mean" else _if_chain(query, relation, low, high, n)
        ),
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "likelihood_ratio": {
        "upside down": lambda y, count, neighbour, b: _pdf(y, neighbour, b) / _pdf(y, count, b),
        "logarithm left": lambda y, count, neighbour, b: np.log(_pdf(y, count, b)) - np.log(_pdf(y, neighbour, b)),
        "logarithm to the base 10": lambda y, count, neighbour, b: math.log10(
            _pdf(y, count, b) / _pdf(y, neighbour, b)
        ),
        "b forgotten": lambda y, count, neighbour, b: _pdf(y, count, 1) / _pdf(y, neighbour, 1),
        "2b in the exponent": lambda y, count, neighbour, b: _ratio(y, count, neighbour, 2 * b),
        "multiplied by b": lambda y, count, neighbour, b: _ratio(y, count, neighbour, 1 / b),
        "absolute values forgotten": lambda y, count, neighbour, b: math.exp((y - neighbour - (y - count)) / b),
        "distances added": lambda y, count, neighbour, b: np.exp(abs(y - count) / b) * np.exp(abs(y - neighbour) / b),
        "Gaussian densities": lambda y, count, neighbour, b: (
            scipy.stats.norm.pdf(y, count, b) / scipy.stats.norm.pdf(y, neighbour, b)
        ),
        "never below 1": lambda y, count, neighbour, b: max(
            _pdf(y, count, b) / _pdf(y, neighbour, b), _pdf(y, neighbour, b) / _pdf(y, count, b)
        ),
    },
    "ratio_range": {
        "range of the bound": lambda difference, b: np.exp([0, difference / b]),
        "the slide's range": lambda difference, b: {"smallest": 1, "largest": float("inf")},
        "from 0 on": lambda difference, b: (0, math.exp(difference / b)),
        "without bounds": lambda difference, b: [0, np.inf],
        "b forgotten": lambda difference, b: (np.exp(-difference), np.exp(difference)),
        "sign of the smallest": lambda difference, b: (-math.exp(difference / b), math.exp(difference / b)),
        "b upside down": lambda difference, b: np.exp(np.array([-1, 1]) * difference * b),
        "logarithms": lambda difference, b: np.array([-1, 1]) * difference / b,
        "largest first": lambda difference, b: np.exp(np.array([1, -1]) * difference / b),
    },
    "noisy_count": {
        "scale upside down": lambda count, epsilon: (
            count + random.expovariate(1 / epsilon) - random.expovariate(1 / epsilon)
        ),
        "no noise": lambda count, epsilon: np.int64(count),
        "epsilon squared": lambda count, epsilon, rng: count + rng.laplace() * epsilon**-2,
        "epsilon forgotten": lambda count, epsilon, rng: count + math.log(rng.random() / rng.random()),
        "replaced": lambda count, epsilon: count + 2 * (random.expovariate(epsilon) - random.expovariate(epsilon)),
        "variance for scale": lambda count, epsilon, rng: count + rng.laplace(0, 2 * epsilon**-2),
        "deviation for scale": lambda count, epsilon, rng: count + rng.laplace(0, 2**-0.5) / epsilon,
        "noise as large as the count": lambda count, epsilon, rng: count * (1 + rng.laplace(0, 1 / epsilon)),
        "one-sided": lambda count, epsilon, rng: count + abs(rng.laplace(0, 1 / epsilon)),
        "Gaussian noise": lambda count, epsilon: random.gauss(count, math.sqrt(2) / epsilon),
    },
    "sensitivity_of": {
        "histogram counted once": lambda query, relation, low, high, n: (
            1 if query == "histogram" else _if_chain(query, relation, low, high, n)
        ),
        "mean not divided": lambda query, relation, low, high, n: _if_chain(query, relation, low, high, 1),
        "histogram counted twice": lambda query, relation, low, high, n: (
            2 if query == "histogram" else _by_match(query, relation, low, high, n)
        ),
        "count moved by two": lambda query, relation, low, high, n: (
            2 if (query, relation) == ("count", "replace") else _by_match(query, relation, low, high, n)
        ),
        "straight length of the histogram": lambda query, relation, low, high, n: (
            2**0.5 if (query, relation) == ("histogram", "replace") else _by_match(query, relation, low, high, n)
        ),
        "range under add/remove": lambda query, relation, low, high, n: (
            _by_match(query, "replace" if query in ("sum", "mean") else relation, low, high, n)
        ),
        "lower end forgotten": lambda query, relation, low, high, n: (
            _by_match(query, relation, 0 if relation == "add/remove" else low, high, n)
        ),
        "largest size under replace": lambda query, relation, low, high, n: (
            _by_match(query, "add/remove" if query in ("sum", "mean") else relation, low, high, n)
        ),
    },
}  # fmt: skip

#: Several more ways to make a known mistake.
_MORE = {
    "noisy_count": {
        "geometric": (_geometric, "rounded"),
        **spoilt(_numpy_count, lambda count, epsilon: float(count)),
        "one too many": (lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon) + 1, None),
        "a quarter wider": (lambda count, epsilon, rng: count + rng.laplace(0, 1.25 / epsilon), None),
        "always the same coin": (
            lambda count, epsilon: count + np.random.default_rng(round(1e6 * epsilon)).laplace(0, 1 / epsilon),
            None,
        ),
        "Student's t": (lambda count, epsilon, rng: count + rng.standard_t(3) / epsilon, None),
        "logistic": (lambda count, epsilon, rng: count + rng.logistic(0, 1 / epsilon), None),
    },
}

WRONG = wrong(_OTHERS, _KNOWN, _MORE)
