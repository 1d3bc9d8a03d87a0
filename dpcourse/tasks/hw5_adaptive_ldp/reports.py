"""Homework 5: the two responses, SRR and RRRR, judged by how often each report comes, and the matrix of RRRR."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.adaptive_ldp import RestrictedResponse, naive_matrix, restricted_matrix, second_epsilon
from dpcourse.mechanisms import KaryResponse
from dpcourse.tasks.answers import TABLE
from dpcourse.tasks.declare import choice_task, value_task
from dpcourse.tasks.judges.fixed_seed import SAME, SAME_COIN
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import edges, uniform, whole
from dpcourse.tasks.respondent import Probe

SRR_DRAWS, RRRR_DRAWS = 20_000, 7_000  # of the second look at every probe


def _srr_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first category, the last one, and one between them: a response may be right for one and not for another.

    And one of two categories, before the last probe: there a wrong K is far from another epsilon.
    """
    sizes = rng.permutation([4, 5, 6]).tolist()
    own = (0, sizes[1] - 1, int(rng.integers(2)), int(rng.integers(1, sizes[2] - 1)))
    sizes.insert(2, 2)
    budgets = uniform(1.6, 2.4)(rng, 4)
    return [{"x": x, "k": k, "epsilon": epsilon} for x, k, epsilon in zip(own, sizes, budgets, strict=True)]


def truth_among(others: float, epsilon: float) -> float:
    """The probability of the truth if so many others stand in the formula."""
    return math.exp(epsilon) / (math.exp(epsilon) + others)


def _even(p: Any, truth: float) -> np.ndarray:
    """The truth with this probability; the lies share the rest."""
    shares = np.full(p.k, (1 - truth) / (p.k - 1))
    shares[p.x] = truth
    return shares


def _truth(p: Any) -> float:
    return truth_among(p.k - 1, p.epsilon)


srr = choice_task(
    "srr",
    see="lecture 5, Standard randomized response",
    probes=edges(
        _srr_probes,  {"x": whole(3, 20), "k": 25}, {"epsilon": uniform(0.1, 0.2)},
        {"epsilon": uniform(4.5, 5.5)},
        {"x": whole(3, 110), "k": 120, "epsilon": uniform(0.05, 0.08)},  # so rare a truth shows who tells it outright
    ),
    labels=lambda p: range(p.k),
    shares=lambda p: KaryResponse(epsilon=p.epsilon, k=p.k).matrix[p.x],
    own=lambda p: p.x,
    draws=SRR_DRAWS,
    every=True,
    mistakes=[
        mistake(
            "own category among the lies",
            "Your lie is drawn from all K categories, the true one among them. So the truth comes more often than "
            "epsilon allows. Draw from the K - 1 others.",
            shares=lambda p: _even(p, _truth(p) + (1 - _truth(p)) / p.k), hides=False,
        ),
        mistake(
            "two categories",
            "e^eps / (e^eps + 1) is the coin for two categories. With K of them each lie gets rarer, and the ratio of "
            "truth to a lie grows to (K - 1) e^eps.",
            shares=lambda p: _even(p, truth_among(1, p.epsilon)), hides=False,
        ),
        mistake(
            "K for K - 1",
            "There are K - 1 others, so the truth has e^eps / (e^eps + K - 1). With K it is told too rarely: private, "
            "but a part of the budget is wasted.",
            shares=lambda p: _even(p, truth_among(p.k, p.epsilon)), hides=True,
        ),
        mistake(
            "half of epsilon",
            "Your coin has e^(eps/2) where e^eps belongs: private, but half of the budget is wasted. (eps/2 is for the "
            "exponential mechanism, whose normalisation may change as well.)",
            shares=lambda p: _even(p, truth_among(p.k - 1, p.epsilon / 2)), hides=True,
        ),
        mistake(
            "keep and lie swapped",
            "Keep and lie are swapped: e^eps / (e^eps + K - 1) is the probability of your own category.",
            shares=lambda p: _even(p, 1 - _truth(p)),
        ),
        mistake(
            "lies to the next category",
            "Your lie is always the next category. Whoever reports one that is neither x nor x + 1 cannot be x: that "
            "ratio is infinite. A lie is any of the others, equally likely.",
            shares=lambda p: _truth(p) * np.eye(p.k)[p.x] + (1 - _truth(p)) * np.eye(p.k)[(p.x + 1) % p.k],
            hides=False,
        ),
        mistake("no coin", "Everybody tells the truth. Useful, and not private at all.", lambda p: p.x, hides=False),
        mistake(
            "pure chance",
            "The report does not depend on x: perfectly private, and useless.",
            shares=lambda p: np.full(p.k, 1 / p.k), hides=True,
        ),
        mistake(
            SAME, SAME_COIN,
            lambda p: p.x if np.random.default_rng(0).random() < _truth(p) else (p.x + 1) % p.k,
        ),
    ],
)  # fmt: skip


#: Somebody outside a small S, and somebody in a large one: the truth is so rare that one who tells it outright shows.
MANY = ((20, (0, 3, 11)), (30, tuple(range(5, 35))))


def _rrrr_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The edges first: an empty S, where RRRR is plain SRR, and one category outside, which is R.

    Then two people outside S, with eps1 far from eps and near to it, and somebody in S. In one the formula of eps2
    exceeds eps, which must then bound it.
    """
    edges, k = 5, 7
    order, small = rng.permutation(k).tolist(), rng.permutation(edges).tolist()
    people: tuple[tuple[int, int, list[int], float], ...] = (
        (small[0], edges, [], 0.65),
        (small[0], edges, small[1:], 0.65),
        (small[4], edges, small[:2], 0.0),
        (order[3], k, order[:2], float(rng.uniform(0.56, 0.6))),
        (order[4], k, order[:2], float(rng.uniform(0.8, 0.83))),
        (order[0], k, order[:2], float(rng.uniform(0.6, 0.7))),
    )
    budgets = uniform(1.8, 2.1)(rng, len(people))
    probes = [
        {"x": x, "k": k, "subset": tuple(sorted(subset)), "epsilon": epsilon, "first": share * epsilon}
        for (x, k, subset, share), epsilon in zip(people, budgets, strict=True)
    ]
    probes[2]["first"] = budgets[2] - math.log(3 / 1.05)  # three outside S: eps2 would be ln(2 / 0.05) = 3.7
    return probes


def _rrrr(p: Any) -> np.ndarray:
    return RestrictedResponse(p.k, p.subset, epsilon=p.epsilon, first=p.first).matrix


def _with_second(second: Callable[[Any], float]) -> Callable[[Any], np.ndarray]:
    """The matrix of RRRR with another second budget."""
    return lambda p: restricted_matrix(p.k, p.subset, p.first, second(p))


def _unlogged(p: Any) -> float:
    n = p.k - len(p.subset)
    below = n * math.exp(p.first - p.epsilon) - 1
    return min(p.epsilon, (n - 1) / below) if p.subset and n > 1 and below > 0 else p.epsilon


def _unbounded(p: Any) -> float:
    """The formula of eps2 without the minimum with eps."""
    n = p.k - len(p.subset)
    below = n * math.exp(p.first - p.epsilon) - 1
    return math.log((n - 1) / below) if p.subset and n > 1 and below > 0 else p.epsilon


#: The wrong matrices that both RRRR tasks know: their message, the matrix, and whether it still hides everybody.
WRONG: dict[str, tuple[str, Callable[[Any], np.ndarray], bool | None]] = {
    "naive": (
        "Somebody in S never reports a category outside: such a report gives an outsider away, and epsilon is "
        "infinite. Let one more category R into the set on which the answer is given.",
        lambda p: naive_matrix(p.k, p.subset, p.epsilon), False,
    ),
    "eps2 = eps": (
        "The response outside S uses all of eps, but an outsider passes through two coins, and is compared with "
        "somebody in S who passes through one. eps2 has to be smaller: see the task before.",
        _with_second(lambda p: p.epsilon), False,
    ),
    "eps twice": (
        "Both steps use eps. The first one is to use eps1, the second the eps2 that is left.",
        lambda p: restricted_matrix(p.k, p.subset, p.epsilon, p.epsilon), False,
    ),
    "eps2 = eps - eps1": (
        "You put eps - eps1 for eps2. That is what basic composition leaves: private, but wasteful. An outsider's two "
        "steps and an insider's one are compared directly, and more is allowed: see the task before.",
        _with_second(lambda p: p.epsilon - p.first), True,
    ),
    "|S| for its complement": (
        "In eps2 the number n is that of the categories outside S. You put in |S|: that is one of the two slips of the "
        "authors' published code.",
        _with_second(lambda p: second_epsilon(p.epsilon, p.first, len(p.subset), max(len(p.subset), 1))), None,
    ),
    "no logarithm": (
        "The logarithm of eps2 is missing: (n - 1) / (n e^(eps1 - eps) - 1) bounds e^eps2. (One of the two slips of "
        "the authors' published code.)",
        _with_second(_unlogged), None,
    ),
    "no minimum": (
        "You leave out the minimum with eps in eps2. Two people outside S differ by e^eps2, which must not exceed "
        "e^eps either.",
        _with_second(_unbounded), False,
    ),
    "R = X outside S": (
        "For X outside S you put X itself forward. Then nobody else outside S ever reports that category, and such a "
        "report tells two outsiders apart for certain. R has to be drawn by SRR among the categories outside S, with "
        "eps2.",
        _with_second(lambda p: 700.0), False,  # e^-700: R is always X
    ),
    "R drawn blindly": (
        "You draw R uniformly also for somebody outside S. That is private, but wasteful: nothing is ever learnt about "
        "who is who outside S. R = SRR(X; outside S, eps2).",
        _with_second(lambda p: 0.0), True,
    ),
    "plain SRR": (
        "That is plain SRR with eps, whatever S is. It is as private, but it does not favour S, and that is what RRRR "
        "is for.",
        lambda p: KaryResponse(epsilon=p.epsilon, k=p.k).matrix, None,
    ),
}  # fmt: skip


def _without_second_step(p: Any) -> np.ndarray:
    """R itself is reported by everybody outside S."""
    if p.x in p.subset:
        return _rrrr(p)[p.x]
    shares = np.zeros(p.k)
    outside = [y for y in range(p.k) if y not in p.subset]
    second = second_epsilon(p.epsilon, p.first, len(p.subset), len(outside))
    shares[outside] = 1 / (math.exp(second) + len(outside) - 1)
    shares[p.x] *= math.exp(second)
    return shares


rrrr = choice_task(
    "rrrr",
    see="lecture 5, RRRR: randomly restricted randomized response",
    probes=edges(
        _rrrr_probes,
        *({"x": x, "k": 2, "subset": (1,)} for x in (0, 1)),
        *({"x": x, "k": 12, "subset": (0, 3, 11)} for x in (11, 5)),
        *({"x": x, "k": 40, "subset": subset, "epsilon": 0.1, "first": 0.07} for x, subset in MANY),
    ),
    labels=lambda p: range(p.k),
    shares=lambda p: _rrrr(p)[p.x],
    draws=RRRR_DRAWS,
    every=True,
    mistakes=[
        *(
            mistake(name, message, shares=lambda p, matrix=matrix: matrix(p)[p.x], hides=hides)
            for name, (message, matrix, hides) in WRONG.items()
        ),
        mistake(
            "R not among the answers",
            "Somebody outside S reports R without the second step, so never a category of S: whoever reports one of "
            "those is in S for certain. R is answered by SRR on S + {R}, with eps1.",
            shares=_without_second_step, hides=False,
        ),
        mistake(
            "always the truth", "Every report is x itself: useful, and not private at all.", lambda p: p.x, hides=False
        ),
    ],
)  # fmt: skip


def _matrix_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Any S, scattered; the formula of eps2 exceeds eps; then the edges: nobody in S, one outside, eps1 = eps.

    The second epsilon is so large that a missing logarithm of eps2 stays below it.
    """
    probes = []
    for k, size, share, low in ((6, 2, 0.7, 0.7), (7, 4, 0.9, 1.5), (5, 0, 0.8, 0.7), (4, 3, 0.8, 0.7), (6, 3, 1, 0.7)):
        epsilon = float(rng.uniform(low, 1.8))
        subset = tuple(sorted(rng.choice(k, size, replace=False).tolist()))
        probes.append({"k": k, "subset": subset, "epsilon": epsilon, "first": share * epsilon})
    bound = tuple(sorted(rng.choice(5, 2, replace=False).tolist()))
    probes.insert(2, {"k": 5, "subset": bound, "epsilon": 1.5, "first": float(rng.uniform(0.45, 0.5))})
    return probes


def _n_forgotten(p: Any) -> np.ndarray:
    """a, not a/n, for the reports outside S of somebody in it."""
    matrix, outside = _rrrr(p).copy(), [y for y in range(p.k) if y not in p.subset]
    matrix[np.ix_(list(p.subset), outside)] *= len(outside)
    return matrix


rrrr_matrix = value_task(
    "rrrr_matrix",
    see="lecture 5, The matrix of RRRR",
    probes=edges(
        _matrix_probes, {"k": 2, "subset": (0,)}, {"k": 2, "subset": ()}, {"k": 15, "subset": (0, 7, 14)},
        {"k": 9, "subset": (2, 5, 6), "epsilon": 2.0, "first": 0.3},
    ),
    right=_rrrr,
    form=TABLE,
    mistakes=[
        *(mistake(name, message, matrix, hides=hides) for name, (message, matrix, hides) in WRONG.items()),
        mistake(
            "transposed",
            "Your table is turned around: a row for each true category x, a column for each report y.",
            lambda p: _rrrr(p).T,
        ),
        mistake(
            "n forgotten",
            "Somebody in S reports a given category outside S with a/n: it must first be drawn as R, one of n. With a, "
            "the row adds up to more than 1.",
            _n_forgotten,
        ),
        mistake("logarithms", "These are the logarithms of the probabilities.", lambda p: np.log(_rrrr(p))),
    ],
)  # fmt: skip
