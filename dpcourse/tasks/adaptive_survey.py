"""Homework 5, the open task: a survey that learns while it asks, scored by the error of its estimate.

The student's function never meets a person. It is told what was asked and reported so far, and says with which subset
the next people shall be asked and what the shares are. Asking is the judge's part: reports come from RRRR itself, so
every survey is epsilon-LDP whatever the function does, and nothing has to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import RestrictedResponse, best_subset, inverted, maximum_likelihood, to_simplex
from dpcourse.adaptive_ldp import total_variation as distance
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import Interview, Misconception, Task

K, ROUNDS, PEOPLE, SURVEYS = 12, 8, 750, 4
#: The mean error for which all points are given, and from which on there are none.
GOOD, BAD = 0.10, 0.40


def _probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The beginning of each survey: nobody was asked yet. One category has almost everything, as the talk likes it."""
    empty = {"members": np.zeros((0, K), dtype=bool), "reports": np.zeros(0, dtype=np.int64)}
    epsilons = rng.uniform(0.55, 0.65, SURVEYS)
    return [{**empty, "epsilon": float(epsilon), "first": float(0.8 * epsilon)} for epsilon in epsilons]


def shares(rng: np.random.Generator) -> np.ndarray:
    """One category with 88 to 94%, the next with most of the rest; whose labels they are is drawn."""
    theta = np.full(K, 0.002)
    theta[0] = rng.uniform(0.88, 0.94)
    theta[1] += 1 - theta.sum()
    return rng.permutation(theta)


def survey_error(talk: Interview, start: Probe) -> float:
    """Run one survey: ask in rounds with the student's subset, and give back the error of the last estimate."""
    theta, probe = shares(talk.rng), start
    for _ in range(ROUNDS):
        subset = _subset(talk, talk.value(probe)["subset"])
        mechanism = RestrictedResponse(K, subset, epsilon=probe["epsilon"], first=probe["first"])
        people = talk.rng.choice(K, size=PEOPLE, p=theta)
        asked = np.tile(mechanism.member, (PEOPLE, 1))
        probe = {
            **probe,
            "members": np.concatenate([probe["members"], asked]),
            "reports": np.concatenate([probe["reports"], mechanism.release(people, rng=talk.rng)]),
        }
    estimate = talk.value(probe)["estimate"]
    if len(estimate) != K or estimate.min() < -1e-9 or abs(estimate.sum() - 1) > 1e-6:
        talk.fail(
            f"The estimate must be {K} shares, none negative, that add up to 1; yours add up to {estimate.sum():.4g}."
        )
    return float(distance(estimate, theta))


def _subset(talk: Interview, answer: np.ndarray) -> list[int]:
    chosen = [int(x) for x in answer]
    if len(set(chosen)) < len(answer) or not set(chosen) <= set(range(K)) or (answer != np.round(answer)).any():
        talk.fail(f"The subset must be different categories out of 0 to {K - 1}; yours is {answer.tolist()}.")
    if len(chosen) == K:
        talk.fail(f"The subset must leave a category out: RRRR draws R from outside it. Yours has all {K}.")
    return chosen


def _judge(talk: Interview) -> None:
    errors = [survey_error(talk, start) for start in talk.probes]
    error = float(np.mean(errors))
    talk.praise = (
        f"{SURVEYS} surveys of {ROUNDS * PEOPLE:,} people each ended with an error of {error:.3f} on average (total "
        f"variation); {GOOD} or less is full marks."
    )
    if error > GOOD:
        talk.share = max(0.0, (BAD - error) / (BAD - GOOD))
        known = _explained(talk)
        if known is not None:
            talk.noticed = known.name
            talk.praise += f" {known.message}"


def _explained(talk: Interview) -> Misconception | None:
    """The known mistake that ends the student's surveys with nearly the same estimates."""
    ends = [one for one in talk.recorded if len(one.probe["reports"]) == ROUNDS * PEOPLE]
    adapts = any(one.probe["members"].any() for one in ends)
    for known in talk.task.misconceptions:
        if adapts and known.name == "never adapts":  # its estimate is the right one
            continue
        theirs = [known.wrong(**{key: one.probe[key] for key in one.probe})["estimate"] for one in ends]
        if all(distance(wrong, one.found["estimate"]) < 0.01 for wrong, one in zip(theirs, ends, strict=True)):
            return known
    return None


def rows_and_counts(
    members: np.ndarray, reports: np.ndarray, epsilon: float, first: float
) -> tuple[np.ndarray, np.ndarray]:
    """P(y | x) over x for every different (subset, report), and how often it came."""
    keys, counts = np.unique(np.column_stack([members, reports]), axis=0, return_counts=True)
    k = members.shape[1]
    rows = [
        RestrictedResponse(k, np.flatnonzero(key[:-1]).tolist(), epsilon=epsilon, first=first).matrix[:, key[-1]]
        for key in keys
    ]
    return np.array(rows), counts


def _ending(estimate: Callable[..., np.ndarray], adaptive: bool = True) -> Callable[..., dict[str, Any]]:
    """A survey with a wrong estimate, or one that asks everybody alike."""

    def survey(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> dict[str, Any]:
        k = members.shape[1]
        found = estimate(members, reports, epsilon, first) if len(reports) else np.full(k, 1 / k)
        return {"subset": best_subset(found, epsilon, first) if adaptive else (), "estimate": found}

    return survey


def likeliest(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    """The maximum-likelihood shares of all reports, each by the mechanism that it came from."""
    return maximum_likelihood(*rows_and_counts(members, reports, epsilon, first))


def _raw(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return np.bincount(reports, minlength=members.shape[1]) / len(reports)


def _as_srr(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return to_simplex(inverted(reports, KaryResponse(epsilon=epsilon, k=members.shape[1]).matrix))


def _last_round(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return likeliest(members[-PEOPLE:], reports[-PEOPLE:], epsilon, first)


def _nothing(members: np.ndarray, reports: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return np.full(members.shape[1], 1 / members.shape[1])


adaptive_survey = Task(
    name="adaptive_survey",
    points=4,
    see="lecture 5, Learning while asking",
    probes=_probes,
    judge=_judge,
    answer=Answers({"subset": Answer((None,)), "estimate": Answer((None,))}),
    misconceptions=(
        Misconception(
            "raw reports", _ending(_raw),
            "Your estimate is the share of the reports. Reports are mostly noise: undo the mechanism, by maximum "
            "likelihood or by solving for the shares.",
        ),
        Misconception(
            "one matrix for all", _ending(_as_srr),
            "You treat every report as if it came from plain SRR. Reports to different subsets come from different "
            "matrices; the subset of each is told to you.",
        ),
        Misconception(
            "last round only", _ending(_last_round),
            "Only the last round enters your estimate. Earlier reports are as private, were paid for, and tell as "
            "much.",
        ),
        Misconception(
            "never learns", _ending(_nothing),
            "Your estimate does not depend on the reports.",
        ),
        Misconception(
            "never adapts", _ending(likeliest, adaptive=False),
            "You ask everybody with plain SRR. That is private and the estimate is right, but wasteful: once one "
            "category stands out, a subset that favours it gives far better reports.",
        ),
    ),
    seconds=20.0,
)  # fmt: skip
