"""Homework 4, where the noise goes: the noisy average of a lot."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpcourse.tasks.answers import Answer
from dpcourse.tasks.interview import Failed, Interview
from dpcourse.tasks.judges.noise import noise_of
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.vectors import clipped as clipped_rows
from dpcourse.vectors import norms

SKIPPED = "nothing for an empty lot"


def _average_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A lot smaller than expected, a larger one whose rows are all much shorter than C, and an empty one; C never 1.

    C, sigma C, their roots and squares and that of the lot's size all differ, so that no two mistakes look alike.
    """
    probes: list[Probe] = []
    for size, expected in ((int(rng.integers(9, 13)), 20.0), (30, 20.0), (0, float(rng.integers(4, 9)))):
        clip = float(rng.uniform(1.7, 3) if size == 30 else rng.uniform(0.4, 0.5))
        rows = clipped_rows(rng.normal(0.3, 1, size=(size, 5)), 0.25 * clip if size == 30 else clip)
        probes.append({"clipped": rows, "clip": clip, "sigma": float(rng.uniform(0.9, 1.5)), "expected": expected})
    return probes


def _average_law(clipped: np.ndarray, clip: float, sigma: float, expected: float) -> Noise:
    return Noise(clipped.sum(axis=0) / expected, sigma * clip / expected, NORMAL)


def _average(
    scale: Callable[..., float], divisor: Callable[..., float] = lambda rows, expected: expected
) -> Callable[..., np.ndarray]:
    """A noisy average with another scale of the noise on the sum, scale(rows, clip, sigma), or another divisor."""

    def wrong(clipped: np.ndarray, clip: float, sigma: float, expected: float, rng: np.random.Generator) -> np.ndarray:
        total = clipped.sum(axis=0)
        noise = scale(len(clipped), clip, sigma) * rng.normal(size=total.shape)
        return np.asarray((total + noise) / divisor(len(clipped), expected))

    return wrong


def told_truly(judge: Callable[[Interview], None], instead: dict[str, str]) -> Callable[[Interview], None]:
    """More noise than needed at one probe is called private, but wasteful. Of a formula that is not private elsewhere
    that is false: these mistakes get the words ``instead``."""

    def careful(talk: Interview) -> None:
        try:
            judge(talk)
        except Failed as failed:
            if not failed.wasteful or failed.name not in instead:
                raise
            raise Failed(failed.text, failed.names, wasteful=False, note=instead[failed.name]) from None

    return careful


#: Too much noise here, and yet not private.
NO_C = "Here that is too much; for a larger C it is too little."
EMPTY = "Here that is too much; and for an empty lot there is none."


def _longest(clipped: np.ndarray, clip: float, sigma: float, expected: float, rng: np.random.Generator) -> np.ndarray:
    longest = float(norms(clipped).max()) if len(clipped) else clip
    return np.asarray((clipped.sum(axis=0) + sigma * longest * rng.normal(size=clipped.shape[1])) / expected)


def _right_scale(size: int, clip: float, sigma: float) -> float:
    return sigma * clip


noisy_average = Task(
    name="noisy_average",
    see="lecture 4, The algorithm, line by line",
    probes=_average_probes,
    judge=told_truly(
        noise_of(_average_law, draws=2_500),
        {
            "C forgotten": NO_C,
            "noise per example": EMPTY,
            "variance for deviation": "Here that is too much; for a smaller sigma C it is too little.",
        },
    ),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "C forgotten", _average(lambda size, clip, sigma: sigma),
            "Your noise is sigma, not sigma C. One example moves the sum by up to C, so the noise must grow with C.",
        ),
        Mistake(
            "noise per example", _average(lambda size, clip, sigma: sigma * clip * math.sqrt(size)),
            "It looks like noise for every example, as on the slide. The sum then has sqrt(|L|) times too much of it, "
            "and an empty lot has none at all, which tells everybody that it was empty. Add noise once, to the sum.",
        ),
        Mistake(
            "longest row", _longest,
            "Your noise grows with the longest row of this lot. It must hide a row of length C that is not there, too; "
            "and a scale that depends on the data tells about it.",
        ),
        Mistake(
            "divided by the drawn lot", _average(_right_scale, lambda size, expected: max(size, 1)),
            "You divide by the size of the lot that was drawn. That size is private: it changes by one with Ada. "
            "Divide by the expected size, which everybody knows.",
        ),
        Mistake(
            "noise after dividing",
            lambda clipped, clip, sigma, expected, rng: (
                clipped.sum(axis=0) / expected + sigma * clip * rng.normal(size=clipped.shape[1])
            ),
            "The noise sigma C belongs onto the sum, before dividing. On the average it is as many times too much as "
            "you expect people.",
        ),
        Mistake(
            "not divided", _average(_right_scale, lambda size, expected: 1.0),
            "That is the noisy sum. Divide it by the expected size.",
        ),
        Mistake(
            "variance for deviation", _average(lambda size, clip, sigma: (sigma * clip) ** 2),
            "rng.normal takes the standard deviation, sigma C. You gave it the variance.",
        ),
        Mistake(
            SKIPPED,
            lambda clipped, clip, sigma, expected, rng: (
                _average(_right_scale)(clipped, clip, sigma, expected, rng) if len(clipped) else np.zeros(5)
            ),
            "An empty lot must give noise like any other. Silence says: nobody was there.",
        ),
        Mistake(
            "no noise", lambda clipped, clip, sigma, expected: clipped.sum(axis=0) / expected,
            "Clipping bounds what one example can do; only noise hides it.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (noisy_average,)
