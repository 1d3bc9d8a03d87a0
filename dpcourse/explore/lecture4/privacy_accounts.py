"""Lecture 4: epsilon of DP-SGD by five accountants, and what Poisson sampling and shuffling cost."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.accounting.shuffled import shuffled_epsilon_at_least
from dpcourse.explore.stored import stored
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Rule, again, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["accountants", "lots", "subsampling"]

DELTA, WRITTEN = 1e-5, "δ = 10⁻⁵"
SIGMAS = (0.7, 1.1, 2.0, 4.0)
RATES = (0.001, 256 / 60_000, 0.01, 0.05)
STEPS = (1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 14_062, 30_000, 100_000)
FLOOR, CEILING = 0.01, 1e6
#: Short names, in the order of ``dp_sgd_accounts``: colour, dash, width, marker.
NAMES = {
    "basic": ("grey", "dotted", 3, "triangle"),
    "advanced": ("orange", "dashdot", 2.5, "diamond"),
    "moments": ("green", "dashed", 2, "cross"),
    "Rényi": ("red", "dashed", 3, "square"),
    "exact": ("blue", "solid", 2.5, "circle"),
}
#: One epoch, for the comparison of lots.
EPOCHS, NOISES = (10, 100, 1_000), (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
PEOPLE = 1_000


def key(*values: float) -> str:
    """How a setting is named in the stored results."""
    return " ".join(f"{value:.10g}" for value in values)


def readable(epsilon: float) -> str:
    """An epsilon of any size without powers of ten: 51,006, 17.2, 0.947."""
    if epsilon >= 10:
        return f"{epsilon:,.0f}" if epsilon >= 1_000 else f"{epsilon:.1f}"
    return f"{epsilon:.3f}" if epsilon >= 0.001 else "below 0.001"


@lru_cache(maxsize=512)
def bill(sigma: float, q: float, steps: int) -> tuple[float, ...]:
    """Epsilon by five accountants: stored on the grid, computed elsewhere."""
    known = stored("accounts")["bills"].get(key(sigma, q, steps))
    if known is not None:
        return tuple(known)
    return tuple(spent.epsilon for spent in accounting.dp_sgd_accounts(sigma, q, steps, DELTA))


@lru_cache(maxsize=128)
def one_epoch(sigma: float, steps: int) -> float:
    """Epsilon of one epoch of Poisson lots with rate 1/steps, exactly."""
    known = stored("accounts")["epochs"].get(key(sigma, steps))
    return float(known) if known is not None else accounting.dp_sgd_epsilon(sigma, 1 / steps, steps, DELTA)


@lru_cache(maxsize=128)
def one_shuffled_epoch(sigma: float, steps: int) -> float:
    """At least this much epsilon one epoch of shuffled batches costs."""
    return shuffled_epsilon_at_least(sigma, steps, DELTA)


@explorer(
    "Five accountants",
    "What does the same training run cost?",
    slider("steps", "steps k", STEPS, 100, "{:,}"),
    slider("sigma", "noise σ", SIGMAS, 1.1, "{:g}"),
    slider("q", "sampling rate q", RATES, 256 / 60_000, "{:.4g}"),
)
def accountants(steps: int, sigma: float, q: float) -> Picture:
    """Basic, advanced, moments, Renyi and exact accounting of the same training run, over its steps."""
    curves = np.clip(np.array([bill(sigma, q, k) for k in STEPS]).T, FLOOR, CEILING)
    here = bill(sigma, q, steps)
    shown = np.clip(here, FLOOR, CEILING)
    rows = np.arange(len(NAMES), 0, -1)
    return picture_of(
        f"{steps:,} {'step' if steps == 1 else 'steps'}, σ = {sigma:g}, q = {q:.4g}, {WRITTEN}: "
        + ", ".join(f"{name} {readable(value)}" for name, value in zip(NAMES, here, strict=True))
        + ". It is one and the same run: only the proof differs.",
        panel(
            "The bill after k steps",
            Axis("steps k", 0.9, 1.1e5, log=True),
            Axis("ε (beyond 0.01 or 1,000,000: drawn at the edge)", FLOOR, CEILING, log=True),
            [
                Line(STEPS, curve, name, colour, dash, width)
                for curve, (name, (colour, dash, width, _)) in zip(curves, NAMES.items(), strict=True)
            ],
            [
                dot(steps, value, colour=colour, marker=marker, size=8)
                for value, (colour, _, _, marker) in zip(shown, NAMES.values(), strict=True)
            ],
            drag="steps",
            share=1.5,
            height=320,
        ),
        panel(
            "The same run, five bills",
            Axis("ε", FLOOR, CEILING, log=True),
            Axis("", 0.4, 5.6, ticks=tuple(zip(rows.tolist(), NAMES, strict=True))),
            Bars(rows, shown, colour="blue", texture="striped", width=0.6, base=FLOOR, lying=True),
            Rule(1, "x", colour="grey", dash="dotted"),
            height=320,
        ),
    )


BETAS = np.concatenate([[0.001], np.linspace(0.01, 1, 100)])
BEFORE_SAMPLING = {
    0.5: ("grey", "dotted"),
    1.0: ("green", "dashdot"),
    2.0: ("orange", "dashed"),
    4.0: ("purple", "solid"),
}


@lru_cache(maxsize=64)
def after_sampling(epsilon: float) -> np.ndarray:
    """Epsilon over the sampling probability."""
    return np.array([accounting.amplify_by_sampling(epsilon, 0, beta).epsilon for beta in BETAS.tolist()])


@explorer(
    "Perhaps you were not even there",
    "How much budget does sampling save?",
    slider("beta", "sampling probability β", [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *np.arange(1, 11) / 10], 1),
    slider("epsilon", "ε₁ of the algorithm", [0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4], 1),
)
def subsampling(beta: float, epsilon: float) -> Picture:
    """The slides' figure: epsilon after amplification by Poisson sampling, over the sampling probability."""
    own, new = after_sampling(epsilon), accounting.amplify_by_sampling(epsilon, 0, beta).epsilon
    saved = ", no smaller, for everybody is in" if beta == 1 else f": {epsilon / new:.3g} times smaller"
    return picture_of(
        f"An algorithm with ε₁ = {epsilon:g} that sees each person with probability β = {beta:g} has ε₂ = "
        f"{new:.4g}{saved}. β ε₁ would be {beta * epsilon:.4g}; δ is multiplied by β = {beta:g}.",
        panel(
            "ε after sampling",
            Axis("sampling probability β", 0, 1.02),
            Axis("ε₂", 0, 4.2),
            Line(BETAS, own, "the chosen ε₁", "sky", "solid", 7),  # below, so that it hides no other
            [Line(BETAS, after_sampling(e), f"ε₁ = {e:g}", *style) for e, style in BEFORE_SAMPLING.items()],
            dot(beta, new, colour="blue"),
            drag="beta",
        ),
        panel(
            "The same, for small β",
            Axis("sampling probability β", 1e-3, 1.05, log=True),
            Axis("ε₂", 9e-5, 5, log=True),
            Line(BETAS, own, "ε₂", "blue", "solid", 3),
            Line(BETAS, epsilon * BETAS, "β ε₁", "ink", "dotted", 2),
            dot(beta, new, colour="blue"),
        ),
    )


TIMES = np.arange(0, 8)


@explorer(
    "Lots or batches",
    "Is shuffling as private as tossing a coin for everybody?",
    slider("sigma", "noise σ", NOISES, 1.0),
    slider("steps", "steps in an epoch", EPOCHS, 100, "{:,}"),
    again("Sample again", 4, "run"),
)
def lots(sigma: float, steps: int, run: int) -> Picture:
    """Poisson lots against shuffled batches: how often one is in, and what each costs in one epoch."""
    rng = np.random.default_rng([run, steps])
    counts = np.bincount(np.minimum(rng.binomial(steps, 1 / steps, PEOPLE), 7), minlength=8)
    poisson = np.array([one_epoch(s, steps) for s in NOISES])
    shuffled = np.array([one_shuffled_epoch(s, steps) for s in NOISES])
    here, there = one_epoch(sigma, steps), one_shuffled_epoch(sigma, steps)
    proof = "" if there > here else ", a bound too low to prove anything here"
    return picture_of(
        f"One epoch of {steps:,} steps with σ = {sigma:g}: Poisson lots cost ε = {here:.3g}; shuffled batches cost "
        f"at least {there:.3g}{proof}. {counts[0]} of {PEOPLE:,} people were in no Poisson lot at all, "
        f"{counts[2:].sum()} in two or more; shuffled, each is in exactly one.",
        panel(
            f"{PEOPLE:,} people in one epoch",
            Axis("times in a batch", -0.6, 7.6, ticks=tuple((int(t), f"{t}") for t in TIMES)),
            Axis("people", 0, 1_050),
            Bars(TIMES, counts, "Poisson lots", "blue", "solid", 0.5),
            Bars([1], [PEOPLE], "shuffled batches", "red", "outline", 0.9),
        ),
        panel(
            "What one epoch costs",
            Axis("noise σ", 0.38, 2.02),
            Axis("ε", 0.04, 25, log=True),
            Line(NOISES, shuffled, "shuffled: at least", "red", "dashed", 3),
            Line(NOISES, poisson, "Poisson: exactly", "blue", "solid", 2.5),
            dot(sigma, there, colour="red", marker="square"),
            dot(sigma, here, colour="blue"),
            Label(1.98, 18, WRITTEN, "ink", "end"),
            drag="sigma",
            share=1.3,
        ),
    )
