"""Submissions to homework 5: RRRR and its matrix."""

import math
import random
from bisect import bisect
from functools import lru_cache

import numpy as np

from testing.submissions.hw5.shared import _truth, matrix_cases, second_math, second_slide, srr_matrix_numpy, srr_numpy


def _srr_on(x, labels, epsilon, rng):
    labels = list(labels)
    if len(labels) == 1:
        return labels[0]
    if rng.random() < _truth(epsilon, len(labels) - 1):
        return x
    others = [label for label in labels if label != x]
    return others[int(rng.random() * len(others))]


def rrrr_algorithm(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    second = second_math(epsilon, first, len(subset), len(outside))
    r = outside[int(rng.random() * len(outside))] if x in subset else _srr_on(x, outside, second, rng)
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_random(x, k, subset, epsilon, first):
    outside = sorted(set(range(k)) - set(subset))
    if x in subset:
        r = random.choice(outside)
        start = x
    else:
        r = start = _srr_on(x, outside, second_math(epsilon, first, len(subset), len(outside)), random)
    return _srr_on(start, [*subset, r], first, random)


@lru_cache(maxsize=16)
def _row(x, k, subset, epsilon, first):
    return np.cumsum(matrix_cases(k, subset, epsilon, first)[x])


def rrrr_from_matrix(x, k, subset, epsilon, first, rng):
    return min(bisect(_row(x, k, subset, epsilon, first), rng.random()), k - 1)


def rrrr_scalar_array(x, k, subset, epsilon, first, rng):
    return np.array([rrrr_algorithm(x, k, subset, epsilon, first, rng)])


def matrix_two_steps(k, subset, epsilon, first):
    """Pr(R | x), then SRR on S + {R}, summed over R."""
    member = np.isin(np.arange(k), list(subset))
    s, n = member.sum(), (~member).sum()
    second = second_math(epsilon, first, int(s), int(n))
    extra = np.where(member[:, None], 1 / n, 0.0) * ~member
    inner = np.exp(second * np.eye(k))[np.ix_(~member, ~member)]
    extra[np.ix_(~member, ~member)] = inner / inner.sum(axis=1, keepdims=True)
    truth = np.exp(first) / (np.exp(first) + s)
    lie = 1 / (np.exp(first) + s)
    matrix = np.zeros((k, k))
    for x in range(k):
        for r in np.flatnonzero(~member):
            start = x if member[x] else r
            for y in [*np.flatnonzero(member), r]:
                matrix[x, y] += extra[x, r] * (truth if y == start else lie)
    return matrix


def matrix_lists(k, subset, epsilon, first):
    return matrix_cases(k, subset, epsilon, first).tolist()


def matrix_masks(k, subset, epsilon, first):
    member = np.zeros(k, dtype=bool)
    member[list(subset)] = True
    s, n, same = len(subset), k - len(subset), np.eye(k, dtype=bool)
    e1, e2 = np.exp(first), np.exp(second_slide(epsilon, first, s, n))
    a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
    outside = np.where(member[:, None], a / n, np.where(same, e1 * e2 * a * b, e1 * a * b))
    return np.where(member[None, :], np.where(same, e1 * a, a), outside)


def _two_budgets(first_of, second_of):
    """RRRR with other budgets."""

    def wrong(x, k, subset, epsilon, first, rng):
        outside = [y for y in range(k) if y not in subset]
        one, two = first_of(epsilon, first), second_of(epsilon, first, len(subset), len(outside))
        r = outside[int(rng.random() * len(outside))] if x in subset else _srr_on(x, outside, two, rng)
        return _srr_on(x if x in subset else r, [*subset, r], one, rng)

    return wrong


def rrrr_naive(x, k, subset, epsilon, first, rng):
    if x in subset:
        return _srr_on(x, subset, epsilon, rng)
    outside = [y for y in range(k) if y not in subset]
    return outside[int(rng.random() * len(outside))]


def rrrr_blind(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    r = outside[int(rng.random() * len(outside))]
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_itself(x, k, subset, epsilon, first, rng):
    outside = [y for y in range(k) if y not in subset]
    r = outside[int(rng.random() * len(outside))] if x in subset else x
    return _srr_on(x if x in subset else r, [*subset, r], first, rng)


def rrrr_inside_eps(x, k, subset, epsilon, first, rng):
    """Right for outsiders; whoever is in S answers with eps in place of eps1."""
    if x not in subset:
        return rrrr_algorithm(x, k, subset, epsilon, first, rng)
    outside = [y for y in range(k) if y not in subset]
    return _srr_on(x, [*subset, outside[int(rng.random() * len(outside))]], epsilon, rng)


def _with_second(second_of):
    def wrong(k, subset, epsilon, first):
        s, n = len(subset), k - len(subset)
        e1, e2 = math.exp(first), math.exp(second_of(epsilon, first, s, n))
        a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
        x, y = np.ogrid[:k, :k]
        x_in, y_in = np.isin(x, list(subset)), np.isin(y, list(subset))
        outside = np.where(x_in, a / n, np.where(x == y, e1 * e2 * a * b, e1 * a * b))
        return np.where(y_in, np.where(x == y, e1 * a, a), outside)

    return wrong


def matrix_n_forgotten(k, subset, epsilon, first):
    matrix = matrix_cases(k, subset, epsilon, first)
    outside = [y for y in range(k) if y not in subset]
    matrix[np.ix_(list(subset), outside)] *= len(outside)
    return matrix


RIGHT = {
    "rrrr": {
        "algorithm": rrrr_algorithm, "random": rrrr_random, "from the matrix": rrrr_from_matrix,
        "length-1 array": rrrr_scalar_array,
    },
    "rrrr_matrix": {
        "five cases": matrix_cases, "two steps": matrix_two_steps, "lists": matrix_lists, "masks": matrix_masks,
    },
}  # fmt: skip

WRONG = {
    "rrrr": {
        "naive": (rrrr_naive, "naive"),
        "eps outside": (_two_budgets(lambda e, f: f, lambda e, f, s, n: e), "eps2 = eps"),
        "eps twice": (_two_budgets(lambda e, f: e, lambda e, f, s, n: e), "eps twice"),
        "X itself": (rrrr_itself, "R = X outside S"),
        "blind R": (rrrr_blind, "R drawn blindly"),
        "eps inside": (rrrr_inside_eps, None),
        "SRR": (lambda x, k, subset, epsilon, first, rng: srr_numpy(x, k, epsilon, rng), None),
        "constant": (lambda x, k, subset, epsilon, first: x, None),
    },
    "rrrr_matrix": {
        "eps outside": (_with_second(lambda e, f, s, n: e), "eps2 = eps"),
        "X itself": (_with_second(lambda e, f, s, n: 700.0), "R = X outside S"),
        "blind R": (_with_second(lambda e, f, s, n: 0.0), "R drawn blindly"),
        "transposed": (lambda k, subset, epsilon, first: matrix_masks(k, subset, epsilon, first).T, "transposed"),
        "n forgotten": (matrix_n_forgotten, "n forgotten"),
        "SRR": (lambda k, subset, epsilon, first: srr_matrix_numpy(k, epsilon), None),
    },
}  # fmt: skip
