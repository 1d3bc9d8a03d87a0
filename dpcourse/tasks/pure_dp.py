"""Homework 1: pure differential privacy."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcourse.tasks.laws import Noise, noise_of
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import Misconception, Task
from dpcourse.tasks.values import values_of


def _loss_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Outputs on both sides of both counts and between them; b never 1."""
    return [
        {"y": float(y), "count": float(count), "neighbour": float(count + side), "b": float(b)}
        for y, count, side, b in zip(
            (47 + rng.random(), 50.5, 55 + rng.random(), 50.1 + 0.8 * rng.random()),
            (50, 50, 50, 50),
            (1, 1, -1, 1),
            rng.uniform(1.5, 4, 4),
            strict=True,
        )
    ]


def _likelihood_ratio(y: float, count: float, neighbour: float, b: float) -> float:
    return math.exp((abs(y - neighbour) - abs(y - count)) / b)


likelihood_ratio = Task(
    name="likelihood_ratio",
    points=1,
    see="lecture 1, Two worlds",
    probes=_loss_probes,
    judge=values_of(_likelihood_ratio),
    misconceptions=(
        Misconception(
            "upside down", lambda y, count, neighbour, b: 1 / _likelihood_ratio(y, count, neighbour, b),
            "That is the ratio of the neighbour's density to the data's: numerator and denominator are swapped.",
        ),
        Misconception(
            "multiplied by b", lambda y, count, neighbour, b: math.exp((abs(y - neighbour) - abs(y - count)) * b),
            "The exponent is the distance divided by b, not times b.",
        ),
        Misconception(
            "logarithm forgotten", lambda y, count, neighbour, b: (abs(y - neighbour) - abs(y - count)) / b,
            "That is the privacy loss, the logarithm of the ratio.",
        ),
        Misconception(
            "the bound", lambda y, count, neighbour, b: math.exp(abs(count - neighbour) / b),
            "That is the largest value which the ratio can take, not its value at this y.",
        ),
    ),
)  # fmt: skip


def _count_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {"count": int(rng.integers(20, 500)), "epsilon": float(e)} for e in (rng.uniform(0.2, 0.5), rng.uniform(2, 3))
    ]


def _count_law(count: int, epsilon: float) -> Noise:
    return Noise.laplace(count, 1 / epsilon)


noisy_count = Task(
    name="noisy_count",
    points=2,
    see="lecture 1, The Laplace mechanism",
    probes=_count_probes,
    judge=noise_of(_count_law),
    misconceptions=(
        Misconception(
            "scale upside down", lambda count, epsilon, rng: count + rng.laplace(0, epsilon),
            "It looks like the scale is epsilon, not 1/epsilon: less privacy (a larger epsilon) must mean less noise.",
        ),
        Misconception(
            "no noise", lambda count, epsilon: float(count),
            "Without noise, whoever knows everybody else's answer reads the last one off.",
        ),
        Misconception(
            "Gaussian noise", lambda count, epsilon, rng: count + rng.normal(0, math.sqrt(2) / epsilon),
            "Gaussian noise of the same variance: its tails are too light, so the ratio has no bound.",
        ),
        Misconception(
            "one-sided", lambda count, epsilon, rng: count + rng.exponential(1 / epsilon),
            "The noise only ever adds: an answer below the count never comes, and betrays the neighbour.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (likelihood_ratio, noisy_count)
