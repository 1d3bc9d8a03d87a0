"""The sampler of every response on categories: stay with one's own, or move to another one, a million at a time."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

CROWD = 20_000  # fewer people than this are moved without a table
TINY = float(np.finfo(float).tiny)


def moved(categories: np.ndarray, k: int, other: float, rng: np.random.Generator) -> np.ndarray:
    """Categories 0..k-1 as they are reported: each other category with probability ``other``, else the true one.

    A million at a time, in the smallest integers that hold them; the caller has checked the arguments.
    """
    if k == 1:
        return np.zeros(categories.shape, dtype=np.int64)
    if categories.size < CROWD:
        reports = np.array(categories)
        lies = rng.random(reports.shape) >= 1 - (k - 1) * other
        # Adding 1..k-1 modulo k reaches each of the other categories equally often.
        reports[lies] = (reports[lies] + rng.integers(1, k, np.count_nonzero(lies))) % k
        return reports
    small = np.min_scalar_type(2 * k)
    reports = np.atleast_1d(categories).astype(small)
    reports += _steps(reports.shape, k, other, rng).astype(small, copy=False)
    # Round the circle of k categories: below k, subtracting k wraps to a large unsigned number, and the sum stays.
    return np.minimum(reports, reports - small.type(k)).astype(np.int64).reshape(categories.shape)


def _steps(shape: tuple[int, ...], k: int, other: float, rng: np.random.Generator) -> np.ndarray:
    """How far each report moves: 1..k-1 with probability ``other`` each, otherwise 0.

    [0, 1) is cut into k-1 pieces of length ``other``, one for each lie; what remains is the truth. A person draws a
    uniform position, whose first 16 bits settle the piece by a table, except where a cut runs through the positions
    that begin with them: there 53 further bits decide. The position is at least as fine as a 53-bit number, and 2^16
    times finer next to 0, which is where all the cuts are when epsilon is large.
    """
    head = rng.integers(0, 1 << 16, size=shape, dtype=np.uint16)
    steps: np.ndarray = np.take(_table(k, other), head)
    unsettled = np.flatnonzero(steps == k)
    steps.flat[unsettled] = _piece(head.flat[unsettled] + rng.random(unsettled.size), k, other)
    return steps


def _piece(position: np.ndarray, k: int, other: float) -> np.ndarray:
    """The step of a position in [0, 2^16): the number of its piece, counted from 1; 0 beyond the last piece."""
    piece = np.minimum(position / (max(other, TINY) * (1 << 16)), k).astype(np.int64)
    return np.where(piece < k - 1, piece + 1, 0)


@lru_cache(maxsize=64)
def _table(k: int, other: float) -> np.ndarray:
    """The step for each value of the first 16 bits; k where they do not settle it."""
    edges = np.minimum(np.arange((1 << 16) + 1) / (max(other, TINY) * (1 << 16)), k)
    first, last = np.floor(edges[:-1]), np.ceil(edges[1:]) - 1
    steps = np.where(last > first, k, np.where(first < k - 1, first + 1, 0)).astype(np.min_scalar_type(k))
    steps.setflags(write=False)
    return steps
