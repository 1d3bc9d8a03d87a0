"""Is the noise as wide as it should be? One well-chosen event answers with fewer draws than any whole-curve test.

The event is {|output - center| > t}. Under the reference its probability is outside(t), under noise that is s times as
wide outside(t / s). The t at which the two are easiest to tell apart depends on the reference alone, not on the
samples, so the count of the event is binomial and the test exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.audit.binomial import binomial_fit, draws_to_tell_apart, lower_tail, smallest_count, upper_tail
from dpcourse.audit.distribution_fit import ks_critical
from dpcourse.audit.fit_result import Cdf, Fit, cdf_values, degenerate, error_rates, scalar_samples

_WIDEST = 1e6  # scale factors are searched up to here


def scale_fit(
    samples: Any,
    cdf: Cdf,
    *,
    center: float = 0.0,
    error: float = 0.1,
    level: float = 1e-6,
    power: float | None = None,
) -> Fit:
    """Exact binomial test of the noise's scale against the reference ``cdf`` (of the whole output, around ``center``).

    The event is the one that tells a relative scale error of ``error`` best. ``limits`` are the scale factors (true
    scale / reference scale) nearest to 1 that are caught with probability ``power``, computed exactly for noise of
    the reference's shape. Noise of another shape is a matter for :func:`~dpcourse.audit.ks_fit`.
    """
    drawn = scalar_samples(samples)
    center = checks.real("center", center)
    level, power = error_rates(level, power)
    outside = _outside(cdf, center)
    t = best_threshold(outside, 1 + checks.positive("error", error))
    hits = int(np.count_nonzero(np.abs(drawn - center) > t))
    binomial = binomial_fit(hits, drawn.size, float(outside(t)), level=level, power=power)
    assert binomial.limits is not None
    below, above = binomial.limits
    narrow = None if below is None else _factor(lambda s: outside(t / s) <= below, 1 / _WIDEST)
    wide = None if above is None else _factor(lambda s: outside(t / s) >= above, _WIDEST)
    note = degenerate(drawn, cdf, level)
    return replace(
        binomial,
        name=f"scale by the event |output - {center:g}| > {t:.6g}",
        p_value=0.0 if note else binomial.p_value,
        smallest_error=max(1.0 if narrow is None else 1 - narrow, np.inf if wide is None else wide - 1),
        unit="scale factor",
        limits=(narrow, wide),
        note=note or binomial.note,
    )


def draws_needed_for_scale_error(
    factor: float,
    cdf: Cdf,
    *,
    center: float = 0.0,
    level: float = 1e-6,
    power: float | None = None,
    test: str = "binomial",
) -> int:
    """How many draws does it take to catch noise that is ``factor`` times as wide as ``cdf`` says?

    ``test="binomial"``: :func:`~dpcourse.audit.scale_fit` with its best event for this factor, exact.
    ``test="ks"``: :func:`~dpcourse.audit.ks_fit`. Enough draws that the deviation is seen in one of the two tails:
    their counts are negatively associated, so both are missed with at most the product of the two probabilities
    [Joag-Dev and Proschan 1983] where both tails grow or both shrink, as they do around the ``center`` of the noise.
    """
    factor = checks.positive("factor", factor)
    if factor == 1:
        raise ValueError(f"factor must differ from 1, got {factor!r}")
    center = checks.real("center", center)
    level, power = error_rates(level, power)
    outside = _outside(cdf, center)
    if checks.one_of("test", test, ["binomial", "ks"]) == "binomial":
        t = best_threshold(outside, factor)
        return draws_to_tell_apart(float(outside(t)), float(outside(t / factor)), level=level, power=power)
    grid = _thresholds(outside)
    tails = []
    for tail in (_left(cdf, center), _right(cdf, center)):
        right, wrong = tail(grid), tail(grid / factor)
        i = int(np.argmax(np.abs(wrong - right)))
        tails.append((float(right[i]), float(wrong[i])))

    def enough(draws: int) -> bool:
        critical, missed = ks_critical(draws, level), 1.0
        for right, wrong in tails:
            if wrong > right:
                missed *= lower_tail(int(np.ceil(draws * (right + critical))) - 1, draws, wrong)
            else:
                missed *= upper_tail(int(np.floor(draws * (right - critical))) + 1, draws, wrong)
        return missed <= 1 - power

    return smallest_count(enough)


def best_threshold(outside: Callable[[Any], Any], factor: float) -> float:
    """The t whose event {|output - center| > t} needs the fewest draws to see a scale that is off by ``factor``.

    With equal error rates the number of draws is proportional to ((sd_right + sd_wrong) / (p_wrong - p_right))^2.
    """
    grid = _thresholds(outside)
    right, wrong = outside(grid), outside(grid / factor)
    spread = np.sqrt(right * (1 - right)) + np.sqrt(wrong * (1 - wrong))
    visible = np.where(spread > 0, np.abs(wrong - right) / np.where(spread > 0, spread, 1.0), 0.0)
    if not visible.max() > 0:
        raise ValueError(f"cdf must spread around the center, got one for which a factor {factor:g} changes nothing")
    return float(grid[int(np.argmax(visible))])


def _left(cdf: Cdf, center: float) -> Callable[[Any], Any]:
    # Strictly below center - t: for a discrete reference the step at that point is not part of the event.
    return lambda t: cdf_values(cdf, np.nextafter(center - np.asarray(t, dtype=float), -np.inf))


def _right(cdf: Cdf, center: float) -> Callable[[Any], Any]:
    return lambda t: 1 - cdf_values(cdf, center + np.asarray(t, dtype=float))


def _outside(cdf: Cdf, center: float) -> Callable[[Any], Any]:
    left, right = _left(cdf, center), _right(cdf, center)
    return lambda t: np.clip(left(t) + right(t), 0.0, 1.0)


def _thresholds(outside: Callable[[Any], Any], size: int = 2000) -> np.ndarray:
    """Distances from where nearly all of the mass is outside to where nearly none is, geometrically spaced."""
    powers = 2.0 ** np.arange(-200, 201)
    mass = outside(powers)
    wide = powers[mass <= 1e-4]
    narrow = powers[mass >= 1 - 1e-4]
    high = wide[0] if wide.size else powers[-1]
    low = narrow[-1] if narrow.size else high * 2.0**-20
    return np.geomspace(low, high, size)


def _factor(caught: Callable[[np.ndarray], np.ndarray], farthest: float) -> float | None:
    """The factor nearest to 1 (on the way to ``farthest``) at which ``caught`` holds, by sections in the logarithm."""
    near, far = 0.0, float(np.log(farthest))
    for _ in range(7):  # 7 rounds of 100 sections: 14 decimals
        grid = np.linspace(near, far, 101)
        hit = np.flatnonzero(caught(np.exp(grid)))
        if hit.size == 0:
            return None
        near, far = float(grid[max(hit[0] - 1, 0)]), float(grid[hit[0]])
    return float(np.exp(far))
