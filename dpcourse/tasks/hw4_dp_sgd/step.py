"""Homework 4, a whole step of DP-SGD: who is in the lot, what is clipped, and where the noise goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from dpcourse.audit import ks_fit
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.hw4_dp_sgd.average import EMPTY, NO_C, SKIPPED, told_truly
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.lots import look_at_lots
from dpcourse.tasks.judges.noise import look_at_noise, refuse_huge
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.judges.scale_tests import NORMAL_SIZES, width_fit
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.vectors import clipped as clipped_rows
from dpcourse.vectors import norms

DRAWS = 2_500
MEMBERS = 1_000  # steps from which the members of their lots are read


def per_example(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of each example's logistic loss: (1 / (1 + e^(-w x)) - y) x, a row for each."""
    return np.asarray((special.expit(x @ weights) - y)[:, None] * x)


def _step_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Everybody takes part (q = 1) and gradients differ; then lots of people who are all alike, so that only the size
    of the lot matters, it is empty once in thirteen times, and its expected size, 2.25, is no whole number; then people
    who pull in directions of their own, with so little noise that each step shows who was in its lot."""
    d, clip = 5, float(rng.uniform(0.4, 0.6))
    shared = {"clip": clip, "sigma": float(rng.uniform(0.5, 0.7)), "rate": float(rng.uniform(0.1, 0.2))}
    weights, x = rng.normal(0, 0.3, d), rng.normal(0.5, 1, (12, d)) * rng.uniform(0.1, 3, (12, 1))
    alike = np.tile(rng.uniform(0.5, 1.5, d), (9, 1))
    first = {"weights": weights, "x": x, "y": rng.integers(0, 2, 12), "q": 1.0, **shared}
    second = {"weights": -np.abs(weights), "x": alike, "y": np.ones(9, np.int64), "q": 0.25, **shared}
    apart = np.linalg.qr(rng.normal(size=(8, 8)))[0] * rng.uniform(
        3, 6, (8, 1)
    )  # long enough to be clipped, all of them
    quiet = {**shared, "sigma": float(rng.uniform(0.06, 0.08))}
    third = {"weights": rng.normal(0, 0.03, 8), "x": apart, "y": rng.integers(0, 2, 8), "q": 0.25, **quiet}
    return [first, second, third]


def _released(probe: Probe, answers: np.ndarray) -> np.ndarray:
    """The noisy sum that a step has used: (weights - answer) times expected lot size / rate."""
    return np.asarray((probe["weights"] - answers) * probe["q"] * len(probe["y"]) / probe["rate"])


def _judge_step(talk: Interview) -> None:
    probe, lots, people = talk.probes
    gradients = clipped_rows(per_example(probe["weights"], probe["x"], probe["y"]), probe["clip"])
    scale = probe["rate"] / len(probe["y"])
    center = probe["weights"] - scale * gradients.sum(axis=0)
    right = Noise(center, scale * probe["sigma"] * probe["clip"], NORMAL)
    look_at_noise(talk, lambda **_: right, LEVEL / 2, probes=[probe], draws=DRAWS)
    answers = talk.draws(lots, DRAWS)
    refuse_huge(talk, answers)
    gradient = clipped_rows(per_example(lots["weights"], lots["x"], lots["y"]), lots["clip"])[0]
    length, noise, n = float(norms(gradient)), lots["sigma"] * lots["clip"], len(lots["y"])
    about = f"I called you {DRAWS:,} times with {n} people who are all alike and q = 0.25."
    still = int((answers == lots["weights"]).all(axis=1).sum())
    if still and still < DRAWS:
        talk.fail(f"{about} In {still / DRAWS:.0%} of them the weights did not move at all.", name=SKIPPED)
    sums = _released(lots, answers)
    along = sums @ gradient / length
    sizes = np.arange(n + 1)
    chances = special.binom(n, sizes) * lots["q"] ** sizes * (1 - lots["q"]) ** (n - sizes)
    across = (sums - along[:, None] * gradient / length) / noise
    spread = math.sqrt(noise**2 + n * lots["q"] * (1 - lots["q"]) * length**2)
    talk.require(
        ks_fit(along, lambda t: special.ndtr((np.asarray(t)[..., None] - sizes * length) / noise) @ chances,
               level=LEVEL / 8),
        f"{about} Your steps are {along.mean() / length:.2f} gradients long on average, with a standard deviation of "
        f"{along.std() / length:.2f}; {n * lots['q']:.2f} and {spread / length:.2f} are right: coins for each, noise "
        f"sigma C once, divided by the expected size.",
    )  # fmt: skip
    talk.require(
        width_fit(across.ravel(), NORMAL_SIZES, level=LEVEL / 8, freedom=DRAWS * (len(gradient) - 1)),
        f"{about} Across the gradient there is only noise, and yours is {across.std() * math.sqrt(1.25):.3g} times "
        f"what it should be.",
    )
    _look_at_members(talk, people, LEVEL / 4)
    talk.praise = "Your step has the right direction, noise and lots."


def _look_at_members(talk: Interview, probe: Probe, level: float) -> None:
    """Gradients at right angles, and hardly any noise: what a step has moved along each says who was in its lot."""
    answers = talk.draws(probe, MEMBERS)
    refuse_huge(talk, answers)
    gradients = clipped_rows(per_example(probe["weights"], probe["x"], probe["y"]), probe["clip"])
    moved = _released(probe, answers) @ gradients.T / probe["clip"] ** 2
    mistaken = float(special.ndtr(-0.5 / probe["sigma"]))
    share = probe["q"] * (1 - mistaken) + (1 - probe["q"]) * mistaken
    about = f"I called you {MEMBERS:,} times with {len(gradients)} people who all differ and q = {probe['q']:g}."
    members = (moved > 0.5).astype(float)
    if (np.diff(members, axis=1) <= 0).all():  # a right one: less than 0.7^1000
        first, last = members[:, 0].mean(), members[:, -1].mean()
        text = f"{about} The first person was in {first:.0%} of your lots, the last one in {last:.0%}."
        talk.fail(text, name="the first of the list")
    look_at_lots(talk, members, share, about, level)


def _step(
    clip_rows: Callable[..., Any] = clipped_rows,
    lot: Callable[..., np.ndarray] = lambda n, q, rng: rng.random(n) < q,
    noise: Callable[..., float] = lambda size, clip, sigma: sigma * clip,
    divisor: Callable[..., float] = lambda size, expected: expected,
    sign: float = -1.0,
    shake: Callable[[float], float] = lambda rate: rate,
) -> Callable[..., np.ndarray]:
    """A step of DP-SGD with one thing exchanged."""

    def step(
        weights: np.ndarray, x: np.ndarray, y: np.ndarray, q: float, clip: float, sigma: float, rate: float,
        rng: np.random.Generator,
    ) -> np.ndarray:  # fmt: skip
        chosen = lot(len(y), q, rng)
        rows = clip_rows(per_example(weights, x[chosen], y[chosen]), clip)
        by = divisor(len(rows), q * len(y))
        shaken = shake(rate) * noise(len(rows), clip, sigma) * rng.normal(size=len(weights))
        return np.asarray(weights + sign * (rate * rows.sum(axis=0) + shaken) / by)

    return step


def batch_clipped(rows: np.ndarray, clip: float) -> np.ndarray:
    """All rows shortened by one factor, so that their sum has length at most ``clip``: the mistake, not the cure."""
    return rows * min(1.0, clip / max(float(norms(rows.sum(axis=0))), 1e-300))


def mean_clipped(rows: np.ndarray, clip: float) -> np.ndarray:
    """All rows shortened by one factor, so that their mean has length at most ``clip``: no cure either."""
    return batch_clipped(rows, clip * len(rows))


dp_sgd_step = Task(
    name="dp_sgd_step",
    see="lecture 4, The algorithm, line by line",
    probes=_step_probes,
    judge=told_truly(
        _judge_step,
        {
            "C forgotten": NO_C,
            "noise per example": EMPTY,
            "noise without the rate": "Here that is too much; for a rate above 1 it is too little.",
        },
    ),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "batch clipped", _step(clip_rows=batch_clipped),
            "You clip the sum (or the average) of the lot. One odd example can still turn all of it. Clip each "
            "example's gradient, then add.",
        ),
        Mistake(
            "not clipped", _step(clip_rows=lambda rows, clip: rows),
            "Nothing is clipped: one example can be as long as it likes, and no noise hides it.",
        ),
        Mistake(
            "C forgotten", _step(noise=lambda size, clip, sigma: sigma),
            "The noise on the sum must be sigma C, not sigma.",
        ),
        Mistake(
            "noise per example", _step(noise=lambda size, clip, sigma: sigma * clip * math.sqrt(size)),
            "It looks like noise for every example, as on the slide: too much of it, and none for an empty lot.",
        ),
        Mistake(
            "divided by the drawn lot", _step(divisor=lambda size, expected: max(size, 1)),
            "You divide by the size that was drawn, which is private. Divide by q n.",
        ),
        Mistake(
            "expected size rounded", _step(divisor=lambda size, expected: max(int(expected), 1)),
            "You divide by a whole number. The expected size q n need not be one: do not round it.",
        ),
        Mistake(
            "fixed-size lots", _step(lot=lambda n, q, rng: rng.permutation(n)[: round(q * n)]),
            "Your lots always have the same size. The accountant counts on a coin for each example.",
        ),
        Mistake(
            "the first of the list", _step(lot=lambda n, q, rng: np.arange(rng.binomial(n, q))),
            "The size of your lot is right, its members are not: always the first of the list. Each person needs a "
            "coin of their own.",
        ),
        Mistake(
            SKIPPED, _step(noise=lambda size, clip, sigma: sigma * clip if size else 0.0),
            "An empty lot must give a step of noise like any other. Standing still says: nobody was there.",
        ),
        Mistake(
            "uphill", _step(sign=1.0),
            "You add the gradient: the loss grows. Descend: weights - rate * average.",
        ),
        Mistake(
            "noise without the rate", _step(shake=lambda rate: 1.0),
            "The rate multiplies the whole noisy average, its noise, too. Added to the weights directly, there is "
            "1/rate times as much noise as needed.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (dp_sgd_step,)
