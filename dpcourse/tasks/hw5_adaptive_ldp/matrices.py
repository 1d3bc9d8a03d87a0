"""Homework 5, first half: a response on categories, its matrix, and what the matrix promises."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcourse.adaptive_ldp import restricted_matrix, second_epsilon, true_epsilon
from dpcourse.adaptive_ldp.matrices import published_second_epsilon
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.hw5_adaptive_ldp.reports import rrrr, rrrr_matrix, srr
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task


def _srr_matrix(k: int, epsilon: float) -> np.ndarray:
    return KaryResponse(epsilon=epsilon, k=k).matrix


def _even(k: int, truth: float, lie: float) -> np.ndarray:
    return np.full((k, k), lie) + (truth - lie) * np.eye(k)


srr_matrix = Task(
    name="srr_matrix",
    see="lecture 5, Standard randomized response",
    probes=lambda rng: [
        {"k": int(k), "epsilon": float(epsilon)}
        for k, epsilon in zip(rng.permutation([3, 5, 8]), rng.uniform((0.3, 1.2, 2), (0.8, 1.8, 4)), strict=True)
    ],
    judge=values_of(_srr_matrix),
    answer=Answer((None, None)),
    mistakes=(
        Mistake(
            "lies not shared out", lambda k, epsilon: _even(k, *_told(k, epsilon, share=1)),
            "Every other category gets the whole probability of a lie, so that a row adds up to more than 1. The K - 1 "
            "lies share it.",
        ),
        Mistake(
            "K for K - 1", lambda k, epsilon: _even(k, *_told(k, epsilon, others=k)),
            "The truth has e^eps / (e^eps + K - 1): there are K - 1 other categories. With K the promise holds, but a "
            "part of the budget is wasted.",
        ),
        Mistake(
            "two categories", lambda k, epsilon: _even(k, *_told(k, epsilon, others=1)),
            "e^eps / (e^eps + 1) is the coin for two categories. Here the lies are K - 1, each of them rarer, and the "
            "ratio of truth to a single lie gets larger than e^eps.",
        ),
        Mistake(
            "not divided", lambda k, epsilon: _even(k, math.exp(epsilon), 1.0),
            "The ratio is right, but a row of probabilities adds up to 1: divide by e^eps + K - 1.",
        ),
        Mistake(
            "logarithms", lambda k, epsilon: np.log(_srr_matrix(k, epsilon)),
            "These are the logarithms of the probabilities.",
        ),
    ),
)  # fmt: skip


def _told(k: int, epsilon: float, *, others: int | None = None, share: int | None = None) -> tuple[float, float]:
    """The truth and one lie, if so many others stand in the formula, and so many share the lie."""
    truth = math.exp(epsilon) / (math.exp(epsilon) + (k - 1 if others is None else others))
    return truth, (1 - truth) / (k - 1 if share is None else share)


def _matrices(rng: np.random.Generator) -> Sequence[Probe]:
    """No symmetric ones; more reports than categories; a report that nobody gives; one that somebody never gives."""

    def drawn(categories: int, reports: int) -> np.ndarray:
        return rng.dirichlet(np.full(reports, 3.0), size=categories)

    unused, certain = drawn(4, 5), drawn(3, 4)
    unused[:, rng.integers(5)] = 0
    certain[rng.integers(3), rng.integers(4)] = 0
    members = rng.choice(6, 2, replace=False).tolist()
    uneven = drawn(4, 4)
    while _log_range(uneven, None) < 1.05 * _log_range(uneven, 1).max():  # largest and smallest entry in other rows
        uneven = drawn(4, 4)
    tables = [uneven, drawn(3, 6), unused, restricted_matrix(6, members, 0.7, rng.uniform(0.2, 0.6)), certain]
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


matrix_epsilon = Task(
    name="matrix_epsilon",
    see="lecture 5, Local differential privacy, again",
    probes=_matrices,
    judge=values_of(lambda matrix: true_epsilon(matrix)[0]),
    answer=Answer(infinite=True),
    mistakes=(
        Mistake(
            "along the rows", lambda matrix: float(_log_range(matrix, 1).max()),
            "You compare the reports of one person. An observer sees one report y and asks which person it came from: "
            "compare within a column.",
        ),
        Mistake(
            "ratio, not its logarithm", lambda matrix: float(np.exp(_log_range(matrix, 0).max())),
            "That is e^epsilon, the largest ratio. Epsilon is its logarithm.",
        ),
        Mistake(
            "whole matrix", lambda matrix: float(_log_range(matrix, None)),
            "The largest entry over the smallest, wherever they are. Only entries of the same column, the same report, "
            "compete with each other.",
        ),
        Mistake(
            "zeros ignored", _finite_only,
            "A report that one person gives and another never does gives the one away: epsilon is infinite. Leaving "
            "the zero out hides the worst case. (Only a column of nothing but zeros says nothing.)",
        ),
        Mistake(
            "average column", lambda matrix: float(_log_range(matrix, 0).mean()),
            "Epsilon is a promise for every report, so the worst column counts, not the average one.",
        ),
    ),
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


def _ratio(epsilon: float, first: float, outside: int) -> float:
    """(n - 1) / (n e^(eps1 - eps) - 1), or nothing where the denominator is not positive."""
    below = outside * math.exp(first - epsilon) - 1
    return (outside - 1) / below if below > 0 else math.inf


def _without_minimum(epsilon: float, first: float, inside: int, outside: int) -> float:
    ratio = _ratio(epsilon, first, outside)
    return math.log(ratio) if inside and outside > 1 and math.isfinite(ratio) else epsilon


def _without_logarithm(epsilon: float, first: float, inside: int, outside: int) -> float:
    return min(epsilon, _ratio(epsilon, first, outside)) if inside and outside > 1 else epsilon


second_epsilon_task = Task(
    name="second_epsilon",
    see="lecture 5, How large may ε₂ be?",
    probes=_budget_probes,
    judge=values_of(second_epsilon),
    mistakes=(
        Mistake(
            "no logarithm", _without_logarithm,
            "(n - 1) / (n e^(eps1 - eps) - 1) bounds e^eps2. Its logarithm bounds eps2. (The authors' published code "
            "has the same slip; at eps = 1 its true epsilon is up to 1.7.)",
        ),
        Mistake(
            "|S| for its complement",
            lambda epsilon, first, inside, outside: second_epsilon(epsilon, first, outside, max(inside, 1)),
            "n counts the categories outside S: they share the second response. You put in those inside.",
        ),
        Mistake(
            "as published", lambda epsilon, first, inside, outside: published_second_epsilon(epsilon, first, inside),
            "No logarithm, and |S| for |S^c|: the two slips of the authors' published code together.",
        ),
        Mistake(
            "no minimum", _without_minimum,
            "The formula bounds one ratio, that of an outsider to somebody in S. Two outsiders differ by e^eps2, which "
            "must not exceed e^eps either: take the smaller of both.",
        ),
        Mistake(
            "empty S forgotten",
            lambda epsilon, first, inside, outside: second_epsilon(epsilon, first, max(inside, 1), outside),
            "With nobody in S there is nobody to compare with, and RRRR is plain SRR: eps2 = eps.",
        ),
        Mistake(
            "what is left over", lambda epsilon, first, inside, outside: epsilon - first,
            "eps - eps1 is what basic composition leaves. Here an outsider's two steps and an insider's one are "
            "compared directly, and more is allowed.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (srr, srr_matrix, matrix_epsilon, second_epsilon_task, rrrr, rrrr_matrix)
