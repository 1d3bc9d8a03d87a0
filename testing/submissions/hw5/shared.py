"""What several submissions to homework 5 use."""

import math

import numpy as np


def srr_numpy(x, k, epsilon, rng):
    truth = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    if rng.random() < truth:
        return x
    return (x + rng.integers(1, k)) % k


def _truth(epsilon, others):
    return math.exp(epsilon) / (math.exp(epsilon) + others)


def srr_matrix_numpy(k, epsilon):
    return (np.ones((k, k)) + (np.exp(epsilon) - 1) * np.eye(k)) / (np.exp(epsilon) + k - 1)


def second_math(epsilon, first, inside, outside):
    below = outside * math.exp(first - epsilon) - 1
    if inside == 0 or outside == 1 or below <= 0:
        return epsilon
    return min(epsilon, math.log((outside - 1) / below))


def second_slide(epsilon, first, inside, outside):
    if epsilon - first < math.log(outside) and inside > 0:
        return np.minimum(epsilon, np.log((outside - 1) / (np.exp(first - epsilon) * outside - 1)))
    return np.float64(epsilon)


def matrix_cases(k, subset, epsilon, first):
    """The five cases of the lecture's table."""
    s, n = len(subset), k - len(subset)
    e1, e2 = math.exp(first), math.exp(second_math(epsilon, first, s, n))
    a, b = 1 / (e1 + s), 1 / (e2 + n - 1)
    matrix = np.zeros((k, k))
    for x in range(k):
        for y in range(k):
            if y in subset:
                matrix[x, y] = e1 * a if x == y else a
            elif x in subset:
                matrix[x, y] = a / n
            else:
                matrix[x, y] = e1 * e2 * a * b if x == y else e1 * a * b
    return matrix


def subset_closed(theta, epsilon, first):
    k, down = len(theta), np.sort(theta)[::-1]
    best, chosen = -1.0, 0
    for size in range(k):
        n = k - size
        e1, e2 = math.exp(first), math.exp(second_math(epsilon, first, size, n))
        inside = down[:size].sum()
        value = e1 / (e1 + size) * (inside + (1 - inside) * e2 / (e2 + n - 1))
        if value > best:
            best, chosen = value, size
    return sorted(np.argsort(theta)[::-1][:chosen].tolist())
