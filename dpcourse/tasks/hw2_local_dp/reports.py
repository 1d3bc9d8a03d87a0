"""Homework 2, second part: randomized response for one bit and for k categories, judged by the reports' shares."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import KaryResponse, theta
from dpcourse.tasks.declare import choice_task
from dpcourse.tasks.judges.choices import PROBABILITY
from dpcourse.tasks.judges.fixed_seed import SAME, SAME_COIN
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import edges, uniform, whole
from dpcourse.tasks.respondent import Probe

ENDS = (0.05, 0.08), (3.4, 3.8)  # of epsilon, at its edges
DRAWS = 20_000  # of the second look at every probe: enough to tell k from k - 1 in the share of the truth


def _bit_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A "yes" before a "no", so that who never says "no" by chance is known by it; a large epsilon last.

    At a large epsilon the three attempts differ most, and the last probe is drawn most often.
    """
    sides = ((0.8, 1.1), (1.2, 1.7), (2, 2.6), (2, 2.6))
    bits = (1, 0, *rng.permutation([0, 1]))
    return [{"bit": int(bit), "epsilon": float(rng.uniform(*ends))} for bit, ends in zip(bits, sides, strict=True)]


def _coin(truth: Callable[[float], float]) -> Callable[[Any], np.ndarray]:
    """The shares of "no" and "yes" with this probability of the truth, a function of epsilon."""
    return lambda p: np.where(np.arange(2) == p.bit, truth(p.epsilon), 1 - truth(p.epsilon))


randomized_response = choice_task(
    "randomized_response",
    see="lecture 2, section 7 (Randomized response)",
    probes=edges(_bit_probes, *({"bit": bit, "epsilon": uniform(*ends)} for bit in (0, 1) for ends in ENDS)),
    shares=_coin(theta),
    own=lambda p: p.bit,
    draws=DRAWS,
    every=True,  # a truth that is told a fifth too often shows at a small epsilon, the three attempts at a large one
    mistakes=[
        mistake("always the truth", "The report is the secret itself.", lambda p: p.bit, hides=False),
        mistake(
            "deaf to the bit",
            "Whatever the bit is, the report is yes: perfectly private, and nobody learns anything.",
            lambda p: 1, hides=True,
        ),
        mistake(
            "always no",
            "Whatever the bit is, the report is no: perfectly private, and nobody learns anything.",
            lambda p: 0, hides=True,
        ),
        mistake(
            "flipped too often",
            "Keep and flip are swapped: theta is the probability of the truth. It would be as private, but whoever "
            "counts the answers takes every yes for a no.",
            shares=_coin(lambda epsilon: 1 - theta(epsilon)), hides=True,
        ),
        mistake(
            "fair coin",
            "A fair coin is perfectly private and tells nothing, about the class neither. Use the epsilon you are "
            "given.",
            shares=_coin(lambda epsilon: 0.5), hides=True,
        ),
        mistake(
            "first attempt",
            "It looks like theta = (eps + 1)/(eps + 2), the first attempt. It keeps the promise, and wastes budget.",
            shares=_coin(lambda epsilon: theta(epsilon, "first")), hides=True,
        ),
        mistake(
            "quadratic attempt",
            "It looks like the odds 1 + eps + eps^2/2. They keep the promise, and e^epsilon would still keep it.",
            shares=_coin(lambda epsilon: theta(epsilon, "quadratic")), hides=True,
        ),
        mistake(
            "half of epsilon",
            "It looks like odds of e^(eps/2): private, but half of the budget is wasted.",
            shares=_coin(lambda epsilon: theta(epsilon / 2)), hides=True,
        ),
        mistake(
            "coin instead of the flip",
            "If the first coin says so, report the flipped bit. You toss a second coin, which gives the truth half of "
            "the time again; the odds grow beyond e^epsilon.",
            shares=_coin(lambda epsilon: (1 + theta(epsilon)) / 2), hides=False,
        ),
        mistake(
            "no instead of the flip",
            'Instead of flipping, "no" is reported. Then every "yes" is true, and nobody who says it can deny it.',
            shares=lambda p: [1 - theta(p.epsilon) * p.bit, theta(p.epsilon) * p.bit], hides=False,
        ),
        mistake(
            "yes instead of the flip",
            'Instead of flipping, "yes" is reported. Then every "no" is true, and nobody who says it can deny it.',
            shares=lambda p: [theta(p.epsilon) * (1 - p.bit), 1 - theta(p.epsilon) * (1 - p.bit)], hides=False,
        ),
        mistake(
            "epsilon not used",
            "The truth comes with 75% whatever epsilon is: the two-coin version, which has the budget ln 3 built in.",
            shares=_coin(lambda epsilon: 0.75), hides=False,
        ),
        mistake(
            PROBABILITY,
            "That is a probability. Toss a coin that has it, and report what the coin says.",
            lambda p: theta(p.epsilon) if p.bit else 1 - theta(p.epsilon),
        ),
        mistake(
            SAME, SAME_COIN,
            lambda p: p.bit if np.random.default_rng(0).random() < theta(p.epsilon) else 1 - p.bit,
        ),
    ],
)  # fmt: skip


def _category_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The first category, the last one, and one between them: a response may be right for one and not for another.

    And one of two categories, before the last probe: there it must be randomized response.
    """
    sizes = rng.permutation(np.arange(4, 7)).tolist()
    own = (0, sizes[1] - 1, int(rng.integers(1, sizes[2] - 1)))
    asked = list(zip(own, sizes, strict=True))
    asked.insert(2, (int(rng.integers(2)), 2))
    return [{"category": category, "k": k, "epsilon": float(rng.uniform(1.2, 2))} for category, k in asked]


def _truth(p: Any) -> float:
    return KaryResponse(epsilon=p.epsilon, k=p.k).truth


def _even(p: Any, truth: float) -> np.ndarray:
    """The truth with this probability; the lies share the rest."""
    return np.where(np.arange(p.k) == p.category, truth, (1 - truth) / (p.k - 1))


def _one_lie(p: Any, lie: int) -> np.ndarray:
    """The truth as often as it should be, and always the same lie."""
    labels = np.arange(p.k)
    return np.where(labels == p.category, _truth(p), 0.0) + np.where(labels == lie, 1 - _truth(p), 0.0)


kary_response = choice_task(
    "kary_response",
    see="lecture 2, section 9 (k-ary response)",
    probes=edges(
        _category_probes,
        *({"category": own, "k": 12, "epsilon": uniform(*ends)} for own, ends in zip((0, 11), ENDS, strict=True)),
        {"category": whole(3, 20), "k": 25},
        {"category": whole(3, 110), "k": 120, "epsilon": uniform(*ENDS[0])},  # the truth told outright shows most here
    ),
    labels=lambda p: range(p.k),
    shares=lambda p: KaryResponse(epsilon=p.epsilon, k=p.k).matrix[p.category],
    own=lambda p: p.category,
    draws=DRAWS,
    every=True,
    mistakes=[
        mistake(
            "theta of one bit",
            "That is theta for two categories. Here each single lie gets only a (k-1)-th of 1 - theta, and the odds "
            "grow to (k - 1) e^epsilon: the truth stands out too much.",
            shares=lambda p: _even(p, theta(p.epsilon)), hides=False,
        ),
        mistake(
            "a lie may be the truth",
            "Your lies are drawn from all k categories, the true one included: then the truth comes too often.",
            shares=lambda p: _even(p, _truth(p) + (1 - _truth(p)) / p.k), hides=False,
        ),
        mistake(
            "always the truth", "The report is the secret itself: no privacy at all.", lambda p: p.category, hides=False
        ),
        mistake(
            "any category",
            "Every category is equally likely whatever the truth is: perfectly private, and no use to anybody.",
            shares=lambda p: np.full(p.k, 1 / p.k), hides=True,
        ),
        mistake(
            "always the same lie",
            "Your lie is always the next category, so the remaining ones never come: who reports one of those cannot "
            "have your secret. No epsilon covers that.",
            shares=lambda p: _one_lie(p, (p.category + 1) % p.k), hides=False,
        ),
        mistake(
            "the truth left out of the wrong list",
            "Your lies leave out the last category in place of the true one: then the truth comes too often.",
            shares=lambda p: (
                np.where(np.arange(p.k) == p.category, _truth(p), 0.0)
                + np.where(np.arange(p.k) < p.k - 1, (1 - _truth(p)) / (p.k - 1), 0.0)
            ), hides=False,
        ),
        mistake(
            "k for k - 1",
            "There are k - 1 other categories, not k: theta = e^eps / (e^eps + k - 1). As it is, the truth comes more "
            "seldom than it may: private, but wasteful.",
            shares=lambda p: _even(p, 1 / (1 + p.k * math.exp(-p.epsilon))), hides=True,
        ),
        mistake(
            "half of epsilon",
            "It looks like e^(eps/2) in place of e^eps: private, but half of the budget is wasted.",
            shares=lambda p: _even(p, KaryResponse(epsilon=p.epsilon / 2, k=p.k).truth), hides=True,
        ),
        mistake(
            "keep and lie swapped",
            "Keep and lie are swapped: e^eps / (e^eps + k - 1) is the probability of your own category. As it is, the "
            "truth comes more often the smaller epsilon is, and for a small one the promise is broken.",
            shares=lambda p: _even(p, 1 - _truth(p)), hides=False,
        ),
        mistake(
            PROBABILITY, "That is a probability. Toss a coin that has it, and report a category.", _truth
        ),
        mistake(
            SAME, SAME_COIN,
            lambda p: p.category if np.random.default_rng(0).random() < _truth(p) else (p.category + 1) % p.k,
        ),
    ],
)  # fmt: skip
