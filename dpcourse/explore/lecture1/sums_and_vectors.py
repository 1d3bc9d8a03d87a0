"""Lecture 1: the sensitivity of a sum of debts, and of a vector in the l1 and the l2 norm."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import Laplace
from dpcourse.scenes import Axis, Band, Bars, Label, Line, Picture, Rule, choice, dot, panel, picture_of, slider
from dpcourse.scenes.widget import explorer

__all__ = ["bank_debts", "l1_against_l2"]

WORST = "worst case: Xander owes 10 million"


#: Who leaves the slides' table.
LEAVERS = {f"{name} leaves": name for name in ("Alice", "Bob", "Charlie", "Xander")} | {WORST: "Xander"}
ALICES_DEBT = 2_800_798.0  # the largest of the slides' table
#: How far one person can move the total, by what is assumed; noise is scaled for it.
SCALES = {
    "1/ε, as for a count": 1.0,
    f"Alice's debt, {ALICES_DEBT:,.0f} / ε": ALICES_DEBT,
    "largest debt allowed / ε": float(data.MAX_DEBT),
}
SCALE_TICKS = ((2.0, "as a count"), (1.0, "Alice's debt"), (0.0, "10 million"))
EDGE = 3.9  # the naive loss runs up to 10,000,000 epsilon: the curve is cut here, and the panel says so


@cache
def totals(pair: str) -> tuple[float, float]:
    """The debts of all, and of all but the one who leaves."""
    table = data.bank_debts(outlier=pair == WORST)
    return float(table["debt"].sum()), float(data.without(table, LEAVERS[pair])["debt"].sum())


@explorer(
    "How much noise hides a debt?",
    "Which scale keeps the promise for every pair of neighbours?",
    choice("scale", "noise scale b", list(SCALES)),
    choice("pair", "neighbours", list(LEAVERS)),
    slider("epsilon", "ε", [0.1, 0.25, 0.5, 1.0, 2.0], 0.5, "{:g}"),
)
def bank_debts(scale: str, pair: str, epsilon: float) -> Picture:
    """The sum of debts with three scales of noise: the loss of any pair of neighbours, in units of the allowed epsilon.

    The slides' three attempts: noise as for a count, noise for Alice's debt (a fixed number, the largest change of the
    slides' table), noise for the largest debt that the bank offers. A curve beyond 1 breaks the promise at every output
    where it is.
    """
    mechanism = Laplace(epsilon=epsilon, sensitivity=SCALES[scale])
    here, there = totals(pair)
    ends = [float(mechanism.privacy_loss(y, here, there)) for y in (there, here)]  # the loss is straight between
    cuts = np.interp([-EDGE * epsilon, EDGE * epsilon], ends, [there, here])
    outputs = np.sort([-2e6, there, *cuts, here, 12e6])
    loss = np.asarray(mechanism.privacy_loss(outputs, here, there)) / epsilon
    most = float(mechanism.privacy_loss(12e6, here, there))
    errors, place = [size / epsilon for size in SCALES.values()], list(SCALES).index(scale)
    holds = most <= epsilon * (1 + 1e-12)
    breaks = float(here if holds else np.interp(epsilon, ends, [there, here]))
    reached = f"{most:,.0f}" if most > 1000 else np.format_float_positional(most, 4, fractional=False, trim="-")
    verdict = (
        f"never above e^{reached}: the promise e^ε = {math.exp(epsilon):.3g} holds for this pair."
        if holds
        else f"broken from y = {breaks:,.2f} € on: the ratio reaches e^{reached}, and e^{epsilon:g} was promised."
    )
    off = "" if most / epsilon < EDGE else f"on to {most / epsilon:,.0f} × ε"
    return picture_of(
        f"{pair[0].upper() + pair[1:]}, with {here:,.2f} € against {there:,.2f} €: {verdict} "
        f"The total is off by {mechanism.scale:,.{0 if mechanism.scale > 100 else 2}f} € on average.",
        panel(
            "Privacy loss of every published total",
            Axis("published total debt y (€)", -2e6, 12e6),
            Axis("privacy loss, in multiples of ε", -5, 5),
            Band([-2e6, 12e6], [-1, -1], [1, 1], "what ε allows", "green"),
            Line(outputs, np.clip(loss, -EDGE, EDGE), "loss of this pair", "blue", width=2.5),
            dot(breaks, most / epsilon if holds else 1, colour="blue" if holds else "red", marker="diamond"),
            Rule(there, "x", "without", "grey", "dotted"),
            Rule(here, "x", "with", "ink", "dotted"),
            Label(11.9e6, 2.9, off, "red", "end"),
            share=3,
        ),
        panel(
            "The price at this ε: average error of the total",
            Axis("average error (€)", 0.1, 1e9, log=True),
            Axis("noise scaled for", -0.6, 3.2, ticks=SCALE_TICKS),
            Bars([2, 1, 0], errors, colour="grey", texture="outline", width=0.6, base=0.1, lying=True),
            Bars([2 - place], [mechanism.scale], "your choice", "blue", "solid", 0.6, 0.1, lying=True),
            Rule(here, "x", f"total {here:,.0f} €", "ink"),
            share=2,
        ),
    )


TURN = np.linspace(0, 2 * np.pi, 121)
CIRCLE = np.stack([np.cos(TURN), np.sin(TURN)])
DIAMOND = CIRCLE / np.abs(CIRCLE).sum(axis=0)
DIMENSIONS = np.array([1, 2, 3, 4, 6, 9, 12, 16, 20, 25, 36, 49, 64, 81, 100])
UNIT_NOISE = Laplace(epsilon=1, sensitivity=1)  # scaled for a change of l2 length 1


def largest_loss(change: np.ndarray) -> float:
    """The largest loss that any output has: far out in the direction of the change."""
    return float(UNIT_NOISE.privacy_loss(change + 100 * np.sign(change), change, np.zeros(change.size)))


SPREAD_LOSSES = [largest_loss(np.full(k, 1 / math.sqrt(k))) for k in DIMENSIONS]


@explorer(
    "City blocks or straight lines?",
    "Which length of a change decides how much Laplace noise a vector needs?",
    slider("angle", "direction of the change", range(0, 91, 5), 20, "{:g}°"),
    slider("k", "coordinates k", DIMENSIONS, 16, "{:g}"),
)
def l1_against_l2(angle: float, k: int) -> Picture:
    """Why the Laplace mechanism measures a change of a vector in city blocks (l1), not as the crow flies (l2)."""
    change = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
    change[np.abs(change) < 1e-12] = 0
    two, many = largest_loss(change), largest_loss(np.full(k, 1 / math.sqrt(k)))
    return picture_of(
        f"At {angle:g}° the change is 1 long as the crow flies, {two:.3f} in city blocks: noise for a length of 1 "
        f"loses up to {two:.3f} ε. A change spread over k = {k} coordinates loses {many:.2f} ε; noise scaled with "
        f"the l1 length loses ε, always.",
        panel(
            "Two coordinates: one person's change, of straight length 1",
            Axis("change of the first answer", -1.6, 1.6),
            Axis("change of the second answer", -1.15, 1.15),
            Line(CIRCLE[0], CIRCLE[1], "straight length 1 (l2)", "green", "dashed"),
            Line(DIAMOND[0], DIAMOND[1], "city-block length 1 (l1)", "blue"),
            Line([0, change[0]], [0, change[1]], colour="red", width=3),
            Line([0, change[0], change[0]], [0, 0, change[1]], colour="red", dash="dotted"),
            dot(change[0], change[1], "the change", colour="red", size=10),
            height=330,
            equal=True,
        ),
        panel(
            "k coordinates, all changed alike: how far is the promise missed?",
            Axis("number of coordinates k", 1, 100, log=True),
            Axis("largest privacy loss, in multiples of ε", 0, 10.5),
            Line(DIMENSIONS, SPREAD_LOSSES, "noise scaled with the l2 length", "red", "dashed"),
            Line(DIMENSIONS, np.ones(DIMENSIONS.size), "noise scaled with the l1 length", "blue"),
            dot(k, many, colour="red", size=10),
            drag="k",
            height=330,
        ),
    )
