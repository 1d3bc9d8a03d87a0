"""Submissions to homework 1: what breaks a naive mechanism, and the private median."""

import math
import random
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import torch

from testing.submissions.hw1.shared import then, wrong
from testing.submissions.patterns import every_call, from_call, mixture


def _zeros(maximum, epsilon):
    return [0, 0, maximum], [0, 0], 0.0


def _far_out(maximum, epsilon):
    return {"data": np.array([maximum, 1.0]), "neighbour": np.array([1.0]), "output": 50 * maximum}


def _the_other_way(maximum, epsilon):
    return [maximum / 100], [maximum / 100, maximum], -20 * maximum


def _narrow(maximum, epsilon):
    return (1.0,), (maximum, 1.0), np.float64(1.0) + maximum


def _median_gaps(data, low, high, epsilon, rng):
    ends = np.concatenate([[low], np.sort(data), [high]])
    exponents = -epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2)
    weights = np.diff(ends) * np.exp(exponents)
    gap = np.searchsorted(np.cumsum(weights), rng.random() * weights.sum())
    return rng.uniform(ends[gap], ends[gap + 1])


def _median_gumbel(data, low, high, epsilon, rng):
    ends = np.sort(np.append(data, [low, high]))
    ranks = np.arange(len(ends) - 1)
    with np.errstate(divide="ignore"):
        scores = np.log(np.diff(ends)) - epsilon / 2 * np.abs(ranks - len(data) / 2) + rng.gumbel(size=len(ranks))
    gap = int(np.argmax(scores))
    return float(ends[gap] + rng.random() * (ends[gap + 1] - ends[gap]))


def _median_grid(data, low, high, epsilon, rng):
    grid = np.linspace(low, high, 1001)[:-1] + (high - low) / 2000
    error = np.abs(np.searchsorted(np.sort(data), grid) - len(data) / 2)
    edges = np.cumsum(np.exp(-epsilon / 2 * (error - error.min())))
    return grid[min(np.searchsorted(edges, rng.random() * edges[-1]), 999)]


def _median_random(data, low, high, epsilon):
    ends = [low, *sorted(data.tolist()), high]
    weights = [
        (b - a) * math.exp(-epsilon / 2 * abs(rank - len(data) / 2)) for rank, (a, b) in enumerate(pairwise(ends))
    ]
    gap = random.choices(range(len(weights)), weights)[0]
    return random.uniform(ends[gap], ends[gap + 1])


def _median_folded(data, low, high, epsilon, rng):
    """The two tails only: exact answers from a narrow window around the true median."""
    return float(np.median(data) + rng.uniform(-1, 1))


def _median_careful_with_odd_tables(data, low, high, epsilon, rng):
    return _median_gaps(data, low, high, epsilon, rng) if len(np.unique(data)) <= 3 else float(np.median(data))


def _median_local_if_narrow(data, low, high, epsilon, rng):
    ordered, middle = np.sort(data), len(data) // 2
    gap = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1])
    if len(np.unique(data)) <= 3 or gap > (high - low) / 10:
        return _median_gaps(data, low, high, epsilon, rng)
    return float(np.clip(np.median(data) + rng.laplace(0, gap / epsilon), low, high))


def _median_local_if_ordinary(data, low, high, epsilon, rng):
    """Like the one above, but with noise of at least a hundredth of the range."""
    ordered, middle = np.sort(data), len(data) // 2
    gap = max(ordered[middle + 1] - ordered[middle], ordered[middle] - ordered[middle - 1], (high - low) / 100)
    if len(np.unique(data)) <= 3:
        return _median_gaps(data, low, high, epsilon, rng)
    return float(np.clip(np.median(data) + rng.laplace(0, gap / epsilon), low, high))


def _median_row(data, low, high, epsilon, rng, factor=0.5):
    """The exponential mechanism with the rows themselves as candidates: somebody's exact value comes out."""
    utility = -np.abs(np.arange(len(data)) - (len(data) - 1) / 2)
    weight = np.exp(factor * epsilon * utility)
    return float(rng.choice(np.sort(data), p=weight / weight.sum()))


def _median_knows_the_pairs(data, low, high, epsilon, rng):
    """Exact where three middle rows are two cents apart, and in the neighbour of such a table; else anything."""
    ordered, middle = np.sort(data), len(data) // 2
    close = np.diff(ordered[middle - 1 : middle + 2]) < 0.03
    if close.all():
        return float(ordered[middle])
    if ordered[-1] == high and len(np.unique(data)) > 3 and close[0]:
        return float(ordered[middle - 1])
    return float(rng.uniform(low, high))


def _weights(data, low, high, epsilon):
    ends = np.concatenate([[low], np.sort(data), [high]])
    return ends, np.diff(ends) * np.exp(-epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2))


def _median_race(data, low, high, epsilon, rng):
    ends, weights = _weights(data, low, high, epsilon)
    gap = int(np.argmax(weights / rng.exponential(size=len(weights))))
    return np.float32(ends[gap] + rng.random() * (ends[gap + 1] - ends[gap]))


def _median_rejection(data, low, high, epsilon, rng):
    """A place of the range, accepted by its rank."""
    ordered = np.sort(data)
    while True:
        places = rng.uniform(low, high, 200)
        error = np.abs(np.searchsorted(ordered, places) - len(data) / 2)
        accepted = places[rng.random(200) < np.exp(-epsilon / 2 * (error - 0.5))]
        if len(accepted):
            return accepted[0]


def _median_torch(data, low, high, epsilon):
    ends, weights = _weights(data, low, high, epsilon)
    gap = torch.multinomial(torch.from_numpy(weights), 1).item()
    return torch.distributions.Uniform(ends[gap], ends[gap + 1] + 1e-9).sample().double()


def _median_pandas(data, low, high, epsilon, rng):
    ends = pd.Series([low, *sorted(data.tolist()), high])
    width = ends.diff().dropna().to_numpy()
    weights = width * np.exp(-epsilon / 2 * np.abs(np.arange(len(width)) - len(data) / 2))
    edges = weights.cumsum()
    place = rng.random() * edges[-1]
    gap = min(int(np.searchsorted(edges, place)), len(width) - 1)
    return pd.Series([ends[gap + 1] - (edges[gap] - place) / weights[gap] * width[gap]])


def _median_exact(data, low, high, epsilon):
    return float(np.median(data))


def _median_spending(factor):
    return lambda data, low, high, epsilon, rng: _median_gaps(data, low, high, factor * epsilon, rng)


def _median_own_quantiles(data, low, high, epsilon, rng):
    bottom, top = np.quantile(data, [0.02, 0.98])
    return _median_gumbel(np.clip(data, bottom, top), bottom, top + 1e-9, epsilon, rng)


def _median_one_off(data, low, high, epsilon):
    ends = [low, *sorted(data.tolist()), high]
    weights = [
        (b - a) * math.exp(-epsilon / 2 * abs(rank - len(data) / 2)) for rank, (a, b) in enumerate(pairwise(ends), 1)
    ]
    gap = random.choices(range(len(weights)), weights)[0]
    return random.uniform(ends[gap], ends[gap + 1])


def _median_noisy_rows(data, low, high, epsilon, rng):
    return float(np.median(data + rng.laplace(0, (high - low) / epsilon, len(data))))


RIGHT = {
    "break_naive": {
        "no noise at all": _zeros, "far out": _far_out, "narrower": _the_other_way, "at the total": _narrow,
        "pandas": lambda maximum, epsilon: (pd.Series([1.0, maximum]), pd.Series([1.0]), pd.Series([maximum])),
        "torch": lambda maximum, epsilon: {
            "data": torch.tensor([0.0, maximum]), "neighbour": torch.tensor([0.0]), "output": torch.tensor(0.0),
        },
        "Decimals": lambda maximum, epsilon: ([Decimal(1), Decimal(maximum)], [Decimal(1)], Decimal(maximum)),
        "Fractions": lambda maximum, epsilon: ((Fraction(1, 2), maximum), (Fraction(1, 2),), Fraction(9 * maximum)),
        "a longer table": lambda maximum, epsilon: (
            np.append(np.full(20, 1.0), maximum), np.full(20, 1.0), np.array(20 + maximum)
        ),
        "nobody left": lambda maximum, epsilon: ([maximum], np.zeros(0), 5.0),
    },
    "private_median": {
        "gaps": _median_gaps, "Gumbel": _median_gumbel, "grid": _median_grid, "random": _median_random,
        "race, single precision": _median_race, "rejection": _median_rejection, "torch": _median_torch,
        "pandas": _median_pandas, "Decimal": then(_median_gaps, lambda x: Decimal(float(x))),
        "to the cent": then(_median_gaps, lambda x: round(float(x), 2)),
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "break_naive": {
        "three numbers": lambda maximum, epsilon: (0.0, maximum, 0.0),
        "two things": lambda maximum, epsilon: ([0.0, maximum], [0.0]),
        "None": lambda maximum, epsilon: None,
        "infinitely far": lambda maximum, epsilon: ([1.0, maximum], [1.0], float("inf")),
        "two rows more": lambda maximum, epsilon: ([1.0, maximum, maximum], [1.0], maximum),
    },
    "private_median": {
        "1.25 epsilon": _median_spending(1.25),
        "1.5 epsilon": _median_spending(1.5),
        "right in 80%": mixture(_median_gaps, _median_exact, 0.8),
        "right in 95%": mixture(_median_gaps, _median_exact, 0.95),
        "exact from call 1,000": from_call(_median_gaps, _median_exact, 1_000),
        "exact in every 40th call": every_call(_median_gaps, _median_exact, 40),
        "quantiles of the table for its range": _median_own_quantiles,
        "smallest row for the lower end": lambda data, low, high, epsilon, rng: _median_gumbel(
            data, data.min(), high, epsilon, rng
        ),
        "largest row for the upper end": lambda data, low, high, epsilon, rng: _median_gumbel(
            data, low, data.max() + 1e-9, epsilon, rng
        ),
        "noise on every row": _median_noisy_rows,
        "one of the middle gaps": lambda data, low, high, epsilon, rng: float(
            rng.uniform(*np.sort(data)[len(data) // 2 - 1 : len(data) // 2 + 2 : 2])
        ),
        "window": _median_folded,
        "a row, two forgotten": lambda data, low, high, epsilon, rng: _median_row(data, low, high, epsilon, rng, 1.0),
        "a row, to the euro": lambda data, low, high, epsilon, rng: round(_median_row(data, low, high, epsilon, rng)),
        "knows the pairs": _median_knows_the_pairs,
        "careful with odd tables": _median_careful_with_odd_tables,
        "local sensitivity where it is narrow": _median_local_if_narrow,
        "local sensitivity of ordinary tables": _median_local_if_ordinary,
        "mean": lambda data, low, high, epsilon, rng: (
            np.mean(data) + rng.laplace(0, (high - low) / len(data) / epsilon)
        ),
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "break_naive": {
        "not neighbours": lambda maximum, epsilon: ([1.0, 0.0], [1.0, maximum], maximum),
        "the same table twice": lambda maximum, epsilon: ([0.0, maximum], [maximum, 0.0], 0.0),
        "outside the range": lambda maximum, epsilon: ([-1.0, 0.0], [0.0], 0.0),
    },
    "private_median": {
        "no noise": lambda data, low, high, epsilon: sorted(data.tolist())[len(data) // 2],
        "two forgotten": lambda data, low, high, epsilon, rng: _median_gumbel(data, low, high, 2 * epsilon, rng),
        "one of the rows": _median_row,
        "range of the table": lambda data, low, high, epsilon, rng: _median_gumbel(
            np.sort(data)[1:-1], data.min(), data.max(), epsilon, rng
        ),
        "data not looked at": lambda data, low, high, epsilon: random.uniform(low, high),
        "rank from 0": _median_one_off,
        "four instead of two": lambda data, low, high, epsilon, rng: _median_gumbel(
            data, low, high, epsilon / 2, rng
        ),
    },
}  # fmt: skip

WRONG = wrong(_OTHERS, _KNOWN)
