"""Vectors of bounded length: what a clipped gradient is, without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpcourse import checks


def norms(vectors: ArrayLike) -> Any:
    """The l2 length of each row."""
    return np.linalg.norm(np.asarray(vectors, float), axis=-1)


def clipped(vectors: ArrayLike, bound: float) -> Any:
    """Each row g as g / max(1, ||g|| / bound): longer ones are shortened to ``bound``, the others stay as they are.

    The direction is kept. The sum of such rows changes by at most ``bound`` when one row is added or removed, see
    ``dpcourse.sensitivity.clipped_sum`` (Abadi et al. 2016, Algorithm 1).
    """
    rows = np.asarray(vectors, float)
    return rows / np.maximum(1, norms(rows) / checks.positive("bound", bound))[..., None]
