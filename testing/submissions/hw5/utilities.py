"""Submissions to homework 5: the six utilities and the best subset."""

import math

import numpy as np

from testing.submissions.hw5.shared import matrix_cases, subset_closed


def six_numpy(theta, matrix):
    q = theta @ matrix
    joint = theta[:, None] * matrix
    d = matrix[:-1] - matrix[-1]
    f = (d / q) @ d.T
    return {
        "fisher": -np.trace(np.linalg.inv(f)),
        "entropy": -np.sum(q * np.log(q)),
        "tv_posterior": 0.5 * np.abs(joint - np.outer(theta, q)).sum(),
        "tv_marginal": -0.5 * np.abs(q - theta).sum(),
        "squared_error": np.sum(joint**2 / q) - 1,
        "honest": np.sum(theta * np.diag(matrix)),
    }


def six_loops(theta, matrix):
    k = len(theta)
    q = [sum(theta[x] * matrix[x, y] for x in range(k)) for y in range(k)]
    f = np.array(
        [
            [
                sum((matrix[i, y] - matrix[k - 1, y]) * (matrix[j, y] - matrix[k - 1, y]) / q[y] for y in range(k))
                for j in range(k - 1)
            ]
            for i in range(k - 1)
        ]
    )
    tv = error = 0.0
    for y in range(k):
        posterior = np.array([theta[x] * matrix[x, y] / q[y] for x in range(k)])
        tv += q[y] * 0.5 * np.abs(posterior - theta).sum()
        for x in range(k):
            error += theta[x] * matrix[x, y] * float(((np.eye(k)[x] - posterior) ** 2).sum())
    return (
        -sum(1 / np.linalg.eigvalsh(f)), -sum(p * math.log(p) for p in q), tv,
        -0.5 * sum(abs(a - b) for a, b in zip(q, theta, strict=True)), -error,
        sum(theta[x] * matrix[x, x] for x in range(k)),
    )  # fmt: skip


def six_torch(theta, matrix):
    import torch

    t, m = torch.from_numpy(theta), torch.from_numpy(matrix)
    q = t @ m
    joint = t[:, None] * m
    d = m[:-1] - m[-1]
    return {
        "fisher": -torch.linalg.inv((d / q) @ d.T).diagonal().sum(), "entropy": -(q * q.log()).sum(),
        "tv_posterior": (q * 0.5 * (joint / q - t[:, None]).abs().sum(0)).sum(),
        "tv_marginal": -0.5 * (q - t).abs().sum(), "squared_error": (joint**2 / q).sum() - 1,
        "honest": joint.diagonal().sum(),
    }  # fmt: skip


def six_scipy(theta, matrix):
    from scipy.stats import entropy

    right = six_numpy(theta, matrix)
    return [np.array([right["fisher"]]), entropy(theta @ matrix), *list(right.values())[2:]]


def _six_but(**wrong):
    def six(theta, matrix):
        right = six_numpy(theta, matrix)
        return {**right, **{name: change(theta, matrix, right) for name, change in wrong.items()}}

    return six


def _honest(theta, size, epsilon, first):
    k, order = len(theta), np.argsort(-theta, kind="stable")
    matrix = matrix_cases(k, tuple(order[:size].tolist()), epsilon, first)
    return float(theta @ np.diag(matrix))


def subset_matrices(theta, epsilon, first):
    values = [_honest(theta, size, epsilon, first) for size in range(len(theta))]
    return np.argsort(-theta, kind="stable")[: int(np.argmax(values))]


def subset_tuple(theta, epsilon, first):
    return tuple(subset_matrices(theta, epsilon, first))


def subset_sets(theta, epsilon, first):
    return [x for x in range(len(theta)) if x in set(subset_matrices(theta, epsilon, first).tolist())]


def _sized(sizes, key=lambda theta: -theta, measure=_honest):
    def wrong(theta, epsilon, first):
        size = max(sizes(len(theta)), key=lambda size: measure(theta, size, epsilon, first))
        return np.argsort(key(theta), kind="stable")[:size]

    return wrong


def subset_fraction(theta, epsilon, first):
    order = np.argsort(-theta)
    return order[: int(np.argmax(np.cumsum(theta[order]) >= 0.9)) + 1]


RIGHT = {
    "six_utilities": {"numpy": six_numpy, "loops, tuple": six_loops, "torch": six_torch, "scipy, list": six_scipy},
    "best_subset": {
        "matrices": subset_matrices, "closed form": subset_closed, "tuple": subset_tuple, "sorted": subset_sets,
    },
}  # fmt: skip

WRONG = {
    "six_utilities": {
        "entropy": (_six_but(entropy=lambda t, m, right: -right["entropy"]), "entropy upside down"),
        "trace of F": (
            _six_but(fisher=lambda t, m, right: ((m[:-1] - m[-1]) ** 2 / (t @ m)).sum()), "trace of F",
        ),
        "K shares": (
            _six_but(fisher=lambda t, m, right: -np.trace(np.linalg.inv((m / (t @ m)) @ m.T))), "all K shares free",
        ),
        "half": (_six_but(tv_marginal=lambda t, m, right: -np.abs(t @ m - t).sum()), "half forgotten"),
        "sign of U4": (_six_but(tv_marginal=lambda t, m, right: -right["tv_marginal"]), "distance rewarded"),
        "U3 unweighted": (
            _six_but(tv_posterior=lambda t, m, right: (
                np.abs(t[:, None] * m / (t @ m) - t[:, None]).sum(axis=0).mean() / 2
            )),
            "reports not weighted",
        ),
        "U5 positive": (_six_but(squared_error=lambda t, m, right: -right["squared_error"]), "error as a utility"),
        "diagonal": (_six_but(honest=lambda t, m, right: np.diag(m).mean()), "people not weighted"),
        "entropy in bits": (_six_but(entropy=lambda t, m, right: right["entropy"] / np.log(2)), "bits"),
        "two slips": (
            _six_but(
                entropy=lambda t, m, right: right["entropy"] / np.log(10),
                honest=lambda t, m, right: np.diag(m).mean(),
            ),
            "people not weighted",
        ),
        "half done": (_six_but(fisher=lambda t, m, right: None, honest=lambda t, m, right: None), None),
    },
    "best_subset": {
        "from one": (_sized(lambda k: range(1, k)), "SRR not among the candidates"),
        "first labels": (_sized(range, key=lambda theta: np.zeros(len(theta))), "not sorted"),
        "rarest": (_sized(range, key=lambda theta: theta), "rarest first"),
        "even field": (
            _sized(range, measure=lambda t, s, e, f: _honest(np.full(len(t), 1 / len(t)), s, e, f)), "theta not used",
        ),
        "nine tenths": (subset_fraction, "nine tenths"),
        "the largest": (lambda theta, epsilon, first: [np.argmax(theta)], None),
        "nobody": (lambda theta, epsilon, first: [], None),
        "a set": (lambda theta, epsilon, first: set(subset_sets(theta, epsilon, first)), None),  # told to give a list
    },
}  # fmt: skip
