"""Lecture 3: post-processing: functions of a private answer, and the privacy loss of what they return."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse.mechanisms import Gaussian
from dpcourse.privacy_loss import DiscreteLoss, PrivacyLoss
from dpcourse.scenes import Axis, Band, Line, Picture, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["post_processing"]

COUNT, NEIGHBOUR, MIDDLE = 51, 50, 50.5
NOISY = Gaussian(sigma=1, sensitivity=1)
#: The functions, and what a higher setting does to each.
SETTINGS = {
    "rounding": "a higher setting means larger steps",
    "threshold": "a higher setting moves the threshold up",
    "clipping": "a higher setting means a narrower range",
    "adding noise": "a higher setting means more noise",
}


def cells(edges: np.ndarray) -> DiscreteLoss:
    """The loss that is left when only the cell of the answer is told; ``edges`` are the cells' borders.

    The loss of a Gaussian answer grows with the answer, so answers above x are those with a loss above that of x.
    """
    above = NOISY.plrv(COUNT, NEIGHBOUR).above(NOISY.privacy_loss(edges, COUNT, NEIGHBOUR))
    return DiscreteLoss.from_probabilities(*(-np.diff([1.0, *tail, 0.0]) for tail in above))


def amount(function: str, strength: int) -> float:
    """What the slider means for a function, in people: a step, a place, half a width, a sigma."""
    meanings = {"threshold": 49 + strength / 2, "clipping": 4 / strength}
    return meanings.get(function, strength / 2)


def people(number: float) -> str:
    """A number with its unit."""
    return f"{number:g} {'person' if number == 1 else 'people'}"


@lru_cache(maxsize=64)
def post_processed(function: str, strength: int) -> tuple[str, PrivacyLoss]:
    """What the function does, in words, and the loss of its output."""
    much = amount(function, strength)
    if function == "rounding":
        edges = much * (np.arange(math.floor(40 / much), math.ceil(61 / much)) + 0.5)
        return f"round to multiples of {people(much)}", cells(edges)
    if function == "threshold":
        return f"say only whether t > {people(much)}", cells(np.array([much]))
    if function == "clipping":
        ends = f"clip to {MIDDLE - much:.4g} ... {people(round(MIDDLE + much, 2))}"
        return ends, cells(MIDDLE + np.linspace(-much, much, 1001))
    noisier = Gaussian(sigma=math.hypot(NOISY.sigma, much), sensitivity=1)
    return f"add noise with σ = {people(much)}", noisier.plrv(COUNT, NEIGHBOUR)


def graph(function: str, strength: int, t: np.ndarray) -> tuple[np.ndarray, float]:
    """The function's values at t, and how far its own noise spreads around them."""
    much = amount(function, strength)
    if function == "rounding":
        return np.round(t / much) * much, 0
    if function == "threshold":
        return np.where(t > much, 53, 48), 0
    if function == "clipping":
        return np.clip(t, MIDDLE - much, MIDDLE + much), 0
    return t, much


ANSWERS, EPSILONS = np.linspace(46, 55, 361), np.round(np.arange(0, 3.001, 0.05), 2)
BEFORE = NOISY.plrv(COUNT, NEIGHBOUR)
RAW_DELTAS = BEFORE.delta(EPSILONS)


@lru_cache(maxsize=64)
def delta_curve(function: str, strength: int) -> np.ndarray:
    """Its delta over epsilon."""
    return np.asarray(post_processed(function, strength)[1].delta(EPSILONS))


@explorer(
    "Nothing undoes the noise",
    "Can a clever function bring the secret back?",
    choice("function", "function g", list(SETTINGS), "rounding"),
    slider("strength", "setting of g", range(1, 9), 4, "{:d}"),
)
def post_processing(function: str, strength: int) -> Picture:
    """Whatever is done with a private output, its delta(eps) curve never rises above the one before."""
    words, after = post_processed(function, strength)
    value, spread = graph(function, strength, ANSWERS)
    return picture_of(
        f"Setting {strength} of g: {words} ({SETTINGS[function]}). At ε = 1 the answer t has δ = "
        f"{BEFORE.delta(1):.4f}, and g(t) has {after.delta(1):.4f}. The dashed curve is nowhere "
        "above the solid one.",
        panel(
            f"g, setting {strength}: {words}",
            Axis("private answer t", 46, 55),
            Axis("what is told, g(t)", 41, 60),
            Band(ANSWERS, value - spread, value + spread, colour="orange"),
            Line(ANSWERS, value, colour="orange", width=3),
        ),
        panel(
            "What an attacker can make of it",
            Axis("ε", 0, 3),
            Axis("δ(ε)", 0, 0.42),
            Line(EPSILONS, RAW_DELTAS, "of the private answer t", "blue"),
            Line(EPSILONS, delta_curve(function, strength), "of g(t)", "orange", "dashed", 3),
            dot(1, BEFORE.delta(1), colour="blue", size=8),
            dot(1, after.delta(1), colour="orange", marker="square", size=8),
        ),
    )
