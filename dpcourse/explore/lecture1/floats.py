"""Lecture 1: floating-point numbers give away the count that Laplace noise should hide."""

from __future__ import annotations

from functools import cache

import numpy as np

from dpcourse.audit.float_leak import reachable
from dpcourse.mechanisms import DiscreteLaplace, Laplace
from dpcourse.scenes import Axis, Bars, Picture, Rule, again, choice, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["floating_point"]

ANSWERS = 200
REACH = 20  # floats on either side of the published one


PLACES = np.arange(-REACH, REACH + 1)
TICKS = tuple((float(step), f"{step:+d}".replace("-", "−") if step else "0") for step in (-20, -10, 0, 10, 20))


@cache
def textbook_answers(truth: int, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """The textbook's answers, and for each whether the other count could have given it, too."""
    seed = np.random.default_rng([truth, round(1000 * epsilon)])
    outputs = Laplace(epsilon=epsilon, sensitivity=1).release(float(truth), size=ANSWERS, rng=seed)
    return outputs, reachable(outputs, 1.0 - truth, 1 / epsilon)


@cache
def discrete_answers(truth: int, epsilon: float) -> np.ndarray:
    """The discrete mechanism's answers: True where the other count could have given them."""
    mechanism = DiscreteLaplace(epsilon=epsilon)
    outputs = mechanism.release(truth, size=ANSWERS, rng=np.random.default_rng([7, truth]))
    return np.isfinite(mechanism.log_prob(outputs, 1 - truth))


@explorer(
    "What the last digit says",
    "Can a single noisy answer prove that the count was 0 and not 1?",
    choice("truth", "true", ["count 0", "count 1"]),
    slider("epsilon", "ε", [0.1, 0.5, 1.0, 2.0, 5.0, 10.0], 1, "{:g}"),
    again("Another answer", 12),
)
def floating_point(truth: str, epsilon: float, draw: int) -> Picture:
    """One float, seen through a microscope: which of the floats around it can each count give? (Mironov 2012.)"""
    true = int(truth[-1])
    outputs, both = textbook_answers(true, epsilon)
    one = float(outputs[draw % ANSWERS])
    around = one + PLACES * np.spacing(abs(one))
    teeth = [reachable(around, float(count), 1 / epsilon) for count in (0, 1)]
    certain = ANSWERS - int(both.sum())
    shares = np.array([certain, ANSWERS - certain]) / ANSWERS
    other = discrete_answers(true, epsilon)
    verdict = (
        "Both counts can give this float." if both[draw % ANSWERS] else f"Only a count of {true} can give this float."
    )
    return picture_of(
        f"The answer was {one!r}. {verdict} Of {ANSWERS} textbook answers at ε = {epsilon:g}, {certain} "
        f"({certain / ANSWERS:.0%}) prove the count; of the discrete Laplace's, {int((~other).sum())}.",
        panel(
            "A microscope on one answer: which floats are possible?",
            Axis("steps from float to float", -REACH - 0.5, REACH + 0.5, ticks=TICKS),
            Axis("", -0.1, 2.5, ticks=((0.5, "from count 0"), (1.7, "from count 1"))),
            Bars(PLACES, np.where(teeth[0], 1.0, 0.0), colour="blue"),
            Bars(PLACES, np.where(teeth[1], 2.2, 1.2), colour="red", base=1.2),
            Rule(0, "x", "the answer", "ink"),
            share=3,
        ),
        panel(
            f"All {ANSWERS} answers (the button picks one of them): how many give the count away?",
            Axis("", -0.6, 1.6, ticks=((0, "give it away"), (1, "either count"))),
            Axis("share of the answers", 0, 1.05),
            Bars([-0.19, 0.81], shares, "textbook, in floats", "purple", "solid", 0.34),
            Bars([0.19, 1.19], [1 - other.mean(), other.mean()], "discrete Laplace", "green", "striped", 0.34),
            share=2,
        ),
    )
