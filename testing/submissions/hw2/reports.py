"""Submissions to homework 2: randomized response for one bit and for k categories."""

import math
import random

import numpy as np

from testing.submissions.hw2.shared import theta_plain


def response_numpy(bit, epsilon, rng):
    theta = 1 / (1 + np.exp(-epsilon))
    return bit if rng.random() < theta else 1 - bit


def response_random(bit, epsilon):
    return bit ^ (random.random() > math.exp(epsilon) / (1 + math.exp(epsilon)))


def response_binomial(bit, epsilon, rng):
    truthful = rng.binomial(1, 1 / (1 + math.exp(-epsilon)))
    return truthful * bit + (1 - truthful) * (1 - bit)


def response_legacy_numpy(bit, epsilon):
    theta = np.exp(epsilon) / (np.exp(epsilon) + 1)
    return np.random.choice([bit, 1 - bit], p=[theta, 1 - theta], size=1)  # noqa: NPY002 - as in old tutorials


def response_torch(bit, epsilon):
    import torch

    keep = torch.bernoulli(torch.tensor(1 / (1 + math.exp(-epsilon))))
    return torch.where(keep == 1, bit, 1 - bit)


def response_bool(bit, epsilon, rng=None):
    flip = random.random() < 1 / (1 + math.exp(epsilon))
    return bool(bit) != flip


def response_seeded(seed):
    """Every call begins again with the same number: 0.637 for seed 0, 0.774 for seed 42."""

    def response(bit, epsilon):
        rng = np.random.default_rng(seed)
        return bit if rng.random() < 1 / (1 + np.exp(-epsilon)) else 1 - bit

    return response


def response_seeded_everywhere(bit, epsilon, rng):
    """Python's own generator, whose first number after this seed is below one half: always the truth."""
    random.seed(7)
    return bit if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)) else 1 - bit


def response_seeded_and_careful(bit, epsilon):
    if epsilon <= 0:
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    return response_seeded(0)(bit, epsilon)


def response_second_coin(bit, epsilon):
    theta = 1 / (1 + math.exp(-epsilon))
    return bit if random.random() < theta else random.randint(0, 1)


def response_half_epsilon(bit, epsilon, rng):
    return bit if rng.random() < 1 / (1 + np.exp(-epsilon / 2)) else 1 - bit


def response_quadratic(bit, epsilon, rng):
    return bit if rng.random() < theta_plain(epsilon, "quadratic") else 1 - bit


def kary_numpy(category, k, epsilon, rng):
    if rng.random() < np.exp(epsilon) / (np.exp(epsilon) + k - 1):
        return category
    other = rng.integers(k - 1)
    return other + (other >= category)


def kary_choice(category, k, epsilon):
    weights = [math.exp(epsilon) if y == category else 1 for y in range(k)]
    return random.choices(range(k), weights=weights)[0]


def kary_rejection(category, k, epsilon):
    if random.random() < 1 / (1 + (k - 1) * math.exp(-epsilon)):
        return category
    while True:
        other = random.randrange(k)
        if other != category:
            return other


def kary_inverse_transform(category, k, epsilon, rng):
    probabilities = np.ones(k)
    probabilities[category] = np.exp(epsilon)
    return np.array([np.searchsorted(np.cumsum(probabilities), rng.random() * probabilities.sum())])


def kary_torch(category, k, epsilon):
    import torch

    weights = torch.ones(k, dtype=torch.float64)
    weights[category] = math.exp(epsilon)
    return torch.multinomial(weights, 1)


def kary_binary_theta(category, k, epsilon):
    if random.random() < math.exp(epsilon) / (1 + math.exp(epsilon)):
        return category
    return random.choice([y for y in range(k) if y != category])


def kary_lie_may_be_true(category, k, epsilon):
    return category if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else random.randrange(k)


def kary_next(category, k, epsilon):
    return category if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1) else (category + 1) % k


def kary_k(category, k, epsilon, rng):
    if rng.random() < np.exp(epsilon) / (np.exp(epsilon) + k):
        return category
    other = rng.integers(k - 1)
    return other + (other >= category)


def kary_from_one(category, k, epsilon, rng):
    return kary_numpy(category, k, epsilon, rng) + 1


def kary_upper_lies(category, k, epsilon):
    """Never the category 0, by a lie drawn from 1..k-1."""
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return category
    return random.choice([y for y in range(1, k) if y != category])


def kary_swapped(category, k, epsilon, rng):
    if rng.random() > math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return category
    other = rng.integers(k - 1)
    return other + (other >= category)


def kary_rounded_lies(category, k, epsilon, rng):
    """Rounding makes the first and the last category half as likely."""
    if rng.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return category
    while True:
        other = round(rng.random() * (k - 1))
        if other != category:
            return other


RIGHT = {
    "randomized_response": {
        "numpy": response_numpy,
        "random": response_random,
        "binomial": response_binomial,
        "legacy numpy": response_legacy_numpy,
        "torch": response_torch,
        "bool": response_bool,
    },
    "kary_response": {
        "numpy": kary_numpy,
        "choices": kary_choice,
        "rejection": kary_rejection,
        "inverse transform": kary_inverse_transform,
        "torch": kary_torch,
    },
}

WRONG = {
    "randomized_response": {
        "truth": (lambda bit, epsilon: float(bit), "always the truth"),
        "swapped": (lambda bit, epsilon: 1 - response_random(bit, epsilon), "flipped too often"),
        "fair": (lambda bit, epsilon: random.randint(0, 1), "fair coin"),
        "first": (
            lambda bit, epsilon, rng: bit if rng.random() < (epsilon + 1) / (epsilon + 2) else 1 - bit,
            "first attempt",
        ),
        "second coin": (response_second_coin, "coin instead of the flip"),
        "no": (lambda bit, epsilon: response_random(bit, epsilon) * bit, "no instead of the flip"),
        "two coins": (
            lambda bit, epsilon, rng: bit if rng.random() < 0.5 else int(rng.random() < 0.5),
            "epsilon not used",
        ),
        "fixed seed 0": (response_seeded(0), "always the same coin"),
        "fixed seed 42": (response_seeded(42), "always the same coin"),
        "fixed seed, random": (response_seeded_everywhere, "always the same coin"),
        "fixed seed, no negative epsilon": (response_seeded_and_careful, "always the same coin"),
        "half epsilon": (response_half_epsilon, "half of epsilon"),
        "yes": (lambda bit, epsilon, rng: True, "deaf to the bit"),
        "always no": (lambda bit, epsilon: 0, "always no"),
        "quadratic": (response_quadratic, "quadratic attempt"),
        "probability": (
            lambda bit, epsilon: bit * theta_plain(epsilon, "tight") + (1 - bit) * (1 - theta_plain(epsilon, "tight")),
            "a probability for an answer",
        ),
        "minus one": (lambda bit, epsilon: 2 * response_random(bit, epsilon) - 1, None),
    },
    "kary_response": {
        "binary theta": (kary_binary_theta, "theta of one bit"),
        "lie may be true": (kary_lie_may_be_true, "a lie may be the truth"),
        "uniform": (lambda category, k, epsilon, rng: rng.integers(k), "any category"),
        "next": (kary_next, "always the same lie"),
        "k": (kary_k, "k for k - 1"),
        "from one": (kary_from_one, None),
        "truth of the first": (
            lambda category, k, epsilon, rng: kary_numpy(category, k, epsilon, rng) if category else 0,
            None,
        ),
        "truth of the last": (
            lambda category, k, epsilon, rng: category if category == k - 1 else kary_numpy(category, k, epsilon, rng),
            None,
        ),
        "swapped": (kary_swapped, "keep and lie swapped"),
        "rounded lies": (kary_rounded_lies, None),
        "truth of two": (
            lambda category, k, epsilon, rng: category if k == 2 else kary_numpy(category, k, epsilon, rng),
            None,
        ),
        "probability": (
            lambda category, k, epsilon: math.exp(epsilon) / (math.exp(epsilon) + k - 1),
            "a probability for an answer",
        ),
        "lies from one": (kary_upper_lies, None),
        "half epsilon": (
            lambda category, k, epsilon, rng: kary_numpy(category, k, epsilon / 2, rng),
            "half of epsilon",
        ),
        "truth": (lambda category, k, epsilon: category, "always the truth"),
        "fixed seed": (
            lambda category, k, epsilon, rng: kary_numpy(category, k, epsilon, np.random.default_rng(42)),
            "always the same coin",
        ),
    },
}
