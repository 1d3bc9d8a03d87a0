"""What several submissions to homework 4 use."""

import numpy as np


def clip_numpy(gradients, clip):
    lengths = np.linalg.norm(gradients, axis=1, keepdims=True)
    return gradients / np.maximum(1, lengths / clip)


def _mask(n, members):
    mask = np.zeros(n, dtype=bool)
    mask[np.asarray(members, dtype=int)] = True
    return mask


def average_numpy(clipped, clip, sigma, expected, rng):
    total = clipped.sum(axis=0)
    return (total + rng.normal(0, sigma * clip, size=total.shape)) / expected


def _noise(m, d, clip, sigma, rng):
    return rng.normal(0, sigma * clip, d)


def _gradients(weights, x, y):
    with np.errstate(over="ignore"):  # weights run away where nothing is clipped
        return (1 / (1 + np.exp(-x @ weights)) - y)[:, None] * x


def _clip_sum(rows, clip):
    total = rows.sum(axis=0, keepdims=True)
    return total / max(1, np.linalg.norm(total) / clip)


def clip_opacus(gradients, clip):
    """As libraries write it: a little below C, never above."""
    lengths = np.linalg.norm(gradients, axis=1)
    return gradients * np.minimum(1.0, clip / (lengths + 1e-6))[:, None]
