"""Lecture 5: the size of RRRR's subset: the chance of an honest answer, and the talk's six utilities."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse.adaptive_ldp import best_subset, utilities
from dpcourse.data import PARTIES
from dpcourse.explore.lecture5.surveys import EPSILONS
from dpcourse.scenes import Axis, Bars, Line, Picture, Points, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["honest_answer", "six_utilities"]

K = 20
SIZES = np.arange(K)
RATIOS = np.round(np.arange(1, 3.01, 0.1), 1)
SIZE_AXIS = Axis("size k of the subset S", -0.6, K - 0.4, ticks=tuple((i, f"{i}") for i in range(0, K, 3)))
#: The talk's six, by their names in the package: what they measure, in a few words.
UTILITY_WORDS = {
    "fisher": "U₁ Fisher information",
    "entropy": "U₂ entropy of Y",
    "tv_posterior": "U₃ posterior against prior",
    "tv_marginal": "U₄ Y like X",
    "squared_error": "U₅ squared error",
    "honest": "U₆ honest answer",
}
FORMULAS = {
    "fisher": "−Tr F⁻¹",
    "entropy": "entropy of Y (nats)",
    "tv_posterior": "E TV(X given Y, X)",
    "tv_marginal": "−TV(Y, X)",
    "squared_error": "−E|e_X − its estimate|²",
    "honest": "P(Y = X)",
}
#: Shares that a survey may meet: draws from Dirichlet(rho, ..., rho), and the talk's parties.
PARTY_WORDS = "twenty parties"
EVENNESS = {"ρ = 0.01": 0.01, "ρ = 0.1": 0.1, "ρ = 1": 1.0}


def geometric(ratio: float) -> np.ndarray:
    """Shares of which each is ``ratio`` times the next."""
    shares = ratio ** -np.arange(float(K))
    return np.asarray(shares / shares.sum())


@lru_cache(maxsize=8)
def _honest(epsilon: float) -> np.ndarray:
    """P(Y = X) for every ratio and subset size."""
    return utilities(np.array([geometric(float(ratio)) for ratio in RATIOS]), epsilon)


@explorer(
    "How often an honest answer?",
    "From which ratio on is a subset worth it?",
    slider("epsilon", "ε", (0.5, 1.0, 2.0, 3.0, 4.0, 5.0), 1, "{:g}"),
    slider("ratio", "θᵢ / θᵢ₊₁", RATIOS, 1.5, "{:.1f}"),
)
def honest_answer(epsilon: float, ratio: float) -> Picture:
    """The talk's figure: P(Y = X) of RRRR with its best subset and of SRR, over theta_i / theta_(i+1)."""
    over_ratios, shares = _honest(epsilon), geometric(ratio)
    here = utilities(shares, epsilon)
    best = len(best_subset(shares, epsilon))
    if best:
        gain = f"RRRR with k = {best} with {here[best]:.3f}, {here[best] / here[0]:.2f} times as often"
    else:
        nearest = 1 + int(np.argmax(here[1:-1]))  # all but one is SRR again
        gain = f"and no subset does better; the nearest, k = {nearest}, has {here[nearest]:.3f}"
    return picture_of(
        f"ε = {epsilon:g}, θᵢ/θᵢ₊₁ = {ratio:g}: SRR is honest with probability {here[0]:.3f}, {gain}. "
        "(ε₁ = 0.8 ε; k = 19 is SRR again.)",
        panel(
            "With the best subset",
            Axis("θᵢ / θᵢ₊₁", 1, RATIOS[-1]),
            Axis("P(Y = X)", 0, 1),
            Line(RATIOS, over_ratios.max(axis=1), "RRRR", "blue", "solid", 3),
            Line(RATIOS, over_ratios[:, 0], "SRR", "orange", "dashed"),
            dot(ratio, here[best], colour="blue", size=10),
            dot(ratio, here[0], colour="orange", marker="square"),
            Rule(ratio, "x", colour="grey", dash="dotted"),
            drag="ratio",
        ),
        panel(
            f"With the k most frequent, at the ratio {ratio:g}",
            SIZE_AXIS,
            Axis("P(Y = X)", 0, 1),
            Line(SIZES, here, colour="blue", width=1.5),
            Points(SIZES, here, "RRRR", "blue", "circle", 6),
            dot(0, here[0], "SRR", colour="orange", marker="square", size=10),
            dot(best, here[best], "the best k", colour="red", marker="diamond", size=13),
        ),
    )


@lru_cache(maxsize=8)
def shares_of(evenness: str) -> np.ndarray:
    """The shares that a choice stands for, most frequent first; each Dirichlet draw has a fixed seed."""
    if evenness == PARTY_WORDS:
        return PARTIES
    rho = EVENNESS[evenness]
    return -np.sort(-np.random.default_rng(2025).dirichlet(np.full(K, rho)))


def _limits(values: np.ndarray) -> tuple[float, float]:
    """An axis that holds the values with a little air."""
    air = 0.08 * max(float(np.ptp(values)), 1e-9)
    return float(values.min()) - air, float(values.max()) + air


@explorer(
    "Six opinions on one subset",
    "Do the six utilities agree on how many to favour?",
    choice("utility", "utility", list(UTILITY_WORDS.values()), UTILITY_WORDS["tv_marginal"]),
    choice("epsilon", "ε", [f"{e:g}" for e in EPSILONS], "1"),
    choice("evenness", "shares", [*EVENNESS, PARTY_WORDS], PARTY_WORDS),
)
def six_utilities(utility: str, epsilon: str, evenness: str) -> Picture:
    """Each utility over the size of the subset, with its maximum, and the subset that it would choose."""
    name = next(key for key, words in UTILITY_WORDS.items() if words == utility)
    shares = shares_of(evenness)
    values = utilities(shares, float(epsilon), utility=name)
    # k = 19 is SRR, as k = 0: of the two, which rounding may put in any order, the empty subset is shown.
    best = int(np.argmax(values >= values.max() - 1e-9 * abs(values.max())))
    held = math.fsum(shares[:best])
    in_subset = np.arange(K) < best
    chosen = (
        f"k = {best}, with {100 * held:.1f}% of the people in S and {_number(values[best])} (SRR: {_number(values[0])})"
        if best
        else f"k = 0, no subset: SRR, with {_number(values[0])}"
    )
    return picture_of(
        f"{utility}, ε = {epsilon}, {evenness}: the best is {chosen}. The worst, k = {int(values.argmin())}, has "
        f"{_number(values.min())}. k = 19 is SRR again.",
        panel(
            utility,
            SIZE_AXIS,
            Axis(FORMULAS[name], *_limits(values)),
            Line(SIZES, values, colour="blue", width=1.5),
            Points(SIZES, values, colour="blue", size=6),
            dot(best, values[best], "the best k", colour="red", marker="diamond", size=13),
        ),
        panel(
            "The shares, and the chosen S",
            Axis("category, most frequent first", -0.6, K - 0.4, ticks=SIZE_AXIS.ticks),
            Axis("share (%)", 0, 105),
            Bars(SIZES, np.where(in_subset, 100 * shares, 0), "in S", "red", "solid"),
            Bars(SIZES, np.where(in_subset, 0, 100 * shares), "outside", "blue", "striped"),
        ),
    )


def _number(value: float) -> str:
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}").replace("-", "−")
