"""Homework 3: Gaussian noise for several sums at once, of which one person moves all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpcourse import sensitivity as query
from dpcourse.mechanisms import Gaussian
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.gaussian import Spread, vectors_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import spread
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task


def _vector_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first sum is small: whoever sets negative answers to 0 does so often. Not four sums, where l1 is twice l2."""
    return [
        {
            "sums": np.round(np.append(rng.uniform(5, 40), rng.uniform(200, 900, int(k) - 1)), 1),
            "cap": float(rng.uniform(5, 20)),
            "epsilon": float(rng.uniform(0.3, 0.9)),
            "delta": float(10 ** rng.uniform(-6, -4)),
        }
        for k in rng.permutation([5, 6, 7])[:2]
    ]


@lru_cache(maxsize=64)  # asked thousands of times with the same arguments
def _sigma(k: int, cap: float, epsilon: float, delta: float) -> float:
    moved = query.bounded_sum(0, cap, dimension=k, norm="l2")
    return Gaussian.classical(epsilon=epsilon, delta=delta, sensitivity=moved).sigma


def _vector_sigma(sums: Any, cap: float, epsilon: float, delta: float) -> float:
    return _sigma(len(sums), cap, epsilon, delta)


def _vector_law(sums: Any, cap: float, epsilon: float, delta: float) -> Spread:
    return Spread(np.asarray(sums), _vector_sigma(sums, cap, epsilon, delta))


def _judge_vectors(talk: Interview) -> None:
    """The law of the vectors; the picture shows the first coordinate."""
    try:
        vectors_of(_vector_law)(talk)
    finally:
        last = talk.recorded[-1] if talk.public and talk.recorded else None
        if last is not None and last.found.ndim == 2 and last.found.shape[1] > 0:
            right = _vector_law(**last.probe)
            talk.picture = spread(talk.task.name, last.found[:, 0], float(right.center[0]), right.sigma, ndtr)


def _gaussians(factor: Any) -> Any:
    """Independent Gaussian noise with ``factor(sums, cap, sigma)`` times the right sigma."""

    def release(sums: Any, cap: float, epsilon: float, delta: float, rng: np.random.Generator) -> Any:
        sigma = _vector_sigma(sums, cap, epsilon, delta)
        return sums + factor(sums, cap, sigma) * sigma * rng.standard_normal(len(sums))

    return release


gaussian_release = Task(
    name="gaussian_release",
    see="lecture 3, The Gaussian mechanism, and Many numbers at once",
    probes=_vector_probes,
    judge=_judge_vectors,
    answer=Answer(shape=(None,)),
    mistakes=(
        Mistake(
            "l1 sensitivity", _gaussians(lambda sums, cap, sigma: math.sqrt(len(sums))),
            "It looks like the l1 sensitivity, cap * k. Gaussian noise is measured as the crow flies: l2, cap * "
            "sqrt(k).",
        ),
        Mistake(
            "one coordinate only", _gaussians(lambda sums, cap, sigma: 1 / math.sqrt(len(sums))),
            "It looks like the sensitivity cap of a single sum. One person moves all k sums at once: cap * sqrt(k).",
        ),
        Mistake(
            "cap forgotten", _gaussians(lambda sums, cap, sigma: 1 / cap),
            "One person moves each sum by up to cap, not by 1.",
        ),
        Mistake(
            "variance as scale", _gaussians(lambda sums, cap, sigma: sigma),
            "It looks like sigma squared was given as the standard deviation: numpy's normal wants sigma.",
        ),
        Mistake(
            "budget split",
            lambda sums, cap, epsilon, delta, rng: sums
            + rng.normal(0, _sigma(1, cap, epsilon / len(sums), delta / len(sums)), len(sums)),
            "It looks like a budget split over the sums, epsilon/k and delta/k for each. One Gaussian release of "
            "all k, with the l2 sensitivity cap * sqrt(k), needs less noise for the same promise.",
        ),
        Mistake(
            "noise from the data",
            lambda sums, cap, epsilon, delta, rng: sums
            + rng.normal(0, _sigma(1, float(np.linalg.norm(sums)), epsilon, delta), len(sums)),
            "The width of your noise follows from the sums themselves. They are the secret: the sensitivity comes from "
            "cap, the most that one person can add, and is the same for all tables.", hides=False,
        ),
        Mistake(
            "noise from each sum",
            lambda sums, cap, epsilon, delta, rng: sums + rng.normal(0, _sigma(1, 1.0, epsilon, delta) * sums),
            "The width of your noise follows from the sums themselves. They are the secret: the sensitivity comes from "
            "cap, the most that one person can add, and is the same for all tables.", hides=False,
        ),
        Mistake(
            "Laplace noise",
            lambda sums, cap, epsilon, delta, rng: sums + rng.laplace(0, cap * len(sums) / epsilon, len(sums)),
            "It looks like Laplace noise of scale cap * k / epsilon: private as well, without any delta. Asked is the "
            "Gaussian mechanism.", hides=True,
        ),
        Mistake(
            "shared noise",
            lambda sums, cap, epsilon, delta, rng: sums + rng.normal(0, _vector_sigma(sums, cap, epsilon, delta)),
            "Draw as many numbers as there are sums (size=len(sums)).",
        ),
        Mistake(
            "no noise", lambda sums, cap, epsilon, delta: np.array(sums),
            "Without noise, whoever knows everybody else's numbers reads the last ones off.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (gaussian_release,)
