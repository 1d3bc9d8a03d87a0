"""Homework 5, first half: the matrix of a response, what a matrix promises, and the second budget of RRRR."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import restricted_matrix, second_epsilon, true_epsilon
from dpcourse.adaptive_ldp.matrices import published_second_epsilon
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import TABLE, Answer
from dpcourse.tasks.declare import value_task
from dpcourse.tasks.hw5_adaptive_ldp.reports import truth_among
from dpcourse.tasks.judges.values import Note
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import each, edges, shuffled, uniform
from dpcourse.tasks.respondent import Probe


def _broken_promise(matrix: Any, epsilon: float) -> Note | None:
    """What to say about a matrix that promises less than it should; nothing about what is no matrix at all."""
    with contextlib.suppress(ValueError):
        spent = true_epsilon(matrix)[0]
        if spent > epsilon * (1 + 1e-5):
            return Note(f"That is not private enough: its true epsilon is {spent:.3g}, and {epsilon:.3g} is promised.")
    return None


def _even(k: int, truth: float, lie: float) -> np.ndarray:
    return np.full((k, k), lie) + (truth - lie) * np.eye(k)


def _srr_with(k: int, truth: float) -> np.ndarray:
    return _even(k, truth, (1 - truth) / (k - 1))


def _srr(p: Any) -> np.ndarray:
    return KaryResponse(epsilon=p.epsilon, k=p.k).matrix


srr_matrix = value_task(
    "srr_matrix",
    see="lecture 5, Standard randomized response",
    probes=edges(
        each(3, k=shuffled(3, 5, 8), epsilon=uniform((0.3, 0.8), (1.2, 1.8), (2, 4))),
        {"k": 2}, {"k": 20}, {"epsilon": uniform(0.01, 0.02)}, {"epsilon": uniform(5, 6)},
    ),
    right=_srr,
    form=TABLE,
    note=lambda p, answer, right: _broken_promise(answer, p.epsilon),
    mistakes=[
        mistake(
            "lies not shared out",
            "Every other category gets the whole probability of a lie, so that a row adds up to more than 1. The K - 1 "
            "lies share it.",
            lambda p: _even(p.k, truth_among(p.k - 1, p.epsilon), 1 - truth_among(p.k - 1, p.epsilon)),
        ),
        mistake(
            "lies shared by K",
            "You divide the lie by K. There are K - 1 other categories, so a row adds up to less than 1.",
            lambda p: _even(p.k, truth_among(p.k - 1, p.epsilon), (1 - truth_among(p.k - 1, p.epsilon)) / p.k),
        ),
        mistake(
            "K for K - 1",
            "The truth has e^eps / (e^eps + K - 1): there are K - 1 other categories. With K the promise holds, but a "
            "part of the budget is wasted.",
            lambda p: _srr_with(p.k, truth_among(p.k, p.epsilon)), hides=True,
        ),
        mistake(
            "two categories",
            "e^eps / (e^eps + 1) is the coin for two categories. Here the lies are K - 1, each of them rarer, and the "
            "ratio of truth to a single lie gets larger than e^eps.",
            lambda p: _srr_with(p.k, truth_among(1, p.epsilon)),
        ),
        mistake(
            "half of epsilon",
            "Your odds are e^(eps/2), not e^eps: private, but half of the budget is wasted.",
            lambda p: _srr_with(p.k, truth_among(p.k - 1, p.epsilon / 2)), hides=True,
        ),
        mistake(
            "not divided",
            "The ratio is right, but a row of probabilities adds up to 1: divide by e^eps + K - 1.",
            lambda p: _even(p.k, math.exp(p.epsilon), 1.0),
        ),
        mistake("logarithms", "These are the logarithms of the probabilities.", lambda p: np.log(_srr(p))),
    ],
)  # fmt: skip


def _matrices(rng: np.random.Generator) -> Sequence[Probe]:
    """No symmetric ones; more reports than categories; a report that nobody gives; one that somebody never gives.

    In the first one the worst column is neither the first nor the last, and no row has the range of the whole.
    """

    def drawn(categories: int, reports: int) -> np.ndarray:
        return rng.dirichlet(np.full(reports, 3.0), size=categories)

    unused, certain = drawn(4, 5), drawn(3, 4)
    unused[:, rng.integers(5)] = 0
    certain[rng.integers(3), rng.integers(4)] = 0
    members = rng.choice(6, 2, replace=False).tolist()
    uneven = drawn(4, 4)
    while (
        _log_range(uneven, None) < 1.05 * _log_range(uneven, 1).max()  # largest and smallest entry in other rows
        or _log_range(uneven, 0)[1:-1].max() < 1.05 * _log_range(uneven, 0)[[0, -1]].max()
    ):
        uneven = drawn(4, 4)
    # The worst of many reports is beyond the number of people, and of many people beyond the number of reports.
    wide, tall = drawn(3, 7), drawn(7, 3)
    while _log_range(wide, 0)[3:].max() < 1.1 * _log_range(wide, 0)[:3].max():
        wide = drawn(3, 7)
    while _log_range(tall, 0).max() < 1.1 * _log_range(tall[:3], 0).max():
        tall = drawn(7, 3)
    tables = [uneven, wide, tall, unused, restricted_matrix(6, members, 0.7, rng.uniform(0.2, 0.6)), certain]
    return [{"matrix": table / table.sum(axis=1, keepdims=True)} for table in tables]


def _log_range(rows: np.ndarray, axis: int | None) -> np.ndarray:
    """max - min of the logarithms along an axis; a line of zeros counts as 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows)
        return np.nan_to_num(logs.max(axis=axis) - logs.min(axis=axis), nan=0.0, posinf=np.inf)


def _finite_only(matrix: np.ndarray) -> float:
    logs = np.log(np.where(matrix > 0, matrix, 1.0))
    low, high = np.where(matrix > 0, logs, np.inf).min(axis=0), np.where(matrix > 0, logs, -np.inf).max(axis=0)
    return float(np.where(np.isfinite(low), high - np.where(np.isfinite(low), low, 0), 0).max())


def _worst_column(p: Any) -> float:
    return float(true_epsilon(p.matrix)[0])


matrix_epsilon = value_task(
    "matrix_epsilon",
    see="lecture 5, Local differential privacy, again",
    probes=edges(
        _matrices, {"matrix": np.array([[0.25, 0.0, 0.75]])}, {"matrix": np.ones((3, 1))}, {"matrix": np.eye(2)},
        {"matrix": np.full((4, 4), 0.25)},
    ),
    right=_worst_column,
    form=Answer(infinite=True),
    mistakes=[
        mistake(
            "along the rows",
            "You compare the reports of one person. An observer sees one report y and asks which person it came from: "
            "compare within a column.",
            lambda p: _log_range(p.matrix, 1).max(),
        ),
        mistake(
            "ratio, not its logarithm",
            "That is e^epsilon, the largest ratio. Epsilon is its logarithm.",
            lambda p: np.exp(_worst_column(p)),
        ),
        mistake("base ten", "Epsilon is the natural logarithm of the ratio.", lambda p: _worst_column(p) / np.log(10)),
        mistake(
            "base two",
            "Epsilon is the natural logarithm of the ratio; base 2 counts bits.",
            lambda p: _worst_column(p) / np.log(2),
        ),
        mistake(
            "whole matrix",
            "The largest entry over the smallest, wherever they are. Only entries of the same column, the same report, "
            "compete with each other.",
            lambda p: _log_range(p.matrix, None),
        ),
        mistake(
            "largest of the diagonal",
            "You compare the largest entry of the diagonal with the smallest of all. Only entries of the same column "
            "compete with each other, and the largest need not be on the diagonal.",
            lambda p: math.log(np.diag(p.matrix).max() / low) if (low := p.matrix.min()) > 0 else math.inf,
        ),
        mistake(
            "zeros ignored",
            "A report that one person gives and another never does gives the one away: epsilon is infinite. Leaving "
            "the zero out hides the worst case. (Only a column of nothing but zeros says nothing.)",
            lambda p: _finite_only(p.matrix),
        ),
        mistake(
            "average column",
            "Epsilon is a promise for every report, so the worst column counts, not the average one.",
            lambda p: _log_range(p.matrix, 0).mean(),
        ),
        mistake(
            "average of the ratios",
            "You average the largest ratio of each column. Epsilon is a promise for every report: the worst column "
            "counts.",
            lambda p: np.log(np.exp(_log_range(p.matrix, 0)).mean()),
        ),
    ],
)  # fmt: skip


def _budget_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The formula, then every edge: it exceeds eps; no denominator; nothing inside; one outside; eps1 = eps."""
    epsilon = rng.uniform(0.6, 1.4, 6)
    return [
        {"epsilon": float(eps), "first": float(first), "inside": int(inside), "outside": int(outside)}
        for eps, first, inside, outside in (
            (epsilon[0] + 1, 0.8 * (epsilon[0] + 1), 4, 13),  # so large that a missing logarithm stays below eps
            (epsilon[1], 0.9 * epsilon[1], 5, 3),
            (1.5, 0.5 + 0.02 * rng.random(), 2, 3),
            (2 + epsilon[2], 0.3, 3, 4),
            (epsilon[3], 0.7 * epsilon[3], 0, 6),
            (epsilon[4], 0.7 * epsilon[4], 5, 1),
            (epsilon[5], epsilon[5], 3, 7),
        )
    ]


def _second(p: Any) -> float:
    return second_epsilon(p.epsilon, p.first, p.inside, p.outside)


def _by_formula(p: Any, above: int | None = None) -> float:
    """ln of (n - 1) / (n e^(eps1 - eps) - 1), without the minimum; eps where it has no value. ``above``: for n - 1."""
    below = p.outside * math.exp(p.first - p.epsilon) - 1
    if not p.inside or p.outside == 1 or below <= 0:
        return float(p.epsilon)
    return math.log((p.outside - 1 if above is None else above) / below)


def _beyond(p: Any, answer: float) -> Note | None:
    if answer <= _second(p) or answer > 700 or p.inside + p.outside < 2:  # one category alone has nothing to hide
        return None
    return _broken_promise(restricted_matrix(p.inside + p.outside, range(p.inside), p.first, answer), p.epsilon)


second_epsilon_task = value_task(
    "second_epsilon",
    see="lecture 5, How large may ε₂ be?",
    probes=edges(
        _budget_probes, {"inside": 1, "outside": 2}, {"inside": 0, "outside": 1}, {"inside": 30, "outside": 170},
    ),
    right=_second,
    note=lambda p, answer, right: _beyond(p, answer),
    mistakes=[
        mistake(
            "no logarithm",
            "(n - 1) / (n e^(eps1 - eps) - 1) bounds e^eps2. Its logarithm bounds eps2. (The authors' published code "
            "has the same slip; at eps = 1 its true epsilon is up to 1.7.)",
            lambda p: p.epsilon if _by_formula(p) == p.epsilon else min(p.epsilon, math.exp(_by_formula(p))),
        ),
        mistake(
            "|S| for its complement",
            "n counts the categories outside S: they share the second response. You put in those inside. (The authors' "
            "published code has the same slip.)",
            lambda p: second_epsilon(p.epsilon, p.first, p.outside, max(p.inside, 1)),
        ),
        mistake(
            "as published",
            "No logarithm, and |S| for |S^c|: the two slips of the authors' published code together.",
            lambda p: published_second_epsilon(p.epsilon, p.first, p.inside),
        ),
        mistake(
            "no minimum",
            "The formula bounds one ratio, that of an outsider to somebody in S. Two outsiders differ by e^eps2, which "
            "must not exceed e^eps either: take the smaller of both.",
            _by_formula,
        ),
        mistake(
            "n for n - 1",
            "Above stands n - 1, the number of other categories outside S; you have n.",
            lambda p: min(p.epsilon, _by_formula(p, p.outside)),
        ),
        mistake(
            "empty S forgotten",
            "With nobody in S there is nobody to compare with, and RRRR is plain SRR: eps2 = eps.",
            lambda p: second_epsilon(p.epsilon, p.first, max(p.inside, 1), p.outside),
        ),
        mistake(
            "what is left over",
            "eps - eps1 is what basic composition leaves: private, but wasteful. Here an outsider's two steps and an "
            "insider's one are compared directly, and more is allowed.",
            lambda p: p.epsilon - p.first, hides=True,
        ),
        mistake(
            "all of epsilon",
            "eps2 = eps is right where nobody is in S or a single category is outside. Elsewhere an outsider passes "
            "through two coins and is compared with somebody in S who passes through one.",
            lambda p: p.epsilon,
        ),
    ],
)  # fmt: skip
