"""Lecture 3: the Gaussian mechanism, its two calibrations, and why many coordinates like it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse import Gaussian, GaussianLoss, Laplace, sensitivity
from dpcourse.mechanisms import classical_limit, classical_sigma
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Points, Rule, Scene, panel, slider
from dpcourse.scenes.widget import explorer

__all__ = ["gaussian_sigma", "noise_in_dimensions"]

DELTA = 1e-5


def _true_delta(epsilon: float, delta: float) -> float:
    """What the classical sigma really keeps."""
    return float(GaussianLoss(1 / classical_sigma(epsilon, delta)).delta(epsilon))


@explorer
def gaussian_sigma() -> Scene:
    """The slide's sigma against the smallest one there is, and the delta that the slide's really has."""
    grid = np.geomspace(0.1, 20, 47)

    @lru_cache(maxsize=64)
    def curves(delta: float) -> tuple[list[float], list[float], list[float], float]:
        return (
            [classical_sigma(epsilon, delta) for epsilon in grid],
            [Gaussian.analytic(epsilon=epsilon, delta=delta).sigma for epsilon in grid],
            [_true_delta(epsilon, delta) for epsilon in grid],
            classical_limit(delta),
        )

    def draw(epsilon: float, delta: float) -> Picture:
        classical, analytic, true, limit = curves(delta)
        textbook, best = classical_sigma(epsilon, delta), Gaussian.analytic(epsilon=epsilon, delta=delta).sigma
        kept = _true_delta(epsilon, delta)
        verdict = (
            f"too little noise: its true δ is {kept:.2g}"
            if kept > delta
            else f"more noise than needed (its true δ is {kept:.2g})"
        )
        failed = kept > delta  # what lies ahead of the slider is not given away
        ends = f"Its proof ends at ε = 1{f', and it really fails from ε = {limit:.2f} on' if failed else ''}."
        return Picture(
            (
                panel(
                    "How much noise?",
                    Axis("ε", 0.1, 20, log=True),
                    Axis("σ (for Δ₂ = 1)", 0.1, 100, log=True),
                    Line(grid, classical, "classical formula", "orange", "dashed", 2.5),
                    Line(grid, analytic, "exact (analytic)", "blue"),
                    Points([epsilon], [textbook], "", "orange", "square", 9),
                    Points([epsilon], [best], "", "blue", "circle", 9),
                    drag="epsilon",
                ),
                panel(
                    "The true δ of the classical formula",
                    Axis("ε", 0.1, 20, log=True),
                    Axis("δ", 1e-14, 1, log=True),
                    Line(
                        np.minimum(grid, epsilon),
                        np.where(grid <= epsilon, true, kept),
                        "true δ, up to your ε",
                        "orange",
                        "dashed",
                        2.5,
                    ),
                    Points([epsilon], [kept], "", "orange", "square", 9),
                    Rule(delta, "y", "", "ink", "solid"),
                    Label(0.11, delta, f"promised δ = {delta:.0e}", "ink", "start"),
                    Rule(1, "x", "proof ends", "grey", "dotted"),
                    Rule(limit, "x", "fails", "red") if failed else Rule(1, "x", "", "grey", "dotted"),
                ),
            ),
            f"ε = {epsilon:g}, δ = {delta:.0e}: classical σ = {textbook:.3f}, exact σ = {best:.3f}. The classical "
            f"formula gives {verdict}. {ends}",
        )

    epsilons = np.unique(np.round([*np.geomspace(0.1, 1, 9), *np.geomspace(1, 20, 17), 0.3, 2, 5, 8, 8.42, 8.5, 10], 2))
    controls = (
        slider("epsilon", "ε", epsilons, 0.3, "{:g}"),
        slider("delta", "promised δ", [10.0**-d for d in range(9, 2, -1)], DELTA, "{:.0e}"),
    )
    return Scene("The textbook σ and the exact one", "Where does the classical formula fail?", controls, draw)


@explorer
def noise_in_dimensions() -> Scene:
    """One person may move each of k numbers by 1: noise by l1 (Laplace) against noise by l2 (Gaussian)."""
    dimensions = np.unique(np.round(np.geomspace(1, 10_000, 81)).astype(int))

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
    def curves(epsilon: float) -> np.ndarray:
        return np.array([deviations(epsilon, int(k)) for k in dimensions]).T

    def draw(k: int, epsilon: float) -> Picture:
        laplace, gaussian = curves(epsilon)
        mine, other = deviations(epsilon, k)
        first = first_win(epsilon)
        better, worse, factor = (
            ("Gaussian", "Laplace", mine / other) if other < mine else ("Laplace", "Gaussian", other / mine)
        )
        times = f"{factor:.3f}" if factor < 1.01 else f"{factor:.2f}" if factor < 10 else f"{factor:.1f}"
        wins = f" Gaussian noise wins from k = {first} on." if k >= first else ""
        return Picture(
            (
                panel(
                    "Noise on each of k numbers",
                    Axis("how many numbers are published, k", 0.8, 13_000, log=True),
                    Axis("standard deviation of the noise on one number", 0.1, 2e5, log=True),
                    Line(dimensions, laplace, "Laplace: Δ₁ = k", "orange", "dashed", 2.5),
                    Line(dimensions, gaussian, "Gaussian: Δ₂ = √k", "blue"),
                    Points([k], [mine], "", "orange", "square", 9),
                    Points([k], [other], "", "blue", "circle", 9),
                    drag="k",
                    share=2,
                ),
                panel(
                    "Laplace noise / Gaussian noise",
                    Axis("", 0, 1, ticks=((0.5, "at your k"),)),
                    Axis("ratio", 0.05, 100, log=True),
                    Bars([0.5], [mine / other], "", "purple", "solid", 0.4, 1),
                    Rule(1, "y", "equal", "ink", "solid"),
                ),
            ),
            f"k = {k:,}, ε = {epsilon:g}: Laplace noise has standard deviation {mine:,.2f} on each number, Gaussian "
            f"noise {other:,.2f} (δ = {DELTA:.0e}). {better} is {times} times better than {worse}.{wins}",
        )

    controls = (
        slider("k", "numbers published k", [1, 2, 3, 5, 7, 10, 20, 30, 50, 100, 300, 1000, 3000, 10_000], 1, "{:,}"),
        slider("epsilon", "ε", [0.1, 0.2, 0.5, 1, 2, 5, 10], 1, "{:g}"),
    )
    return Scene("Straight lines are shorter", "When does Gaussian noise beat Laplace noise?", controls, draw)
