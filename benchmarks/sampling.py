"""A million noisy answers: our samplers against numpy's own Laplace call."""

from __future__ import annotations

import numpy as np

from benchmarks.figures import Figure, median_seconds
from dpcourse import DiscreteLaplace, Laplace

DRAWS = 1_000_000


def run() -> list[Figure]:
    rng = np.random.default_rng(1)
    laplace, discrete = Laplace(epsilon=0.5, sensitivity=1), DiscreteLaplace(epsilon=0.5)
    answers = np.zeros(DRAWS)
    numpy_time, ours, secure = median_seconds(
        lambda: rng.laplace(0.0, 2.0, DRAWS),
        lambda: laplace.release(answers, rng=rng),
        lambda: discrete.release(0, size=DRAWS),
        repeats=25,
    )
    return [
        Figure("time of vectorised Laplace / numpy's own call", ours / numpy_time, 1.3, "a million answers"),
        Figure(
            "time of cryptographic discrete Laplace / numpy's Laplace",
            secure / numpy_time,
            4,
            "exact, from the system's generator",
        ),
    ]
