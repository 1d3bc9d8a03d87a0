"""Where a monotone function passes a value: among the numbers (a bracketed root) and among the integers."""

from __future__ import annotations

import math
from collections.abc import Callable


class NoSolution(ValueError):
    """The search left the range in which an answer was expected."""


def root(
    rising: Callable[[float], float],
    low: float,
    high: float,
    *,
    limits: tuple[float, float] = (-math.inf, math.inf),
    tolerance: float = 1e-15,
    relative: float = 8.9e-16,
) -> float:
    """Where ``rising`` passes 0: the guess low..high is widened, by twice its width each time, until it holds the root.

    Beyond ``limits`` the search ends in :class:`NoSolution`. To ``tolerance`` (absolute) or ``relative``.
    """
    from scipy.optimize import brentq

    width = high - low
    while rising(high) < 0:
        low, high, width = high, high + width, 2 * width
        if low > limits[1]:
            raise NoSolution(f"no root up to {low!r}")
    while rising(low) > 0:
        low, high, width = low - width, low, 2 * width
        if high < limits[0]:
            raise NoSolution(f"no root down to {high!r}")
    return float(brentq(rising, low, high, xtol=tolerance, rtol=relative, maxiter=500))


def first_integer(holds: Callable[[int], bool], last: int, *, after: int = -1) -> int:
    """The smallest integer in after+1 .. last at which a condition that stays true, and holds at ``last``, is true."""
    while last - after > 1:
        middle = (after + last) // 2
        after, last = (after, middle) if holds(middle) else (middle, last)
    return last


def smallest_integer(holds: Callable[[int], bool], *, limit: int = 2**50) -> int:
    """The smallest n >= 1 at which a condition that stays true (all but) is true, found by doubling and bisection."""
    last = 1
    while not holds(last):
        last *= 2
        if last > limit:
            raise NoSolution(f"nothing up to {limit:,} is enough")
    return first_integer(holds, last, after=last // 2)
