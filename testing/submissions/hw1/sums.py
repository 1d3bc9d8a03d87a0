"""Submissions to homework 1: sums, vectors and histograms."""

import math
import random
from collections import Counter
from decimal import Decimal

import numpy as np
import pandas as pd
import scipy.stats
import torch

from testing.submissions.hw1.shared import NUMBERS, VECTORS, noisy_in_forms, spoilt, wrong


def _debt_numpy(debts, maximum, epsilon, rng):
    return np.clip(debts, 0, maximum).sum() + rng.laplace(0, maximum / epsilon)


def _debt_loop(debts, maximum, epsilon):
    total = 0.0
    for debt in debts:
        total += min(max(float(debt), 0.0), maximum)
    sign = 1 if random.random() < 0.5 else -1
    return total + sign * random.expovariate(1) * maximum / epsilon


def _debt_torch(debts, maximum, epsilon):
    noise = torch.distributions.Laplace(torch.tensor(0.0), torch.tensor(maximum / epsilon)).sample()
    return torch.from_numpy(debts).clamp(0, maximum).sum() + noise.double()


def _counts_loop(counts, epsilon, rng):
    noisy = []
    for count in counts:
        noisy.append(count + rng.laplace(scale=len(counts) / epsilon))
    return noisy


def _counts_inverse(counts, epsilon):
    u = np.random.default_rng().uniform(-0.5, 0.5, len(counts))
    return counts - len(counts) / epsilon * np.sign(u) * np.log1p(-2 * np.abs(u))


def _counts_torch(counts, epsilon):
    return torch.distributions.Laplace(torch.tensor(counts, dtype=torch.float64), len(counts) / epsilon).sample()


def _histogram_loop(years, bins, epsilon, rng):
    return [sum(1 for year in years if year == one) + rng.laplace(0, 1 / epsilon) for one in bins]


def _histogram_numpy(years, bins, epsilon, rng):
    inside = years[(years >= bins[0]) & (years <= bins[-1])]
    return np.bincount(inside - bins[0], minlength=len(bins)) + rng.laplace(size=len(bins)) / epsilon


def _histogram_edges(years, bins, epsilon, rng):
    counts, _ = np.histogram(years, bins=[*bins, bins[-1] + 0.5])  # + 1 would count the next year, too
    return counts + rng.laplace(0, 1 / epsilon, counts.shape)


def _histogram_open_end(years, bins, epsilon, rng):
    return np.histogram(years, bins=[*bins, 9999])[0] + rng.laplace(0, 1 / epsilon, len(bins))


def _histogram_all_cut(years, bins, epsilon, rng):
    """Whoever came in another year is counted in the nearest."""
    return _histogram_numpy(np.clip(years, bins[0], bins[-1]), bins, epsilon, rng)


def _histogram_random(years, bins, epsilon):
    years = years.tolist()
    return tuple(years.count(one) + random.expovariate(epsilon) - random.expovariate(epsilon) for one in bins.tolist())


def _one_noise_for_all(counts, epsilon, rng):
    noise = rng.laplace(scale=len(counts) / epsilon)
    return [count + noise for count in counts]


def _halves(k):
    """1/2, 1/4, ..., and the last one twice: together 1."""
    return np.append(0.5 ** np.arange(1, k), 0.5 ** (k - 1))


def _two_noises_in_turn(counts, scale, rng):
    return counts + np.resize(rng.laplace(0, scale, 2), len(counts))


def _one_size_for_all(counts, scale, rng):
    return counts + abs(rng.laplace(0, scale)) * rng.choice([-1, 1], len(counts))


def _last_like_first(counts, scale, rng):
    noise = rng.laplace(0, scale, len(counts))
    noise[-1] = noise[0]
    return counts + noise


_SHARED = {
    "two noises in turn": _two_noises_in_turn,
    "one size for all": _one_size_for_all,
    "last like first": _last_like_first,
}


def _years_seen(years, bins, epsilon, rng):
    _, counts = np.unique(years[np.isin(years, bins)], return_counts=True)
    return counts + rng.laplace(0, 1 / epsilon, len(counts))


def _debt_pandas(debts, maximum, epsilon, rng):
    return pd.Series(debts).clip(lower=0, upper=maximum).sum() + rng.laplace(scale=maximum / epsilon)


def _debt_decimal(debts, maximum, epsilon, rng):
    total = sum(min(max(Decimal(float(one)), Decimal(0)), Decimal(maximum)) for one in debts)
    return total + Decimal(rng.laplace()) * Decimal(maximum) / Decimal(epsilon)


def _debt_shares(debts, maximum, epsilon, rng):
    """In units of the maximum."""
    return maximum * (
        np.clip(debts / maximum, 0, 1).sum() + rng.exponential(1 / epsilon) - rng.exponential(1 / epsilon)
    )


def _debt_cut_with_a_margin(debts, maximum, epsilon, rng):
    return np.clip(debts, 0, maximum + 1e-6).sum() + rng.laplace(0, maximum / epsilon)


def _exact_debt(debts, maximum, epsilon):
    return float(np.clip(debts, 0, maximum).sum())


def _counts_numpy(counts, epsilon, rng):
    return counts + rng.laplace(0, len(counts) / epsilon, len(counts))


def _exact_counts(counts, epsilon):
    return counts.astype(float)


def _zero_sum(answers, centers):
    """The same width, but noises that add up to 0."""
    noise = answers - centers
    return centers + (noise - noise.mean()) * math.sqrt(len(noise) / (len(noise) - 1))


def _histogram_pandas(years, bins, epsilon, rng):
    return pd.Series(years).value_counts().reindex(bins, fill_value=0) + rng.laplace(0, 1 / epsilon, len(bins))


def _histogram_counter(years, bins, epsilon, rng):
    seen = Counter(years.tolist())
    return [seen[year] + math.log(rng.random() / rng.random()) / epsilon for year in bins.tolist()]


def _histogram_torch(years, bins, epsilon):
    counts = (torch.from_numpy(years)[:, None] == torch.from_numpy(bins)).sum(0)
    return torch.distributions.Laplace(counts.double(), 1 / epsilon).sample()


def _exact_histogram(years, bins, epsilon):
    return (years[:, None] == bins).sum(axis=0).astype(float)


RIGHT = {
    "total_debt": {
        "numpy": _debt_numpy,
        "loop and random": _debt_loop,
        "torch": _debt_torch,
        "pandas's clip": _debt_pandas,
        "Decimals throughout": _debt_decimal,
        "in units of the maximum": _debt_shares,
        "cut with a margin": _debt_cut_with_a_margin,
        **noisy_in_forms(_debt_numpy, NUMBERS),
        "scipy": lambda debts, maximum, epsilon, rng: scipy.stats.laplace.rvs(
            np.minimum(np.maximum(debts, 0), maximum).sum(), maximum / epsilon, random_state=rng
        ),
    },
    "noisy_counts": {
        "vectorised": lambda counts, epsilon, rng: counts + rng.laplace(0, len(counts) / epsilon, len(counts)),
        "loop": _counts_loop,
        "inverse transform": _counts_inverse,
        "torch": _counts_torch,
        "normals of random width": lambda counts, epsilon, rng: (
            counts
            + np.sqrt(2 * rng.exponential(size=len(counts))) * rng.standard_normal(len(counts)) * len(counts) / epsilon
        ),
        "scipy": lambda counts, epsilon, rng: scipy.stats.laplace(counts, len(counts) / epsilon).rvs(random_state=rng),
        "column": lambda counts, epsilon, rng: np.ravel(
            counts[:, None] + rng.laplace(0, len(counts) / epsilon, (len(counts), 1))
        ),
        **noisy_in_forms(_counts_numpy, VECTORS),
    },
    "noisy_histogram": {
        "bincount": _histogram_numpy, "loop": _histogram_loop, "histogram": _histogram_edges,
        "random": _histogram_random, "value_counts": _histogram_pandas, "Counter": _histogram_counter,
        "torch": _histogram_torch, **noisy_in_forms(_histogram_numpy, VECTORS),
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "total_debt": {
        "no debts, no noise": lambda debts, maximum, epsilon, rng: (
            _debt_numpy(debts, maximum, epsilon, rng) if np.any(debts) else 0.0
        ),
        "10% too narrow": lambda debts, maximum, epsilon, rng: (
            np.clip(debts, 0, maximum).sum() + rng.laplace(0, 0.9 * maximum / epsilon)
        ),
        "Gaussian": lambda debts, maximum, epsilon, rng: (
            np.clip(debts, 0, maximum).sum() + rng.normal(0, math.sqrt(2) * maximum / epsilon)
        ),
    },
    "noisy_counts": {
        "10% too narrow": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, 0.9 * len(counts) / epsilon, len(counts))
        ),
        "last one narrower": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, len(counts) / epsilon, len(counts)) * np.where(np.arange(len(counts)) < 3, 1, 0.5)
        ),
        "Gaussian": lambda counts, epsilon, rng: (
            counts + rng.normal(0, math.sqrt(2) * len(counts) / epsilon, len(counts))
        ),
    },
    "noisy_histogram": {
        "10% too narrow": lambda years, bins, epsilon, rng: _histogram_numpy(years, bins, epsilon / 0.9, rng),
        "cut to the years": _histogram_all_cut,
        "rounded": lambda years, bins, epsilon, rng: np.round(_histogram_numpy(years, bins, epsilon, rng)),
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "total_debt": {
        "noise of a count": lambda debts, maximum, epsilon, rng: _debt_numpy(debts, maximum, epsilon * maximum, rng),
        "cut after the noise": lambda debts, maximum, epsilon, rng: max(0.0, _debt_numpy(debts, maximum, epsilon, rng)),
        "mean for total": lambda debts, maximum, epsilon, rng: (
            sum(min(max(debt, 0), maximum) for debt in debts) / len(debts) + maximum * rng.laplace() / epsilon
        ),
        "mean, with its own noise": lambda debts, maximum, epsilon, rng: (
            _debt_numpy(debts, maximum, epsilon, rng) / len(debts)
        ),
        "not cut": lambda debts, maximum, epsilon, rng: sum(debts.tolist()) + maximum * rng.laplace() / epsilon,
    },
    "noisy_counts": {
        "shared noise": _one_noise_for_all,
        "uneven split": lambda counts, epsilon, rng: counts + rng.laplace(0, 1 / epsilon / _halves(len(counts))),
        "l2 for l1": lambda counts, epsilon, rng: (
            counts + rng.laplace(0, np.linalg.norm(np.ones(len(counts))) / epsilon, len(counts))
        ),
    },
    "noisy_histogram": {
        "replaced": lambda years, bins, epsilon, rng: _histogram_loop(years, bins, epsilon / 2, rng),
        "only the years that occur": _years_seen,
        "later years in the last": _histogram_open_end,
    },
}  # fmt: skip

#: Several more ways to make a known mistake.
_MORE = {
    "total_debt": {
        **spoilt(_debt_numpy, _exact_debt),
        "never below 0": (
            lambda debts, maximum, epsilon, rng: max(0.0, _debt_numpy(debts, maximum, epsilon, rng)),
            "cut after the noise",
        ),
        "cut to the table's own maximum": (
            lambda debts, maximum, epsilon, rng: (
                np.clip(debts, 0, np.median(debts)).sum() + rng.laplace(0, maximum / epsilon)
            ),
            None,
        ),
        "resampled": (
            lambda debts, maximum, epsilon, rng: _debt_numpy(rng.choice(debts, len(debts)), maximum, epsilon, rng),
            None,
        ),
        "deviation of the table": (
            lambda debts, maximum, epsilon, rng: _exact_debt(debts, maximum, epsilon) + rng.laplace(0, np.std(debts)),
            None,
        ),
        "geometric": (
            lambda debts, maximum, epsilon, rng: (
                round(_exact_debt(debts, maximum, epsilon))
                + rng.geometric(1 - math.exp(-epsilon / maximum))
                - rng.geometric(1 - math.exp(-epsilon / maximum))
            ),
            "rounded",
        ),
    },
    "noisy_counts": {
        **spoilt(_counts_numpy, _exact_counts),
        "zero-sum": (lambda counts, epsilon, rng: _zero_sum(_counts_numpy(counts, epsilon, rng), counts), None),
        "geometric": (
            lambda counts, epsilon, rng: (
                counts
                + rng.geometric(1 - math.exp(-epsilon / len(counts)), len(counts))
                - rng.geometric(1 - math.exp(-epsilon / len(counts)), len(counts))
            ),
            "rounded",
        ),
        "one count without noise": (
            lambda counts, epsilon, rng: np.append(_counts_numpy(counts, epsilon, rng)[:-1], counts[-1]),
            None,
        ),
        "one too few": (lambda counts, epsilon, rng: _counts_numpy(counts, epsilon, rng)[:-1], None),
        "sorted": (lambda counts, epsilon, rng: np.sort(_counts_numpy(counts, epsilon, rng)), None),
        "first one wider": (
            lambda counts, epsilon, rng: counts + rng.laplace(0, 1 / epsilon / _halves(len(counts))[::-1]),
            "uneven split",
        ),
        "uneven and too narrow": (
            lambda counts, epsilon, rng: counts + rng.laplace(0, 0.9 / epsilon / _halves(len(counts))),
            None,
        ),
        "first one wider, others too narrow": (
            lambda counts, epsilon, rng: counts + rng.laplace(0, 0.9 / epsilon / _halves(len(counts))[::-1]),
            None,
        ),
        "uneven and Gaussian": (
            lambda counts, epsilon, rng: counts + rng.normal(0, 1.5 / epsilon / _halves(len(counts))),
            None,
        ),
        "uneven and shared": (
            lambda counts, epsilon, rng: counts + rng.laplace() / epsilon / _halves(len(counts)),
            None,
        ),
        **{
            style: (lambda counts, epsilon, rng, noisy=noisy: noisy(counts, len(counts) / epsilon, rng), "shared noise")
            for style, noisy in _SHARED.items()
        },
    },
    "noisy_histogram": {
        **spoilt(_histogram_numpy, _exact_histogram),
        "zero-sum": (
            lambda years, bins, epsilon, rng: _zero_sum(
                _histogram_numpy(years, bins, epsilon, rng), _exact_histogram(years, bins, epsilon)
            ),
            None,
        ),
        "geometric": (
            lambda years, bins, epsilon, rng: (
                _exact_histogram(years, bins, epsilon)
                + rng.geometric(1 - math.exp(-epsilon), len(bins))
                - rng.geometric(1 - math.exp(-epsilon), len(bins))
            ),
            "rounded",
        ),
        "noise only where somebody came": (
            lambda years, bins, epsilon, rng: np.where(
                _exact_histogram(years, bins, epsilon) > 0, _histogram_numpy(years, bins, epsilon, rng), 0
            ),
            "no noise on some",
        ),
        "the next year in the last": (
            lambda years, bins, epsilon, rng: (
                np.histogram(years, bins=[*bins, bins[-1] + 1])[0] + rng.laplace(0, 1 / epsilon, len(bins))
            ),
            None,
        ),
    }
    | {
        style: (
            lambda years, bins, epsilon, rng, noisy=noisy: noisy((years[:, None] == bins).sum(0), 1 / epsilon, rng),
            "shared noise",
        )
        for style, noisy in _SHARED.items()
    },
}

WRONG = wrong(_OTHERS, _KNOWN, _MORE)
WRONG["noisy_counts"]["no noise on what is 0"] = (
    lambda counts, epsilon, rng: np.where(counts == 0, 0, counts + rng.laplace(0, len(counts) / epsilon, len(counts))),
    "no noise on some",
)
