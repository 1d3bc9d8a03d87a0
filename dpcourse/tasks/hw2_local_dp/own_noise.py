"""Homework 2: a student's own number, between 0 and 15, with Laplace noise of the student's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import LocalLaplace
from dpcourse.tasks.declare import laplace_task
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import edges, uniform
from dpcourse.tasks.respondent import Probe

LECTURES = 15  # nobody can skip more
DRAWS = 30_000  # of the last look: enough to tell 16/epsilon from 15/epsilon with probability 1 - 1e-6
NARROW = (20, 30)  # an epsilon whose noise, of scale 0.5 to 0.75, shows with 300 draws if the number is moved by 1


def _skipped_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One who claims far more lectures than there are, one who mistypes a number below 0, and two inside the range.

    The noise of the first three is narrow: few draws see whether the number is brought to the end, and not next to it.
    """
    return [
        {"skipped": float(rng.integers(25, 40)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": -float(rng.integers(10, 25)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": float(rng.integers(9, 13)), "epsilon": float(rng.uniform(*NARROW))},
        {"skipped": float(rng.integers(3, 7)), "epsilon": float(rng.uniform(0.3, 0.7))},
    ]


def _own(p: Any) -> float:
    return float(min(max(p.skipped, 0), LECTURES))


def _between(low: float, high: float) -> Any:
    return lambda p: min(max(p.skipped, low), high)


ENDS = "The ends are off by one: of 15 lectures one can skip none, and all 15. So the range begins at 0 and ends at 15."
FROM_THE_OWN = (
    "The spread of your report depends on the secret. The scale must come from what is possible, 15, not from what is "
    "true."
)

local_laplace = laplace_task(
    "local_laplace",
    see="lecture 2, section 3 (A database of one person)",
    probes=edges(
        _skipped_probes, {"skipped": 0.0}, {"skipped": 15.0}, {"skipped": 1.0}, {"skipped": 14.0}, {"skipped": 4e6},
        {"skipped": -4e6}, {"skipped": 7.0, "epsilon": uniform(0.05, 0.1)},
    ),
    law=lambda p: (_own(p), LocalLaplace(epsilon=p.epsilon, low=0, high=LECTURES).scale),
    draws=DRAWS,
    mistakes=[
        mistake(
            "sensitivity 1",
            "That is the scale for a count, where one person changes the answer by 1. Here the neighbour is any other "
            "student, and the number may change by 15.",
            scale=lambda p: 1 / p.epsilon,
        ),
        mistake(
            "scale upside down",
            "It looks like 15 * epsilon: a larger epsilon, less privacy, must mean less noise. The scale is "
            "15/epsilon.",
            scale=lambda p: LECTURES * p.epsilon,
        ),
        mistake(
            "half of the range",
            "It looks like 7.5/epsilon. From one end to the other it is 15: the neighbour may be at the other end.",
            scale=lambda p: LECTURES / 2 / p.epsilon,
        ),
        mistake(
            "value not clipped",
            "Noise for a range of 15 hides nobody who is further away: bring the number into 0..15 before the noise.",
            center=lambda p: p.skipped,
        ),
        mistake(
            "no lower end",
            "Numbers above 15 are brought in, those below 0 are not: noise for a range of 15 does not hide them.",
            center=lambda p: min(p.skipped, LECTURES),
        ),
        mistake(
            "no upper end",
            "Numbers below 0 are brought in, those above 15 are not: noise for a range of 15 does not hide them.",
            center=lambda p: max(p.skipped, 0),
        ),
        mistake(
            "sign dropped",
            "A number below 0 becomes 0, the nearest that is possible; you take its absolute value.",
            center=lambda p: min(abs(p.skipped), LECTURES),
        ),
        mistake(
            "sixteen values",
            "It looks like 16/epsilon. 0..15 are 16 values, but from one end to the other it is 15: the sensitivity is "
            "the largest difference, not the number of values.",
            scale=lambda p: (LECTURES + 1) / p.epsilon, hides=True,
        ),
        *(
            mistake(f"ends off by one{where}", ENDS, center=_between(low, high))
            for where, low, high in (
                ("", 0, 14), (" below", 1, 15), (" above", 0, 16), (" at both", 1, 14), (" outwards", -1, 16)
            )
        ),
        mistake(
            "report clipped",
            "Clipping the report is post-processing, so it is as private; but the noise no longer averages out, and "
            "the mean of the class is pulled towards the middle. Clip the number, then add noise.",
            draw=lambda p, rng: min(max(_own(p) + rng.laplace(0, LECTURES / p.epsilon), 0), LECTURES), hides=True,
        ),
        mistake(
            "only the report clipped",
            "You clip the report and not the number. A number outside of 0..15 is then not hidden: clip the number, "
            "then add noise.",
            draw=lambda p, rng: min(max(p.skipped + rng.laplace(0, LECTURES / p.epsilon), 0), LECTURES), hides=False,
        ),
        mistake(
            "scale from the own value", f"{FROM_THE_OWN} Somebody who skipped nothing reports exactly 0.",
            scale=lambda p: _own(p) / p.epsilon, hides=False,
        ),
        mistake(
            "distance to the further end",
            f"{FROM_THE_OWN} max(s, 15 - s) is how far another student can be from this one, and tells it.",
            scale=lambda p: max(_own(p), LECTURES - _own(p)) / p.epsilon, hides=False,
        ),
        mistake(
            "Gaussian noise",
            "Gaussian noise of the same variance: its tails are too light, so the ratio has no bound.",
            noise=lambda rng, size: math.sqrt(2) * rng.standard_normal(size), hides=False,
        ),
    ],
)  # fmt: skip
