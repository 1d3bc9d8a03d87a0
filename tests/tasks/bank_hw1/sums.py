"""Submissions to homework 1: sums, vectors and histograms."""

import math
import random

import numpy as np
import scipy.stats
import torch

from tests.tasks.bank_hw1.shared import wrong


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


RIGHT = {
    "total_debt": {
        "numpy": _debt_numpy,
        "loop and random": _debt_loop,
        "torch": _debt_torch,
        "scipy": lambda debts, maximum, epsilon, rng: scipy.stats.laplace.rvs(
            np.minimum(np.maximum(debts, 0), maximum).sum(), maximum / epsilon, random_state=rng
        ),
    },
    "noisy_counts": {
        "vectorised": lambda counts, epsilon, rng: counts + rng.laplace(0, len(counts) / epsilon, len(counts)),
        "loop": _counts_loop,
        "inverse transform": _counts_inverse,
        "torch": _counts_torch,
    },
    "noisy_histogram": {
        "bincount": _histogram_numpy, "loop": _histogram_loop, "histogram": _histogram_edges,
        "random": _histogram_random,
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
    "noisy_counts": {
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
