"""Lecture 5: matrices of responses. What SRR, RRRR and the talk's naive idea report, and the epsilon true of each."""

from __future__ import annotations

import math

import numpy as np

from dpcourse.adaptive_ldp import (
    RestrictedResponse,
    StandardResponse,
    columns,
    naive_matrix,
    published_matrix,
    published_second_epsilon,
    true_epsilon,
)
from dpcourse.scenes import Axis, Bars, Heat, Label, Line, Panel, Picture, Points, Rule, Scene, choice, panel, slider
from dpcourse.scenes.widget import explorer

__all__ = ["published_code", "response_matrices", "restricted_response"]

K = 6
SMALL, LARGE = (0,), (0, 1, 2, 3)
MECHANISMS = ("SRR", "RRRR, S = {0}", "RRRR, S = {0, 1, 2, 3}", "The naive idea, S = {0, 1, 2, 3}")
#: The setting in which the published table is looked at: K, eps, eps1.
PUBLISHED = (20, 1.0, 0.8)


def _matrix(mechanism: str, epsilon: float) -> np.ndarray:
    if mechanism == MECHANISMS[0]:
        return StandardResponse(range(K), epsilon=epsilon).matrix
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
        Points([y + 0.5], [k - x - 0.5], f"largest of its column: {_small(matrix[x, y])}", "red", "circle", 12),
        Points([y + 0.5], [k - other - 0.5], f"smallest: {_small(matrix[other, y])}", "sky", "square", 11),
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


@explorer
def response_matrices() -> Scene:
    """The talk's matrices beside each other: each row is one person's distribution, each column is what betrays."""

    def draw(mechanism: str, epsilon: float) -> Picture:
        matrix = _matrix(mechanism, epsilon)
        spent, widest = true_epsilon(matrix)
        x, other, y = widest
        honest = [f"{p:.3f}" for p in (matrix[0, 0], matrix[K - 1, K - 1])]
        if math.isinf(spent):
            told = (
                f"the true ε is infinite: report {y} comes from x = {x} and never from x = {other}. Every report shows "
                "for certain whether x is in S; 4 or 5 says that it is not"
            )
        else:
            told = (
                f"the true ε is {spent:.3f}: report {y} is e^{spent:.3f} = {math.exp(spent):.2f} times as likely from "
                f"x = {x} as from x = {other}, and no report tells more"
            )
        return Picture(
            (_shades("P(y | x)", matrix, widest), _two_people(matrix, widest)),
            f"{mechanism}, with ε = {epsilon:g}: {told}. Category 0 is reported truthfully with probability "
            f"{honest[0]}, category {K - 1} with {honest[1]}.",
        )

    controls = (
        choice("mechanism", "mechanism", MECHANISMS),
        slider("epsilon", "ε", np.arange(0.5, 5.01, 0.5), 1, "{:.1f}"),
    )
    return Scene("Many matrices, one ε", "Which of these is not private at all?", controls, draw)


@explorer
def restricted_response() -> Scene:
    """RRRR on eight categories: its matrix, and how it divides its budget, for every |S|."""
    k, sizes = 8, np.arange(8)

    def draw(size: int, epsilon: float, share: float) -> Picture:
        first = share * epsilon
        response = RestrictedResponse(k, range(size), epsilon=epsilon, first=first)
        second, matrix = response.columns.second, response.matrix
        spent, widest = true_epsilon(matrix)
        x, other, y = widest
        return Picture(
            (
                _shades(f"|S| = {size}: P(y | x)", matrix, widest),
                panel(
                    "The budgets, for every |S|",
                    Axis("|S|", -0.4, 7.4, ticks=tuple((i, f"{i}") for i in sizes.tolist())),
                    Axis("ε", 0, 1.08 * epsilon),
                    Line(sizes[1:], np.full(7, first), "ε₁, within S and R", "green", "dashed"),
                    Line(sizes[:7], second[:7], "ε₂, outside S", "blue"),
                    Points(sizes[:7], second[:7], "", "blue", "circle", 7),
                    Points([size], [spent], "true ε", "red", "diamond", 12),
                    Rule(size, "x", "", "grey", "dotted"),
                    height=340,
                    drag="size",
                ),
            ),
            f"|S| = {size}, n = {k - size} outside; {_budgets(size, k - size, first, second[size])} True ε: "
            f"{spent:.3f} of {epsilon:g}, attained by report {y} from x = {x} against x = {other}.",
        )

    controls = (
        slider("size", "|S|", sizes, 3, "{:d}"),
        slider("epsilon", "ε", np.arange(0.5, 5.01, 0.5), 1, "{:.1f}"),
        slider("share", "ε₁ / ε", np.round(np.arange(0.1, 1.01, 0.1), 1), 0.8, "{:.1f}"),
    )
    return Scene("RRRR and its two budgets", "Which two people are hardest to hide from each other?", controls, draw)


def _budgets(size: int, outside: int, first: float, second: float) -> str:
    if size == 0:
        return f"S is empty: this is SRR with ε₂ = ε = {second:.3f}, and ε₁ has no effect."
    if outside == 1:
        return f"ε₁ = {first:.3f}, and with one category outside ε₂ has no effect: only ε₁ = ε would spend everything."
    nothing = " (outside S all reports look alike)" if second == 0 else ""
    return f"ε₁ = {first:.3f} leaves ε₂ = {second:.3f}{nothing}."


@explorer
def published_code() -> Scene:
    """The authors' published eps2 table against the slide's formula: what is promised, and what is true."""
    k, epsilon, first = PUBLISHED
    sizes = np.arange(k)
    c = columns(k, epsilon, first)
    wrong = [true_epsilon(published_matrix(k, range(size), epsilon, first)) for size in range(k)]
    right = [true_epsilon(RestrictedResponse(k, range(size), epsilon=epsilon, first=first).matrix) for size in range(k)]
    spent, kept = np.array([one[0] for one in wrong]), np.array([one[0] for one in right])
    table = np.array([published_second_epsilon(epsilon, first, size) for size in range(k)])
    axis = Axis("|S|", -0.6, k - 0.4, ticks=tuple((i, f"{i}") for i in range(0, k, 3)))
    worst = int(spent.argmax())

    def draw(size: int) -> Picture:
        x, other, y = wrong[size][1]
        verdict = "more than promised" if spent[size] > epsilon + 1e-9 else "no more than promised"
        return Picture(
            (
                panel(
                    "The ε that is true",
                    axis,
                    Axis("true ε", 0, 2),
                    Line(sizes, spent, "published table", "red", "solid", 3),
                    Line(sizes, kept, "the slide's formula", "blue", "dashed"),
                    Points([size], [spent[size]], "", "red", "square", 10),
                    Points([size], [kept[size]], "", "blue", "circle", 9),
                    Rule(epsilon, "y", "", "ink", "dotted"),
                    Label(9, epsilon - 0.2, f"promised: ε = {epsilon:g}", "ink"),
                    drag="size",
                ),
                panel(
                    "Its cause: the ε₂ in the table",
                    axis,
                    Axis("ε₂", 0, 1.1),
                    Line(sizes, table, "published: no logarithm, |S| for n", "red", "solid", 3),
                    Line(sizes, c.second, "the slide's formula", "blue", "dashed"),
                    Points([size], [table[size]], "", "red", "square", 10),
                    Points([size], [c.second[size]], "", "blue", "circle", 9),
                    drag="size",
                ),
            ),
            f"|S| = {size} of K = {k}, promised ε = {epsilon:g}: the published code has ε₂ = {table[size]:.3f} (right: "
            f"{c.second[size]:.3f}), and its true ε is {spent[size]:.3f}, {verdict} (report {y}, x = {x} against "
            f"{other}). The worst is |S| = {worst} with {spent[worst]:.3f}.",
        )

    controls = (slider("size", "|S|", sizes, 1, "{:d}"),)
    return Scene("A table with two slips", "For which |S| does the published code keep its promise?", controls, draw)
