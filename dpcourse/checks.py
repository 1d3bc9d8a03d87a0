"""Checks of arguments: every public function passes its arguments through here first.

A bad value raises ``ValueError`` (``TypeError`` for a thing that is no number at all) with a message that names the
argument, quotes what was passed, and states what is allowed, before anything is computed.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np


def real(name: str, value: Any, allowed: str = "a finite real number") -> float:
    """Return ``value`` as a float; refuse NaN, infinities, booleans and things that are not numbers."""
    if isinstance(value, bool | np.bool_ | str | bytes) or value is None:
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be {allowed}, got {_short(value)}") from error
    except OverflowError as error:
        raise ValueError(f"{name} must be {allowed}, got {_short(value)}") from error
    if not math.isfinite(number):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def positive(name: str, value: Any) -> float:
    """A finite number > 0: epsilon, a sensitivity, a noise scale."""
    number = real(name, value, "a finite number > 0")
    if number <= 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def non_negative(name: str, value: Any) -> float:
    """A finite number >= 0: the epsilon at which a curve is read."""
    number = real(name, value, "a finite number >= 0")
    if number < 0:
        raise ValueError(f"{name} must be a finite number >= 0, got {value!r}")
    return number


def small_delta(name: str, value: Any, *, zero: bool = True) -> float:
    """A delta: in [0, 1), or in (0, 1) where ``zero=False`` because delta = 0 has no answer."""
    allowed = "in [0, 1)" if zero else "in (0, 1)"
    number = real(name, value, f"a number {allowed}")
    if not (0 <= number < 1) or (number == 0 and not zero):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def fraction_of_one(name: str, value: Any) -> float:
    """A sampling rate q: in (0, 1]."""
    number = real(name, value, "a number in (0, 1]")
    if not 0 < number <= 1:
        raise ValueError(f"{name} must be in (0, 1], got {value!r}")
    return number


def probability(name: str, value: Any) -> float:
    """A probability in [0, 1], both ends included."""
    number = real(name, value, "a number in [0, 1]")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value!r}")
    return number


def whole_number(name: str, value: Any, *, at_least: int = 1) -> int:
    """An integer >= ``at_least``. Whole floats such as 1e6 are welcome, 2.5 is not."""
    allowed = f"a whole number >= {at_least}"
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be {allowed}, got {value!r}")
    try:
        number = operator.index(value)
    except TypeError:
        as_float = real(name, value, allowed)
        if as_float != int(as_float):
            raise ValueError(f"{name} must be {allowed}, got {value!r}") from None
        number = int(as_float)
    if number < at_least:
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def finite_array(name: str, value: Any) -> np.ndarray:
    """A float array (any shape, 0-d for a scalar) without NaN or infinities."""
    try:
        raw = np.asarray(value)
        if raw.dtype.kind in "USMmV" or value is None:  # numpy would read "2" as 2, and None as NaN
            raise TypeError(f"not numbers: {raw.dtype}")
        array = raw.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be a number or an array of numbers, got {_short(value)}") from error
    if not np.isfinite(array).all():
        bad = array[~np.isfinite(array)].flat[0]
        raise ValueError(f"{name} must be finite, got {bad} in {_short(value)}")
    return array


def same_shape(name: str, value: Any, other: np.ndarray) -> np.ndarray:
    """A finite array of the shape of ``other``: two neighbours answer the same query."""
    array = finite_array(name, value)
    if array.shape != other.shape:
        raise ValueError(f"{name} must have the shape {other.shape} of the data, got {array.shape} in {_short(value)}")
    return array


def integer_array(name: str, value: Any) -> np.ndarray:
    """An int64 array; floats are accepted only if every one of them is a whole number.

    An array that is one already is given back itself: read it, do not write to it.
    """
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":  # a million categories need no way through floats
        if value.size and max(-int(value.min()), int(value.max())) >= 2**53:
            raise ValueError(f"{name} must lie within +-2**53, got {_short(value)}")
        return value.astype(np.int64, copy=False)
    array = finite_array(name, value)
    if array.size and not (array == np.round(array)).all():
        bad = array[array != np.round(array)].flat[0]
        raise ValueError(f"{name} must consist of whole numbers, got {bad} in {_short(value)}")
    if array.size and np.abs(array).max() >= 2.0**53:
        raise ValueError(f"{name} must lie within +-2**53, got {_short(value)}")
    return array.astype(np.int64)


def categories(name: str, value: Any, k: int) -> np.ndarray:
    """An :func:`integer_array` of categories 0..k-1."""
    array = integer_array(name, value)
    if array.size and (array.min() < 0 or array.max() >= k):
        raise ValueError(f"{name} must be one of the categories 0..{k - 1}, got {_short(value)}")
    return array


def probability_vector(name: str, value: Any, *, tolerance: float = 1e-9) -> np.ndarray:
    """A non-empty vector of probabilities that sums to one (to ``tolerance``)."""
    array = finite_array(name, value)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a non-empty vector of probabilities, got {_short(value)}")
    if (array < 0).any() or (array > 1).any():
        raise ValueError(f"{name} must lie in [0, 1], got {array[(array < 0) | (array > 1)][0]} in {_short(value)}")
    if abs(array.sum() - 1) > tolerance:
        raise ValueError(f"{name} must sum to 1, got a sum of {float(array.sum())!r} from {_short(value)}")
    return array


def interval(low: Any, high: Any) -> tuple[float, float]:
    """The two ends of an interval that is not empty: low < high."""
    bottom, top = real("low", low), real("high", high)
    if bottom >= top:
        raise ValueError(f"low must be below high, got low = {low!r} and high = {high!r}")
    return bottom, top


def one_of(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of a few words."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


def _short(value: Any, limit: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "..."
