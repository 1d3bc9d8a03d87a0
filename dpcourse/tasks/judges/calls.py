"""Calls that hang together: is one call like the one so many calls later, more often than chance has it?

All distances are looked at. Which of them is the oddest, an autocorrelation says at once; the test of it is exact,
since it counts pairs of calls of which no two share a call.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpcourse.audit import binomial_fit
from dpcourse.audit.fit_result import Fit

FEWEST = 200  # pairs of calls at the largest distance


class Agreement(NamedTuple):
    """At the oddest distance: so many pairs of calls gave the same."""

    distance: int
    same: int
    pairs: int
    fit: Fit

    @property
    def share(self) -> float:
        """Of all pairs at this distance."""
        return self.same / self.pairs


def oddest_agreement(labels: np.ndarray, shares: Sequence[float] | np.ndarray, level: float) -> Agreement:
    """Independent ``labels`` 0, 1, ... with these shares: how often are two, at any one distance, the same?

    Two of them are so with probability sum(share^2). The level is shared by all distances.
    """
    number, agree = len(labels), float(np.square(shares).sum())
    distances = np.arange(1, max(2, number - FEWEST))
    left = number - distances
    odd = np.abs(_same(labels, len(shares))[distances] - left * agree) / np.sqrt(left)
    distance = int(distances[np.argmax(odd)])
    first, tests = np.arange(number - distance), 2 * len(distances)
    halves = [first[first // distance % 2 == side] for side in (0, 1)]  # in each no call stands in two pairs
    enough = min(FEWEST // 2, max(map(len, halves)))  # of a handful no test can be made
    halves = [one for one in halves if len(one) >= enough]
    counts = [(int(np.count_nonzero(labels[one] == labels[one + distance])), len(one)) for one in halves]
    same, pairs = max(counts, key=lambda one: abs(one[0] - one[1] * agree) / math.sqrt(one[1]))
    fit = binomial_fit(same, pairs, agree, level=level / tests)
    return Agreement(distance, same, pairs, replace(fit, level=level, p_value=min(1.0, tests * fit.p_value)))


def _same(labels: np.ndarray, number: int) -> np.ndarray:
    """How many pairs at each distance have the same label."""
    size = 1 << int(2 * len(labels) - 1).bit_length()
    power = np.zeros(size // 2 + 1)
    for label in range(number):
        power += np.abs(np.fft.rfft(labels == label, size)) ** 2
    return np.round(np.fft.irfft(power, size))
