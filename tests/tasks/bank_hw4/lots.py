"""Submissions to homework 4: clipping and Poisson lots."""

import math
import random

import numpy as np

from tests.tasks.bank_hw4.shared import _mask, clip_numpy


def clip_loop(gradients, clip):
    rows = []
    for g in gradients:
        length = math.sqrt(sum(value**2 for value in g))
        rows.append([value * min(1.0, clip / length) if length else value for value in g])
    return rows


def clip_copy(gradients, clip):
    out = gradients.copy()
    for row in out:
        if np.linalg.norm(row) > clip:
            row *= clip / np.linalg.norm(row)
    return out


def clip_torch(gradients, clip):
    import torch

    rows = torch.tensor(gradients)
    return rows * (clip / rows.norm(dim=1, keepdim=True)).clamp(max=1)


def clip_in_place(gradients, clip):
    gradients /= np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True) / clip)
    return gradients


def lot_numpy(n, q, rng):
    return rng.random(n) < q


def lot_random(n, q):
    return [random.random() < q for _ in range(n)]


def lot_binomial(n, q, rng):
    return rng.binomial(1, q, size=n)


def lot_size_first(n, q, rng):
    """A binomial number of people without replacement: the same law, told otherwise."""
    mask = np.zeros(n)
    mask[rng.choice(n, rng.binomial(n, q), replace=False)] = 1
    return mask


def _lot_again(n, q, rng):
    while not (mask := rng.random(n) < q).any():
        pass
    return mask


def lot_torch(n, q):
    import torch

    return torch.bernoulli(torch.full((n,), q, dtype=torch.float64))


RIGHT = {
    "clip_gradients": {"numpy": clip_numpy, "loop, lists": clip_loop, "copy": clip_copy, "torch": clip_torch},
    "poisson_lot": {
        "numpy": lot_numpy, "random, list": lot_random, "binomial": lot_binomial, "size first": lot_size_first,
        "torch": lot_torch,
    },
}  # fmt: skip

WRONG = {
    "clip_gradients": {
        "batch": (
            lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients.sum(axis=0)) / clip), "batch clipped",
        ),
        "table": (
            lambda gradients, clip: gradients / max(1, np.linalg.norm(gradients) / clip), "one length for the table",
        ),
        "coordinates": (
            lambda gradients, clip: np.maximum(np.minimum(gradients, clip), -clip), "each coordinate clipped",
        ),
        "stretched": (
            lambda gradients, clip: clip * gradients / (np.linalg.norm(gradients, axis=1, keepdims=True) + 1e-12),
            "always length C",
        ),
        "l1": (
            lambda gradients, clip: gradients / np.maximum(1, np.abs(gradients).sum(1, keepdims=True) / clip),
            "l1 length",
        ),
        "C forgotten": (
            lambda gradients, clip: gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True)),
            "C forgotten",
        ),
        "0/0": (lambda gradients, clip: clip * gradients / np.linalg.norm(gradients, axis=1, keepdims=True), None),
        "in place": (clip_in_place, None),
        "columns": (
            lambda gradients, clip: gradients / np.maximum(1, np.linalg.norm(gradients, axis=0) / clip), None,
        ),
        "summed": (lambda gradients, clip: clip_numpy(gradients, clip).sum(axis=0), None),
    },
    "poisson_lot": {
        "fixed size": (
            lambda n, q, rng: _mask(n, rng.choice(n, size=round(q * n), replace=False)), "fixed size",
        ),
        "block": (lambda n, q, rng: _mask(n, (rng.integers(n) + np.arange(round(q * n))) % n), "a block"),
        "with replacement": (lambda n, q, rng: _mask(n, rng.choice(n, size=round(q * n))), "with replacement"),
        "one coin": (lambda n, q, rng: np.ones(n) * (rng.random() < q), "one coin for all"),
        "upside down": (lambda n, q, rng: rng.random(n) >= q, "coin upside down"),
        "fixed seed": (lambda n, q: np.random.default_rng(5).random(n) < q, "always the same lot"),
        "indices": (lambda n, q, rng: np.flatnonzero(rng.random(n) < q), None),
        "15% more": (lambda n, q, rng: rng.random(n) < 1.15 * q, None),
        "pairs": (lambda n, q, rng: np.repeat(rng.random((n + 1) // 2) < q, 2)[:n], None),
        "empty? take the first": (lambda n, q, rng: m if (m := rng.random(n) < q).any() else np.arange(n) == 0, None),
        "empty? again": (_lot_again, "never empty"),
        "first like last": (lambda n, q, rng: np.append((m := rng.random(n - 1) < q)[-1:], m), None),
        "a binomial block": (lambda n, q, rng: _mask(n, (rng.integers(n) + np.arange(rng.binomial(n, q))) % n), None),
        "first person always": (lambda n, q, rng: np.append(True, rng.random(n - 1) < q), None),
    },
}  # fmt: skip
