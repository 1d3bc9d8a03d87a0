"""Exact statements about one event: how often did it happen, how often should it?

Everything here rests on the tails of the binomial distribution, written as incomplete beta functions, so nothing is
approximated: Pr[X >= k] = I_p(k, n - k + 1) for X ~ Bin(n, p).

Reference: C. Clopper and E. Pearson (1934), "The use of confidence or fiducial limits illustrated in the case of the
binomial", Biometrika 26(4).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

from scipy import special

from dpcourse import checks
from dpcourse.audit.fit_result import Fit, error_rates, refuse_powerless


def lower_tail(k: int, n: int, p: float) -> float:
    """Pr[X <= k] for X ~ Bin(n, p), with small relative error also far out in the tail."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else float(special.betaincc(k + 1, n - k, p))


def upper_tail(k: int, n: int, p: float) -> float:
    """Pr[X >= k] for X ~ Bin(n, p), with small relative error also far out in the tail."""
    if k <= 0:
        return 1.0
    return 0.0 if k > n else float(special.betainc(k, n - k + 1, p))


def probability_at_least(successes: int, draws: int, level: float) -> float:
    """Clopper-Pearson lower bound: exceeds the true probability with probability at most ``level``."""
    return 0.0 if successes == 0 else float(special.betaincinv(successes, draws - successes + 1, level))


def probability_at_most(successes: int, draws: int, level: float) -> float:
    """Clopper-Pearson upper bound: falls below the true probability with probability at most ``level``."""
    return 1.0 if successes == draws else float(special.betainccinv(successes + 1, draws - successes, level))


def rejection_region(draws: int, probability: float, level: float) -> tuple[int, int]:
    """(low, high): the two-sided test rejects X <= low and X >= high, each with probability at most level / 2.

    ``low`` is -1, ``high`` is draws + 1 where even the most extreme count is not rare enough.
    """
    low = first_count(lambda k: lower_tail(k, draws, probability) > level / 2, draws) - 1
    high = first_count(lambda k: upper_tail(k, draws, probability) <= level / 2, draws + 1)
    return low, high


@lru_cache(maxsize=1000)  # a search, for the same few numbers of draws and levels again and again
def detected_limits(draws: int, probability: float, level: float, power: float) -> tuple[float | None, float | None]:
    """The nearest probabilities below and above the reference that are rejected with probability >= ``power``."""
    low, high = rejection_region(draws, probability, level)
    # Bin(n, p) <= low has probability `power` at one p, and more for every smaller p: the tail inverts in closed form.
    below = None if low < 0 else float(special.betainccinv(low + 1, draws - low, power))
    above = None if high > draws else float(special.betainccinv(high, draws - high + 1, 1 - power))
    return below, above


def binomial_fit(
    successes: int, draws: int, probability: float, *, level: float = 1e-6, power: float | None = None
) -> Fit:
    """Exact two-sided binomial test: does the event happen with this ``probability``?

    p-value: twice the smaller tail, at most 1. False alarms: at most ``level``, exactly, for every number of draws.
    ``limits`` are the nearest probabilities on either side that would be rejected with probability ``power``
    (default 1 - level), again exact. ``smallest_error`` is the distance beyond which every error is caught.
    """
    draws = checks.whole_number("draws", draws)
    successes = checks.whole_number("successes", successes, at_least=0)
    if successes > draws:
        raise ValueError(f"successes must be at most draws = {draws}, got {successes!r}")
    p = checks.probability("probability", probability)
    level, power = error_rates(level, power)
    below, above = detected_limits(draws, p, level, power)
    # Where one side can never be rejected, errors on it are missed, but none of them is larger than that side is wide.
    distance = max(p if below is None else p - below, 1 - p if above is None else above - p)
    refuse_powerless("exact binomial", math.inf if below is None and above is None else distance, 2.0, draws, level)
    return Fit(
        name="exact binomial",
        statistic=successes / draws,
        p_value=min(1.0, 2 * min(lower_tail(successes, draws, p), upper_tail(successes, draws, p))),
        level=level,
        power=power,
        draws=draws,
        smallest_error=distance,
        unit="true probability",
        limits=(below, above),
        note=f"{successes:,} events, {draws * p:,.6g} expected",
    )


def draws_to_tell_apart(reference: float, wrong: float, *, level: float = 1e-6, power: float | None = None) -> int:
    """A number of draws at which :func:`binomial_fit` against ``reference`` rejects a true ``wrong`` with ``power``.

    Found by bisection on the exact power. (The exact power has small teeth: one draw more may be a hair weaker.)
    """
    p, q = checks.probability("reference", reference), checks.probability("wrong", wrong)
    if p == q:
        raise ValueError(f"reference and wrong must differ, got {reference!r} twice")
    level, power = error_rates(level, power)

    def enough(draws: int) -> bool:
        low, high = rejection_region(draws, p, level)
        return (upper_tail(high, draws, q) if q > p else lower_tail(low, draws, q)) >= power

    return smallest_count(enough)


def smallest_count(enough: Callable[[int], bool], *, limit: int = 2**50) -> int:
    """The smallest n >= 1 with ``enough(n)``, for a condition that (all but) stays true once it is."""
    plenty = 1
    while not enough(plenty):
        plenty *= 2
        if plenty > limit:
            raise ValueError(f"no number of draws up to {limit:,} is enough: the two are too close to tell apart")
    return first_count(enough, plenty, after=plenty // 2)


def first_count(condition: Callable[[int], bool], last: int, *, after: int = -1) -> int:
    """The smallest k in after+1 .. last at which a condition that stays true, and holds at ``last``, becomes true."""
    while last - after > 1:
        middle = (after + last) // 2
        after, last = (after, middle) if condition(middle) else (middle, last)
    return last
