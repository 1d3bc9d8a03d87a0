"""Do these samples come from that distribution? Kolmogorov-Smirnov for numbers, chi-square for categories."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.audit.binomial import lower_tail, upper_tail
from dpcourse.audit.fit_result import (
    Cdf,
    Fit,
    cdf_values,
    degenerate,
    error_rates,
    refuse_powerless,
    scalar_samples,
)


def ks_fit(samples: Any, cdf: Cdf, *, level: float = 1e-6, power: float | None = None) -> Fit:
    """Kolmogorov-Smirnov: the largest distance D between the samples' cdf and the reference ``cdf``.

    The p-value uses the distribution of D for this very number of draws; it is exact for a continuous reference and an
    upper bound for one with steps (a discrete mechanism), so false alarms have probability at most ``level``.
    ``smallest_error`` is a distance of cdfs: if the true cdf is at least so far from ``cdf`` at some point, then the
    samples' cdf at that point, a binomial share, falls back below the critical D with probability at most 1 - power
    [Hoeffding 1963]. KS sees errors of location best; for a wrong scale use :func:`~dpcourse.audit.scale_fit`.
    """
    from scipy.stats import kstwo

    drawn = scalar_samples(samples)
    level, power = error_rates(level, power)
    n = drawn.size
    slack = math.sqrt(-math.log(1 - power) / (2 * n))
    smallest = ks_critical(n, level) + slack
    refuse_powerless("Kolmogorov-Smirnov", smallest, 1.0, n, level)
    note = degenerate(drawn, cdf, level)
    distance = math.nan if np.isnan(drawn).any() else ks_distance(drawn, cdf)
    return Fit(
        name="Kolmogorov-Smirnov",
        statistic=distance,
        p_value=0.0 if note else float(kstwo.sf(distance, n)),
        level=level,
        power=power,
        draws=n,
        smallest_error=smallest,
        unit="largest distance between the cdfs",
        note=note,
    )


@lru_cache(maxsize=1000)  # root finding on an exact distribution: milliseconds, and the same few values again and again
def ks_critical(draws: int, level: float) -> float:
    """The distance that a right sampler exceeds with probability ``level``."""
    from scipy.stats import kstwo

    return float(kstwo.isf(level, draws))


def ks_distance(samples: np.ndarray, cdf: Cdf) -> float:
    """sup over x of |samples' cdf - ``cdf``|, also where either of them jumps."""
    points = np.sort(samples)
    n = points.size
    at = cdf_values(cdf, points)
    # The limit from the left is taken one float below: the same value for a continuous reference, the foot of the
    # step for a discrete one, where comparing foot with top would raise a false alarm.
    before = cdf_values(cdf, np.nextafter(points, -np.inf))
    distinct = bool((points[1:] > points[:-1]).all())  # then nothing has to be searched for
    counts_at = np.arange(1, n + 1) if distinct else np.searchsorted(points, points, side="right")
    counts_before = np.arange(n) if distinct else np.searchsorted(points, points, side="left")
    return float(max(np.abs(counts_at / n - at).max(), np.abs(counts_before / n - before).max()))


def chi_square_fit(counts: Any, probabilities: Any, *, level: float = 1e-6, power: float | None = None) -> Fit:
    """Chi-square test of category ``counts`` against ``probabilities``, with a false-alarm probability that holds.

    Pearson's statistic follows the chi-square law only for large expected counts; at a level of 1e-6 even an expected
    count of 100 is not large. Instead the multinomial is taken apart into k - 1 binomials (cell 1 against the rest,
    cell 2 against what then remains, ...). Each gives an exact two-sided p-value, whatever came before it; turned into
    squared normal deviates they add up to a chi-square with k - 1 degrees of freedom, or to less [Lancaster 1949].
    So no cell need be merged, and for large counts the statistic is Pearson's.

    ``smallest_error`` is a total variation distance. It comes from the noncentral chi-square law and is therefore an
    approximation (good while no expected count is far below 10): w = sqrt(sum (q - p)^2 / p), Cohen's effect size, is
    at least twice the total variation distance, so whatever is that far away has an effect w that is caught.
    """
    from scipy.stats import chi2

    observed = checks.integer_array("counts", counts)
    p = checks.probability_vector("probabilities", probabilities)
    if observed.shape != p.shape:
        raise ValueError(f"counts must have one entry per probability ({p.size}), got shape {observed.shape}")
    if (observed < 0).any():
        raise ValueError(f"counts must be >= 0, got {observed[observed < 0][0]}")
    level, power = error_rates(level, power)
    draws = int(observed.sum())
    if draws == 0:
        raise ValueError("counts must not all be 0: nothing drawn is no evidence")
    possible = p > 0
    freedom = int(possible.sum()) - 1
    if freedom == 0 and possible.all():
        raise ValueError(f"probabilities must have at least two cells, got {probabilities!r}: one cell cannot fail")
    impossible = int(observed[~possible].sum())
    deviates = partition_deviates(observed[possible], p[possible])
    statistic = math.inf if impossible else float(deviates.sum())
    smallest = effect_detected(max(freedom, 1), level, power) / (2 * math.sqrt(draws))
    refuse_powerless("chi-square", smallest, 1.0, draws, level)
    return Fit(
        name="chi-square",
        statistic=statistic,
        p_value=0.0 if impossible else float(chi2.sf(statistic, freedom)) if freedom else 1.0,
        level=level,
        power=power,
        draws=draws,
        smallest_error=smallest,
        unit="total variation distance, approximately",
        note=f"{impossible:,} draws fell where the reference never does" if impossible else _one_cell(observed),
    )


def partition_deviates(counts: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Squared normal deviates of the successive binomials: cell j among the draws that no earlier cell took."""
    from scipy.stats import chi2

    remaining = np.cumsum(counts[::-1])[::-1]
    mass = np.cumsum(probabilities[::-1])[::-1]
    p_values = np.ones(max(counts.size - 1, 0))
    for j in range(p_values.size):
        k, n, share = int(counts[j]), int(remaining[j]), min(1.0, probabilities[j] / mass[j])
        p_values[j] = min(1.0, 2 * min(lower_tail(k, n, share), upper_tail(k, n, share)))
    return np.asarray(chi2.isf(p_values, 1))


def effect_detected(freedom: int, level: float, power: float) -> float:
    """sqrt(lambda): the noncentrality at which the chi-square test at ``level`` rejects with probability ``power``."""
    from scipy.optimize import brentq
    from scipy.special import chndtr
    from scipy.stats import chi2

    critical = float(chi2.isf(level, freedom))
    # From far below the critical value to far above it; the missed probability falls monotonically in between.
    farthest = math.sqrt(critical) + 40.0
    return float(brentq(lambda root: float(chndtr(critical, freedom, root**2)) - (1 - power), 0.0, farthest))


def _one_cell(counts: np.ndarray) -> str:
    hit = np.flatnonzero(counts)
    return f"all {counts[hit[0]]:,} draws fell into cell {hit[0]}" if hit.size == 1 else ""
