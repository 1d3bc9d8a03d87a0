"""Homework 5: the talk's six utilities, for any shares and any matrix, straight from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpcourse.adaptive_ldp import UTILITIES, restricted_matrix, total_variation
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import shown

Utilities = dict[str, float]


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


def by_definition(theta: np.ndarray, matrix: np.ndarray) -> Utilities:
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


def _but(name: str, wrong: Callable[[np.ndarray, np.ndarray, Utilities], float]) -> Callable[..., Utilities]:
    """All six, one of them wrong."""

    def six(theta: np.ndarray, matrix: np.ndarray) -> Utilities:
        right = by_definition(theta, matrix)
        return {**right, name: wrong(theta, matrix, right)}

    return six


def _judge(talk: Interview) -> None:
    """A sixth of the points for each utility; the first wrong one is compared with the known mistakes."""
    asked = [(probe, talk.value(probe), by_definition(**probe)) for probe in talk.probes]
    wrong = [name for name in UTILITIES if not all(same_values(found[name], right[name]) for _, found, right in asked)]
    if not wrong:
        talk.praise = "All six utilities are right, for two matrices."
        return
    if len(wrong) == len(UTILITIES) and all(found[name] is None for _, found, _ in asked for name in wrong):
        talk.fail("All six are None: nothing to check yet.")
    messages = []
    for name in wrong:
        known = next((m for m in talk.task.mistakes if _explains(m, name, asked)), None)
        talk.noticed = talk.noticed or ((known.name,) if known else ())
        _, found, right = next(one for one in asked if not same_values(one[1][name], one[2][name]))
        messages.append(
            f"{name}: you answer {shown(found[name])}; right is {shown(right[name])}."
            + (f" {known.message}" if known else "")
        )
    talk.share = 1 - len(wrong) / len(UTILITIES)
    talk.praise = f"{len(UTILITIES) - len(wrong)} of six are right. " + " ".join(messages)


def _explains(known: Mistake, name: str, asked: list[tuple[Probe, Utilities, Utilities]]) -> bool:
    answers = [known.wrong(**probe)[name] for probe, _, _ in asked]
    if all(same_values(answer, right[name]) for answer, (_, _, right) in zip(answers, asked, strict=True)):
        return False  # this mistake is about another utility
    return all(same_values(answer, found[name]) for answer, (_, found, _) in zip(answers, asked, strict=True))


six_utilities = Task(
    name="six_utilities",
    see="lecture 5, Six utilities",
    probes=_probes,
    judge=_judge,
    answer=Answers({name: Answer(optional=True) for name in UTILITIES}),
    mistakes=(
        Mistake(
            "entropy upside down", _but("entropy", lambda theta, matrix, right: -right["entropy"]),
            "Entropy is -sum p ln p, a positive number. (The authors' published code has it upside down, too: it "
            "looks for the reports that vary least.)",
        ),
        Mistake(
            "bits", _but("entropy", lambda theta, matrix, right: right["entropy"] / float(np.log(2))),
            "That is the entropy in bits. The talk's logarithm is the natural one.",
        ),
        Mistake(
            "trace of F", _but("fisher", lambda t, m, right: float(np.trace(fisher_information(t, m)))),
            "The variances of the estimates are on the diagonal of the inverse of F: take -Tr(F^-1).",
        ),
        Mistake(
            "all K shares free",
            _but("fisher", lambda t, m, right: -float(np.trace(np.linalg.inv((m / (t @ m)) @ m.T)))),
            "The shares add up to 1, so only K - 1 of them are free: differentiate with the last one as 1 minus the "
            "others.",
        ),
        Mistake(
            "half forgotten", _but("tv_marginal", lambda theta, matrix, right: 2 * right["tv_marginal"]),
            "Total variation is half the sum of the absolute differences.",
        ),
        Mistake(
            "distance rewarded", _but("tv_marginal", lambda theta, matrix, right: -right["tv_marginal"]),
            "Reports should look like the population: a small distance is good, so U4 has a minus.",
        ),
        Mistake(
            "reports not weighted",
            _but("tv_posterior", lambda t, m, right: float(total_variation((t[:, None] * m / (t @ m)).T, t).mean())),
            "You average over the reports as if all were equally frequent. The expectation weighs each by Pr(Y = y).",
        ),
        Mistake(
            "error as a utility", _but("squared_error", lambda theta, matrix, right: -right["squared_error"]),
            "That is the smallest error. As a utility, larger is better: minus the minimum.",
        ),
        Mistake(
            "people not weighted", _but("honest", lambda theta, matrix, right: float(np.trace(matrix)) / len(theta)),
            "You average P(x | x) over the categories. Pr(Y = X) weighs each with its share theta.",
        ),
    ),
)  # fmt: skip
