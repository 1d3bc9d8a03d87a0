"""Lecture 5: response matrices of SRR, RRRR, the talk's naive idea and the published code, and their true epsilon."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from dpcourse.adaptive_ldp import (
    RestrictedResponse,
    naive_matrix,
    published_matrix,
    published_second_epsilon,
    true_epsilon,
)
from dpcourse.adaptive_ldp.rrrr_columns import columns
from dpcourse.mechanisms import KaryResponse
from dpcourse.scenes import Axis, Bars, Heat, Label, Line, Panel, Picture, Points, Rule, dot, panel, picture_of
from dpcourse.scenes.controls import choice, slider
from dpcourse.scenes.widget import explorer

__all__ = ["published_code", "response_matrices", "restricted_response"]

K = 6
SMALL, LARGE = (0,), (0, 1, 2, 3)
MECHANISMS = ("SRR", "RRRR, S = {0}", "RRRR, S = {0, 1, 2, 3}", "The naive idea, S = {0, 1, 2, 3}")
#: The setting in which the published table is looked at: K, eps, eps1.
PUBLISHED = (20, 1.0, 0.8)


def _matrix(mechanism: str, epsilon: float) -> np.ndarray:
    if mechanism == MECHANISMS[0]:
        return KaryResponse(epsilon=epsilon, k=K).matrix
    if mechanism == MECHANISMS[3]:
        return naive_matrix(K, LARGE, epsilon)
    return RestrictedResponse(K, SMALL if mechanism == MECHANISMS[1] else LARGE, epsilon=epsilon).matrix


def _shades(title: str, matrix: np.ndarray, widest: tuple[int, int, int]) -> Panel:
    """A matrix with x = 0 on top (its title explains the shades), and the two entries whose ratio is largest."""
    k, (x, other, y) = len(matrix), widest
    return panel(
        f"{title}, from dark = 0 to bright = {matrix.max():.2f}",
        Axis("report y", 0, k, ticks=tuple((i + 0.5, f"{i}") for i in range(k))),
        Axis("true category x", 0, k, ticks=tuple((k - i - 0.5, f"{i}") for i in range(k))),
        Heat(matrix[::-1], 0, k, 0, k, 0, matrix.max()),
        dot(y + 0.5, k - x - 0.5, f"largest of its column: {_small(matrix[x, y])}", colour="red", size=12),
        dot(y + 0.5, k - other - 0.5, f"smallest: {_small(matrix[other, y])}", colour="sky", marker="square", size=11),
        height=340,
    )


def _two_people(matrix: np.ndarray, widest: tuple[int, int, int]) -> Panel:
    """The reports of the two people whom one report tells apart best."""
    reports, (x, other, y) = np.arange(len(matrix)), widest
    return panel(
        "Two people and what they report",
        Axis("report y", -0.6, len(matrix) - 0.4, ticks=tuple((i, f"{i}") for i in range(len(matrix)))),
        Axis("probability", 0, 1),
        Bars(reports - 0.2, matrix[x], f"x = {x}", "red", "solid", 0.36),
        Bars(reports + 0.2, matrix[other], f"x = {other}", "sky", "striped", 0.36),
        Bars([y], [1], "widest apart", "ink", "outline", 0.94),
        height=340,
    )


def _small(p: float) -> str:
    return "0" if p == 0 else f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


@explorer(
    "Many matrices, one ε",
    "Which of these is not private at all?",
    choice("mechanism", "mechanism", MECHANISMS),
    slider("epsilon", "ε", np.arange(0.5, 5.01, 0.5), 1, "{:.1f}"),
)
def response_matrices(mechanism: str, epsilon: float) -> Picture:
    """The talk's matrices beside each other: each row is one person's distribution, each column is what betrays."""
    matrix = _matrix(mechanism, epsilon)
    spent, widest = true_epsilon(matrix)
    x, other, y = widest
    honest = [f"{p:.3f}" for p in (matrix[0, 0], matrix[K - 1, K - 1])]
    if math.isinf(spent):
        verdict = (
            f"the true ε is infinite: report {y} comes from x = {x} and never from x = {other}. Every report shows "
            "for certain whether x is in S; 4 or 5 says that it is not"
        )
    else:
        verdict = (
            f"the true ε is {spent:.3f}: report {y} is e^{spent:.3f} = {math.exp(spent):.2f} times as likely from "
            f"x = {x} as from x = {other}, and no report tells more"
        )
    return picture_of(
        f"{mechanism}, with ε = {epsilon:g}: {verdict}. Category 0 is reported truthfully with probability "
        f"{honest[0]}, category {K - 1} with {honest[1]}.",
        _shades("P(y | x)", matrix, widest),
        _two_people(matrix, widest),
    )


CATEGORIES = 8
SIZES = np.arange(CATEGORIES)


@explorer(
    "RRRR and its two budgets",
    "Which two people are hardest to hide from each other?",
    slider("size", "|S|", SIZES, 3, "{:d}"),
    slider("epsilon", "ε", np.arange(0.5, 5.01, 0.5), 1, "{:.1f}"),
    slider("share", "ε₁ / ε", np.round(np.arange(0.1, 1.01, 0.1), 1), 0.8, "{:.1f}"),
)
def restricted_response(size: int, epsilon: float, share: float) -> Picture:
    """RRRR on eight categories: its matrix, and how it divides its budget, for every |S|."""
    first, outside = share * epsilon, CATEGORIES - size
    response = RestrictedResponse(CATEGORIES, range(size), epsilon=epsilon, first=first)
    second, matrix = response.columns.second, response.matrix
    spent, widest = true_epsilon(matrix)
    x, other, y = widest
    return picture_of(
        f"|S| = {size}, n = {outside} outside; {_budgets(size, outside, first, second[size])} True ε: {spent:.3f} of "
        f"{epsilon:g}, attained by report {y} from x = {x} against x = {other}.",
        _shades(f"|S| = {size}: P(y | x)", matrix, widest),
        panel(
            "The budgets, for every |S|",
            Axis("|S|", -0.4, 7.4, ticks=tuple((i, f"{i}") for i in SIZES.tolist())),
            Axis("ε", 0, 1.08 * epsilon),
            Line(SIZES[1:], np.full(7, first), "ε₁, within S and R", "green", "dashed"),
            Line(SIZES[:7], second[:7], "ε₂, outside S", "blue"),
            Points(SIZES[:7], second[:7], colour="blue", size=7),
            dot(size, spent, "true ε", colour="red", marker="diamond", size=12),
            Rule(size, "x", colour="grey", dash="dotted"),
            height=340,
            drag="size",
        ),
    )


def _budgets(size: int, outside: int, first: float, second: float) -> str:
    if size == 0:
        return f"S is empty: this is SRR with ε₂ = ε = {second:.3f}, and ε₁ has no effect."
    if outside == 1:
        return f"ε₁ = {first:.3f}, and with one category outside ε₂ has no effect: only ε₁ = ε would spend everything."
    nothing = " (outside S all reports look alike)" if second == 0 else ""
    return f"ε₁ = {first:.3f} leaves ε₂ = {second:.3f}{nothing}."


PUBLISHED_SIZES = np.arange(PUBLISHED[0])
PUBLISHED_AXIS = Axis("|S|", -0.6, PUBLISHED[0] - 0.4, ticks=tuple((i, f"{i}") for i in range(0, PUBLISHED[0], 3)))


class Budgets(NamedTuple):
    """For every |S|: eps2, the true epsilon, and the (x, other, y) that attain it."""

    second: np.ndarray
    true: np.ndarray
    widest: list[tuple[int, int, int]]


@cache
def published_and_right() -> tuple[Budgets, Budgets]:
    """By the authors' table, and by the slide's formula."""
    k, epsilon, first = PUBLISHED
    wrong = [true_epsilon(published_matrix(k, range(n), epsilon, first)) for n in range(k)]
    right = [true_epsilon(RestrictedResponse(k, range(n), epsilon=epsilon, first=first).matrix) for n in range(k)]
    table = np.array([published_second_epsilon(epsilon, first, n) for n in range(k)])
    return (
        Budgets(table, np.array([true for true, _ in wrong]), [at for _, at in wrong]),
        Budgets(columns(k, epsilon, first).second, np.array([true for true, _ in right]), [at for _, at in right]),
    )


@explorer(
    "A table with two slips",
    "For which |S| does the published code keep its promise?",
    slider("size", "|S|", PUBLISHED_SIZES, 1, "{:d}"),
)
def published_code(size: int) -> Picture:
    """The authors' published eps2 table against the slide's formula: what is promised, and what is true."""
    (k, epsilon, _), (wrong, right) = PUBLISHED, published_and_right()
    x, other, y = wrong.widest[size]
    worst = int(wrong.true.argmax())
    verdict = "more than promised" if wrong.true[size] > epsilon + 1e-9 else "no more than promised"
    return picture_of(
        f"|S| = {size} of K = {k}, promised ε = {epsilon:g}: the published code has ε₂ = "
        f"{wrong.second[size]:.3f} (right: {right.second[size]:.3f}), and its true ε is {wrong.true[size]:.3f}, "
        f"{verdict} (report {y}, x = {x} against {other}). The worst is |S| = {worst} with {wrong.true[worst]:.3f}.",
        panel(
            "The ε that is true",
            PUBLISHED_AXIS,
            Axis("true ε", 0, 2),
            Line(PUBLISHED_SIZES, wrong.true, "published table", "red", "solid", 3),
            Line(PUBLISHED_SIZES, right.true, "the slide's formula", "blue", "dashed"),
            dot(size, wrong.true[size], colour="red", marker="square", size=10),
            dot(size, right.true[size], colour="blue"),
            Rule(epsilon, "y", colour="ink", dash="dotted"),
            Label(9, epsilon - 0.2, f"promised: ε = {epsilon:g}", "ink"),
            drag="size",
        ),
        panel(
            "Its cause: the ε₂ in the table",
            PUBLISHED_AXIS,
            Axis("ε₂", 0, 1.1),
            Line(PUBLISHED_SIZES, wrong.second, "published: no logarithm, |S| for n", "red", "solid", 3),
            Line(PUBLISHED_SIZES, right.second, "the slide's formula", "blue", "dashed"),
            dot(size, wrong.second[size], colour="red", marker="square", size=10),
            dot(size, right.second[size], colour="blue"),
            drag="size",
        ),
    )
