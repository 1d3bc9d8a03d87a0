"""The floating-point leak of the textbook Laplace mechanism (Mironov 2012): which floats can an answer be at all?

A computer draws one of 2^53 uniform numbers and takes its logarithm, so the noise takes some floats and skips their
neighbours. Added to another count, other floats are skipped: an answer that only one count can give is no longer
private, whatever epsilon promised. Nothing here needs many samples: one answer is enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpcourse import checks

_STEP = 2.0**-53  # between the uniform numbers of numpy's Generator
_MOST_TRIED = 100_000


def reachable(output: Any, count: float, scale: float = 1.0) -> Any:
    """Whether ``count + Generator.laplace(0, scale)`` can be exactly this float; elementwise for an array.

    numpy draws u = k / 2^53 and returns scale log(2u), or -scale log(2 - 2u) from u = 1/2 on. Every u whose noise comes
    near the output is tried, so the answer is exact (for a numpy built without fused multiply-add, as the usual ones
    are). The idea: Mironov 2012.
    """
    outputs = checks.finite_array("output", output)
    count, scale = checks.real("count", count), checks.positive("scale", scale)
    found = [_reachable(float(y), count, scale) for y in outputs.ravel()]
    return np.array(found, dtype=bool).reshape(outputs.shape)[()]


def _reachable(output: float, count: float, scale: float) -> bool:
    x = (output - count) / scale
    if not math.isfinite(x):
        raise ValueError(f"output = {output!r} lies too far from count = {count!r} for scale = {scale!r}")
    tail = 0.5 * math.exp(-abs(x))
    middle = round((tail if x < 0 else 1 - tail) / _STEP)
    # The floats around the output are this far apart, and so many u's share one of them: try those, and some more.
    width = math.ulp(max(abs(output), abs(count), abs(output - count))) / scale
    around = 12 + 2 * math.ceil(width * tail / _STEP)
    if around > _MOST_TRIED:
        raise ValueError(f"count = {count!r} is too large for scale = {scale!r}: {2 * around:,} uniforms share a float")
    for k in range(max(middle - around, 1), min(middle + around + 1, 2**53)):
        u = k * _STEP
        noise = -scale * math.log(2 - u - u) if u >= 0.5 else scale * math.log(u + u)
        if count + noise == output:
            return True
    return False
