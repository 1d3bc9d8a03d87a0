"""Lecture 1: the explorers of pure differential privacy, for one number."""

from __future__ import annotations

import math

import numpy as np

from dpcourse import Laplace
from dpcourse.explore.widget import explorer
from dpcourse.plots import Axis, Bars, Line, Picture, Points, Rule, Scene, panel, slider

__all__ = ["laplace_scale", "two_worlds"]

SCALES = np.round(np.concatenate([np.arange(0.5, 1, 0.1), np.arange(1, 2, 0.2), np.arange(2, 5.01, 0.5)]), 2)


@explorer
def two_worlds(count: float = 51, neighbour: float = 50) -> Scene:
    """The answers with Alice and without her, the ratio of their densities at an output y, and the rails it keeps."""
    low, high = min(count, neighbour) - 6, max(count, neighbour) + 6
    answers = np.linspace(low, high, 241)
    outputs = np.round(np.arange(low, high + 0.05, 0.2), 2)

    def draw(b: float, y: float) -> Picture:
        mechanism = Laplace(epsilon=abs(count - neighbour) / b, sensitivity=abs(count - neighbour))
        density, other = (np.exp(mechanism.log_prob(answers, true)) for true in (count, neighbour))
        here, there = (math.exp(mechanism.log_prob(y, true)) for true in (count, neighbour))
        ratio = math.exp(mechanism.privacy_loss(y, count, neighbour))
        most = math.exp(mechanism.epsilon)
        return Picture(
            (
                panel(
                    "Which world did the answer come from?",
                    Axis("published answer y", low, high),
                    Axis("probability density", 0, 1.05),
                    Line(answers, density, f"with Alice (true count {count:g})", "blue"),
                    Line(answers, other, f"without Alice ({neighbour:g})", "red", "dashed"),
                    Rule(y, "x", f"y = {y:.1f}"),
                    Points([y], [here], "", "blue", "circle", 9),
                    Points([y], [there], "", "red", "square", 9),
                    drag="y",
                    share=2,
                ),
                panel(
                    "How strongly does y speak for Alice?",
                    Axis("", 0, 1, ticks=((0.5, "ratio at this y"),)),
                    Axis("with Alice / without", 0.1, 10, log=True),
                    Bars([0.5], [ratio], "", "purple", "solid", 0.4, 1),
                    Rule(most, "y", f"never above {most:.3f}", "ink"),
                    Rule(1 / most, "y", f"never below {1 / most:.3f}", "ink"),
                ),
            ),
            f"At y = {y:.1f} the answer is {ratio:.3f} times as likely with Alice as without her. With b = {b:g} that "
            f"ratio stays between {1 / most:.3f} and {most:.3f}, whatever y is.",
        )

    controls = (
        slider("y", "published answer y", outputs, count + 1.5, "{:.1f}"),
        slider("b", "noise scale b", SCALES, 1, "{:g}"),
    )
    return Scene("Two worlds, one answer", "Where does an answer speak most strongly for Alice?", controls, draw)


@explorer
def laplace_scale() -> Scene:
    """Figure 3 of the slides: the privacy loss along y for several scales b, between its rails at 1/b and -1/b."""
    answers = np.linspace(44, 57, 261)
    others = {0.5: ("grey", "dotted"), 1: ("sky", "dashdot"), 4: ("grey", "dashed")}

    def loss(b: float) -> np.ndarray:
        return np.asarray(Laplace(epsilon=1 / b, sensitivity=1).privacy_loss(answers, 51, 50))

    fixed = [Line(answers, loss(b), f"b = {b:g}", *style) for b, style in others.items()]
    scales = np.round(np.arange(0.5, 5.01, 0.1), 1)

    def draw(b: float) -> Picture:
        mechanism = Laplace(epsilon=1 / b, sensitivity=1)
        return Picture(
            (
                panel(
                    "Privacy loss of every answer: 51 people against 50",
                    Axis("published answer y", 44, 57),
                    Axis("privacy loss ln(p/p')", -2.2, 2.2),
                    fixed,
                    Line(answers, loss(b), "your b", "blue", width=3.5),
                    Rule(1 / b, "y", f"1/b = {1 / b:.2f}: ratio e^(1/b) = {math.exp(1 / b):.2f}", "red"),
                    Rule(-1 / b, "y", f"-1/b = {-1 / b:.2f}", "red"),
                    share=2,
                ),
                panel(
                    "The price: how wrong is the count?",
                    Axis("noise scale b", 0, 5.2),
                    Axis("average error (people)", 0, 5.5),
                    Line(scales, [Laplace(epsilon=1 / s, sensitivity=1).scale for s in scales], "", "green"),
                    Points([b], [mechanism.scale], "your b", "blue", "circle", 10),
                ),
            ),
            f"b = {b:g}: no answer is more than e^{1 / b:.2f} = {math.exp(1 / b):.2f} times likelier with one person "
            f"more. The count is off by {mechanism.scale:.1f} on average.",
        )

    return Scene(
        "The scale is the dial",
        "Should more privacy mean a wider or a narrower noise?",
        (slider("b", "noise scale b", scales, 2, "{:.1f}"),),
        draw,
    )
