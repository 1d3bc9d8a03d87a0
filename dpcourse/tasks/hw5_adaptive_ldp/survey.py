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
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import shown

#: Rounds are large, so that hardly any first one (once in a hundred million) favours a wrong category.
K, ROUNDS, PEOPLE, SURVEYS, EPSILON = 20, 4, 5_000, 6, 0.5
#: The mean error of the surveys for which all points are given, and from which on there are none. By maximum likelihood
#: it is .04 +- .006 with a subset that follows the estimate (.12 +- .007 if EM stops after 100 steps).
GOOD, BAD = 0.18, 0.40
#: The error that the estimate from an old survey may have. Maximum likelihood has .06 +- .01; if every report is
#: taken for one of SRR, it is .29 and more. The large shares of the two kinds are so far apart that no fixed guess is
#: within this distance of both.
CLOSE, KINDS = 0.15, ((0.17, 0.17, 0.17, 0.17, 0.16), (0.60, 0.11, 0.08, 0.05))


def _probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The beginning of each survey, when nobody was asked yet: first the old ones, then the new ones."""
    empty = {"members": np.zeros((0, K), dtype=bool), "counts": np.zeros((0, K), dtype=np.int64)}
    old = [(float(epsilon), 0.75) for epsilon in rng.uniform(2.15, 2.3, len(KINDS))]
    new = [(float(epsilon), 0.8) for epsilon in rng.uniform(0.95 * EPSILON, 1.05 * EPSILON, SURVEYS)]
    return [{**empty, "epsilon": epsilon, "first": share * epsilon} for epsilon, share in (*old, *new)]


def old_shares(kind: int, rng: np.random.Generator) -> np.ndarray:
    """The shares behind an old survey: a few large ones, of sizes about those of its kind; labels are drawn."""
    large = np.array(KINDS[kind]) * rng.uniform(0.9, 1.1, len(KINDS[kind]))
    theta = np.full(K, (1 - large.sum()) / (K - len(large)))
    theta[: len(large)] = large
    return rng.permutation(theta)


def old_survey(start: Probe, theta: np.ndarray, rng: np.random.Generator) -> Probe:
    """A survey that others have made, with subsets of all kinds."""
    order = np.argsort(-theta).tolist()
    for subset, people in (([], 6_000), (order[1:4], 6_000), (order[:1], 12_000), (order[4:9], 100)):
        start = asked_next(start, theta, subset, people, rng)
    return start


def new_shares(rng: np.random.Generator) -> np.ndarray:
    """One category with almost everything, as the talk likes it; whose labels they are is drawn."""
    theta = np.full(K, 0.0005)
    theta[0] = rng.uniform(0.96, 0.98)
    theta[1] += 1 - theta.sum()
    return rng.permutation(theta)


def asked_next(probe: Probe, theta: np.ndarray, subset: list[int], people: int, rng: np.random.Generator) -> Probe:
    """The survey after so many more people were asked with this subset."""
    mechanism = RestrictedResponse(K, subset, epsilon=probe["epsilon"], first=probe["first"])
    reports = mechanism.release(rng.choice(K, size=people, p=theta), rng=rng)
    return {
        **probe,
        "members": np.vstack([probe["members"], mechanism.member]),
        "counts": np.vstack([probe["counts"], np.bincount(reports, minlength=K)]),
    }


def survey_error(talk: Interview, start: Probe) -> float:
    """Run one survey: ask in rounds with the student's subset, and give back the error of the last estimate."""
    theta, probe = new_shares(talk.secret_rng), start
    for _ in range(ROUNDS):
        subset = _subset(talk, talk.value(probe)["subset"])
        probe = asked_next(probe, theta, subset, PEOPLE, talk.secret_rng)
    return float(distance(_estimate(talk, probe), theta))


def _estimate(talk: Interview, probe: Probe) -> np.ndarray:
    estimate = np.asarray(talk.value(probe)["estimate"])
    if len(estimate) != K or estimate.min() < -1e-9 or abs(estimate.sum() - 1) > 1e-6:
        talk.fail(
            f"The estimate must be {K} shares, none negative, that add up to 1. Yours are {len(estimate)} and add up "
            f"to {estimate.sum():.4g}."
        )
    return estimate


def _subset(talk: Interview, answer: np.ndarray) -> list[int]:
    chosen = [int(x) for x in answer]
    if len(set(chosen)) < len(answer) or not set(chosen) <= set(range(K)) or (answer != np.round(answer)).any():
        talk.fail(f"The subset must be different categories out of 0 to {K - 1}; yours is {shown(answer)}.")
    if len(chosen) == K:
        talk.fail(f"The subset must leave a category out: RRRR draws R from outside it. Yours has all {K}.")
    return chosen


def _judge(talk: Interview) -> None:
    """First the estimates from surveys that others have made, then whole surveys: points by their mean error."""
    old, new = talk.probes[: len(KINDS)], talk.probes[len(KINDS) :]
    for start, kind in zip(old, talk.secret_rng.permutation(len(KINDS)).tolist(), strict=True):
        theta = old_shares(kind, talk.secret_rng)
        _judge_estimate(talk, old_survey(start, theta, talk.secret_rng), theta)
    error = float(np.mean([survey_error(talk, start) for start in new]))
    talk.praise = (
        f"{SURVEYS} surveys of {ROUNDS * PEOPLE:,} people each ended with an error of {error:.3f} on average (total "
        f"variation); {GOOD:g} or less is full marks."
    )
    talk.share = min(1.0, max(0.0, (BAD - error) / (BAD - GOOD)))
    if not any(one.probe["members"].any() for one in talk.recorded[len(KINDS) :]):
        talk.share, talk.noticed, talk.wasteful = min(talk.share, 0.5), ("never adapts",), True
        talk.praise += f" {NEVER_ADAPTS}"


def _judge_estimate(talk: Interview, old: Probe, theta: np.ndarray) -> None:
    estimate = _estimate(talk, old)
    if talk.public:
        talk.picture = shares(talk.task.name, list(map(str, range(K))), estimate, theta, what="category")
    if distance(estimate, theta) > CLOSE:
        known = (m.name for m in talk.task.mistakes if distance(m.wrong(**old)["estimate"], estimate) < 0.02)
        talk.fail(
            f"From an old survey of {old['counts'].sum():,} people at epsilon = {old['epsilon']:.3g} your estimate is "
            f"{distance(estimate, theta):.3f} away from the truth (total variation); a good one is within {CLOSE:g}.",
            name=next(known, ""),
        )


NEVER_ADAPTS = (
    "You ask everybody with plain SRR. That is private and the estimate is right, but wasteful: once one category "
    "stands out, a subset that favours it gives far better reports. Half of the points at most."
)


def _ending(estimate: Callable[..., np.ndarray], adaptive: bool = True) -> Callable[..., dict[str, Any]]:
    """A survey with a wrong estimate, or one that asks everybody alike."""

    def survey(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> dict[str, Any]:
        k = members.shape[1]
        found = estimate(members, counts, epsilon, first) if len(counts) else np.full(k, 1 / k)
        return {"subset": best_subset(found, epsilon, first) if adaptive else (), "estimate": found}

    return survey


def likeliest(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    """The maximum-likelihood shares of all reports, each by the mechanism that it came from."""
    k = members.shape[1]
    matrices = [
        RestrictedResponse(k, np.flatnonzero(row).tolist(), epsilon=epsilon, first=first).matrix for row in members
    ]
    return maximum_likelihood(np.hstack(matrices).T, counts.ravel())


def _raw(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return np.asarray(counts.sum(axis=0) / counts.sum())


def _as_srr(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    reports = np.repeat(np.arange(members.shape[1]), counts.sum(axis=0))
    return to_simplex(inverted(reports, KaryResponse(epsilon=epsilon, k=members.shape[1]).matrix))


def _last_round(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return likeliest(members[-1:], counts[-1:], epsilon, first)


def _nothing(members: np.ndarray, counts: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return np.full(members.shape[1], 1 / members.shape[1])


adaptive_survey = Task(
    name="adaptive_survey",
    see="lecture 5, Learning while asking",
    probes=_probes,
    judge=_judge,
    answer=Answers({"subset": Answer((None,)), "estimate": Answer((None,))}),
    mistakes=(
        Mistake(
            "raw reports", _ending(_raw),
            "Your estimate is the share of the reports. Reports are mostly noise: undo the mechanism, by maximum "
            "likelihood or by solving for the shares.",
        ),
        Mistake(
            "one matrix for all", _ending(_as_srr),
            "You treat every report as if it came from plain SRR. Reports to different subsets come from different "
            "matrices; the subset of each is told to you.",
        ),
        Mistake(
            "last round only", _ending(_last_round),
            "Only the last round enters your estimate. Earlier reports are as private, were paid for, and tell as "
            "much.",
        ),
        Mistake(
            "never learns", _ending(_nothing),
            "Your estimate does not depend on the reports.",
        ),
        Mistake(
            "never adapts", _ending(likeliest, adaptive=False), NEVER_ADAPTS,
        ),
    ),
    seconds=20.0,
)  # fmt: skip
