"""Sensitivities that are known: counts, histograms, sums and means.

The norm is l1 for the Laplace mechanism, l2 for the Gaussian. The maximum runs over tables that *could* exist, so the
domain (the range of a debt) must be public and known beforehand; the data at hand has no say. What counts as neighbours
("add/remove" one row, or "replace" one) changes the answer, so every function asks for it.

For any other query, ``search.find_violation`` looks for neighbours that differ by more than was claimed: it can refute
a claim, never prove one.
"""

from __future__ import annotations

import math

from dpcourse import checks
from dpcourse.guarantee import Neighbours

NeighbourKind = Neighbours | str
ADD_REMOVE, REPLACE = Neighbours.ADD_REMOVE, Neighbours.REPLACE


def count(neighbours: NeighbourKind = ADD_REMOVE) -> float:
    """ "How many rows have the property?" One row more, one less or another one changes the count by at most 1."""
    Neighbours.of(neighbours)
    return 1.0


def histogram(neighbours: NeighbourKind = ADD_REMOVE, *, norm: str = "l1") -> float:
    """Counts per category, at least two categories, every row in exactly one of them.

    Add/remove changes one count by 1: l1 = l2 = 1. Replace moves a row from one category to another, so two counts
    change by 1: l1 = 2, l2 = sqrt(2).
    """
    changed = 1 if Neighbours.of(neighbours) is ADD_REMOVE else 2
    return float(changed) if _norm(norm) == "l1" else math.sqrt(changed)


def bounded_sum(
    low: float, high: float, neighbours: NeighbourKind = ADD_REMOVE, *, dimension: int = 1, norm: str = "l1"
) -> float:
    """Sum of values that are clipped to [low, high]; with ``dimension`` d, each of d coordinates is.

    Add/remove: a row brings its value, max(|low|, |high|) at most. Replace: it trades one value for another, high - low
    at most. All d coordinates may do so at once: times d in l1, times sqrt(d) in l2.
    """
    low, high = checks.interval(low, high)
    each = max(abs(low), abs(high)) if Neighbours.of(neighbours) is ADD_REMOVE else high - low
    d = checks.whole_number("dimension", dimension)
    return each * (d if _norm(norm) == "l1" else math.sqrt(d))


def clipped_sum(bound: float, neighbours: NeighbourKind = ADD_REMOVE) -> float:
    """Sum of vectors that are clipped to norm <= ``bound``, measured in the norm that they were clipped in.

    Add/remove: one vector comes or goes, ``bound``. Replace: at worst a vector is traded for its opposite, twice
    ``bound``. This is the sum of clipped gradients in DP-SGD, in l2. (In l1, an l2-clipped vector of d coordinates may
    have norm sqrt(d) ``bound``.)
    """
    return checks.positive("bound", bound) * (1 if Neighbours.of(neighbours) is ADD_REMOVE else 2)


def mean(low: float, high: float, neighbours: NeighbourKind = ADD_REMOVE, *, n: int | None) -> float:
    """Mean of values clipped to [low, high].

    With a public number of people ``n`` the mean *is* sum / n, also for the neighbour with a row more or less: the
    divisor is a constant, and the answer is that of :func:`bounded_sum`, divided by n.

    With ``n=None`` the mean is that of the rows that are there, in a table of any size but not empty. Then a small
    table is the worst case, and no large n at hand helps: under replace the single row of a table moves it by
    high - low; under add/remove a second row moves it by half of that (the last of m rows against the mean of the
    others, divided by m).
    """
    low, high = checks.interval(low, high)
    if n is not None:
        return bounded_sum(low, high, neighbours) / checks.whole_number("n", n)
    return (high - low) / (2 if Neighbours.of(neighbours) is ADD_REMOVE else 1)


def _norm(norm: str) -> str:
    return checks.one_of("norm", norm, ["l1", "l2"])
