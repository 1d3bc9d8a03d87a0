"""Sums of losses where one rare loss makes all of delta: positive masses, multiplied and added, on a short grid.

A Fourier transform has an absolute error, so no window shows a delta of 1e-40 beside a bulk that lies far away. Masses
that are only multiplied and added keep their relative precision, however small they are. The price is a coarse grid: an
upper bound within some per cent for a few thousand rounds, and a loose one for many more.
"""

from __future__ import annotations

import math

import numpy as np

from dpcourse.privacy_loss.numerics.lattice import dominating, total
from dpcourse.privacy_loss.numerics.tilt import Parts, loss_range

_NODES = 5_000  # of the window in which sums are kept
_REACH = 8.0  # losses that lie this far above epsilon count in full: e^-8 too much
_SMALLEST = 1e-306  # what underflow may have lost


def direct_delta(parts: Parts, epsilon: float) -> float:
    """A certified upper bound on the delta of the sum at ``epsilon``."""
    ranges = [loss_range(loss, _SMALLEST) for loss, _ in parts]
    high = epsilon + _REACH
    low = max(-high, sum(times * bottom for (bottom, _), (_, times) in zip(ranges, parts, strict=True)))
    step = (high - low) / _NODES
    window = Window(math.floor(low / step), math.ceil(high / step))
    whole = window.nothing
    for (loss, times), (bottom, top) in zip(parts, ranges, strict=True):
        grid = dominating(loss, step, bottom, min(top, high))
        whole = window.add(whole, window.power(window.put(grid.first, grid.masses, grid.infinite), times))
    gap = np.maximum(step * np.arange(window.first, window.last + 1) - epsilon, 0.0)
    finite, infinite = whole
    rounding = 1 + total(parts) * 2**-48
    return min((float(finite @ -np.expm1(-gap)) + infinite + _SMALLEST) * rounding, 1.0)


class Window:
    """Masses at the grid points first..last. What lies below is moved up to the first; what lies above is infinite.

    Both moves only increase delta.
    """

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last

    @property
    def nothing(self) -> tuple[np.ndarray, float]:
        """A loss that is 0."""
        return self.put(0, np.ones(1), 0.0)

    def put(self, first: int, masses: np.ndarray, infinite: float) -> tuple[np.ndarray, float]:
        """Masses that begin at grid point ``first``, brought into the window."""
        inside = np.zeros(self.last - self.first + 1)
        places = np.arange(first, first + masses.size) - self.first
        fits = places < inside.size
        np.add.at(inside, np.maximum(places[fits], 0), masses[fits])
        return inside, infinite + float(masses[~fits].sum())

    def add(self, one: tuple[np.ndarray, float], other: tuple[np.ndarray, float]) -> tuple[np.ndarray, float]:
        """The sum of two independent losses."""
        infinite = one[1] + other[1] - one[1] * other[1]
        return self.put(2 * self.first, np.convolve(one[0], other[0]), infinite)

    def power(self, loss: tuple[np.ndarray, float], times: int) -> tuple[np.ndarray, float]:
        """The sum of so many independent copies, by squaring."""
        whole = self.nothing
        while times:
            if times & 1:
                whole = self.add(whole, loss)
            times >>= 1
            if times:
                loss = self.add(loss, loss)
        return whole
