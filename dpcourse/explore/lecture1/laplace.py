"""Lecture 1: Laplace noise on one number: its density, its privacy loss, its error."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse import checks
from dpcourse.mechanisms import Laplace
from dpcourse.scenes import Axis, Band, Bars, Label, Line, Picture, Rule, Scene, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer, explorer_from_scene

__all__ = ["count_error", "laplace_density", "laplace_scale", "two_worlds"]

SCALES = np.round(np.concatenate([np.arange(0.5, 1, 0.1), np.arange(1, 2, 0.2), np.arange(2, 5.01, 0.5)]), 2)


@explorer_from_scene
def two_worlds(count: float = 51, neighbour: float = 50) -> Scene:
    """The answers with Alice and without her, the ratio of their densities at an output y, and the rails it keeps.

    The rails are the answer to the question, so each is drawn and named only where the ratio lies on it.
    """
    count, neighbour = checks.real("count", count), checks.real("neighbour", neighbour)
    if not 0.01 <= abs(count - neighbour) <= 10 or max(abs(count), abs(neighbour)) > 1e9:
        allowed = "count and neighbour must differ by 0.01 to 10 and lie within a billion of 0"
        raise ValueError(f"{allowed}, got {count!r} and {neighbour!r}")
    low, high = min(count, neighbour) - 6, max(count, neighbour) + 6
    answers = np.linspace(low, high, 241)
    outputs = np.linspace(low, high, round(4 * (high - low)) + 1)
    rail = {True: {"colour": "ink", "dash": "dashed"}, False: {"colour": "grey", "dash": "dotted"}}
    widest = 2.5 * math.exp(abs(count - neighbour) / SCALES[0])

    @lru_cache(maxsize=64)
    def mechanism_and_densities(b: float) -> tuple[Laplace, np.ndarray, np.ndarray]:
        mechanism = Laplace(epsilon=abs(count - neighbour) / b, sensitivity=abs(count - neighbour))
        density, other = (np.exp(mechanism.log_prob(answers, true)) for true in (count, neighbour))
        return mechanism, density, other

    def draw(y: float, b: float) -> Picture:
        mechanism, density, other = mechanism_and_densities(b)
        here, there = (math.exp(mechanism.log_prob(y, true)) for true in (count, neighbour))
        ratio = math.exp(mechanism.privacy_loss(y, count, neighbour))
        most = math.exp(mechanism.epsilon)
        above, below = ratio > most * (1 - 1e-9), ratio < (1 + 1e-9) / most
        reached = f" No y goes {'above' if above else 'below'} that, with b = {b:g}." if above or below else ""
        return picture_of(
            f"At y = {y:,.10g} the answer is {ratio:.3f} times as likely with Alice as without her: whoever gave her "
            f"50% before gives her {ratio / (1 + ratio):.1%} now.{reached}",
            panel(
                "Which world did the answer come from?",
                Axis("published answer y", low, high),
                Axis("probability density", 0, 1.05),
                Line(answers, density, f"with Alice (true count {count:,.10g})", "blue"),
                Line(answers, other, f"without Alice ({neighbour:,.10g})", "red", "dashed"),
                Rule(y, "x", f"y = {y:,.10g}"),
                dot(y, here, colour="blue"),
                dot(y, there, colour="red", marker="square"),
                drag="y",
                share=2,
            ),
            panel(
                "How strongly does y speak for Alice?",
                Axis("", 0, 1, ticks=((0.5, "ratio at this y"),)),
                Axis("with Alice / without", 1 / widest, widest, log=True),
                Bars([0.5], [ratio], colour="purple", width=0.4, base=1),
                Rule(1, "y", colour="grey", dash="dotted"),
                Rule(most if above else 1, "y", f"never above {most:.3f}" if above else "", **rail[above]),
                Rule(1 / most if below else 1, "y", **rail[below]),
                Label(0.97, 1 / most / 1.6, f"never below {1 / most:.3f}" if below else "", "ink", "end"),
            ),
        )

    controls = (
        slider("y", "published answer y", outputs, (3 * count + neighbour) / 4, "{:.10g}"),
        slider("b", "noise scale b", SCALES, 1, "{:g}"),
    )
    return Scene("Two worlds, one answer", "Where does an answer speak most strongly for Alice?", controls, draw)


NOISE = np.linspace(-10, 10, 401)
DENSITY_STYLES = {1: ("sky", "dashdot"), 2: ("green", "dashed"), 4: ("grey", "dotted")}


def noise_density(b: float) -> np.ndarray:
    """The density of Laplace noise of scale b."""
    return np.exp(Laplace(epsilon=1 / b, sensitivity=1).log_prob(NOISE, 0))


DENSITIES = [Line(NOISE, noise_density(b), f"b = {b:g}", *style) for b, style in DENSITY_STYLES.items()]
DENSITY_SCALES = np.round(np.arange(0.5, 4.01, 0.1), 1)


@explorer(
    "The shape of the noise",
    "What happens to the peak when the curve gets wider?",
    slider("b", "noise scale b", DENSITY_SCALES, 1, "{:.1f}"),
)
def laplace_density(b: float) -> Picture:
    """Figures 1 and 2 of the slides: the density of the noise for a scale b, beside those of b = 1, 2 and 4."""
    mechanism = Laplace(epsilon=1 / b, sensitivity=1)
    top, half, most = math.exp(mechanism.log_prob(0, 0)), mechanism.margin(0.5), mechanism.margin(0.9)
    inside = np.linspace(-half, half, 61)
    return picture_of(
        f"b = {b:g}: the curve peaks at 1/(2b) = {top:.3f}. Half of the answers are off by less than {half:.2f} "
        f"people, nine in ten by less than {most:.2f}; the average distance is b itself.",
        panel(
            "How likely is which noise?",
            Axis("noise added to the true count (people)", -10, 10),
            Axis("probability density", 0, 1.05),
            Band(inside, np.zeros(61), np.exp(mechanism.log_prob(inside, 0)), "half of all answers", "blue"),
            DENSITIES,
            Line(NOISE, noise_density(b), "your b", "blue", width=3.5),
            Rule(-most, "x", colour="ink", dash="dotted"),
            Rule(most, "x", f"9 of 10 within {most:.1f}", "ink", "dotted"),
            height=280,
        ),
    )


ANSWERS = np.linspace(44, 57, 261)
LOSS_STYLES = {0.5: ("grey", "dotted"), 1: ("sky", "dashdot"), 4: ("grey", "dashed")}


def loss_along_answers(b: float) -> np.ndarray:
    """The privacy loss of every answer under Laplace noise of scale b."""
    return np.asarray(Laplace(epsilon=1 / b, sensitivity=1).privacy_loss(ANSWERS, 51, 50))


LOSSES = [Line(ANSWERS, loss_along_answers(b), f"b = {b:g}", *style) for b, style in LOSS_STYLES.items()]
LOSS_SCALES = np.round(np.arange(0.5, 5.01, 0.1), 1)
AVERAGE_BY_SCALE = Line(LOSS_SCALES, [Laplace(epsilon=1 / s, sensitivity=1).scale for s in LOSS_SCALES], colour="green")


@explorer(
    "The scale is the dial",
    "How much more private is twice the width?",
    slider("b", "noise scale b", LOSS_SCALES, 2, "{:.1f}"),
)
def laplace_scale(b: float) -> Picture:
    """Figure 3 of the slides: the privacy loss along y for several scales b, between its rails at 1/b and -1/b."""
    mechanism = Laplace(epsilon=1 / b, sensitivity=1)
    return picture_of(
        f"b = {b:g}: no answer is more than e^{1 / b:.2f} = {math.exp(1 / b):.2f} times likelier with one person "
        f"more. The count is off by {mechanism.scale:g} on average.",
        panel(
            "Privacy loss of every answer: 51 people against 50",
            Axis("published answer y", 44, 57),
            Axis("privacy loss: ln(density with / without)", -2.2, 2.9),
            LOSSES,
            Line(ANSWERS, loss_along_answers(b), "your b", "blue", width=3.5),
            Rule(1 / b, "y", colour="red"),
            Rule(-1 / b, "y", colour="red"),
            Label(44.2, 2.35, f"rails: 1/b = {1 / b:.2f} and −{1 / b:.2f}", "red", "start"),
            share=2,
        ),
        panel(
            "The price: how wrong is the count?",
            Axis("noise scale b", 0, 5.2),
            Axis("average error (people)", 0, 5.5),
            AVERAGE_BY_SCALE,
            dot(b, mechanism.scale, "your b", colour="blue", size=10),
        ),
    )


BUDGETS = np.round(np.concatenate([np.arange(1, 10) * 10.0**k for k in (-2, -1, 0)] + [[10.0]]), 2)
COUNTS = np.array([5, 10, 20, 51, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000])
COUNTERS = [Laplace(epsilon=epsilon, sensitivity=1) for epsilon in BUDGETS]
AVERAGE_ERROR = Line(BUDGETS, [counter.scale for counter in COUNTERS], "average error", "blue")
MARGIN = Line(BUDGETS, [counter.margin(0.95) for counter in COUNTERS], "19 of 20 answers are closer", "red", "dashed")


@explorer(
    "What privacy costs a count",
    "How large must a count be before its noise no longer matters?",
    slider("epsilon", "privacy budget ε", BUDGETS, 0.1, "{:g}"),
    slider("count", "true count", COUNTS, 51, "{:,}"),
)
def count_error(epsilon: float, count: int) -> Picture:
    """Privacy against utility: the error of a noisy count over epsilon, in people and as a share of the count."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=1)
    return picture_of(
        f"ε = {epsilon:g}: the count is off by {mechanism.scale:.4g} people on average, 19 answers in 20 by less "
        f"than {mechanism.margin(0.95):.3g}. For a true count of {count:,} the average error is "
        f"{100 * mechanism.scale / count:.3g}%.",
        panel(
            "The error in people: whatever the count is",
            Axis("privacy budget ε", 0.01, 10, log=True),
            Axis("error (people)", 0.05, 500, log=True),
            AVERAGE_ERROR,
            MARGIN,
            dot(epsilon, mechanism.scale, colour="blue", size=10),
            dot(epsilon, mechanism.margin(0.95), colour="red", marker="square"),
            drag="epsilon",
        ),
        panel(
            "The same error as a share of the count",
            Axis("true count (people)", 5, 1_000_000, log=True),
            Axis("average error / count", 1e-7, 100, log=True),
            Line(COUNTS, mechanism.scale / COUNTS, colour="green"),
            dot(count, mechanism.scale / count, "your count", colour="green", marker="diamond", size=10),
            Rule(1, "y", "the error is as large as the count", "ink", "dotted"),
            drag="count",
        ),
    )
