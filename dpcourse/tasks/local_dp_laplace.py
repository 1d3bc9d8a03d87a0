"""Homework 2: a student's own number, between 0 and 15, with Laplace noise of the student's own."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcourse.mechanisms import LocalLaplace
from dpcourse.tasks.laws import Noise, noise_of
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import Interview, Misconception, Task
from dpcourse.tasks.values import described, shown

LECTURES = 15  # nobody can skip more
DRAWS = 28_000  # of the last look: enough to tell 16/epsilon from 15/epsilon with probability 1 - 1e-6


def _skipped_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One who claims far more lectures than there are, one who mistypes a number below 0, and one inside the range.

    Those outside are two scales of the noise away from the end, and more: few draws see whether they were brought in.
    """
    return [
        {"skipped": float(rng.integers(25, 40)), "epsilon": float(rng.uniform(3, 5))},
        {"skipped": -float(rng.integers(10, 25)), "epsilon": float(rng.uniform(3, 5))},
        {"skipped": float(rng.integers(3, 8)), "epsilon": float(rng.uniform(0.3, 0.7))},
    ]


def _skipped_law(skipped: float, epsilon: float) -> Noise:
    right = LocalLaplace(epsilon=epsilon, low=0, high=LECTURES)
    return Noise.laplace(min(max(skipped, 0), LECTURES), right.scale)


def _judge_local_laplace(talk: Interview) -> None:
    """Reports cut to 0..15 are a mistake of their own: private, but no longer right on average."""
    spreads = []
    for probe in talk.probes:
        reports = talk.draws(probe, talk.few)
        spreads.append(float(np.ptp(reports)))
        ends = int(np.count_nonzero((reports == 0) | (reports == LECTURES)))
        if 0 < ends < talk.few and reports.min() >= 0 and reports.max() <= LECTURES:
            talk.fail(
                f"I called you {talk.few} times with {described(probe)}: {ends} of your reports are exactly 0 or 15.",
                name="report clipped",
            )
        if probe["skipped"] < 0 < spreads[0] and not spreads[-1]:
            talk.fail(
                f"I called you {talk.few} times with {described(probe)}: every report was {shown(reports[0])}.",
                name="scale from the own value",
            )
    noise_of(_skipped_law, draws=DRAWS)(talk)


local_laplace = Task(
    name="local_laplace",
    points=3,
    see="lecture 2, section 3 (A database of one person)",
    probes=_skipped_probes,
    judge=_judge_local_laplace,
    misconceptions=(
        Misconception(
            "sensitivity 1",
            lambda skipped, epsilon, rng: min(max(skipped, 0), LECTURES) + rng.laplace(0, 1 / epsilon),
            "That is the scale for a count, where one person changes the answer by 1. Here the neighbour is any other "
            "student, and the number may change by 15.",
        ),
        Misconception(
            "scale upside down",
            lambda skipped, epsilon, rng: min(max(skipped, 0), LECTURES) + rng.laplace(0, LECTURES * epsilon),
            "It looks like 15 * epsilon: a larger epsilon, less privacy, must mean less noise. The scale is "
            "15/epsilon.",
        ),
        Misconception(
            "value not clipped", lambda skipped, epsilon, rng: skipped + rng.laplace(0, LECTURES / epsilon),
            "Noise for a range of 15 hides nobody who is further away: bring the number into 0..15 before the noise.",
        ),
        Misconception(
            "no lower end", lambda skipped, epsilon, rng: min(skipped, LECTURES) + rng.laplace(0, LECTURES / epsilon),
            "Numbers above 15 are brought in, those below 0 are not: noise for a range of 15 does not hide them.",
        ),
        Misconception(
            "no upper end", lambda skipped, epsilon, rng: max(skipped, 0) + rng.laplace(0, LECTURES / epsilon),
            "Numbers below 0 are brought in, those above 15 are not: noise for a range of 15 does not hide them.",
        ),
        Misconception(
            "sign dropped",
            lambda skipped, epsilon, rng: min(abs(skipped), LECTURES) + rng.laplace(0, LECTURES / epsilon),
            "A number below 0 becomes 0, the nearest that is possible; you take its absolute value.",
        ),
        Misconception(
            "sixteen values",
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.laplace(0, (LECTURES + 1) / epsilon)
            ),
            "Is it 16/epsilon? 0..15 are 16 values, but from one end to the other it is 15: the sensitivity is the "
            "largest difference, not the number of values.",
        ),
        Misconception(
            "report clipped",
            lambda skipped, epsilon, rng: min(max(skipped + rng.laplace(0, LECTURES / epsilon), 0), LECTURES),
            "Clipping the report is post-processing, so it is as private; but the noise no longer averages out, and "
            "the mean of the class is pulled towards the middle. Clip the number, then add noise.",
        ),
        Misconception(
            "scale from the own value",
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.laplace(0, min(max(skipped, 0), LECTURES) / epsilon)
            ),
            "The spread of your report depends on the secret: somebody who skipped nothing reports exactly 0. The "
            "scale must come from what is possible, 15, not from what is true.",
        ),
        Misconception(
            "Gaussian noise",
            lambda skipped, epsilon, rng: (
                min(max(skipped, 0), LECTURES) + rng.normal(0, math.sqrt(2) * LECTURES / epsilon)
            ),
            "Gaussian noise of the same variance: its tails are too light, so the ratio has no bound.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (local_laplace,)
