"""Homework 4, a whole step of DP-SGD: who is in the lot, what is clipped, and where the noise goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from dpcourse.audit import ks_fit
from dpcourse.sensitivity.rows import clipped as clipped_rows
from dpcourse.sensitivity.rows import norms
from dpcourse.tasks.answers import VECTOR
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.hw4_dp_sgd.average import DRAWS, SKIPPED
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.lots import look_at_lots
from dpcourse.tasks.judges.noise import look_at_noise, refuse_huge
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.judges.scale_tests import NORMAL_SIZES, width_fit
from dpcourse.tasks.mistake import Variation, mistake
from dpcourse.tasks.respondent import Probe

MEMBERS = 1_000  # steps from which the members of their lots are read
ALWAYS = "always the same lot"
SMALL = {"clip": (0.4, 0.6), "sigma": (0.5, 0.7), "rate": (0.1, 0.2)}


def per_example(weights: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of each example's logistic loss: (1 / (1 + e^(-w x)) - y) x, a row for each."""
    return np.asarray((special.expit(x @ weights) - y)[:, None] * x)


def _step_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Four questions, each blind to what the others see. C, sigma and the rate are above 1 in two of them, then below.

    One person alone, then twelve, who all take part (q = 1); half of the gradients are longer than C, and pull so much
    in one direction that their average is longer, too. Then people who are all alike, so that only the size of the lot
    matters: it is empty once in thirteen times, and its expected size, 2.25, is no whole number. Then people who pull
    in directions of their own, with so little noise that each step shows who was in its lot.
    """
    d, clip = 5, float(rng.uniform(1.8, 2.4))
    shared = {"clip": clip, "sigma": float(rng.uniform(1.2, 1.5)), "rate": float(rng.uniform(1.25, 1.45))}
    x, half = rng.normal(1, 0.5, (12, d)), np.repeat((0, 1), 6)
    x *= (clip * np.where(half, rng.uniform(6, 14, 12), rng.uniform(0.4, 1.2, 12)) / norms(x))[:, None]
    y = np.where(half, 1, rng.integers(0, 2, 12))
    downhill = -rng.uniform(0.3, 0.5, d)  # short rows are far from 0 by it, and long ones are all wrong
    first = {"weights": downhill, "x": x, "y": y, "q": 1.0, **shared}
    alone = {**first, "x": x[-1:], "y": y[-1:]}
    shared = {name: float(rng.uniform(*ends)) for name, ends in SMALL.items()}
    alike, weights = np.tile(rng.uniform(0.5, 1.5, d), (9, 1)), rng.normal((2, 0, 0, 0, 0), 1)
    weights -= alike[0] * (alike[0] @ weights + rng.uniform(0, 0.5)) / (alike[0] @ alike[0])
    second = {"weights": weights, "x": alike, "y": np.ones(9, np.int64), "q": 0.25, **shared}
    apart = np.linalg.qr(rng.normal(size=(8, 8)))[0] * rng.uniform(3, 6, (8, 1))  # all of them longer than C
    quiet = {**shared, "sigma": float(rng.uniform(0.06, 0.08))}
    third = {"weights": rng.normal(0, 0.03, 8), "x": apart, "y": rng.integers(0, 2, 8), "q": 0.25, **quiet}
    return [alone, first, second, third]


def _released(probe: Probe, answers: np.ndarray) -> np.ndarray:
    """The noisy sum that a step has used: (weights - answer) times expected lot size / rate."""
    return np.asarray((probe["weights"] - answers) * probe["q"] * len(probe["y"]) / probe["rate"])


def _clipped(probe: Probe) -> np.ndarray:
    return clipped_rows(per_example(probe["weights"], probe["x"], probe["y"]), probe["clip"])


def _law_of_everybody(**probe: Any) -> Noise:
    """Where everybody takes part."""
    scale = probe["rate"] / len(probe["y"])
    return Noise(probe["weights"] - scale * _clipped(probe).sum(axis=0), scale * probe["sigma"] * probe["clip"], NORMAL)


def _judge_step(talk: Interview) -> None:
    """Everybody: the law of the noise. People who are alike: how far a step goes. People who differ: who was in it."""
    *everybody, lots, people = talk.probes
    look_at_noise(talk, _law_of_everybody, LEVEL / 2, probes=everybody, draws=DRAWS)
    members, mistaken = _members(talk, people)
    answers, talk.failing = talk.draws(lots, DRAWS), lots
    refuse_huge(talk, answers)
    gradient = _clipped(lots)[0]
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
        name=ALWAYS if not members.any() and along.mean() > length / 2 else "",  # nobody there, and somebody here
    )  # fmt: skip
    talk.require(
        width_fit(across.ravel(), NORMAL_SIZES, level=LEVEL / 8, freedom=DRAWS * (len(gradient) - 1)),
        f"{about} Across the gradient there is only noise, and yours is {across.std() * math.sqrt(1.25):.3g} times "
        f"what it should be.",
    )
    _look_at_members(talk, people, members, mistaken, LEVEL / 4)
    talk.praise = "Your step has the right direction, noise and lots."


def _members(talk: Interview, probe: Probe) -> tuple[np.ndarray, float]:
    """Gradients at right angles, and hardly any noise: what a step has moved along each says who was in its lot.

    With the probability that noise mistakes one. A lot that is always the same is told at once.
    """
    answers, talk.failing = talk.draws(probe, MEMBERS), probe
    refuse_huge(talk, answers)
    gradients = _clipped(probe)
    moved = _released(probe, answers) @ gradients.T / probe["clip"] ** 2
    members = (moved > 0.5).astype(float)
    if (members == members[0]).all() and 0 < members[0].sum() < len(gradients):  # a right one: less than 0.9^8000
        talk.fail(f"{_about(probe)} It was the same lot in every call.", name=ALWAYS)
    return members, float(special.ndtr(-0.5 / probe["sigma"]))


def _about(probe: Probe) -> str:
    return f"I called you {MEMBERS:,} times with {len(probe['y'])} people who all differ and q = {probe['q']:g}."


def _look_at_members(talk: Interview, probe: Probe, members: np.ndarray, mistaken: float, level: float) -> None:
    """Has everybody a coin of their own?"""
    talk.failing, about = probe, _about(probe)
    share = probe["q"] * (1 - mistaken) + (1 - probe["q"]) * mistaken
    if (np.diff(members, axis=1) <= 0).all():  # a right one: less than 0.7^1000
        first, last = members[:, 0].mean(), members[:, -1].mean()
        text = f"{about} The first person was in {first:.0%} of your lots, the last one in {last:.0%}."
        talk.fail(text, name="the first of the list")
    look_at_lots(talk, members, share, about, level)


def batch_clipped(rows: np.ndarray, clip: float) -> np.ndarray:
    """All rows shortened by one factor, so that their sum has length at most ``clip``: the mistake, not the cure."""
    return rows * min(1.0, clip / max(float(norms(rows.sum(axis=0))), 1e-300))


def mean_clipped(rows: np.ndarray, clip: float) -> np.ndarray:
    """All rows shortened by one factor, so that their mean has length at most ``clip``: no cure either."""
    return batch_clipped(rows, clip * len(rows))


def stretched(rows: np.ndarray, clip: float) -> np.ndarray:
    """All rows of length ``clip``, the short ones too."""
    return np.asarray(rows * clip / np.maximum(norms(rows), 1e-300)[:, None])


def _changed(
    name: str,
    message: str,
    *,
    clip_rows: Callable[..., Any] = clipped_rows,
    lot: Callable[..., np.ndarray] = lambda n, q, rng: rng.random(n) < q,
    noise: Callable[..., float] = lambda size, clip, sigma: sigma * clip,
    divisor: Callable[..., float] = lambda size, expected: expected,
    sign: float = -1.0,
    shake: Callable[[float], float] = lambda rate: rate,
    hides: bool | None = None,
) -> Variation:
    """A step of DP-SGD with one thing exchanged."""

    def step(p: Any, rng: np.random.Generator) -> np.ndarray:
        chosen = lot(len(p.y), p.q, rng)
        rows = clip_rows(per_example(p.weights, p.x[chosen], p.y[chosen]), p.clip)
        shaken = shake(p.rate) * noise(len(rows), p.clip, p.sigma) * rng.normal(size=len(p.weights))
        by = divisor(len(rows), p.q * len(p.y))
        return np.asarray(p.weights + sign * (p.rate * rows.sum(axis=0) + shaken) / by)

    return mistake(name, message, draw=step, hides=hides)


dp_sgd_step = judged_task(
    "dp_sgd_step",
    see="lecture 4, The algorithm, line by line",
    probes=_step_probes,
    judge=_judge_step,
    form=VECTOR,
    mistakes=[
        _changed(
            "batch clipped",
            "You clip the sum of the lot. One odd example can still turn all of it. Clip each example's gradient, then "
            "add.",
            clip_rows=batch_clipped,
        ),
        _changed(
            "average clipped",
            "You clip the average of the lot. One odd example can still turn all of it. Clip each example's gradient, "
            "then add.",
            clip_rows=mean_clipped,
        ),
        _changed(
            "not clipped",
            "Nothing is clipped: one example can be as long as it likes, and no noise hides it.",
            clip_rows=lambda rows, clip: rows, hides=False,
        ),
        _changed(
            "each coordinate clipped",
            "Clipping every coordinate to [-C, C] leaves lengths up to C sqrt(d). Shorten each gradient as a whole.",
            clip_rows=lambda rows, clip: np.clip(rows, -clip, clip),
        ),
        _changed(
            "always length C",
            "Short gradients are stretched to length C. They should stay as they are.",
            clip_rows=stretched,
        ),
        _changed(
            "C forgotten",
            "The noise on the sum must be sigma C, not sigma.",
            noise=lambda size, clip, sigma: sigma, hides=False,
        ),
        _changed(
            "variance for deviation",
            "rng.normal takes the standard deviation, sigma C. You gave it the variance.",
            noise=lambda size, clip, sigma: (sigma * clip) ** 2, hides=False,
        ),
        _changed(
            "noise per example",
            "It looks like noise for every example, as on the slide: too much of it, and none for an empty lot.",
            noise=lambda size, clip, sigma: sigma * clip * math.sqrt(size), hides=False,
        ),
        _changed("no noise", "There is no noise: clipping bounds what one example can do; only noise hides it.",
                 noise=lambda size, clip, sigma: 0.0),
        _changed(
            "divided by the drawn lot",
            "You divide by the size that was drawn, which is private. Divide by q n.",
            divisor=lambda size, expected: max(size, 1),
        ),
        _changed(
            "expected size rounded",
            "You divide by a whole number. The expected size q n need not be one: do not round it.",
            divisor=lambda size, expected: max(int(expected), 1),
        ),
        _changed(
            ALWAYS,
            "Your lot is the same in every call: then everybody knows who is in it, and sampling hides nobody. Toss "
            "fresh coins in every step.",
            lot=lambda n, q, rng: np.random.default_rng(0).random(n) < q,
        ),
        _changed(
            "fixed-size lots",
            "Your lots always have the same size. The accountant counts on a coin for each example.",
            lot=lambda n, q, rng: rng.permutation(n)[: round(q * n)],
        ),
        _changed(
            "the first of the list",
            "The size of your lot is right, its members are not: always the first of the list. Each person needs a "
            "coin of their own.",
            lot=lambda n, q, rng: np.arange(rng.binomial(n, q)),
        ),
        _changed(
            "everybody in every step",
            "Everybody takes part in your step, whatever q is. Draw a lot: a coin for each example.",
            lot=lambda n, q, rng: np.arange(n), divisor=lambda size, expected: expected,
        ),
        _changed(
            SKIPPED,
            "An empty lot must give a step of noise like any other. Standing still says: nobody was there.",
            noise=lambda size, clip, sigma: sigma * clip if size else 0.0,
        ),
        _changed("uphill", "You add the gradient: the loss grows. Descend: weights - rate * average.", sign=1.0),
        _changed(
            "noise without the rate",
            "The rate multiplies the whole noisy average, its noise, too. Added to the weights directly, there is "
            "1/rate times as much noise as needed.",
            shake=lambda rate: 1.0, hides=False,
        ),
    ],
)  # fmt: skip
