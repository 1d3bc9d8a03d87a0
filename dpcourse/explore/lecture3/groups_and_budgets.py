"""Lecture 3: group privacy, and composition: what k people or k queries cost together."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpcourse import accounting
from dpcourse.accounting import Budget, BudgetExceeded
from dpcourse.mechanisms import Gaussian, Laplace
from dpcourse.scenes import Axis, Bars, Label, Line, Picture, Rule, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["composition", "group_privacy"]

GROUPS = np.arange(1, 11)


@lru_cache(maxsize=512)
def group_deltas(epsilon: float, delta: float) -> tuple[list[float], list[float], list[float]]:
    """Over the size of the group: delta by the slide, by the sharper bound, and of a Gaussian."""
    noise = Gaussian.analytic(epsilon=epsilon, delta=delta)
    slide, sharp = (
        [accounting.group_privacy(epsilon, delta, int(k), sharp=sharp).delta for k in GROUPS] for sharp in (False, True)
    )
    return slide, sharp, [noise.plrv(float(k), 0.0).delta(k * epsilon) for k in GROUPS]


@explorer(
    "The price of a family",
    "What does the promise for one person say about k?",
    slider("k", "people k", GROUPS, 1, "{:d}"),
    slider("epsilon", "ε for one person", [0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1], 0.5, "{:g}"),
    slider("delta", "δ for one person", [10.0**-d for d in range(8, 2, -1)], 1e-6, "{:.0e}"),
)
def group_privacy(k: int, epsilon: float, delta: float) -> Picture:
    """A family of k people: k eps, the slide's delta, the sharper one, and what a Gaussian really has."""
    slide, sharp, exact = group_deltas(epsilon, delta)
    people = "1 person" if k == 1 else f"{k} people"
    return picture_of(
        f"k = {people}, each with ε = {epsilon:g}, δ = {delta:.0e}: together ε = {k * epsilon:.3g} (odds up to "
        f"{math.exp(k * epsilon):,.1f}) and δ at most {slide[k - 1]:.3g} by the slide, {sharp[k - 1]:.3g} by the "
        f"sharper bound; a Gaussian has {exact[k - 1]:.3g}.",
        panel(
            "ε of the group, and the odds",
            Axis("people in the group, k", 0.5, 10.5),
            Axis("ε and odds", 0.08, 1e5, log=True),
            Line(GROUPS, np.exp(epsilon * GROUPS), "odds e^(kε)", "red", "dashed", 2.5),
            Line(GROUPS, epsilon * GROUPS, "ε of the group, kε", "blue"),
            dot(k, math.exp(k * epsilon), colour="red", marker="square"),
            dot(k, k * epsilon, colour="blue"),
        ),
        panel(
            "δ of the group",
            Axis("people in the group, k", 0.5, 10.5),
            Axis("δ of the group", 1e-9, 8, log=True),
            Line(GROUPS, slide, "the slide: k e^((k−1)ε) δ", "grey", "dotted", 3),
            Line(GROUPS, sharp, "sharper: δ (e^(kε) − 1)/(e^ε − 1)", "red", "dashed", 2.5),
            Line(GROUPS, exact, "a Gaussian with this (ε, δ), exactly", "blue"),
            dot(k, slide[k - 1], colour="grey", marker="triangle"),
            dot(k, sharp[k - 1], colour="red", marker="square"),
            dot(k, exact[k - 1], colour="blue"),
            Rule(1, "y", colour="grey", dash="dotted"),
            Label(0.6, 1, "δ = 1: no promise", "grey", "start"),
        ),
    )


SLACK, TOTAL = 1e-6, 10
QUERIES = [1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100]


@lru_cache(maxsize=256)
def bill(epsilon: float, k: int) -> tuple[float, float]:
    """k queries by basic composition, and exactly."""
    exact = Laplace(epsilon=epsilon, sensitivity=1).plrv().compose(k).epsilon(delta=SLACK)
    return accounting.basic_composition([(epsilon, 0)] * k).epsilon, exact


@lru_cache(maxsize=32)
def affordable(epsilon: float) -> int:
    """How many queries the budget pays for."""
    budget = Budget(epsilon=TOTAL)
    try:
        while True:
            budget.spend(epsilon)
    except BudgetExceeded:
        return len(budget.ledger)


@explorer(
    "A budget to spend",
    "What do many private answers cost together?",
    slider("k", "queries k", QUERIES, 10, "{:d}"),
    slider("epsilon", "ε of one query", [0.05, 0.1, 0.15, 0.2, 0.3], 0.1, "{:g}"),
)
def composition(k: int, epsilon: float) -> Picture:
    """A budget spent on a sequence of Laplace queries: basic composition against the exact privacy loss."""
    curves = np.array([bill(epsilon, n) for n in QUERIES]).T
    (basic, exact), paid = bill(epsilon, k), affordable(epsilon)
    spent = min(bill(epsilon, min(k, paid))[0], TOTAL)
    return picture_of(
        f"{k} queries with ε = {epsilon:g} each: basic composition adds up to {basic:.3g}, the exact loss is "
        f"{exact:.3g} at δ = {SLACK:.0e}. A budget of {TOTAL} that charges the sum pays for {paid} of them"
        f"{' and refuses the rest' if k > paid else ''}.",
        panel(
            "The bill after k queries",
            Axis("queries asked, k", 0, 104),
            Axis("total ε", 0, 32),
            Line(QUERIES, curves[0], "basic composition: the sum (δ = 0)", "orange", "dashed", 2.5),
            Line(QUERIES, curves[1], f"exact, at δ = {SLACK:.0e}", "blue"),
            dot(k, basic, colour="orange", marker="square"),
            dot(k, exact, colour="blue"),
            Rule(TOTAL, "y", dash="solid"),
            Label(1, TOTAL, f"budget ε = {TOTAL}", "ink", "start"),
            drag="k",
            share=2,
        ),
        panel(
            "The ledger, charged by the sum",
            Axis("ε", 0, TOTAL * 1.05),
            Axis("", 0.4, 2.6, ticks=((1, "left"), (2, "spent"))),
            Bars([2], [spent], colour="orange", width=0.6, lying=True),
            Bars([1], [TOTAL - spent], colour="green", texture="striped", width=0.6, lying=True),
        ),
    )
