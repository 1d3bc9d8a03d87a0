"""Homework 5: the two responses, SRR and RRRR, judged by how often each report comes, and the matrix of RRRR."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import RestrictedResponse, naive_matrix, restricted_matrix
from dpcourse.audit import binomial_fit
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares as counted
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments


def reports_of(row: Callable[..., Any], *, draws: int) -> Callable[[Interview], None]:
    """The student's reports must be 0..K-1 with the probabilities ``row(**probe)``: an exact binomial for each.

    Every probe gets many draws, because a response may be right for one person and wrong for another.
    """

    def judge(talk: Interview) -> None:
        try:
            for number in (talk.few, draws):
                for probe in talk.probes:
                    _compare(talk, probe, np.asarray(row(**probe)), number)
        except Failed:
            for probe in talk.probes:  # few draws settle that it is wrong; more tell which mistake it is
                talk.draws(probe, 4_000)
            raise
        talk.praise = f"Your reports to {len(talk.probes)} probes come as often as they should."

    return judge


def _compare(talk: Interview, probe: Probe, right: np.ndarray, draws: int) -> None:
    answers = talk.draws(probe, draws)
    about = f"I called you {draws:,} times with {arguments(probe)}."
    level = LEVEL / (2 * len(talk.probes) * len(right))
    strange = answers[~np.isin(answers, np.arange(len(right)))]
    if strange.size:
        talk.fail(f"{about} You reported {strange[0]:g}, which is none of the categories 0 to {len(right) - 1}.")
    if (answers == answers[0]).all():
        talk.fail(f"{about} Every report was {answers[0]:g}: no coin is tossed, or always the same one.")
    counts = np.bincount(answers.astype(np.int64), minlength=len(right))
    shares, own = counts / draws, int(probe["x"])
    if talk.public:
        talk.picture = counted(talk.task.name, list(map(str, range(len(right)))), shares, right)
    lies = np.delete(shares, own)
    even = lies.max() < 1.25 * lies.min() + 0.02
    for category in np.argsort(-np.abs(shares - right)):  # the worst first
        words = "the truth" if category == own else "a lie"
        less = category == own and even and shares[own] < right[own]
        waste = " That is private, but wasteful: epsilon allows the truth more often." if less else ""
        talk.require(
            binomial_fit(int(counts[category]), draws, float(right[category]), level=level),
            f"{about} You reported {category} ({words}) in {shares[category]:.1%} of them; {right[category]:.1%} is "
            f"right.{waste}",
            wasteful=bool(less),
        )


def _srr_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first category, the last one, and one between them: a response may be right for one and not for another."""
    sizes = rng.permutation([4, 5, 6]).tolist()
    own = (0, sizes[1] - 1, int(rng.integers(1, sizes[2] - 1)))
    return [{"x": x, "k": k, "epsilon": float(rng.uniform(1.6, 2.4))} for x, k in zip(own, sizes, strict=True)]


def _srr(x: int, k: int, truth: float, rng: np.random.Generator) -> int:
    """The truth with this probability, else one of the others."""
    return x if rng.random() < truth else int((x + rng.integers(1, k)) % k)


def _truth(epsilon: float, others: float) -> float:
    return math.exp(epsilon) / (math.exp(epsilon) + others)


srr = Task(
    name="srr",
    see="lecture 5, Standard randomized response",
    probes=_srr_probes,
    judge=reports_of(lambda x, k, epsilon: KaryResponse(epsilon=epsilon, k=k).matrix[x], draws=10_000),
    mistakes=(
        Mistake(
            "own category among the lies",
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else int(rng.integers(k)),
            "Your lie is drawn from all K categories, the true one among them. So the truth comes more often than "
            "epsilon allows. Draw from the K - 1 others.",
        ),
        Mistake(
            "two categories", lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, 1), rng),
            "e^eps / (e^eps + 1) is the coin for two categories. With K of them each lie gets rarer, and the ratio of "
            "truth to a lie grows to (K - 1) e^eps.",
        ),
        Mistake(
            "K for K - 1", lambda x, k, epsilon, rng: _srr(x, k, _truth(epsilon, k), rng),
            "There are K - 1 others, so the truth has e^eps / (e^eps + K - 1). With K it is told too rarely: private, "
            "but a part of the budget is wasted.",
        ),
        Mistake(
            "lies to the next category",
            lambda x, k, epsilon, rng: x if rng.random() < _truth(epsilon, k - 1) else (x + 1) % k,
            "Your lie is always the next category. Whoever reports one that is neither x nor x + 1 cannot be x: that "
            "ratio is infinite. A lie is any of the others, equally likely.",
        ),
        Mistake(
            "no coin", lambda x, k, epsilon: x,
            "Everybody tells the truth. Useful, and not private at all.",
        ),
        Mistake(
            "pure chance", lambda x, k, epsilon, rng: int(rng.integers(k)),
            "The report does not depend on x: perfectly private, and useless.",
        ),
    ),
)  # fmt: skip


def _rrrr_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Somebody outside S and somebody in it; eps1 far enough from eps, and S neither small nor nearly all."""
    k, epsilon = 7, float(rng.uniform(1.6, 2.1))
    members = sorted(rng.choice(k, 3, replace=False).tolist())
    others = [x for x in range(k) if x not in members]
    first = float(rng.uniform(0.6, 0.7) * epsilon)
    people = (int(rng.choice(others)), int(rng.choice(members)))
    return [{"x": x, "k": k, "subset": tuple(members), "epsilon": epsilon, "first": first} for x in people]


def _row(x: int, k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return np.asarray(RestrictedResponse(k, subset, epsilon=epsilon, first=first).matrix[x])


def _drawn_from(matrix: Callable[..., np.ndarray]) -> Callable[..., int]:
    """A report drawn from row x of a wrong matrix(k, subset, epsilon, first)."""

    @lru_cache(maxsize=16)
    def edges(x: int, k: int, subset: tuple[int, ...], epsilon: float, first: float) -> list[float]:
        return np.cumsum(matrix(k, subset, epsilon, first)[x])[:-1].tolist()

    def report(x: int, k: int, subset: Sequence[int], epsilon: float, first: float, rng: np.random.Generator) -> int:
        return bisect(edges(x, k, tuple(subset), epsilon, first), rng.random())

    return report


def _certain_outside(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return restricted_matrix(k, subset, first, 700.0)  # e^-700: R is always X


def _uniform_outside(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return restricted_matrix(k, subset, first, 0.0)


def _all_of_it(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return restricted_matrix(k, subset, first, epsilon)


def _both_whole(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return restricted_matrix(k, subset, epsilon, epsilon)


def _naive(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return naive_matrix(k, subset, epsilon)


#: The wrong matrices that both RRRR tasks know: name, matrix, message.
WRONG = (
    ("naive", _naive,
     "Somebody in S never reports a category outside: such a report gives an outsider away, and epsilon is infinite. "
     "Let one more category R into the set on which the answer is given."),
    ("eps2 = eps", _all_of_it,
     "The response outside S uses all of eps, but an outsider passes through two coins, and is compared with somebody "
     "in S who passes through one. eps2 has to be smaller: see the task before."),
    ("eps twice", _both_whole,
     "Both steps use eps. The first one is to use eps1, the second the eps2 that is left."),
    ("R = X outside S", _certain_outside,
     "For X outside S you put X itself forward. Then a report outside S is always the truth. R has to be drawn by SRR "
     "among the categories outside S, with eps2."),
    ("R drawn blindly", _uniform_outside,
     "You draw R uniformly also for somebody outside S. That is private, but wasteful: nothing is ever learnt about "
     "who is who outside S. R = SRR(X; outside S, eps2)."),
)  # fmt: skip

rrrr = Task(
    name="rrrr",
    see="lecture 5, RRRR: randomly restricted randomized response",
    probes=_rrrr_probes,
    judge=reports_of(_row, draws=7_000),
    mistakes=tuple(Mistake(name, _drawn_from(matrix), text) for name, matrix, text in WRONG),
)


def _rrrr_matrix(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    return RestrictedResponse(k, subset, epsilon=epsilon, first=first).matrix


def _matrix_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Any S, scattered; then the edges: nobody in S, one outside, eps1 = eps."""
    probes = []
    for k, size, share in ((6, 2, 0.7), (7, 4, 0.9), (5, 0, 0.8), (4, 3, 0.8), (6, 3, 1.0)):
        epsilon = float(rng.uniform(0.7, 1.8))
        subset = tuple(sorted(rng.choice(k, size, replace=False).tolist()))
        probes.append({"k": k, "subset": subset, "epsilon": epsilon, "first": share * epsilon})
    return probes


def _n_forgotten(k: int, subset: Sequence[int], epsilon: float, first: float) -> np.ndarray:
    """a, not a/n, for the reports outside S of somebody in it."""
    matrix = _rrrr_matrix(k, subset, epsilon, first)
    outside = [y for y in range(k) if y not in subset]
    matrix[np.ix_(list(subset), outside)] *= len(outside)
    return matrix


rrrr_matrix = Task(
    name="rrrr_matrix",
    see="lecture 5, The matrix of RRRR",
    probes=_matrix_probes,
    judge=values_of(_rrrr_matrix),
    answer=Answer((None, None)),
    mistakes=(
        *(Mistake(name, matrix, text) for name, matrix, text in WRONG[1:]),
        Mistake(
            "transposed", lambda k, subset, epsilon, first: _rrrr_matrix(k, subset, epsilon, first).T,
            "Your table is turned around: a row for each true category x, a column for each report y.",
        ),
        Mistake(
            "n forgotten", _n_forgotten,
            "Somebody in S reports a given category outside S with a/n: it must first be drawn as R, one of n. With a, "
            "the row adds up to more than 1.",
        ),
    ),
)  # fmt: skip
