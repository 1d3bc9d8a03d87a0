"""Homework 5: the talk's six utilities, for any shares and any matrix, straight from their definitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import UTILITIES, restricted_matrix, total_variation
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.declare import value_task
from dpcourse.tasks.judges.values import Note
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import edges
from dpcourse.tasks.respondent import Probe


def _probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Uneven shares, and matrices that are not symmetric: of RRRR, and one like no mechanism."""
    theta, other = rng.dirichlet(np.full(5, 2.0)), rng.dirichlet(np.full(4, 2.0))
    subset = rng.choice(5, 2, replace=False).tolist()
    odd = 0.5 * np.eye(4) + 0.5 * rng.dirichlet(np.full(4, 2.0), size=4)
    return [
        {"theta": theta, "matrix": restricted_matrix(5, subset, rng.uniform(0.8, 1.5), rng.uniform(0.3, 0.7))},
        {"theta": other, "matrix": odd},
    ]


def fisher_information(theta: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """F of one report about the first K - 1 shares; the last is what they leave."""
    slopes = matrix[:-1] - matrix[-1]
    return np.asarray((slopes / (theta @ matrix)) @ slopes.T)


def by_definition(theta: np.ndarray, matrix: np.ndarray) -> dict[str, float]:
    """U1 to U6 of a report Y from X ~ theta by P(y | x) = ``matrix``, by name. Larger is better.

    The definitions of the talk; :func:`dpcourse.adaptive_ldp.utilities` has them in closed form for RRRR only.
    """
    joint = theta[:, None] * matrix
    reports = joint.sum(axis=0)
    posterior = joint / reports
    return {
        "fisher": -float(np.trace(np.linalg.inv(fisher_information(theta, matrix)))),
        "entropy": -float(reports @ np.log(reports)),
        "tv_posterior": float(reports @ total_variation(posterior.T, theta)),
        "tv_marginal": -float(total_variation(reports, theta)),
        "squared_error": float((joint * posterior).sum()) - 1,
        "honest": float(np.trace(joint)),
    }


def _right(p: Any) -> dict[str, float]:
    return by_definition(p.theta, p.matrix)


def _posterior(p: Any) -> np.ndarray:
    """Pr(X = x | Y = y), a row for each x."""
    return np.asarray(p.theta[:, None] * p.matrix / (p.theta @ p.matrix))


def _unweighted_distance(p: Any) -> float:
    return float(total_variation(_posterior(p).T, p.theta).mean())


def _likeliest_guessed(p: Any) -> float:
    """The squared error of the unit vector of the likeliest category: 2 if it is another one, else 0."""
    return 2 * float((p.theta[:, None] * p.matrix).max(axis=0).sum()) - 2


def _conditional_entropy(p: Any) -> float:
    return -float((p.theta[:, None] * p.matrix * np.log(p.matrix)).sum())


NOT_INVERTED = "The variances of the estimates are on the diagonal of the inverse of F: take -Tr(F^-1)."
SMALL_IS_GOOD = "Reports should look like the population: a small distance is good, so U4 has a minus."

six_utilities = value_task(
    "six_utilities",
    see="lecture 5, Six utilities",
    probes=edges(
        _probes, {"theta": np.array([0.7, 0.3]), "matrix": np.array([[0.8, 0.2], [0.35, 0.65]])},
    ),
    right=_right,
    form=Answers({name: Answer(optional=True) for name in UTILITIES}),
    tolerance=1e-4,  # F is inverted: in single precision a digit or two of seven are lost
    by_part=True,
    note=lambda p, answer, right: (
        Note("All six are None: nothing to check yet.") if set(answer.values()) == {None} else None
    ),
    mistakes=[
        mistake(
            "entropy upside down",
            "Entropy is -sum p ln p, a positive number. (The authors' published code has it upside down, too: it looks "
            "for the reports that vary least.)",
            entropy=lambda p: -_right(p)["entropy"],
        ),
        mistake(
            "bits",
            "That is the entropy in bits. The talk's logarithm is the natural one.",
            entropy=lambda p: _right(p)["entropy"] / np.log(2),
        ),
        mistake(
            "entropy of X",
            "That is the entropy of X, of the population: it does not depend on the matrix. U2 is that of the report "
            "Y, whose probabilities are theta @ matrix.",
            entropy=lambda p: -p.theta @ np.log(p.theta),
        ),
        mistake(
            "entropy given X",
            "That is the entropy of the report if X is known. U2 is that of Y alone.",
            entropy=_conditional_entropy,
        ),
        mistake("trace of F", NOT_INVERTED, fisher=lambda p: np.trace(fisher_information(p.theta, p.matrix))),
        mistake("minus trace of F", NOT_INVERTED, fisher=lambda p: -np.trace(fisher_information(p.theta, p.matrix))),
        mistake(
            "inverse of the diagonal",
            "You add up 1/F_ii. That is the inverse of the diagonal of F; needed is the diagonal of its inverse.",
            fisher=lambda p: -(1 / np.diag(fisher_information(p.theta, p.matrix))).sum(),
        ),
        mistake(
            "variance as a utility",
            "Tr(F^-1) is a sum of variances. As a utility, larger is better: U1 has a minus.",
            fisher=lambda p: -_right(p)["fisher"],
        ),
        mistake(
            "all K shares free",
            "The shares add up to 1, so only K - 1 of them are free: differentiate with the last one as 1 minus the "
            "others.",
            fisher=lambda p: -np.trace(np.linalg.inv((p.matrix / (p.theta @ p.matrix)) @ p.matrix.T)),
        ),
        mistake(
            "half forgotten",
            "Total variation is half the sum of the absolute differences.",
            tv_marginal=lambda p: 2 * _right(p)["tv_marginal"],
        ),
        mistake("distance rewarded", SMALL_IS_GOOD, tv_marginal=lambda p: -_right(p)["tv_marginal"]),
        mistake(
            "half forgotten in U3",
            "Total variation is half the sum of the absolute differences.",
            tv_posterior=lambda p: 2 * _right(p)["tv_posterior"],
        ),
        mistake(
            "distance punished",
            "A report that moves the posterior far from the prior tells much: U3 has no minus.",
            tv_posterior=lambda p: -_right(p)["tv_posterior"],
        ),
        mistake(
            "reports not weighted",
            "You average over the reports as if all were equally frequent. The expectation weighs each by Pr(Y = y).",
            tv_posterior=_unweighted_distance,
        ),
        mistake(
            "error as a utility",
            "That is the smallest error. As a utility, larger is better: minus the minimum.",
            squared_error=lambda p: -_right(p)["squared_error"],
        ),
        mistake(
            "one forgotten",
            "The error is 1 minus the expected squared length of the posterior; your utility lacks the -1.",
            squared_error=lambda p: _right(p)["squared_error"] + 1,
        ),
        mistake(
            "error of the prior",
            "That is the error of whoever does not see the report. The best guess is the posterior mean.",
            squared_error=lambda p: (p.theta**2).sum() - 1,
        ),
        mistake(
            "the likeliest guessed",
            "You guess the likeliest category. The squared error is smallest for the posterior mean.",
            squared_error=_likeliest_guessed,
        ),
        mistake(
            "people not weighted",
            "You average P(x | x) over the categories. Pr(Y = X) weighs each with its share theta.",
            honest=lambda p: np.trace(p.matrix) / len(p.theta),
        ),
        mistake(
            "trace of the matrix",
            "You add up P(x | x) over the categories. Pr(Y = X) weighs each with its share theta.",
            honest=lambda p: np.trace(p.matrix),
        ),
    ],
)  # fmt: skip
