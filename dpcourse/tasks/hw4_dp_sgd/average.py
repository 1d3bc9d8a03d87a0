"""Homework 4, where the noise goes: the noisy average of a lot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.sensitivity.rows import clipped as clipped_rows
from dpcourse.sensitivity.rows import norms
from dpcourse.tasks.answers import VECTOR
from dpcourse.tasks.declare import gaussian_task
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe

SKIPPED = "nothing for an empty lot"
DRAWS = 2_500  # of the last look at five numbers: a scale that is 10% off is seen with probability 1 - 1e-6


def _average_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A lot smaller than expected, a larger one whose rows are all much shorter than C, one of a single row, where less
    than one is expected, and an empty one; C never 1.

    C, sigma C, their roots and squares and that of the lot's size all differ, so that no two mistakes look alike.
    """
    probes: list[Probe] = []
    for size, expected in (
        (int(rng.integers(9, 13)), 20.0), (30, 20.0), (1, float(rng.uniform(0.4, 0.7))), (0, float(rng.integers(4, 9))),
    ):  # fmt: skip
        clip = float(rng.uniform(1.7, 3) if size in (1, 30) else rng.uniform(0.4, 0.5))
        rows = clipped_rows(rng.normal(0.3, 1, size=(size, 5)), 0.25 * clip if size == 30 else clip)
        if size == 30:
            rows[:, 3] = 0.0  # a coordinate that nobody moves needs noise, too
        if size == 1:
            rows[:, 0] += 3 * clip
            rows *= 0.95 * clip / norms(rows)[:, None]
        sigma = float(rng.uniform(0.5, 0.7) if size == 1 else rng.uniform(1.1, 1.5))
        probes.append({"clipped": rows, "clip": clip, "sigma": sigma, "expected": expected})
    return probes


def _center(p: Any) -> np.ndarray:
    return np.asarray(p.clipped.sum(axis=0) * (1 / p.expected))


def _scale(p: Any) -> float:
    return float(p.sigma * p.clip / p.expected)


def _longest(p: Any) -> float:
    return float(norms(p.clipped).max()) if len(p.clipped) else p.clip


def _drawn(p: Any) -> float:
    """What an answer that is divided by the size of the drawn lot is, over the right one."""
    return float(p.expected / max(len(p.clipped), 1))


noisy_average = gaussian_task(
    "noisy_average",
    see="lecture 4, The algorithm, line by line",
    probes=_average_probes,
    law=lambda p: (_center(p), _scale(p)),
    form=VECTOR,
    draws=DRAWS,
    mistakes=[
        mistake(
            "C forgotten",
            "Your noise is sigma, not sigma C. One example moves the sum by up to C, so the noise must grow with C.",
            scale=lambda p: p.sigma / p.expected, hides=False,
        ),
        mistake(
            "noise per example",
            "It looks like noise for every example, as on the slide. The sum then has sqrt(|L|) times too much of it, "
            "and an empty lot has none at all, which tells everybody that it was empty. Add noise once, to the sum.",
            scale=lambda p: _scale(p) * math.sqrt(len(p.clipped)), hides=False,
        ),
        mistake(
            "longest row",
            "Your noise grows with the longest row of this lot. It must hide a row of length C that is not there, too; "
            "and a scale that depends on the data tells about it.",
            scale=lambda p: p.sigma * _longest(p) / p.expected, hides=False,
        ),
        mistake(
            "divided by the drawn lot",
            "You divide by the size of the lot that was drawn. That size is private: it changes by one with Ada. "
            "Divide by the expected size, which everybody knows.",
            center=lambda p: _center(p) * _drawn(p), scale=lambda p: _scale(p) * _drawn(p), hides=False,
        ),
        mistake(
            "average of the drawn lot",
            "You take the average over the lot that was drawn, and add noise for the expected size. The size that was "
            "drawn is private. Divide the sum by the expected size, which everybody knows.",
            center=lambda p: _center(p) * _drawn(p), hides=False,
        ),
        mistake(
            "noise after dividing",
            "The noise sigma C belongs onto the sum, before dividing. On the average it is as many times too much as "
            "you expect people.",
            scale=lambda p: p.sigma * p.clip,
        ),
        mistake(
            "not divided",
            "That is the noisy sum. Divide it by the expected size.",
            center=lambda p: p.clipped.sum(axis=0), scale=lambda p: p.sigma * p.clip,
        ),
        mistake(
            "variance for deviation",
            "rng.normal takes the standard deviation, sigma C. You gave it the variance.",
            scale=lambda p: (p.sigma * p.clip) ** 2 / p.expected, hides=False,
        ),
        mistake(
            "shared noise",
            "One number is added to all coordinates. Draw as many as there are columns: shared noise cancels.",
            shared=True, hides=False,
        ),
        mistake(
            SKIPPED,
            "An empty lot must give noise like any other. Silence says: nobody was there.",
            draw=lambda p, rng: _center(p) + (_scale(p) * rng.normal(size=5) if len(p.clipped) else 0),
        ),
        mistake("no noise", "Clipping bounds what one example can do; only noise hides it.", _center),
    ],
)  # fmt: skip
