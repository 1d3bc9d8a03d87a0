"""Submissions to homework 1: the exponential mechanism."""

import math
import random

import numpy as np
import scipy.stats
import torch

from tests.tasks.bank_hw1.shared import wrong


def _shares(exponents):
    weights = np.exp(exponents)
    return weights / weights.sum()


def _shares_loop(utilities, epsilon, sensitivity):
    weights = [math.exp(epsilon * u / (2 * sensitivity)) for u in utilities]
    return [weight / sum(weights) for weight in weights]


def _choice_cumulative(candidates, utilities, epsilon, sensitivity, rng):
    edges = np.cumsum(_shares(epsilon * utilities / (2 * sensitivity)))
    return candidates[min(int(np.searchsorted(edges, rng.random())), len(candidates) - 1)]


def _choice_random(candidates, utilities, epsilon, sensitivity):
    return random.choices(candidates, [math.exp(epsilon * u / (2 * sensitivity)) for u in utilities])[0]


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


RIGHT = {
    "exponential_probabilities": {
        "numpy": lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / (2 * sensitivity)),
        "loop": _shares_loop,
        "scipy": lambda utilities, epsilon, sensitivity: scipy.special.softmax(epsilon * utilities / 2 / sensitivity),
        "torch": lambda utilities, epsilon, sensitivity: torch.softmax(
            torch.from_numpy(utilities) * epsilon / (2 * sensitivity), 0
        ),
    },
    "exponential_choice": {
        "cumulative": _choice_cumulative, "random.choices": _choice_random, "Gumbel": _choice_gumbel,
        "multinomial": _choice_torch,
    },
    "meeting_probabilities": {
        "numpy": _meeting, "scipy": _meeting_scipy, "loop": _meeting_loop, "torch": _meeting_torch,
    },
}  # fmt: skip

#: Mistakes that no task knows by name.
_OTHERS = {
    "exponential_probabilities": {"linear": lambda utilities, epsilon, sensitivity: utilities / utilities.sum()},
    "exponential_choice": {
        "the first": lambda candidates, utilities, epsilon, sensitivity: candidates[0],
        "noisy maximum, one-sided": lambda candidates, utilities, epsilon, sensitivity, rng: candidates[
            int(np.argmax(utilities + rng.exponential(2 * sensitivity / epsilon, len(candidates))))
        ],
        "its place": lambda candidates, utilities, epsilon, sensitivity: int(np.argmax(utilities)),
        "noisy maximum, Gaussian": lambda candidates, utilities, epsilon, sensitivity, rng: candidates[
            int(np.argmax(utilities + rng.normal(0, 2 * sensitivity / epsilon, len(candidates))))
        ],
    },
    "meeting_probabilities": {
        "one member fewer": lambda members, cities, epsilon: _meeting(members[1:], cities, epsilon),
        "from the middle": _meeting_from_the_middle,
    },
}

#: Mistakes that the tasks know, in other words than theirs.
_KNOWN = {
    "exponential_probabilities": {
        "two forgotten": lambda utilities, epsilon, sensitivity: _shares_loop(utilities, 2 * epsilon, sensitivity),
    },
    "exponential_choice": {
        "always the best": lambda candidates, utilities, epsilon, sensitivity: max(
            zip(utilities, candidates, strict=True)
        )[1],
        "two forgotten": lambda candidates, utilities, epsilon, sensitivity: _choice_random(
            candidates, utilities, 2 * epsilon, sensitivity
        ),
        "Laplace noise on the scores": _choice_noisy_maximum,
        "always the same coin": lambda candidates, utilities, epsilon, sensitivity: _choice_cumulative(
            candidates, utilities, epsilon, sensitivity, np.random.default_rng(1)
        ),
    },
    "meeting_probabilities": {
        "two forgotten": lambda members, cities, epsilon: _meeting_loop(members, cities, 2 * epsilon),
        "from the members to the cities": _meeting_from_members,
    },
}  # fmt: skip

WRONG = wrong(_OTHERS, _KNOWN)
