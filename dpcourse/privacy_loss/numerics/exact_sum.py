"""Sums of discrete losses without a grid, where they have few enough values: exact to relative rounding.

Masses are positive and only multiplied and added, so each keeps its relative precision, however small it is. (A Fourier
transform has an absolute error instead.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcourse.privacy_loss.discrete import DiscreteLoss

_MOST_ON_PROGRESSION = 20_000  # values of a sum on a common grid: one convolution of half that length, squared
_MOST_PAIRS = 4_000_000  # pairs of values that one addition may form
_MOST_VALUES = 20_000


def exact_sum(parts: Sequence[tuple[DiscreteLoss, int]]) -> DiscreteLoss | None:
    """The sum as a discrete loss, or None if there are too many values."""
    total: DiscreteLoss | None = None
    for loss, times in parts:
        power = _on_progression(loss, times) or _by_squaring(loss, times)
        total = power if total is None or power is None else _add(total, power)
        if power is None or total is None:
            return None
    return total


def _on_progression(loss: DiscreteLoss, times: int) -> DiscreteLoss | None:
    """All values are offset + step * index: convolve the masses by index. Every two-valued loss is of this kind."""
    if loss.losses.size < 2:
        return None
    gaps = np.diff(loss.losses)
    index = np.append(0.0, np.cumsum(gaps)) / gaps.min()
    whole = np.round(index)
    last = int(whole[-1])
    if times * last > _MOST_ON_PROGRESSION or (np.abs(index - whole) > 1e-13 * np.maximum(1, index)).any():
        return None
    masses = np.zeros(last + 1)
    masses[whole.astype(int)] = loss.masses
    power = _convolution_power(masses, times)
    step = (loss.losses[-1] - loss.losses[0]) / last
    values = times * loss.losses[0] + step * np.arange(power.size)
    keep = power > 0
    return _with_leftovers(values[keep], power[keep], loss, times)


def _convolution_power(masses: np.ndarray, times: int) -> np.ndarray:
    result, square = np.ones(1), masses
    while times:
        if times & 1:
            result = np.convolve(result, square)
        times >>= 1
        if times:
            square = np.convolve(square, square)
    return result


def _by_squaring(loss: DiscreteLoss, times: int) -> DiscreteLoss | None:
    result: DiscreteLoss | None = None
    square: DiscreteLoss | None = loss
    while times:
        if square is None:
            return None
        if times & 1:
            result = square if result is None else _add(result, square)
            if result is None:
                return None
        times >>= 1
        square = _add(square, square) if times else square
    return result


def _add(one: DiscreteLoss, other: DiscreteLoss) -> DiscreteLoss | None:
    if one.losses.size * other.losses.size > _MOST_PAIRS:
        return None
    losses = np.add.outer(one.losses, other.losses).ravel()
    masses = np.multiply.outer(one.masses, other.masses).ravel()
    only_p = one.only_p + other.only_p - one.only_p * other.only_p
    only_q = one.only_q + other.only_q - one.only_q * other.only_q
    total = DiscreteLoss._merged(losses, masses, only_p, only_q)
    return total if total.losses.size <= _MOST_VALUES else None


def _with_leftovers(losses: np.ndarray, masses: np.ndarray, loss: DiscreteLoss, times: int) -> DiscreteLoss:
    only_p, only_q = (-np.expm1(times * np.log1p(-only)) if only else 0.0 for only in (loss.only_p, loss.only_q))
    return DiscreteLoss(losses, masses, float(only_p), float(only_q))
