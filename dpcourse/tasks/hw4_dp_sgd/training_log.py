"""Patients whose return is to be predicted, a run of DP-SGD on them, and how to read the log of such a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import special

from dpcourse.accounting import sigma_for
from dpcourse.sensitivity.rows import clipped, norms
from dpcourse.tasks.hw4_dp_sgd.step import per_example
from dpcourse.tasks.respondent import Probe

FEATURES = 20

#: The log of a run: released (T, d), lots (T, n), q, sigma, clip, rate.
Published = Mapping[str, Any]


def measured(rng: np.random.Generator, number: int) -> np.ndarray:
    """Twenty measurements of each patient, and a one."""
    return np.column_stack([rng.normal(size=(number, FEATURES)), np.ones(number)])


def came_back(rng: np.random.Generator, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether each patient came back, by a logistic law."""
    return (rng.random(len(x)) < special.expit(x @ weights)).astype(np.int64)


def true_weights(rng: np.random.Generator) -> np.ndarray:
    """The weights by which patients come back: any direction, and a small constant. The judge's secret."""
    direction = rng.normal(size=FEATURES)
    return np.append(6 * direction / norms(direction), rng.uniform(-0.5, 0.5))


def hard_to_learn(rng: np.random.Generator, number: int) -> dict[str, np.ndarray]:
    """Rows 40 to 120 long, all in one direction, and labels that contradict each other: six of ten came back.

    Whatever the weights, the wrong ones among these patients pull with gradients as long as their rows.
    """
    direction = rng.normal(size=FEATURES)
    lengths = np.exp(rng.uniform(np.log(40), np.log(120), number))
    x = np.column_stack([lengths[:, None] * direction / norms(direction), np.ones(number)])
    return {"x": x, "y": (rng.random(number) < 0.6).astype(np.int64)}


def points_of(published: Published) -> np.ndarray:
    """The weights before each step, and after the last: descent from 0 by the published averages (T + 1 rows)."""
    moves = -published["rate"] * published["released"]
    return np.vstack([np.zeros(moves.shape[1]), np.cumsum(moves, axis=0)])


def noise_of_steps(
    probe: Probe, log: Published, clip_rows: Callable[..., np.ndarray] = clipped, by: np.ndarray | float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """What each published sum has beyond the clipped gradients of its lot, over sigma C; and the sum of these.

    Both (T, d); the first is standard normal. ``clip_rows`` and ``by`` (the divisor over q n) try out
    another reading of the log.
    """
    sums = np.empty_like(log["released"])
    for t, (weights, lot) in enumerate(zip(points_of(log)[:-1], log["lots"] > 0, strict=True)):
        rows = clip_rows(per_example(weights, probe["x"][lot], probe["y"][lot]), log["clip"])
        sums[t] = rows.sum(axis=0)
    rest = log["q"] * log["lots"].shape[1] * log["released"] * by - sums
    return np.asarray(rest / (log["sigma"] * log["clip"])), sums


def _sigma_for_all(epsilon: float, delta: float, q: float, steps: int) -> float:
    return sigma_for(epsilon, delta, q=q, steps=steps)


def trained(
    *,
    sigma_of: Callable[..., float] = _sigma_for_all,
    noise: Callable[..., float] = lambda size, clip, sigma: sigma * clip,
    lot: Callable[..., np.ndarray] = lambda n, q, rng: rng.random(n) < q,
    clip_rows: Callable[..., np.ndarray] = clipped,
    divisor: Callable[..., float] = lambda size, expected: expected,
    law: Callable[..., np.ndarray] = lambda rng, size: rng.normal(size=size),
) -> Callable[[Any, np.random.Generator], dict[str, Any]]:
    """DP-SGD with sixty lots of a tenth and C = 1/2; the arguments exchange one part of it for a wrong one."""

    def train(p: Any, rng: np.random.Generator) -> dict[str, Any]:
        n, q, steps, clip, rate = len(p.y), 0.1, 60, 0.5, 1.5
        sigma, weights = sigma_of(p.epsilon, p.delta, q, steps), np.zeros(p.x.shape[1])
        lots, released = [], []
        for _ in range(steps):
            lots.append(lot(n, q, rng))
            rows = clip_rows(per_example(weights, p.x[lots[-1]], p.y[lots[-1]]), clip)
            shaken = rows.sum(axis=0) + noise(len(rows), clip, sigma) * law(rng, len(weights))
            released.append(shaken / divisor(len(rows), q * n))
            weights = weights - rate * released[-1]
        return {"released": released, "lots": lots, "q": q, "sigma": sigma, "clip": clip, "rate": rate}

    return train
