"""Submissions to homework 5: SRR, its matrix, and the true epsilon of a matrix."""

import math
import random

import numpy as np

from testing.submissions.hw5.shared import _truth, srr_matrix_numpy, srr_numpy


def srr_random(x, k, epsilon):
    truth = 1 / (1 + (k - 1) * math.exp(-epsilon))
    return x if random.random() < truth else random.choice([y for y in range(k) if y != x])


def srr_choice(x, k, epsilon, rng):
    p = np.ones(k)
    p[x] = np.exp(epsilon)
    return rng.choice(k, p=p / p.sum())


def srr_inverse(x, k, epsilon, rng):
    weights = [math.exp(epsilon) if y == x else 1.0 for y in range(k)]
    u = rng.random() * sum(weights)
    y = 0
    while u >= weights[y]:
        u -= weights[y]
        y += 1
    return np.array([y])


def srr_gumbel(x, k, epsilon, rng):
    """The exponential mechanism in disguise: eps for one's own, noise that picks by weight."""
    return float(np.argmax(epsilon * (np.arange(k) == x) + rng.gumbel(size=k)))


def srr_own_generator(x, k, epsilon):
    return srr_numpy(x, k, epsilon, GENERATOR)


GENERATOR = np.random.default_rng(77)


def _srr(x, k, truth, rng):
    return x if rng.random() < truth else int((x + rng.integers(1, k)) % k)


def srr_fixed_seed(x, k, epsilon):
    return srr_numpy(x, k, epsilon, np.random.default_rng(1))


def srr_matrix_lists(k, epsilon):
    lie = 1 / (math.exp(epsilon) + k - 1)
    return [[math.exp(epsilon) * lie if x == y else lie for y in range(k)] for x in range(k)]


def srr_matrix_filled(k, epsilon):
    truth = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    matrix = np.full((k, k), (1 - truth) / (k - 1))
    np.fill_diagonal(matrix, truth)
    return matrix


def srr_matrix_torch(k, epsilon):
    import torch

    weights = torch.ones(k, k, dtype=torch.float64)
    weights.fill_diagonal_(math.exp(epsilon))
    return weights / weights.sum(1, keepdim=True)


def epsilon_loops(matrix):
    worst = 0.0
    for y in range(matrix.shape[1]):
        for x in range(matrix.shape[0]):
            for other in range(matrix.shape[0]):
                if matrix[x, y] > 0:
                    worst = max(worst, math.log(matrix[x, y] / matrix[other, y]) if matrix[other, y] > 0 else math.inf)
    return worst


def epsilon_columns(matrix):
    used = matrix[:, matrix.max(axis=0) > 0]
    with np.errstate(divide="ignore"):
        return np.log(used.max(axis=0) / used.min(axis=0)).max()


def epsilon_logs(matrix):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matrix)
        return np.nanmax(logs.max(axis=0) - logs.min(axis=0))


def epsilon_list(matrix):
    ratios = [math.inf if min(column) == 0 else max(column) / min(column) for column in matrix.T if max(column) > 0]
    return np.array([math.log(max(ratios)) if max(ratios) < math.inf else math.inf])


def epsilon_truth_only(matrix):
    """Only the diagonal against the others: as if the truth were always the likeliest."""
    k = min(matrix.shape)
    low = np.maximum(matrix[:, :k].min(axis=0), 1e-12)
    return float(np.log(np.maximum(np.diag(matrix[:, :k]), 1e-12) / low).max())


RIGHT = {
    "srr": {
        "numpy": srr_numpy, "random": srr_random, "choice": srr_choice, "inverse, array": srr_inverse,
        "gumbel, float": srr_gumbel, "own generator": srr_own_generator,
    },
    "srr_matrix": {
        "numpy": srr_matrix_numpy, "lists": srr_matrix_lists, "filled": srr_matrix_filled, "torch": srr_matrix_torch,
    },
    "matrix_epsilon": {
        "loops": epsilon_loops, "columns": epsilon_columns, "logs": epsilon_logs, "list, array": epsilon_list,
    },
}  # fmt: skip

WRONG = {
    "srr": {
        "own among lies": (
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else rng.integers(k),
            "own category among the lies",
        ),
        "two categories": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, 1), rng), "two categories"),
        "K for K - 1": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, k), rng), "K for K - 1"),
        "next": (
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else (x + 1) % k,
            "lies to the next category",
        ),
        "truth": (lambda x, k, epsilon: x, "no coin"),
        "chance": (lambda x, k, epsilon, rng: rng.integers(k), "pure chance"),
        "fixed seed": (srr_fixed_seed, None),
        "truth of the first": (lambda x, k, epsilon, rng: srr_numpy(x, k, epsilon, rng) if x else 0, None),
        "truth of the last": (lambda x, k, epsilon, rng: srr_numpy(x, k, epsilon, rng) if x < k - 1 else x, None),
        "10% more eps": (lambda x, k, epsilon, rng: _srr(x, k, _truth(1.15 * epsilon, k - 1), rng), None),
        "labels from 1": (lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, k - 1), rng) + 1, None),
    },
    "srr_matrix": {
        "lies whole": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, k - 1), 1 - _truth(epsilon, k - 1)),
            "lies not shared out",
        ),
        "K": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, k), (1 - _truth(epsilon, k)) / (k - 1)),
            "K for K - 1",
        ),
        "two": (
            lambda k, epsilon: np.where(np.eye(k) == 1, _truth(epsilon, 1), (1 - _truth(epsilon, 1)) / (k - 1)),
            "two categories",
        ),
        "weights": (lambda k, epsilon: np.exp(epsilon * np.eye(k)), "not divided"),
        "logarithms": (lambda k, epsilon: np.log(srr_matrix_numpy(k, epsilon)), "logarithms"),
        "one row": (lambda k, epsilon: srr_matrix_numpy(k, epsilon)[0], None),
        "rounded": (lambda k, epsilon: srr_matrix_numpy(k, epsilon).round(3), None),
    },
    "matrix_epsilon": {
        "rows": (lambda matrix: epsilon_loops(matrix.T), "along the rows"),
        "ratio": (lambda matrix: np.exp(epsilon_loops(matrix)), "ratio, not its logarithm"),
        "everything": (
            lambda matrix: math.log(matrix.max() / matrix.min()) if matrix.min() > 0 else math.inf, "whole matrix",
        ),
        "zeros left out": (
            lambda matrix: max(math.log(max(c[c > 0]) / min(c[c > 0])) for c in matrix.T if c.max() > 0),
            "zeros ignored",
        ),
        "average": (
            lambda matrix: np.mean([epsilon_loops(c[:, None]) for c in matrix.T]), "average column",
        ),
        "diagonal": (epsilon_truth_only, None),
    },
}  # fmt: skip
