"""What a goodness-of-fit test says: not only pass or fail, but how often it errs and what it would have caught."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks

Cdf = Callable[[np.ndarray], Any]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """The outcome of one test of samples against a reference.

    ``level`` is the false-alarm probability: a right sampler fails with at most this probability.
    ``smallest_error`` (in ``unit``) is the smallest error that is caught with probability at least ``power``; where the
    two sides differ, ``limits`` holds the nearest caught value below and above the truth (None: nothing on that side).
    """

    name: str
    statistic: float
    p_value: float
    level: float
    power: float
    draws: int
    smallest_error: float
    unit: str
    limits: tuple[float | None, float | None] | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        """True if the samples are compatible with the reference. (A NaN p-value compares false: it never passes.)"""
        return self.p_value > self.level

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        because = f" ({self.note})" if self.note else ""
        return (
            f"{self.name}: {'passed' if self.passed else 'FAILED'} with p = {self.p_value:.3g} on {self.draws:,} draws"
            f"{because}; a right sampler fails with probability at most {self.level:g}, and {self._catch()} "
            f"is caught with probability at least {self.power:.10g}."
        )

    def _catch(self) -> str:
        if self.limits is None:
            return f"any error of {self.smallest_error:.4g} ({self.unit}) or more"
        below, above = self.limits
        sides = [f"<= {below:.6g}" if below is not None else "", f">= {above:.6g}" if above is not None else ""]
        return f"any {self.unit} {' or '.join(side for side in sides if side)}"


def error_rates(level: Any, power: Any) -> tuple[float, float]:
    """Check ``level`` and ``power``; the power defaults to 1 - level, as likely to catch as not to cry wolf."""
    level = checks.small_delta("level", level, zero=False)
    return level, 1 - level if power is None else checks.small_delta("power", power, zero=False)


def scalar_samples(samples: Any) -> np.ndarray:
    """The samples as a flat float array. NaN and infinities stay in: they are the sampler's fault and fail the test."""
    try:
        array = np.asarray(samples, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"samples must be an array of numbers, got {samples!r:.120}") from error
    if array.size == 0:
        raise ValueError("samples must not be empty: nothing drawn is no evidence, got 0 draws")
    if array.ndim != 1:
        raise ValueError(f"samples must be a vector of independent draws, got shape {array.shape}")
    return array


def degenerate(samples: np.ndarray, cdf: Cdf, level: float) -> str:
    """A sentence on what the reference does not produce but with probability ``level``, or ''.

    NaN, infinities, and one constant value (unless the reference really has so large an atom there).
    """
    bad = samples[~np.isfinite(samples)]
    if bad.size:
        return f"{bad.size:,} of {samples.size:,} samples are not finite, the first is {bad[0]}"
    if samples.size > 1 and (samples == samples[0]).all():
        below, at = cdf_values(cdf, np.array([np.nextafter(samples[0], -np.inf), samples[0]]))
        if (at - below) ** samples.size > level:
            return ""
        return f"all {samples.size:,} samples equal {samples[0]:g}: there is no noise at all"
    return ""


def cdf_values(cdf: Cdf, points: np.ndarray) -> np.ndarray:
    """``cdf(points)``, refused if it is no distribution function there."""
    if not callable(cdf):
        raise TypeError(f"cdf must be a function of an array of points, got {cdf!r}")
    values = np.asarray(cdf(points), dtype=float)
    if values.shape != points.shape:
        raise ValueError(f"cdf must return one value per point, got shape {values.shape} for {points.shape}")
    wrong = ~((values >= -1e-12) & (values <= 1 + 1e-12))
    if wrong.any():
        raise ValueError(f"cdf must lie in [0, 1], got {values[wrong][0]} at {points[wrong][0]}")
    return np.clip(values, 0.0, 1.0)


def refuse_powerless(name: str, smallest_error: float, largest_possible: float, draws: int, level: float) -> None:
    """A test that could not have failed must not pass: refuse, saying that more draws are needed."""
    if not smallest_error < largest_possible or math.isnan(smallest_error):
        raise ValueError(f"{name} with {draws} draws at level {level:g} catches no error at all: draw more samples")
