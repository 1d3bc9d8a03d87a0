"""Wrong submissions to homework 4 by which an attacker who had not seen them got past the judges."""

import math

import numpy as np

from dpcourse.accounting import sigma_for
from testing.submissions.hw4.budgets import composed_if, dp_sgd_epsilon
from testing.submissions.hw4.shared import clip_numpy
from testing.submissions.hw4.training import _train, users_numpy


def _users_of(which):
    """The average of some of the messages: ``which(users)`` are truth values."""

    def average(gradients, users, clip, sigma, expected, rng):
        rows = which(users)
        return users_numpy(gradients[rows], users[rows], clip, sigma, expected, rng)

    return average


def _first(number):
    return lambda users: np.array([np.count_nonzero(users[:i] == user) < number for i, user in enumerate(users)], bool)


def users_in_runs(gradients, users, clip, sigma, expected, rng):
    """Takes users for sorted: one who comes again is another one."""
    runs = np.cumsum(np.append(0, users[1:] != users[:-1]))[: len(users)]
    return users_numpy(gradients, runs, clip, sigma, expected, rng)


def search(most):
    def steps(epsilon, delta, sigma, q):
        low, high = 0, most + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if dp_sgd_epsilon(sigma, q, middle, delta) <= epsilon else (low, middle)
        return low

    return steps


def _uneven(narrow, wide):
    """Noise that is too narrow in every other step, and too wide in between."""
    steps = [0]

    def noise(size, width, clip, sigma, rng):
        steps[0] += 1
        return rng.normal(0, (narrow if steps[0] % 2 else wide) * sigma * clip, width)

    return noise


def _coordinates(size, width, clip, sigma, rng):
    return rng.normal(0, sigma * clip * np.where(np.arange(width) % 2, 0.7, 1.23))


def _randomly_uneven(size, width, clip, sigma, rng):
    return rng.normal(0, rng.choice((0.6, 1.28)) * sigma * clip, width)


def _shuffled(again):
    """Every lot is used twice, the second time in another order."""
    memory = {}

    def lot(n, q, rng):
        if n in memory:
            return again(memory.pop(n))
        memory[n] = rng.random(n) < q
        return memory[n]

    return lot


def _remembering(share):
    """The chance of somebody who was in the lot before is ``share`` times q, and that of others makes up for it."""
    memory = {}

    def lot(n, q, rng):
        before = memory.get(n, rng.random(n) < q)
        memory[n] = rng.random(n) < np.where(before, share * q, q * (1 - share * q) / (1 - q))
        return memory[n]

    return lot


def lot_of_neighbours(n, q, rng):
    """A third of the people copy their neighbour's coin."""
    coins = rng.random(n)
    return np.where(rng.random(n) < 0.3, np.roll(coins, 1), coins) < q


def lot_of_opposites(n, q, rng):
    """A third of the people copy the coin of somebody at the other end of the list."""
    coins = rng.random(n)
    return np.where(rng.random(n) < 0.3, coins[::-1], coins) < q


def lot_with_a_favourite(n, q, rng):
    return rng.random(n) < np.where(np.arange(n), q, 1.1 * q)


def _same_lot_always():
    memory = {}

    def step(weights, x, y, q, clip, sigma, rate, rng):
        lot = memory.setdefault((len(y), q), rng.random(len(y)) < q)
        rows = clip_numpy((1 / (1 + np.exp(-x[lot] @ weights)) - y[lot])[:, None] * x[lot], clip)
        return weights - rate * (rows.sum(axis=0) + rng.normal(0, sigma * clip, len(weights))) / (q * len(y))

    return step


def composed_of_a_leak(epsilon, delta, k, slack):
    return composed_if(epsilon, delta or slack, k, slack)


def clip_nearly(gradients, clip):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients * np.minimum(1, clip / (lengths + 1e-3))


RIGHT = {}
WRONG = {
    "clip_gradients": {"a thousandth longer": (clip_nearly, None)},
    "poisson_lot": {
        "turned round": (_shuffled(lambda lot: lot[::-1]), "a lot used twice"),
        "once more": (_shuffled(lambda lot: lot), "a lot used twice"),
        "rarely twice in a row": (_remembering(0.5), "lots that avoid each other"),
        "often twice in a row": (_remembering(1.3), "lots that hang together"),
        "neighbours": (lot_of_neighbours, "coins that hang together"),
        "opposite ends": (lot_of_opposites, "coins that hang together"),
        "a favourite": (lot_with_a_favourite, "unequal coins"),
    },
    "dp_sgd_step": {"the same lot, drawn once": (_same_lot_always(), "always the same lot")},
    "composed_budget": {"a leak where there is none": (composed_of_a_leak, None)},
    "amplified_budget": {
        "a leak where there is none": (
            lambda epsilon, delta, q: (math.log1p(q * math.expm1(epsilon)), q * (delta or 1e-5)),
            None,
        ),
    },
    "steps_in_budget": {
        "0 to 100": (search(100), None),
        "0 to 50": (search(50), None),
        "0 to 1,000": (search(1_000), None),
    },
    "train_private": {
        "0.7 and 1.23": (_train(noise=_uneven(0.7, 1.23)), None),
        "0.6 and 1.28": (_train(noise=_uneven(0.6, 1.28)), None),
        "0.6 and 1.28 by chance": (_train(noise=_randomly_uneven), None),
        "0.7 and 1.23 by coordinate": (_train(noise=_coordinates), None),
        "a larger epsilon": (
            _train(sigma=lambda epsilon, delta, q, steps: sigma_for(1.3 * epsilon, delta, q=q, steps=steps)),
            None,
        ),
        "a larger delta": (
            _train(sigma=lambda epsilon, delta, q, steps: sigma_for(epsilon, 10 * delta, q=q, steps=steps)),
            None,
        ),
    },
    "user_level_average": {
        "user 0 vanishes": (_users_of(lambda users: users != 0), None),
        "negative numbers vanish": (_users_of(lambda users: users >= 0), None),
        "five messages": (_users_of(_first(5)), None),
        "twenty messages": (_users_of(_first(20)), None),
        "sorted": (users_in_runs, None),
    },
}
