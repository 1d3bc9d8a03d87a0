"""Homework 4, the whole thing: train a classifier within (epsilon, delta) that is right often enough.

The student's function gets the training data and gives back what DP-SGD published: the noisy average of every step, and
the settings. From that the judge computes everything else itself: the weights (plain descent from 0), the epsilon (by
the exact accountant), the accuracy (on people whom the function has never seen), and whether the averages look like
DP-SGD at all. For at the weights of each step every example's clipped gradient is known, so the published average
minus its expectation must be Gaussian noise and lots with a known covariance: no noise, too little noise, a forgotten
C, a clipped batch or a fixed lot size do not fit.

What is trusted: that the noise is fresh. A function that trains many times and hands in its luckiest run is not found
out, nor is one that invents noise which only looks random.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import special

from dpcourse.accounting import dp_sgd_epsilon, sigma_for
from dpcourse.audit import ks_fit
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.dp_sgd_steps import per_example
from dpcourse.tasks.gaussian_vectors import chi_square_of
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import LEVEL, Interview, Misconception, Task
from dpcourse.vectors import clipped, norms

PATIENTS, FEATURES, HELD_OUT, MOST_STEPS = 2_000, 6, 20_000, 2_000
#: The share of new patients to be right about (the true weights reach .91), and from where on there are points.
REQUIRED, NOTHING = 0.86, 0.70

Published = Mapping[str, Any]


def measured(rng: np.random.Generator, number: int) -> np.ndarray:
    """Six measurements of each patient, and a one."""
    return np.column_stack([rng.normal(size=(number, FEATURES)), np.ones(number)])


def came_back(rng: np.random.Generator, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether each patient came back, by a logistic law."""
    return (rng.random(len(x)) < special.expit(x @ weights)).astype(np.int64)


def truth_behind(x: np.ndarray) -> np.ndarray:
    """The true weights: any direction, and a small constant.

    They are drawn from the bytes of the table, so that the judge knows them without telling the student.
    """
    rng = np.random.default_rng(zlib.crc32(np.ascontiguousarray(x).tobytes()))
    direction = rng.normal(size=FEATURES)
    return np.append(6 * direction / norms(direction), rng.uniform(-0.5, 0.5))


def _probes(rng: np.random.Generator) -> Sequence[Probe]:
    x = measured(rng, PATIENTS)
    return [{"x": x, "y": came_back(rng, x, truth_behind(x)), "epsilon": float(rng.uniform(0.9, 1.5)), "delta": 1e-5}]


def points_of(published: Published) -> np.ndarray:
    """The weights before each step, and after the last: descent from 0 by the published averages (T + 1 rows)."""
    moves = -published["rate"] * published["released"]
    return np.vstack([np.zeros(moves.shape[1]), np.cumsum(moves, axis=0)])


def residuals(probe: Probe, published: Published) -> tuple[np.ndarray, float]:
    """What the averages have beyond their expectation, whitened (T, d): standard normal if they are DP-SGD's.

    With them the log of a likelihood ratio: how much better lots of a fixed size explain it, along the mean gradient.
    """
    q, clip, n = float(published["q"]), float(published["clip"]), len(probe["y"])
    noise = (float(published["sigma"]) * clip) ** 2
    white, log_ratio = np.empty_like(published["released"]), 0.0
    for t, (weights, average) in enumerate(zip(points_of(published)[:-1], published["released"], strict=True)):
        rows = clipped(per_example(weights, probe["x"], probe["y"]), clip)
        rest = q * n * average - q * rows.sum(axis=0)
        spread = q * (1 - q) * rows.T @ rows + noise * np.eye(len(weights))
        white[t] = np.linalg.solve(np.linalg.cholesky(spread), rest)
        log_ratio += _fixed_size_ratio(rest, rows, q, spread)
    return white, log_ratio


def _fixed_size_ratio(rest: np.ndarray, rows: np.ndarray, q: float, spread: np.ndarray) -> float:
    """ln of the density of one residual along the mean gradient under lots of fixed size, over that under coins.

    Without replacement the covariance lacks q (1 - q) n times the square of the mean gradient.
    """
    mean = rows.mean(axis=0)
    along = mean / max(float(norms(mean)), 1e-300)
    coins = float(along @ spread @ along)
    fixed = coins - q * (1 - q) * len(rows) * float(mean @ mean)
    return 0.5 * math.log(coins / fixed) - 0.5 * float(rest @ along) ** 2 * (1 / fixed - 1 / coins)


def _judge(talk: Interview) -> None:
    (probe,) = talk.probes
    published = talk.value(probe)
    _sensible(talk, probe, published)
    steps = len(published["released"])
    spent = dp_sgd_epsilon(published["sigma"], published["q"], steps, probe["delta"])
    if spent > probe["epsilon"] * (1 + 1e-6):
        talk.fail(
            f"{steps} steps with sigma = {published['sigma']:.3g} and q = {published['q']:.3g} cost epsilon = "
            f"{spent:.3g} at delta = {probe['delta']:g}; the budget is {probe['epsilon']:.3g}.",
            name=_overspent(probe, published),
        )
    _like_dp_sgd(talk, probe, published)
    _accurate(talk, probe, published, spent)


def _sensible(talk: Interview, probe: Probe, published: Published) -> None:
    steps, width = published["released"].shape
    if width != probe["x"].shape[1] or not 1 <= steps <= MOST_STEPS:
        talk.fail(
            f"`released` must be 1 to {MOST_STEPS:,} rows of {probe['x'].shape[1]} numbers, got {steps} x {width}."
        )
    if not 0 < published["q"] <= 1:
        talk.fail(f"q must be a probability above 0, got {published['q']:g}.")
    for name in ("sigma", "clip", "rate"):
        if not published[name] > 0:
            talk.fail(f"{name} must be above 0, got {published[name]:g}.")
    if np.abs(points_of(published)).max() > 1e6:
        talk.fail("Your weights run away (beyond a million): the rate is far too large.")


def _overspent(probe: Probe, published: Published) -> str:
    one = dp_sgd_epsilon(published["sigma"], published["q"], 1, probe["delta"])
    return "one step's budget" if one <= 1.05 * probe["epsilon"] else ""


def _like_dp_sgd(talk: Interview, probe: Probe, published: Published) -> None:
    white, log_ratio = residuals(probe, published)
    squares, level = float((white**2).sum()), LEVEL / 4
    factor = math.sqrt(squares / white.size)
    talk.require(
        chi_square_of("residuals", squares / SLACK if factor > 1 else squares * SLACK, white.size, white.size, level,
                      scale=True),
        f"Your averages are not what DP-SGD with sigma = {published['sigma']:.3g}, C = {published['clip']:.3g} and q = "
        f"{published['q']:.3g} publishes: at the weights of each step I know everybody's clipped gradient, and what "
        f"remains of your averages varies {factor:.3g} times as much as noise and lots should.",
        name=_wrong_noise(probe, published, factor),
    )  # fmt: skip
    talk.require(
        ks_fit(white.ravel(), special.ndtr, level=level), "What remains of your averages is not Gaussian noise."
    )
    if log_ratio > math.log(4 / LEVEL):  # by Markov's inequality a right one gets there with probability LEVEL/4
        talk.fail(
            "Your lots all have the same size, or nearly: along the mean gradient your averages vary less than with a "
            "coin for each example, for which the accountant counts.",
            name="fixed-size lots",
        )


SLACK = 1.01  # lots are only nearly Gaussian


def _wrong_noise(probe: Probe, published: Published, factor: float) -> str:
    """Does it fit with another setting? Then that is the mistake."""
    for name, change in (
        ("C forgotten", {"sigma": published["sigma"] / published["clip"]}),
        ("noise per example", {"sigma": published["sigma"] * math.sqrt(published["q"] * len(probe["y"]))}),
        ("no noise", {"sigma": 1e-6}),
        ("not clipped", {"clip": 1e6, "sigma": published["sigma"] * published["clip"] / 1e6}),
    ):
        white, _ = residuals(probe, {**published, **change})
        if 0.95 < math.sqrt(float((white**2).mean())) < 1.05:
            return name
    return ""


def _accurate(talk: Interview, probe: Probe, published: Published, spent: float) -> None:
    x = measured(talk.rng, HELD_OUT)
    y = came_back(talk.rng, x, truth_behind(probe["x"]))
    share = float(np.mean((x @ points_of(published)[-1] > 0) == y))
    talk.praise = (
        f"Your {len(published['released'])} steps cost epsilon = {spent:.3g} of {probe['epsilon']:.3g}, and your "
        f"weights are right about {share:.1%} of {HELD_OUT:,} new patients; {REQUIRED:.0%} is required."
    )
    if share < REQUIRED:
        talk.share = max(0.0, min(1.0, (share - NOTHING) / (REQUIRED - NOTHING)))
        wasted = spent < 0.5 * probe["epsilon"]
        talk.noticed, talk.wasteful = ("budget left over" if wasted else ""), wasted
        known = {m.name: m.message for m in talk.task.misconceptions}
        talk.praise += f" {known[talk.noticed]}" if wasted else ""


def trained(
    sigma_of: Callable[..., float] = lambda probe, q, steps: sigma_for(
        probe["epsilon"], probe["delta"], q=q, steps=steps
    ),
    noise: Callable[..., float] = lambda size, clip, sigma: sigma * clip,
    lot: Callable[..., np.ndarray] = lambda n, q, rng: rng.random(n) < q,
    clip_rows: Callable[..., np.ndarray] = clipped,
    steps: int = 60,
) -> Callable[..., dict[str, Any]]:
    """DP-SGD with lots of a tenth and C = 1/2; the arguments exchange one part of it for a wrong one."""

    def train(x: np.ndarray, y: np.ndarray, epsilon: float, delta: float, rng: np.random.Generator) -> dict[str, Any]:
        q, clip, rate = 0.1, 0.5, 1.5
        sigma = sigma_of({"epsilon": epsilon, "delta": delta}, q, steps)
        weights, released = np.zeros(x.shape[1]), []
        for _ in range(steps):
            chosen = lot(len(y), q, rng)
            rows = clip_rows(per_example(weights, x[chosen], y[chosen]), clip)
            shaken = rows.sum(axis=0) + noise(len(rows), clip, sigma) * rng.normal(size=len(weights))
            released.append(shaken / (q * len(y)))
            weights = weights - rate * released[-1]
        return {"released": released, "q": q, "sigma": sigma, "clip": clip, "rate": rate}

    return train


train_private = Task(
    name="train_private",
    points=4,
    see="lecture 4, The obvious application: supervised training",
    probes=_probes,
    judge=_judge,
    answer=Answers(
        {"released": Answer((None, None)), "q": Answer(), "sigma": Answer(), "clip": Answer(), "rate": Answer()}
    ),
    misconceptions=(
        Misconception(
            "one step's budget", trained(lambda probe, q, steps: sigma_for(probe["epsilon"], probe["delta"], q=q)),
            "One step fits into the budget, but you take many: choose sigma for all steps together "
            "(accounting.sigma_for with steps=...).",
        ),
        Misconception(
            "no noise", trained(noise=lambda size, clip, sigma: 0.0),
            "There is no noise in your averages, whatever sigma says.",
        ),
        Misconception(
            "C forgotten", trained(noise=lambda size, clip, sigma: sigma),
            "The noise on the sum must be sigma C, not sigma.",
        ),
        Misconception(
            "noise per example", trained(noise=lambda size, clip, sigma: sigma * clip * math.sqrt(size)),
            "It looks like noise for each example of the lot. Add it once, to the sum.",
        ),
        Misconception(
            "not clipped", trained(clip_rows=lambda rows, clip: rows),
            "The gradients in your sums are longer than C: clip each of them.",
        ),
        Misconception(
            "fixed-size lots", trained(lot=lambda n, q, rng: rng.permutation(n)[: round(q * n)]),
            "Toss a coin for each example; then the lot's size varies, and the accountant's formula holds.",
        ),
        Misconception(
            "budget left over", trained(lambda probe, q, steps: 40.0),
            "Much of the budget is left over: private, but wasteful. Less noise or more steps would learn more.",
        ),
    ),
    seconds=60.0,
)  # fmt: skip

TASKS: tuple[Task, ...] = (train_private,)
