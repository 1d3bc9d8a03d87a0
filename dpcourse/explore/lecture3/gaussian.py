"""Lecture 3: the Gaussian mechanism: its classical and its exact sigma, and its noise on many coordinates."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse import sensitivity
from dpcourse.mechanisms import Gaussian, Laplace, classical_limit, classical_sigma
from dpcourse.privacy_loss import GaussianLoss
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Rule, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["gaussian_sigma", "noise_in_dimensions"]

DELTA = 1e-5


def _true_delta(epsilon: float, delta: float) -> float:
    """What the classical sigma really keeps."""
    return float(GaussianLoss(1 / classical_sigma(epsilon, delta)).delta(epsilon))


GRID = np.geomspace(0.1, 20, 47)


@lru_cache(maxsize=64)
def sigma_curves(delta: float) -> tuple[list[float], list[float], list[float], float]:
    """Over epsilon: the classical sigma, the exact one, the classical one's true delta; and from where on it fails."""
    return (
        [classical_sigma(epsilon, delta) for epsilon in GRID],
        [Gaussian.analytic(epsilon=epsilon, delta=delta).sigma for epsilon in GRID],
        [_true_delta(epsilon, delta) for epsilon in GRID],
        classical_limit(delta),
    )


EPSILONS = np.unique(np.round([*np.geomspace(0.1, 1, 9), *np.geomspace(1, 20, 17), 0.3, 2, 5, 8, 8.42, 8.5, 10], 2))


@explorer(
    "The textbook σ and the exact one",
    "Where does the classical formula fail?",
    slider("epsilon", "ε", EPSILONS, 0.3, "{:g}"),
    slider("delta", "promised δ", [10.0**-d for d in range(9, 2, -1)], DELTA, "{:.0e}"),
)
def gaussian_sigma(epsilon: float, delta: float) -> Picture:
    """The slide's sigma against the smallest one there is, and the delta that the slide's really has."""
    classical, analytic, true, limit = sigma_curves(delta)
    textbook, best = classical_sigma(epsilon, delta), Gaussian.analytic(epsilon=epsilon, delta=delta).sigma
    true_delta = _true_delta(epsilon, delta)
    verdict = (
        f"too little noise: its true δ is {true_delta:.2g}"
        if true_delta > delta
        else f"more noise than needed (its true δ is {true_delta:.2g})"
    )
    reached = np.minimum(GRID, epsilon)
    fails = true_delta > delta  # what lies ahead of the slider is not given away
    ends = f"Its proof ends at ε = 1{f', and it really fails from ε = {limit:.2f} on' if fails else ''}."
    return picture_of(
        f"ε = {epsilon:g}, δ = {delta:.0e}: classical σ = {textbook:.3f}, exact σ = {best:.3f}. The classical "
        f"formula gives {verdict}. {ends}",
        panel(
            "How much noise?",
            Axis("ε", 0.1, 20, log=True),
            Axis("σ (for Δ₂ = 1)", 0.1, 100, log=True),
            Line(GRID, classical, "classical formula", "orange", "dashed", 2.5),
            Line(GRID, analytic, "exact (analytic)", "blue"),
            dot(epsilon, textbook, colour="orange", marker="square"),
            dot(epsilon, best, colour="blue"),
            drag="epsilon",
        ),
        panel(
            "The true δ of the classical formula",
            Axis("ε", 0.1, 20, log=True),
            Axis("δ", 1e-14, 1, log=True),
            Line(
                reached,
                np.where(epsilon >= GRID, true, true_delta),
                "true δ, up to your ε",
                "orange",
                "dashed",
                2.5,
            ),
            dot(epsilon, true_delta, colour="orange", marker="square"),
            Rule(delta, "y", dash="solid"),
            Label(0.11, delta, f"promised δ = {delta:.0e}", "ink", "start"),
            Rule(1, "x", "proof ends", "grey", "dotted"),
            Rule(limit, "x", "fails", "red") if fails else Rule(1, "x", colour="grey", dash="dotted"),
        ),
    )


DIMENSIONS = np.unique(np.round(np.geomspace(1, 10_000, 81)).astype(int))


def deviations(epsilon: float, k: int) -> tuple[float, float]:
    """The standard deviation of the noise on one coordinate."""
    total, straight = (sensitivity.bounded_sum(0, 1, dimension=k, norm=norm) for norm in ("l1", "l2"))
    laplace = Laplace(epsilon=epsilon, sensitivity=total)
    gaussian = Gaussian.analytic(epsilon=epsilon, delta=DELTA, sensitivity=straight)
    return math.sqrt(2) * laplace.scale, gaussian.sigma  # the variance of Laplace noise is 2 b^2


@lru_cache(maxsize=64)
def first_win(epsilon: float) -> int:
    """The smallest k at which the Gaussian is less noisy: its noise grows like sqrt(k), that of Laplace like k."""
    laplace, gaussian = deviations(epsilon, 1)
    return math.floor((gaussian / laplace) ** 2) + 1


@lru_cache(maxsize=64)
def deviation_curves(epsilon: float) -> np.ndarray:
    """Both deviations over the number of coordinates."""
    return np.array([deviations(epsilon, int(k)) for k in DIMENSIONS]).T


@explorer(
    "Straight lines are shorter",
    "When does Gaussian noise beat Laplace noise?",
    slider("k", "numbers published k", [1, 2, 3, 5, 7, 10, 20, 30, 50, 100, 300, 1000, 3000, 10_000], 1, "{:,}"),
    slider("epsilon", "ε", [0.1, 0.2, 0.5, 1, 2, 5, 10], 1, "{:g}"),
)
def noise_in_dimensions(k: int, epsilon: float) -> Picture:
    """One person may move each of k numbers by 1: noise by l1 (Laplace) against noise by l2 (Gaussian)."""
    laplace, gaussian = deviation_curves(epsilon)
    mine, other = deviations(epsilon, k)
    first = first_win(epsilon)
    better, worse, factor = (
        ("Gaussian", "Laplace", mine / other) if other < mine else ("Laplace", "Gaussian", other / mine)
    )
    times = f"{factor:.3f}" if factor < 1.01 else f"{factor:.2f}" if factor < 10 else f"{factor:.1f}"
    wins = f" Gaussian noise wins from k = {first} on." if k >= first else ""
    return picture_of(
        f"k = {k:,}, ε = {epsilon:g}: Laplace noise has standard deviation {mine:,.2f} on each number, Gaussian "
        f"noise {other:,.2f} (δ = {DELTA:.0e}). {better} is {times} times better than {worse}.{wins}",
        panel(
            "Noise on each of k numbers",
            Axis("how many numbers are published, k", 0.8, 13_000, log=True),
            Axis("standard deviation of the noise on one number", 0.1, 2e5, log=True),
            Line(DIMENSIONS, laplace, "Laplace: Δ₁ = k", "orange", "dashed", 2.5),
            Line(DIMENSIONS, gaussian, "Gaussian: Δ₂ = √k", "blue"),
            dot(k, mine, colour="orange", marker="square"),
            dot(k, other, colour="blue"),
            drag="k",
            share=2,
        ),
        panel(
            "Laplace noise / Gaussian noise",
            Axis("", 0, 1, ticks=((0.5, "at your k"),)),
            Axis("ratio", 0.05, 100, log=True),
            Bars([0.5], [mine / other], colour="purple", width=0.4, base=1),
            Rule(1, "y", "equal", "ink", "solid"),
        ),
    )
