"""Lecture 3: the privacy loss random variable: its histogram, its tail, and the share of it that delta counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dpcourse.mechanisms import Gaussian, Laplace, Mechanism, RandomizedResponse
from dpcourse.privacy_loss import PrivacyLoss
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["plrv", "tail_against_delta"]

STEP = 0.2  # the width of a bar of losses; the epsilons of the slider fall between bars
SPIKE = 0.1  # the width of a spike: a single loss that has a probability of its own
EDGES = np.round(np.arange(-4, 5 + STEP / 2, STEP), 10)
OUTPUTS = np.round(np.arange(46.55, 55.5, 0.1), 10)  # the middles of the bars of outputs


@dataclass(frozen=True)
class Example:
    """A mechanism with two neighbouring answers, and the axes on which it is shown."""

    name: str
    mechanism: Mechanism
    data: int
    neighbour: int
    highest_bar: float  # of the histogram of losses
    numeric: bool = True

    @property
    def loss(self) -> PrivacyLoss:
        """The loss of this very pair."""
        return self.mechanism.plrv(self.data, self.neighbour)

    @property
    def spikes(self) -> np.ndarray:
        """The two losses that may have a probability of their own (a Gaussian's has no such loss: any two will do)."""
        most = self.loss.max_loss
        return np.array([-most, most] if math.isfinite(most) else [-1.0, 1.0])

    def loss_axis(self) -> Axis:
        """The probabilities of the losses. A bell in bars is much lower than two spikes, and the label says so."""
        return Axis(f"probability (bars {STEP:g} wide, axis ends at {self.highest_bar:g})", 0, self.highest_bar)

    def output_axis(self) -> Axis:
        """Noisy counts around 50 and 51, or the two possible reports."""
        if self.numeric:
            return Axis("published answer t", 46.5, 55.5, ticks=tuple((t, f"{t}") for t in (47, 49, 50, 51, 53, 55)))
        return Axis("published answer t", -0.8, 1.8, ticks=((0, "no"), (1, "yes"), *[(1, "")] * 4))  # as many as above


EXAMPLES = {
    example.name: example
    for example in (
        Example("Laplace (b = 1)", Laplace(epsilon=1, sensitivity=1), 51, 50, 0.6),
        Example("Gaussian (σ = 1)", Gaussian(sigma=1, sensitivity=1), 51, 50, 0.1),
        Example("randomized response (θ = .75)", RandomizedResponse(epsilon=math.log(3)), 1, 0, 0.85, False),
    )
}


@cache
def output_bars(example: Example) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Outputs, how likely each is with Alice, and its loss; two reports are padded by bars without height."""
    mechanism, bars = example.mechanism, np.arange(OUTPUTS.size)
    outputs = OUTPUTS if example.numeric else np.where(bars == 0, 0, 1)
    height = np.exp(mechanism.log_prob(outputs, example.data))
    height = height if example.numeric else np.where(bars < 2, height, 0)
    return outputs, height, np.asarray(mechanism.privacy_loss(outputs, example.data, example.neighbour))


@cache
def spike_heights(example: Example) -> tuple[np.ndarray, np.ndarray]:
    """The probability of each of the two single losses, with Alice and without her."""
    above, below = example.loss.above(example.spikes), example.loss.below(example.spikes)
    with_her, without = (np.clip(1 - up - down, 0, 1) for up, down in zip(above, below, strict=True))
    return np.where(with_her > 1e-12, with_her, 0), np.where(without > 1e-12, without, 0)


def _without_spikes(example: Example, share: np.ndarray, spikes: np.ndarray) -> np.ndarray:
    """The bars, less the spikes that were counted in them; a spike on an edge lies in the bar below it."""
    share = share.copy()
    np.subtract.at(share, np.searchsorted(EDGES, example.spikes) - 1, spikes)
    return np.where(share > 1e-12, share, 0)


@cache
def loss_bars(example: Example) -> tuple[np.ndarray, np.ndarray]:
    """The middles of the bars, and the probability of each, without the single losses that are drawn as spikes."""
    above = example.loss.above(EDGES)[0]
    share = _without_spikes(example, above[:-1] - above[1:], spike_heights(example)[0])
    return np.round((EDGES[:-1] + EDGES[1:]) / 2, 10), share


def counted(example: Example, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """What each bar and each spike adds to delta(epsilon): P - e^epsilon Q of its losses above epsilon."""
    p, q = example.loss.above(np.maximum(EDGES, epsilon))
    bars = np.maximum(p[:-1] - p[1:] - math.exp(epsilon) * (q[:-1] - q[1:]), 0)
    mine, theirs = spike_heights(example)
    spikes = np.where(example.spikes > epsilon, np.maximum(mine - math.exp(epsilon) * theirs, 0), 0)
    return _without_spikes(example, bars, spikes), spikes


def three_kinds(x: np.ndarray, height: np.ndarray, loss: np.ndarray, epsilon: float, width: float) -> list[Bars]:
    """The same bars, told apart by their loss: beyond epsilon, between, beyond minus epsilon."""
    slack = 1e-9  # a loss of exactly epsilon is not beyond it, whatever its last bit says
    kinds = (
        (loss > epsilon + slack, "loss above ε: speaks for Alice", "red", "solid"),
        (loss < -epsilon - slack, "loss below −ε: speaks against her", "blue", "striped"),
        (np.abs(loss) <= epsilon + slack, "loss between −ε and ε", "grey", "outline"),
    )
    return [Bars(x, np.where(here, height, 0), label, colour, texture, width) for here, label, colour, texture in kinds]


def outside(loss: PrivacyLoss, epsilon: float) -> tuple[float, float]:
    """Pr[L > epsilon] and Pr[L < -epsilon]."""
    return float(loss.above(epsilon)[0]), float(loss.below(-epsilon)[0])


def unnamed(marks: list[Bars]) -> list[Bars]:
    """The legend stands beside the outputs, once."""
    return [replace(mark, label="") for mark in marks]


@explorer(
    "The loss is a random variable",
    "Which outputs give away more than ε?",
    choice("mechanism", "mechanism", list(EXAMPLES)),
    slider("epsilon", "promised ε", np.round(np.arange(0.2, 3.01, 0.2), 1), 1, "{:g}"),
)
def plrv(mechanism: str, epsilon: float) -> Picture:
    """Outputs coloured by their privacy loss, and the histogram of that loss ("Example of L for Laplace mechanism")."""
    example = EXAMPLES[mechanism]
    (outputs, density, output_loss), (losses, share) = output_bars(example), loss_bars(example)
    spikes = spike_heights(example)[0]
    up, down = outside(example.loss, epsilon)
    return picture_of(
        f"{mechanism}: the loss lies above ε = {epsilon:g} with probability {up:.4f} and below −{epsilon:g} with "
        f"probability {down:.4f}. On average it is {example.loss.mean:.3f}.",
        panel(
            "What is published, if Alice is there",
            example.output_axis(),
            Axis("density" if example.numeric else "probability", 0, 0.8),
            three_kinds(outputs, density, output_loss, epsilon, 0.09 if example.numeric else 0.6),
        ),
        panel(
            "The privacy loss of what is published",
            Axis("privacy loss L", -4, 5),
            example.loss_axis(),
            unnamed(three_kinds(losses, share, losses, epsilon, STEP * 0.9)),
            unnamed(three_kinds(example.spikes, spikes, example.spikes, epsilon, SPIKE)),
            Rule(epsilon, "x"),
            Rule(-epsilon, "x"),
            Label(epsilon + 0.15, example.highest_bar * 0.93, "ε", "ink", "start"),
            Label(-epsilon - 0.2, example.highest_bar * 0.93, "−ε", "ink", "end"),
        ),
    )


GRID = np.round(np.arange(0, 3.001, 0.02), 2)
EPSILONS = np.unique(np.round([*np.arange(0, 3.01, 0.1), math.log(2), math.log(3)], 12))


@cache
def curves(example: Example) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Over epsilon: Pr[|L| > epsilon], Pr[L > epsilon], and the exact delta."""
    above, below = example.loss.above(GRID)[0], example.loss.below(-GRID)[0]
    return np.minimum(above + below, 1), np.asarray(above), example.loss.delta(GRID)


@explorer(
    "The tail is not δ",
    "Is δ the probability that the loss exceeds ε?",
    choice("mechanism", "mechanism", list(EXAMPLES), "Gaussian (σ = 1)"),
    slider("epsilon", "ε", EPSILONS, 1, "{:.3g}"),
)
def tail_against_delta(mechanism: str, epsilon: float) -> Picture:
    """The tail of the loss against the exact delta (the slide takes them for the same), for the same mechanisms."""
    example = EXAMPLES[mechanism]
    (either, above, delta), (losses, share), spikes = curves(example), loss_bars(example), spike_heights(example)[0]
    up, down = outside(example.loss, epsilon)
    exact = example.loss.delta(epsilon)
    in_bars, in_spikes = counted(example, epsilon)
    enough = f"Yet δ = {exact:.4f} is enough: a loss L above ε counts only with the share 1 − e^(ε − L)."
    verdict = enough if up else f"Nothing is above ε, and δ = {exact:.4f}."
    return picture_of(
        f"{mechanism}, ε = {epsilon:.4g}: the loss is beyond ±ε with probability {up + down:.4f}, above ε with "
        f"probability {up:.4f}. {verdict}",
        panel(
            "Two tails and the truth",
            Axis("ε", 0, 3),
            Axis("probability", 0, 1.05),
            Line(GRID, either, "Pr[|L| > ε]", "grey", "dotted", 2.5),
            Line(GRID, above, "Pr[L > ε]", "blue", "dashed"),
            Line(GRID, delta, "exact δ(ε)", "red", width=3),
            dot(epsilon, up + down, colour="grey", marker="triangle"),
            dot(epsilon, up, colour="blue", marker="square"),
            dot(epsilon, exact, colour="red"),
            Rule(epsilon, "x", f"ε = {epsilon:.3g}"),
            drag="epsilon",
        ),
        panel(
            "How much of each loss δ counts",
            Axis("privacy loss L", -4, 5),
            example.loss_axis(),
            Bars(losses, share, "all outputs", "grey", "outline", STEP * 0.9),
            Bars(example.spikes, spikes, colour="grey", texture="outline", width=SPIKE),
            Bars(losses, in_bars, "counted by δ: the share 1 − e^(ε − L)", "red", "solid", STEP * 0.9),
            Bars(example.spikes, in_spikes, colour="red", width=SPIKE),
            Rule(epsilon, "x", "ε"),
        ),
    )
