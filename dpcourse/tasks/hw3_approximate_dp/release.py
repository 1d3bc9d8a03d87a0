"""Homework 3: Gaussian noise for several sums at once, of which one person moves all."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse import sensitivity as query
from dpcourse.mechanisms import Gaussian
from dpcourse.tasks.answers import VECTOR
from dpcourse.tasks.declare import gaussian_task
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe

FOLLOWS = (
    "The width of your noise follows from the sums themselves. They are the secret: the sensitivity comes from cap, "
    "the most that one person can add, and is the same for all tables."
)


def _vector_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first sum is small: whoever sets negative answers to 0 does so often. Not four sums, where l1 is twice l2.

    One table has small sums and a cap below 1, and a single sum is a table, too.
    """
    probes: list[Probe] = []
    for k, unit in zip((1, *rng.permutation([5, 6, 7])[:2]), (1.0, *rng.permutation([0.04, 1.0])), strict=True):
        sums = np.concatenate([[rng.uniform(5, 40)], rng.uniform(200, 900, max(int(k) - 2, 0)), [0.0]])[: int(k)]
        probes.append(
            {
                "sums": np.round(unit * sums, 1),
                "cap": float(unit * rng.uniform(5, 20)),
                "epsilon": float(rng.uniform(0.3, 0.9)),
                "delta": float(10 ** rng.uniform(-6, -4)),
            }
        )
    return probes


def _classical(p: Any, reach: float) -> float:
    return Gaussian.classical(epsilon=p.epsilon, delta=p.delta, sensitivity=reach).sigma


def _sigma(p: Any) -> float:
    return _classical(p, query.bounded_sum(0, p.cap, dimension=len(p.sums), norm="l2"))


gaussian_release = gaussian_task(
    "gaussian_release",
    see="lecture 3, The Gaussian mechanism, and Many numbers at once",
    probes=_vector_probes,
    law=lambda p: (p.sums, _sigma(p)),
    form=VECTOR,
    draws=2_500,
    mistakes=[
        mistake(
            "l1 sensitivity",
            "It looks like the l1 sensitivity, cap * k. Gaussian noise is measured as the crow flies: l2, "
            "cap * sqrt(k).",
            scale=lambda p: _sigma(p) * math.sqrt(len(p.sums)),
        ),
        mistake(
            "one coordinate only",
            "It looks like the sensitivity cap of a single sum. One person moves all k sums at once: cap * sqrt(k).",
            scale=lambda p: _sigma(p) / math.sqrt(len(p.sums)),
        ),
        mistake(
            "cap forgotten", "One person moves each sum by up to cap, not by 1.", scale=lambda p: _sigma(p) / p.cap
        ),
        mistake(
            "variance as scale",
            "It looks like sigma squared was given as the standard deviation: numpy's normal wants sigma.",
            scale=lambda p: _sigma(p) ** 2, hides=False,
        ),
        mistake(
            "classical bracket",
            "It looks like sqrt(ln(1.25 / delta)): the 2 under the root is missing.",
            scale=lambda p: _sigma(p) / math.sqrt(2),
        ),
        mistake(
            "budget split",
            "It looks like a budget split over the sums, epsilon/k and delta/k for each. One Gaussian release of "
            "all k, with the l2 sensitivity cap * sqrt(k), needs less noise for the same promise.",
            scale=lambda p: Gaussian.classical(
                epsilon=p.epsilon / len(p.sums), delta=p.delta / len(p.sums), sensitivity=p.cap
            ).sigma,
        ),
        mistake(
            "noise from the data", FOLLOWS, scale=lambda p: _classical(p, float(np.linalg.norm(p.sums))), hides=False
        ),
        mistake("noise from each sum", FOLLOWS, scale=lambda p: _classical(p, 1.0) * p.sums, hides=False),
        mistake(
            "Laplace noise",
            "It looks like Laplace noise of scale cap * k / epsilon: private as well, without any delta. Asked is the "
            "Gaussian mechanism.",
            noise=lambda rng, size: rng.laplace(size=size), scale=lambda p: p.cap * len(p.sums) / p.epsilon, hides=True,
        ),
        mistake("shared noise", "Draw as many numbers as there are sums (size=len(sums)).", shared=True),
        mistake(
            "no noise",
            "Without noise, whoever knows everybody else's numbers reads the last ones off.",
            lambda p: np.array(p.sums),
        ),
    ],
)  # fmt: skip
