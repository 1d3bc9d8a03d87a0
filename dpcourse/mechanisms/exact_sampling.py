"""Exact sampling by comparing random bits with probabilities, as far as needed and no further.

A uniform number U in [0, 1) falls between two neighbouring values of a cumulative distribution; which two is decided by
its first few bits almost always. So 16 bits are drawn for every sample and looked up in a table; the few samples whose
16 bits straddle a boundary get 240 more, compared with the boundary as exact integers. No floating-point arithmetic
takes part in a decision, and the distribution drawn differs from the intended one by less than 2^-240 in total
variation.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import lru_cache

import numpy as np

from dpcourse.randomness import ByteSource

_BITS = 256  # of every boundary
_FIRST = 16  # bits that are looked up in the table
_CONTEXT = Context(prec=110)
_LARGEST_DIGIT = 4096
_STRADDLES = np.iinfo(np.int32).min


@dataclass(frozen=True, eq=False)
class ExactTable:
    """A distribution on first, first + 1, ...: ``boundaries[i]`` is 2^256 Pr[value <= first + i], rounded down."""

    first: int
    boundaries: tuple[int, ...]
    lookup: np.ndarray  # for each 16-bit prefix: the value, or _STRADDLES

    @classmethod
    def of(cls, first: int, probabilities: list[Decimal]) -> ExactTable:
        """From unnormalised probabilities in 110-digit arithmetic."""
        running = [probabilities[0]]
        for probability in probabilities[1:]:
            running.append(_CONTEXT.add(running[-1], probability))
        scale = _CONTEXT.divide(Decimal(2**_BITS), running[-1])
        boundaries = [int(_CONTEXT.multiply(each, scale)) for each in running]
        boundaries[-1] = 2**_BITS
        prefix = np.arange(2**_FIRST)
        starts = np.array([boundary >> (_BITS - _FIRST) for boundary in boundaries])
        lookup = np.searchsorted(starts, prefix, side="right").astype(np.int32) + first
        # A prefix that contains a boundary (and not merely starts at it) cannot be decided yet.
        inside = [b >> (_BITS - _FIRST) for b in boundaries if b & (2 ** (_BITS - _FIRST) - 1)]
        lookup[inside] = _STRADDLES
        return cls(first, tuple(boundaries), lookup)

    def sample(self, n: int, source: ByteSource) -> np.ndarray:
        """``n`` exact draws."""
        prefix = np.frombuffer(source.bytes(2 * n), dtype="<u2")
        values = self.lookup.take(prefix).astype(np.int64)
        more_bytes = (_BITS - _FIRST) // 8
        undecided = np.flatnonzero(values == _STRADDLES)
        rest = source.bytes(more_bytes * undecided.size)
        for j, i in enumerate(undecided):
            tail = int.from_bytes(rest[j * more_bytes : (j + 1) * more_bytes], "little")
            values[i] = self.first + bisect_right(self.boundaries, int(prefix[i]) << (_BITS - _FIRST) | tail)
        return values


@lru_cache(maxsize=64)
def _two_sided(rate: float) -> ExactTable:
    """Pr[k] proportional to e^(-rate |k|), cut where what remains cannot change a boundary's last bit."""
    decay = _decay(rate)
    reach = _reach(rate)
    side = _powers(decay, reach + 1)
    return ExactTable.of(-reach, side[:0:-1] + side)


@lru_cache(maxsize=64)
def _one_sided(rate: float, digits: int | None) -> ExactTable:
    """Pr[k] proportional to e^(-rate k) on 0..digits-1, or on all k >= 0."""
    length = digits if digits is not None else _reach(rate)
    return ExactTable.of(0, _powers(_decay(rate), length))


def _reach(rate: float) -> int:
    """Where e^(-rate k) has fallen far below the last of the bits that are compared."""
    return math.ceil((_BITS + 40) * math.log(2) / rate) + 1


def _decay(rate: float) -> Decimal:
    # copy_negate, because a unary minus would round to the 28 digits of the default context.
    return _CONTEXT.exp(Decimal(rate).copy_negate())


def _powers(base: Decimal, count: int) -> list[Decimal]:
    powers = [Decimal(1)]
    for _ in range(count - 1):
        powers.append(_CONTEXT.multiply(powers[-1], base))
    return powers


def sample_two_sided_geometric(rate: float, n: int, source: ByteSource) -> np.ndarray:
    """``n`` exact draws with Pr[k] proportional to e^(-rate |k|).

    For a small rate one table would be huge. There the magnitude is drawn digit by digit (the digits of a geometric
    number in any base are independent) with a sign, and "minus zero" is drawn again.
    """
    if _reach(rate) <= _LARGEST_DIGIT:
        return _two_sided(rate).sample(n, source)
    result = np.empty(0, dtype=np.int64)
    while result.size < n:
        missing = n - result.size
        magnitude = _geometric(rate, missing, source)
        negative = (np.frombuffer(source.bytes(missing), dtype=np.uint8) & 1).astype(bool)
        keep = (magnitude > 0) | ~negative
        result = np.append(result, np.where(negative, -magnitude, magnitude)[keep])
    return result


def _geometric(rate: float, n: int, source: ByteSource) -> np.ndarray:
    place, value = 1, np.zeros(n, dtype=np.int64)
    while _reach(rate * place) > _LARGEST_DIGIT:
        value += place * _one_sided(rate * place, _LARGEST_DIGIT).sample(n, source)
        place *= _LARGEST_DIGIT
    return value + place * _one_sided(rate * place, None).sample(n, source)
