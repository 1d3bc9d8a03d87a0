"""From what the layers' rules found to every example's norm and weight, and whether it can be added up with the others.

One number for each example: vectors so short that a call takes longer than its arithmetic, and numpy's calls are short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from dpcourse.sgd.clipping.sums import HUGE, Found

TINY = torch.finfo(torch.float32).tiny
CANCELS = 300.0  # an example's terms, without their signs, in units of C: what rounding (6e-8) of them may cost
IN_A_ROW = 1e4  # the same times the number of additions in a row: rounded the same way, they cost 6e-4 C


def weigh(found: Sequence[Found], clip: float) -> tuple[Tensor, Tensor, Tensor]:
    """Norms over all layers together, weights min(1, C / norm), and which examples fit into one sum.

    All positions of all examples are added up at once. If those of one example are huge and cancel, rounding would
    erase the others; such an example, or one without a finite length, does not fit.
    """
    with np.errstate(all="ignore"):  # what overflows or is no number does not fit, and that is all there is to say
        norms = _over_all(np.hypot, [one.norms for one in found])
        if math.isfinite(clip):
            weights = clip / np.maximum(norms, clip)
            # A weight below the smallest normal number has lost its digits: too coarse to shorten anything to C. An
            # infinite norm has the weight 0, and one that is no number a weight that is none.
            fits = weights >= TINY
            lengths = [length for one in found for length in one.lengths]
            if lengths:
                fits &= _over_all(np.maximum, lengths) < HUGE
            added = [one.added * max(1 / CANCELS, one.rounded / IN_A_ROW) for one in found if one.added is not None]
            if added:
                fits &= weights * _over_all(np.maximum, added) <= clip
        else:
            weights, fits = np.ones_like(norms), ~np.isnan(norms)
    where = found[0].norms.device
    return torch.from_numpy(norms).to(where), torch.from_numpy(weights).to(where), torch.from_numpy(fits).to(where)


def _over_all(join: np.ufunc, vectors: Sequence[Tensor]) -> np.ndarray:
    return reduce(join, [vector.cpu().numpy() for vector in vectors])
