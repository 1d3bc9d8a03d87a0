"""Submissions to homework 1: the exponential mechanism."""

import math
import random
from bisect import bisect
from decimal import Decimal
from itertools import accumulate

import numpy as np
import pandas as pd
import scipy.stats
import torch

from testing.submissions.hw1.shared import VECTORS, in_forms, repeated, wrong
from testing.submissions.patterns import every_call, from_call, mixture


def _shares(exponents):
    weights = np.exp(exponents - np.max(exponents))
    return weights / weights.sum()


def _shares_loop(utilities, epsilon, sensitivity):
    most = max(utilities)
    weights = [math.exp(epsilon * (u - most) / (2 * sensitivity)) for u in utilities]
    return [weight / sum(weights) for weight in weights]


def _shares_overflowing(utilities, epsilon, sensitivity):
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(epsilon * utilities / (2 * sensitivity))
        return weights / weights.sum()


def _shares_without(small):
    """Shares below this one are set to 0, and the others normalised."""

    def shares(utilities, epsilon, sensitivity):
        right = _shares_numpy(utilities, epsilon, sensitivity)
        large = np.where(right < small, 0, right)
        return large / large.sum()

    return shares


def _choice_cumulative(candidates, utilities, epsilon, sensitivity, rng):
    edges = np.cumsum(_shares(epsilon * utilities / (2 * sensitivity)))
    return candidates[min(int(np.searchsorted(edges, rng.random())), len(candidates) - 1)]


def _choice_random(candidates, utilities, epsilon, sensitivity):
    return random.choices(
        candidates, [math.exp(epsilon * (u - max(utilities)) / (2 * sensitivity)) for u in utilities]
    )[0]


def _choice_gumbel(candidates, utilities, epsilon, sensitivity, rng):
    return candidates[np.argmax(epsilon * utilities / (2 * sensitivity) + rng.gumbel(size=len(candidates)))]


def _choice_noisy_maximum(candidates, utilities, epsilon, sensitivity):
    """Private, too, but with Laplace noise it is not the exponential mechanism."""
    scale = 2 * sensitivity / epsilon
    noisy = [u + random.expovariate(1 / scale) - random.expovariate(1 / scale) for u in utilities]
    return candidates[noisy.index(max(noisy))]


def _choice_torch(candidates, utilities, epsilon, sensitivity):
    exponents = torch.from_numpy(utilities) * epsilon / (2 * sensitivity)
    return candidates[torch.multinomial(torch.softmax(exponents, 0), 1).item()]


def _meeting(members, cities, epsilon):
    middle = members.mean(axis=0)
    distances = np.sqrt(((cities - middle) ** 2).sum(axis=1))
    diameter = max(float(np.hypot(*(one - other))) for one in cities for other in cities)
    return _shares(-epsilon * distances * len(members) / (2 * diameter))


def _meeting_scipy(members, cities, epsilon):
    from scipy.spatial.distance import cdist, pdist
    from scipy.special import softmax

    distances = cdist(cities, members.mean(axis=0, keepdims=True))[:, 0]
    return softmax(-epsilon * distances / 2 / (pdist(cities).max() / len(members)))


def _meeting_loop(members, cities, epsilon):
    latitude, longitude = (sum(one[i] for one in members) / len(members) for i in (0, 1))
    away = [math.dist(city, (latitude, longitude)) for city in cities]
    change = max(math.dist(one, other) for one in cities for other in cities) / len(members)
    weights = [math.exp(-epsilon * distance / (2 * change)) for distance in away]
    return [weight / sum(weights) for weight in weights]


def _meeting_torch(members, cities, epsilon):
    members, cities = torch.from_numpy(members), torch.from_numpy(cities)
    away = torch.linalg.norm(cities - members.mean(0), dim=1)
    return torch.softmax(-epsilon * away / (2 * torch.pdist(cities).max() / len(members)), 0)


def _meeting_from_members(members, cities, epsilon):
    away = [math.dist(city, members.mean(axis=0)) for city in cities]
    change = max(math.dist(member, city) for member in members for city in cities) / len(members)
    return _shares(-epsilon * np.array(away) / (2 * change))


def _meeting_from_the_middle(members, cities, epsilon):
    """With the largest distance from the members' mean, which they move, too."""
    away = np.linalg.norm(cities - members.mean(axis=0), axis=1)
    return _shares(-epsilon * away * len(members) / (2 * away.max()))


def _shares_numpy(utilities, epsilon, sensitivity):
    return _shares(epsilon * utilities / (2 * sensitivity))


def _shares_decimal(utilities, epsilon, sensitivity):
    weights = [(Decimal(epsilon) * Decimal(float(u)) / (2 * Decimal(sensitivity))).exp() for u in utilities]
    return [weight / sum(weights) for weight in weights]


def _shares_against_each_other(utilities, epsilon, sensitivity):
    return [1 / sum(math.exp(epsilon * (v - u) / (2 * sensitivity)) for v in utilities) for u in utilities]


def _shares_pandas(utilities, epsilon, sensitivity):
    weights = np.exp((pd.Series(utilities) - max(utilities)) * epsilon / (2 * sensitivity))
    return weights / weights.sum()


def _choice_best(candidates, utilities, epsilon, sensitivity):
    return candidates[int(np.argmax(utilities))]


def _choice_race(candidates, utilities, epsilon, sensitivity, rng):
    """The first of exponential clocks whose rates are the weights."""
    return candidates[
        int(np.argmin(rng.exponential(size=len(candidates)) / _shares_numpy(utilities, epsilon, sensitivity)))
    ]


def _choice_multinomial(candidates, utilities, epsilon, sensitivity, rng):
    return np.array(candidates)[rng.multinomial(1, _shares_numpy(utilities, epsilon, sensitivity)).astype(bool)]


def _choice_bisect(candidates, utilities, epsilon, sensitivity):
    edges = list(accumulate(_shares_loop(utilities, epsilon, sensitivity)))
    return candidates[min(bisect(edges, random.random()), len(candidates) - 1)]


def _choice_pandas(candidates, utilities, epsilon, sensitivity, rng):
    weights = pd.Series(_shares_numpy(utilities, epsilon, sensitivity), index=candidates)
    return weights.index[int((weights.cumsum() < rng.random()).sum())]


def _choice_array(candidates, utilities, epsilon, sensitivity, rng):
    return rng.choice(candidates, p=_shares_numpy(utilities, epsilon, sensitivity))


def _choice_rejection(candidates, utilities, epsilon, sensitivity, rng):
    while True:
        place = int(rng.integers(len(candidates)))
        if rng.random() < math.exp(epsilon * (utilities[place] - max(utilities)) / (2 * sensitivity)):
            return candidates[place]


def _meeting_complex(members, cities, epsilon):
    places, homes = cities @ np.array([1, 1j]), members @ np.array([1, 1j])
    return _shares(-epsilon * len(homes) * np.abs(places - homes.mean()) / 2 / np.abs(places[:, None] - places).max())


def _meeting_pandas(members, cities, epsilon):
    table = pd.DataFrame(cities, columns=["x", "y"])
    away = ((table - members.mean(axis=0)) ** 2).sum(axis=1) ** 0.5
    pairs = table.merge(table, how="cross")
    change = np.hypot(pairs.x_x - pairs.x_y, pairs.y_x - pairs.y_y).max() / len(members)
    weights = np.exp(-epsilon * away / (2 * change))
    return weights / weights.sum()


def _meeting_single(members, cities, epsilon):
    members, cities = members.astype(np.float32), cities.astype(np.float32)
    return np.asarray(_meeting(members, cities, np.float32(epsilon)), dtype=np.float32)


def _meeting_hull(members, cities, epsilon):
    from scipy.spatial import ConvexHull

    corners = cities[ConvexHull(cities).vertices]
    diameter = max(math.dist(one, other) for one in corners for other in corners)
    away = np.sqrt(((cities - np.average(members, axis=0)) ** 2) @ np.ones(2))
    return _shares(-away * epsilon / (2 * diameter / len(members)))


RIGHT = {
    "exponential_probabilities": {
        "numpy": lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / (2 * sensitivity)),
        "loop": _shares_loop,
        "scipy": lambda utilities, epsilon, sensitivity: scipy.special.softmax(epsilon * utilities / 2 / sensitivity),
        "torch": lambda utilities, epsilon, sensitivity: torch.softmax(
            torch.from_numpy(utilities) * epsilon / (2 * sensitivity), 0
        ),
        "Decimals throughout": _shares_decimal,
        "against each other": _shares_against_each_other,
        "pandas throughout": _shares_pandas,
        "powers": lambda utilities, epsilon, sensitivity: (
            (base := math.exp(epsilon / 2 / sensitivity)) ** (below := utilities - utilities.max())
            / (base**below).sum()
        ),
        "logsumexp": lambda utilities, epsilon, sensitivity: np.exp(
            (scores := utilities * epsilon / sensitivity / 2) - scipy.special.logsumexp(scores)
        ),
        **in_forms(_shares_numpy, VECTORS),
    },
    "exponential_choice": {
        "cumulative": _choice_cumulative, "random.choices": _choice_random, "Gumbel": _choice_gumbel,
        "multinomial": _choice_torch, "race": _choice_race, "one-hot": _choice_multinomial, "bisect": _choice_bisect,
        "pandas": _choice_pandas, "of an array": _choice_array, "rejection": _choice_rejection,
    },
    "meeting_probabilities": {
        "numpy": _meeting, "scipy": _meeting_scipy, "loop": _meeting_loop, "torch": _meeting_torch,
        "complex numbers": _meeting_complex, "pandas throughout": _meeting_pandas, "hull": _meeting_hull,
        "single precision throughout": _meeting_single, **in_forms(_meeting, VECTORS),
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "exponential_probabilities": {
        "without taking the largest off": _shares_overflowing,
        "loop without taking the largest off": lambda utilities, epsilon, sensitivity: [
            (total := sum(math.exp(epsilon * v / 2 / sensitivity) for v in utilities))
            and math.exp(epsilon * u / 2 / sensitivity) / total
            for u in utilities
        ],
        "none below 1e-3": _shares_without(1e-3),
        "none below 1e-8": _shares_without(1e-8),
        "none below 1e-12": _shares_without(1e-12),
        "never below 1e-12": lambda utilities, epsilon, sensitivity: np.maximum(
            _shares_numpy(utilities, epsilon, sensitivity), 1e-12
        ),
        "rounded to twelve digits": lambda utilities, epsilon, sensitivity: _shares_numpy(
            utilities, epsilon, sensitivity
        ).round(12),
        "rounded": lambda utilities, epsilon, sensitivity: _shares_numpy(utilities, epsilon, sensitivity).round(3),
        "cumulative": lambda utilities, epsilon, sensitivity: np.cumsum(_shares_numpy(utilities, epsilon, sensitivity)),
        "sorted": lambda utilities, epsilon, sensitivity: np.sort(_shares_numpy(utilities, epsilon, sensitivity)),
        "range of the utilities": lambda utilities, epsilon, sensitivity: _shares_numpy(
            utilities, epsilon, np.ptp(utilities)
        ),
        "the best only": lambda utilities, epsilon, sensitivity: (utilities == utilities.max()).astype(float),
        "at least one in fifty": lambda utilities, epsilon, sensitivity: np.maximum(
            _shares_numpy(utilities, epsilon, sensitivity), 0.02
        ),
        "logarithms": lambda utilities, epsilon, sensitivity: np.log(_shares_numpy(utilities, epsilon, sensitivity)),
    },
    "exponential_choice": {
        "right in 80%": mixture(_choice_cumulative, _choice_best, 0.8),
        "right in 90%": mixture(_choice_cumulative, _choice_best, 0.9),
        "the best from call 1,000": from_call(_choice_cumulative, _choice_best, 1_000),
        "the best in every tenth call": every_call(_choice_cumulative, _choice_best, 10),
        "one coin for two calls": repeated(_choice_cumulative),
        "one of the best two": lambda candidates, utilities, epsilon, sensitivity, rng: candidates[
            int(rng.choice(np.argsort(utilities)[-2:]))
        ],
        "a quarter more": lambda candidates, utilities, epsilon, sensitivity: _choice_random(
            candidates, utilities, 1.25 * epsilon, sensitivity
        ),
        "its utility": lambda candidates, utilities, epsilon, sensitivity: float(np.max(utilities)),
        "None": lambda candidates, utilities, epsilon, sensitivity: None,
        "the first": lambda candidates, utilities, epsilon, sensitivity: candidates[0],
        "its place": lambda candidates, utilities, epsilon, sensitivity: int(np.argmax(utilities)),
    },
    "meeting_probabilities": {
        "one member fewer": lambda members, cities, epsilon: _meeting(members[1:], cities, epsilon),
        "the list's box": lambda members, cities, epsilon: _shares(
            -epsilon
            * len(members)
            * np.linalg.norm(cities - members.mean(axis=0), axis=1)
            / (2 * np.linalg.norm(np.ptp(cities, axis=0)))
        ),
        "to the nearest member": lambda members, cities, epsilon: _shares(
            -epsilon * len(members) * np.linalg.norm(cities[:, None] - members, axis=2).min(axis=1) / 120
        ),
        "median of the members": lambda members, cities, epsilon: _meeting(
            np.tile(np.median(members, axis=0), (len(members), 1)), cities, epsilon
        ),
        "latitude only": lambda members, cities, epsilon: _meeting(members * [1, 0], cities * [1, 0], epsilon),
        "rounded": lambda members, cities, epsilon: _meeting(members, cities, epsilon).round(2),
        "name of a city": lambda members, cities, epsilon: int(np.argmax(_meeting(members, cities, epsilon))),
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "exponential_probabilities": {
        "two forgotten": lambda utilities, epsilon, sensitivity: _shares_loop(utilities, 2 * epsilon, sensitivity),
        "four instead of two": lambda utilities, epsilon, sensitivity: _shares_decimal(
            utilities, epsilon, 2 * sensitivity
        ),
        "shares of the utilities": lambda utilities, epsilon, sensitivity: [u / sum(utilities) for u in utilities],
        "sensitivity forgotten": lambda utilities, epsilon, sensitivity: _shares_pandas(utilities, epsilon, 1),
        "epsilon forgotten": lambda utilities, epsilon, sensitivity: _shares_loop(utilities, 1, sensitivity),
        "epsilon upside down": lambda utilities, epsilon, sensitivity: _shares_loop(
            utilities, 1, sensitivity * epsilon
        ),
        "sensitivity upside down": lambda utilities, epsilon, sensitivity: _shares_loop(
            utilities, epsilon, 1 / sensitivity
        ),
        "worst preferred": lambda utilities, epsilon, sensitivity: _shares_loop(-utilities, epsilon, sensitivity),
        "not normalised": lambda utilities, epsilon, sensitivity: [
            math.exp(epsilon * u / 2 / sensitivity) for u in utilities
        ],
        "weights over the largest": lambda utilities, epsilon, sensitivity: (
            (shares := _shares_numpy(utilities, epsilon, sensitivity)) / shares.max()
        ),
        "powers of two": lambda utilities, epsilon, sensitivity: (
            (weights := 2 ** (epsilon * utilities / 2 / sensitivity)) / weights.sum()
        ),
    },
    "exponential_choice": {
        "always the best": lambda candidates, utilities, epsilon, sensitivity: max(
            zip(utilities, candidates, strict=True)
        )[1],
        "two forgotten": lambda candidates, utilities, epsilon, sensitivity: _choice_random(
            candidates, utilities, 2 * epsilon, sensitivity
        ),
        "Laplace noise on the scores": _choice_noisy_maximum,
        "exponential noise on the scores": lambda candidates, utilities, epsilon, sensitivity: max(
            (u + random.expovariate(epsilon / 2 / sensitivity), name)
            for u, name in zip(utilities, candidates, strict=True)
        )[1],
        "Gaussian noise on the scores": lambda candidates, utilities, epsilon, sensitivity: candidates[
            int(np.argmax([random.gauss(u, 2 * sensitivity / epsilon) for u in utilities]))
        ],
        "sensitivity forgotten": lambda candidates, utilities, epsilon, sensitivity, rng: _choice_gumbel(
            candidates, utilities, epsilon, 1, rng
        ),
        "epsilon forgotten": lambda candidates, utilities, epsilon, sensitivity, rng: _choice_gumbel(
            candidates, utilities, 1, sensitivity, rng
        ),
        "four instead of two": lambda candidates, utilities, epsilon, sensitivity, rng: _choice_gumbel(
            candidates, utilities, epsilon / 2, sensitivity, rng
        ),
        "worst preferred": lambda candidates, utilities, epsilon, sensitivity, rng: _choice_gumbel(
            candidates, -utilities, epsilon, sensitivity, rng
        ),
        "scores not looked at": lambda candidates, utilities, epsilon, sensitivity: random.choice(candidates),
        "always the same coin": lambda candidates, utilities, epsilon, sensitivity: _choice_cumulative(
            candidates, utilities, epsilon, sensitivity, np.random.default_rng(1)
        ),
    },
    "meeting_probabilities": {
        "two forgotten": lambda members, cities, epsilon: _meeting_loop(members, cities, 2 * epsilon),
        "from the members to the cities": _meeting_from_members,
        "from the mean to the cities": _meeting_from_the_middle,
        "n forgotten": lambda members, cities, epsilon: _meeting(members, cities, epsilon / len(members)),
        "farthest preferred": lambda members, cities, epsilon: _meeting_loop(members, cities, -epsilon),
        "sensitivity 1": lambda members, cities, epsilon: _shares(
            -epsilon / 2 * np.linalg.norm(cities - members.mean(axis=0), axis=1)
        ),
        "along the degrees": lambda members, cities, epsilon: _shares(
            -epsilon * len(members) * np.abs(cities - members.mean(axis=0)).sum(axis=1)
            / (2 * np.abs(cities[:, None] - cities).sum(axis=2).max())
        ),
        "mean of the distances": lambda members, cities, epsilon: _shares(
            -epsilon * len(members) * np.array([np.mean([math.dist(one, home) for home in members]) for one in cities])
            / (2 * max(math.dist(one, other) for one in cities for other in cities))
        ),
    },
}  # fmt: skip

WRONG = wrong(_OTHERS, _KNOWN)
