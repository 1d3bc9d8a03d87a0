"""Homework 5, the open task: a survey that learns while it asks, scored by the error of its estimate.

The student's function never meets a person. It is told what was asked and reported so far, and says with which subset
the next people shall be asked and what the shares are. Asking is the judge's part: reports come from RRRR itself, so
every survey is epsilon-LDP whatever the function does, and nothing has to be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import (
    RestrictedResponse,
    best_subset,
    inverted,
    maximum_likelihood,
    restricted_matrix,
    second_epsilon,
    to_simplex,
    utilities,
)
from dpcourse.adaptive_ldp import total_variation as distance
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import VECTOR, Answers
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import shown

#: Rounds are large, so that hardly any first one (once in a hundred million) favours a wrong category.
K, ROUNDS, PEOPLE, SURVEYS, EPSILON = 20, 4, 5_000, 6, 0.5
#: The mean error of the surveys for which all points are given, and from which on there are none. By maximum likelihood
#: it is .04 +- .006 with a subset that follows the estimate (.12 +- .007 if EM stops after 100 steps).
GOOD, BAD = 0.18, 0.40
#: The error that the estimate from an old survey may have. Maximum likelihood has .015 +- .003, and .03 after 100 steps
#: of EM; with eps2 = eps, |S| for n or SRR in its matrices .08 to .3. (With eps2 = eps - eps1 it is .03: not seen.) The
#: large shares of the two kinds are so far apart that no fixed guess is within this distance of both.
CLOSE, KINDS = 0.05, ((0.17, 0.17, 0.17, 0.17, 0.16), (0.60, 0.11, 0.08, 0.05))
#: Of what the best subset adds to Pr(Y = X), from the second round on, this much is to be gained. The largest category
#: alone gains all of it, three .43, five .23, ten .10.
GAIN = 0.3
FEW = 4  # so many favoured ones, or fewer, gain that much if they are the largest


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
    for subset, people in (([], 120_000), (order[1:4], 120_000), (order[:1], 240_000), (order[4:9], 2_000)):
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


def run_survey(talk: Interview, start: Probe) -> tuple[float, float]:
    """Ask in rounds with the student's subset: the error of the last estimate, and the gain of the later subsets."""
    theta, probe, gains = new_shares(talk.secret_rng), start, list[float]()
    for _ in range(ROUNDS):
        subset = _subset(talk, talk.value(probe)["subset"])
        gains.append(_gain(probe, theta, subset))
        probe = asked_next(probe, theta, subset, PEOPLE, talk.secret_rng)
    return float(distance(_estimate(talk, probe), theta)), float(np.mean(gains[1:]))


def _gain(probe: Probe, theta: np.ndarray, subset: list[int]) -> float:
    """How much this subset adds to Pr(Y = X) of plain SRR, as a part of what the best one adds."""
    values = utilities(theta, probe["epsilon"], probe["first"], "honest")
    matrix = RestrictedResponse(K, subset, epsilon=probe["epsilon"], first=probe["first"]).matrix
    return float((theta @ np.diag(matrix) - values[0]) / (values.max() - values[0]))


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
    errors, gains = np.mean([run_survey(talk, start) for start in new], axis=0).tolist()
    talk.praise = (
        f"{SURVEYS} surveys of {ROUNDS * PEOPLE:,} people each ended with an error of {errors:.3f} on average (total "
        f"variation); {GOOD:g} or less is full marks."
    )
    talk.share = min(1.0, max(0.0, (BAD - errors) / (BAD - GOOD)))
    if gains < GAIN:
        sizes = [asked for one in talk.recorded[len(KINDS) :] for asked in one.probe["members"][1:].sum(axis=1)]
        name, words = LITTLE_GAIN[0 if not any(sizes) else 1 if np.mean(sizes) < FEW else 2]
        talk.share, talk.noticed, talk.wasteful = min(talk.share, 0.5), (name,), True
        talk.praise += f" {words}"


def _judge_estimate(talk: Interview, old: Probe, theta: np.ndarray) -> None:
    estimate = _estimate(talk, old)
    if talk.public:
        talk.picture = shares(talk.task.name, list(map(str, range(K))), estimate, theta, what="category")
    if distance(estimate, theta) > CLOSE:
        near = {one.name: float(distance(one.wrong(**old)["estimate"], estimate)) for one in talk.task.mistakes}
        name = min(near, key=lambda one: near[one])
        talk.fail(
            f"From an old survey of {old['counts'].sum():,} people at epsilon = {old['epsilon']:.3g} your estimate is "
            f"{distance(estimate, theta):.3f} away from the truth (total variation); a good one is within {CLOSE:g}.",
            name=name if near[name] < 0.02 else "",
        )


NEVER_ADAPTS = (
    "You ask everybody with plain SRR. That is private, but wasteful: once one category stands out, a subset that "
    "favours it gives far better reports. Half of the points at most."
)


TOO_MANY = (
    "Your subsets help hardly more than plain SRR. That is private, but wasteful: S should hold the few categories "
    "that have nearly all votes, because everybody in it is hidden among all of S. Half of the points at most."
)


WRONG_ONES = (
    "Your subsets are small, and help hardly more than plain SRR: they hold the wrong categories. That is private, but "
    "wasteful: S should hold those that have nearly all votes by your estimate. Half of the points at most."
)

FEW = 3  # members of a subset that is not too large
LITTLE_GAIN = ("never adapts", NEVER_ADAPTS), ("the wrong ones favoured", WRONG_ONES), ("too many favoured", TOO_MANY)


def _estimated(p: Any, estimate: Callable[[Any], np.ndarray]) -> np.ndarray:
    k = p.members.shape[1]
    return estimate(p) if len(p.counts) else np.full(k, 1 / k)


def _ending(estimate: Callable[[Any], np.ndarray]) -> Callable[[Any], dict[str, Any]]:
    """A survey with this estimate; the subset follows it."""

    def survey(p: Any) -> dict[str, Any]:
        shares = _estimated(p, estimate)
        return {"subset": best_subset(shares / shares.sum(), p.epsilon, p.first), "estimate": shares}

    return survey


def _right_matrix(p: Any, members: list[int]) -> np.ndarray:
    return RestrictedResponse(K, members, epsilon=p.epsilon, first=p.first).matrix


def _likeliest(p: Any, matrix: Callable[[Any, list[int]], np.ndarray] = _right_matrix) -> np.ndarray:
    """The maximum-likelihood shares of all reports, each by the mechanism that it came from, or by a wrong one."""
    matrices = [matrix(p, np.flatnonzero(row).tolist()) for row in p.members]
    return maximum_likelihood(np.hstack(matrices).T, p.counts.ravel())


def _with_matrix(matrix: Callable[[Any, list[int]], np.ndarray]) -> Callable[[Any], dict[str, Any]]:
    return _ending(lambda p: _likeliest(p, matrix))


def _as_srr(p: Any) -> np.ndarray:
    reports = np.repeat(np.arange(K), p.counts.sum(axis=0))
    return to_simplex(inverted(reports, KaryResponse(epsilon=p.epsilon, k=K).matrix))


def _last_round(p: Any) -> np.ndarray:
    matrix = _right_matrix(p, np.flatnonzero(p.members[-1]).tolist())
    return maximum_likelihood(matrix.T, p.counts[-1])


def _second_with_subset(p: Any, members: list[int]) -> float:
    """eps2 with |S| in place of the number of categories outside."""
    return second_epsilon(p.epsilon, p.first, len(members), max(len(members), 1))


OWN_MATRICES = (
    "You treat every report as if it came from plain SRR. Reports to different subsets come from different matrices; "
    "the subset of each is told to you."
)

adaptive_survey = judged_task(
    "adaptive_survey",
    see="lecture 5, Learning while asking",
    probes=_probes,
    judge=_judge,
    form=Answers({"subset": VECTOR, "estimate": VECTOR}),
    seconds=20.0,
    mistakes=[
        mistake(
            "raw reports",
            "Your estimate is the share of the reports. Reports are mostly noise: undo the mechanism, by maximum "
            "likelihood or by solving for the shares.",
            _ending(lambda p: p.counts.sum(axis=0) / p.counts.sum()),
        ),
        mistake("one matrix for all", OWN_MATRICES, _ending(_as_srr)),
        mistake(
            "EM as if SRR", OWN_MATRICES, _with_matrix(lambda p, members: KaryResponse(epsilon=p.epsilon, k=K).matrix)
        ),
        mistake(
            "eps2 = eps",
            "Your matrices have eps2 = eps. The reports come from RRRR with the eps2 of the task on it.",
            _with_matrix(lambda p, members: restricted_matrix(K, members, p.first, p.epsilon)),
        ),
        mistake(
            "|S| for its complement",
            "In the eps2 of your matrices n is |S|. It is the number of categories outside S.",
            _with_matrix(
                lambda p, members: restricted_matrix(K, members, p.first, _second_with_subset(p, members))
            ),
        ),
        mistake(
            "eps twice",
            "Both steps of your matrices have eps. The reports come from RRRR with eps1 and eps2.",
            _with_matrix(lambda p, members: restricted_matrix(K, members, p.epsilon, p.epsilon)),
        ),
        mistake(
            "transposed",
            "Your matrices are turned around: P(y | x) has a row for each true category x.",
            _with_matrix(lambda p, members: _right_matrix(p, members).T),
        ),
        mistake(
            "last round only",
            "Only the last round enters your estimate. Earlier reports are as private, were paid for, and tell as "
            "much.",
            _ending(_last_round),
        ),
        mistake("never learns", "Your estimate does not depend on the reports.", _ending(lambda p: np.full(K, 1 / K))),
        mistake(
            "never adapts", NEVER_ADAPTS, lambda p: {"subset": (), "estimate": _estimated(p, _likeliest)}
        ),
        mistake(
            "the wrong ones favoured", WRONG_ONES,
            lambda p: {"subset": (int(np.argmin(shares := _estimated(p, _likeliest))),), "estimate": shares},
        ),
        mistake(
            "too many favoured", TOO_MANY,
            lambda p: {
                "subset": np.argsort(-(shares := _estimated(p, _likeliest)), kind="stable")[:10], "estimate": shares
            },
        ),
    ],
)  # fmt: skip
