"""Homework 1, choosing: the exponential mechanism's probabilities, its sampler, and the secret society."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import Exponential
from dpcourse.tasks.answers import VECTOR, Answer
from dpcourse.tasks.declare import choice_task, value_task
from dpcourse.tasks.judges.fixed_seed import SAME_COIN
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import drawn, each, edges, uniform
from dpcourse.tasks.respondent import Probe

CITIES = ("Ottawa", "Toronto", "New York", "Washington", "Memphis", "Los Angeles", "La Habana")

MANY = tuple(f"Place {number}" for number in range(1, 81))

DRAWS = 7_000  # of the last look: what differs as little as Laplace from Gumbel noise is doubtful then
MORE = 12_000  # if it is: enough to convict it with probability 1 - 1e-6


def _probabilities(p: Any) -> np.ndarray:
    mechanism = Exponential(epsilon=p.epsilon, sensitivity=p.sensitivity, candidates=range(len(p.utilities)))
    return mechanism.probabilities(p.utilities)


def _shares(exponents: Any) -> np.ndarray:
    weights = np.exp(exponents - np.max(exponents))
    return np.asarray(weights / weights.sum())


def _with_factor(factor: Callable[[Any], float]) -> Callable[[Any], np.ndarray]:
    """The exponential mechanism with another factor than epsilon / (2 sensitivity) before the utilities."""
    return lambda p: _shares(factor(p) * p.utilities)


#: Mistakes of both tasks: name, message, and the factor before the utilities.
_FACTORS: Sequence[tuple[str, str, Callable[[Any], float]]] = (
    (
        "two forgotten",
        "The exponent is divided by 2 * sensitivity: a neighbour moves the candidate's score and its rivals' scores, "
        "and each costs half. Without the 2 this is only 2 epsilon private.",
        lambda p: p.epsilon / p.sensitivity,
    ),
    (
        "four instead of two",
        "That is private, but wasteful: it spends epsilon/2 only. Is a factor 2 in twice?",
        lambda p: p.epsilon / (4 * p.sensitivity),
    ),
    (
        "sensitivity forgotten",
        "The sensitivity is missing: a score that one person can move far must count for little.",
        lambda p: p.epsilon / 2,
    ),
    (
        "epsilon forgotten",
        "The epsilon is missing: with a smaller budget the candidates must be more alike.",
        lambda p: 1 / (2 * p.sensitivity),
    ),
    (
        "worst preferred",
        "The sign is turned: a higher utility is better and must be likelier.",
        lambda p: -p.epsilon / (2 * p.sensitivity),
    ),
)
_HARMLESS = {"four instead of two": True}


def _utilities(rng: np.random.Generator) -> np.ndarray:
    """Three to eight, of which two lie far apart."""
    ends = rng.uniform((-6.5, 6), (-6, 6.5))
    return rng.permutation(np.append(ends, rng.uniform(-6, 6, int(rng.integers(1, 7))))).round(2)


exponential_probabilities = value_task(
    "exponential_probabilities",
    see="lecture 1, section 13",
    # in the first one the worst candidate is so rare that a share which is never below 0.02 shows
    probes=edges(
        each(
            3,
            utilities=drawn(_utilities),
            epsilon=uniform((2, 3), (0.4, 3), (0.4, 3)),
            sensitivity=uniform((1.3, 1.8), (1.3, 4), (1.3, 4)),
        ),
        {"utilities": np.array([2.5])},
        {"utilities": np.full(5, -3.0)},
        # shares down to 1e-13, and e to the power of 2,000, or of -2,000; all are exact in single precision, too
        {"utilities": drawn(lambda rng: rng.permutation(np.arange(-20.0, 21, 4))), "epsilon": 1.5, "sensitivity": 1.0},
        *({"utilities": far + np.array([0.0, 3, 7, 4]), "epsilon": 0.5, "sensitivity": 1.0} for far in (8e3, -8e3)),
    ),
    right=_probabilities,
    near_zero=1e-30,  # a share that is 0 rules a candidate out
    form=VECTOR,
    mistakes=[
        *(mistake(name, words, _with_factor(factor), hides=_HARMLESS.get(name)) for name, words, factor in _FACTORS),
        mistake(
            "not normalised",
            "Those are the weights. Probabilities sum to 1: divide by the sum of all weights.",
            lambda p: np.exp(p.epsilon * p.utilities / (2 * p.sensitivity)),
        ),
        mistake(
            "weights over the largest",
            "You divide the weights by the largest one. Probabilities sum to 1: divide by the sum of all weights.",
            lambda p: np.exp(p.epsilon * (p.utilities - p.utilities.max()) / (2 * p.sensitivity)),
        ),
        mistake(
            "sensitivity upside down",
            "You multiply by the sensitivity. A score that one person can move far must count for less, not for more.",
            _with_factor(lambda p: p.epsilon * p.sensitivity / 2),
        ),
        mistake(
            "epsilon upside down",
            "You divide by epsilon. A larger epsilon, less privacy, must let the best stand out more, not less.",
            _with_factor(lambda p: 1 / (2 * p.sensitivity * p.epsilon)),
        ),
        mistake(
            "shares of the utilities",
            "Those are the utilities, divided by their sum. The weights are e^(epsilon u / (2 sensitivity)): they are "
            "positive whatever u is, and one person changes each by a bounded factor.",
            lambda p: p.utilities / p.utilities.sum(),
        ),
        mistake(
            "powers of two",
            "Those are powers of 2. The weights are powers of e: e^(epsilon u / (2 sensitivity)).",
            _with_factor(lambda p: np.log(2) * p.epsilon / (2 * p.sensitivity)),
        ),
    ],
)


def _choice_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Four scores far apart, so that some candidates are rare and none is impossible; then one ahead of six others.

    Between them two candidates only: there the loser wins so often that noise on the scores is told from an epsilon.

    The lead of the last one, about 1.6 / (epsilon / (2 sensitivity)), is where Laplace noise on the scores, in place
    of Gumbel noise, shows most: the shares of the winner differ by 0.04, and nowhere by more with seven candidates.
    """
    ahead = np.append(rng.uniform(1.5, 1.75), np.linspace(-0.3, 0.3, len(CITIES) - 1))
    probes = []
    scores_of_all = (np.linspace(0, 2, 4), rng.uniform(1.5, 2)), (np.array([0, 4]), 1.8), (ahead, rng.uniform(2, 2.5))
    for exponents, epsilon in scores_of_all:
        sensitivity, number = float(rng.uniform(1.5, 4)), len(exponents)
        scores = rng.permutation(exponents) * 2 * sensitivity / epsilon - rng.uniform(1, 5)
        names = [str(name) for name in rng.permutation(CITIES)[:number]]
        probes.append(
            {"candidates": names, "utilities": scores.round(3), "epsilon": float(epsilon), "sensitivity": sensitivity}
        )
    return probes


def _nearly_alike(rng: np.random.Generator) -> np.ndarray:
    """Utilities so close that even the best one is rare."""
    return rng.uniform(0, 1, len(MANY)).round(3)


def _best_after(noise: Callable[[Any, float, int], np.ndarray]) -> Callable[[Any, np.random.Generator], Any]:
    """The best candidate after ``noise(rng, scale, size)`` of scale 2 sensitivity / epsilon on every score."""

    def draw(p: Any, rng: np.random.Generator) -> Any:
        noisy = p.utilities + noise(rng, 2 * p.sensitivity / p.epsilon, len(p.candidates))
        return p.candidates[int(np.argmax(noisy))]

    return draw


exponential_choice = choice_task(
    "exponential_choice",
    see="lecture 1, section 13",
    probes=edges(
        _choice_probes,
        {"candidates": ["Ottawa"], "utilities": np.array([-1.5])},
        {"candidates": ["Memphis", "Ottawa"], "utilities": np.full(2, 4.0)},
        {"utilities": np.zeros(4)},
        # many are nearly alike: a best one that wins outright now and then shows
        {"candidates": list(MANY), "utilities": drawn(_nearly_alike), "epsilon": 0.1, "sensitivity": 2.0},
        {"utilities": 8e3 + np.array([0.0, 3, 7, 4]), "epsilon": 0.5, "sensitivity": 1.0},  # e^2000 is no number
    ),
    shares=_probabilities,
    labels=lambda p: p.candidates,
    form=Answer(choices=(*CITIES, *MANY)),
    draws=DRAWS,
    more_draws=MORE,
    mistakes=[
        mistake(
            "always the best",
            "The best one always wins: no dice. One person who changes the winner is seen with certainty.",
            lambda p: p.candidates[int(np.argmax(p.utilities))],
        ),
        *(mistake(name, words, shares=_with_factor(factor)) for name, words, factor in _FACTORS),
        mistake(
            "scores not looked at",
            "Every candidate is as likely as the others: perfectly private, and useless.",
            shares=lambda p: np.full(len(p.utilities), 1 / len(p.utilities)),
        ),
        mistake(
            "Laplace noise on the scores",
            "It looks like the best score after Laplace noise. If it is, it is epsilon-private, but another mechanism: "
            "its probabilities are not e^(epsilon u / (2 sensitivity)), divided by their sum. Noise from the Gumbel "
            "distribution gives these.",
            draw=_best_after(lambda rng, scale, size: rng.laplace(0, scale, size)),
        ),
        mistake(
            "exponential noise on the scores",
            "It looks like the best score after one-sided, exponential noise. That is epsilon-private, too, and even a "
            "little better (it is called permute-and-flip), but another mechanism. Noise from the Gumbel distribution "
            "gives the exponential one.",
            draw=_best_after(lambda rng, scale, size: rng.exponential(scale, size)),
        ),
        mistake(
            "Gaussian noise on the scores",
            "It looks like the best score after Gaussian noise. Far out its densities differ by any factor: no epsilon "
            "is kept.",
            draw=_best_after(lambda rng, scale, size: rng.normal(0, scale, size)),
        ),
        mistake(
            "always the same coin",
            SAME_COIN,
            lambda p: p.candidates[int(np.random.default_rng(0).choice(len(p.candidates), p=_probabilities(p)))],
        ),
    ],
)


def _cities() -> np.ndarray:
    return data.cities()[["latitude", "longitude"]].to_numpy(dtype=float)


def _society_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Members in cities of all kinds, never all in one; but first none near an end of the list's diameter.

    There the members are closer together than the list allows, and so are each of them and every city.
    """
    cities = _cities()
    farthest = np.linalg.norm(cities[:, None] - cities, axis=2).max(axis=1)
    inner = np.flatnonzero(farthest < 0.95 * farthest.max())
    homes = [np.concatenate([rng.permutation(inner)[:3], rng.choice(inner, int(rng.integers(1, 4)))])]
    homes += [
        np.concatenate([rng.permutation(len(cities))[:3], rng.integers(0, len(cities), int(rng.integers(*more)))])
        for more in ((2, 6), (6, 12))
    ]
    return [{"members": cities[home], "cities": cities, "epsilon": float(rng.uniform(1.5, 5))} for home in homes]


def _distances(p: Any) -> np.ndarray:
    """How far each city is from the members' mean."""
    return np.linalg.norm(p.cities - p.members.mean(axis=0), axis=1)


def _farthest(one: np.ndarray, other: np.ndarray, power: int = 2) -> float:
    return float(np.linalg.norm(one[:, None] - other, ord=power, axis=2).max())


def _sensitivity(p: Any) -> float:
    return _farthest(p.cities, p.cities) / len(p.members)


def _by_scores(
    distances: Callable[[Any], np.ndarray] = _distances, sensitivity: Callable[[Any], float] = _sensitivity
) -> Callable[[Any], np.ndarray]:
    """The shares of a society that differs in its distances, or in its sensitivity."""
    return lambda p: _shares(-p.epsilon * distances(p) / (2 * sensitivity(p)))


def _society(p: Any) -> np.ndarray:
    """By the lecture's own table and functions."""
    import pandas as pd

    columns = ["latitude", "longitude"]
    places = pd.DataFrame(p.cities, columns=columns).assign(city=range(len(p.cities)))
    utility = data.meeting_utility(pd.DataFrame(p.members, columns=columns), places).to_numpy()
    sensitivity = data.utility_sensitivity(len(p.members), places)
    return Exponential(epsilon=p.epsilon, sensitivity=sensitivity, candidates=range(len(utility))).probabilities(
        utility
    )


meeting_probabilities = value_task(
    "meeting_probabilities",
    see="lecture 1, sections 12 and 13",
    probes=edges(
        _society_probes,
        {"members": drawn(lambda rng: _cities()[rng.integers(0, len(_cities()), 1)])},
        {"members": drawn(lambda rng: _cities()[rng.integers(0, len(_cities()), 1).repeat(4)])},
        {"cities": _cities()[:4], "members": _cities()[[0, 1, 1]]},
    ),
    right=_society,
    form=VECTOR,
    mistakes=[
        mistake(
            "one over the distance",
            "1/d has no finite sensitivity: when the mean comes to lie on a city it is infinite. Take u = -d.",
            _by_scores(distances=lambda p: -1 / _distances(p)),
        ),
        mistake(
            "squared distance",
            "You take the square of the distance: no root is drawn. The utility is minus the distance itself.",
            _by_scores(distances=lambda p: _distances(p) ** 2),
        ),
        mistake(
            "along the degrees",
            "You add the differences in latitude and in longitude. The distance is the straight one, the root of the "
            "sum of their squares.",
            _by_scores(
                lambda p: np.abs(p.cities - p.members.mean(axis=0)).sum(axis=1),
                lambda p: _farthest(p.cities, p.cities, power=1) / len(p.members),
            ),
        ),
        mistake(
            "sensitivity along the degrees",
            "Your sensitivity adds the differences in latitude and in longitude. A member who moves moves the mean "
            "along a straight line: that length counts, and yours is longer. It is private, but wasteful.",
            _by_scores(sensitivity=lambda p: _farthest(p.cities, p.cities, power=1) / len(p.members)), hides=True,
        ),
        mistake(
            "mean of the distances",
            "You take the mean of the members' distances to each city. The utility is minus the distance from the "
            "mean of the members: first the mean, then one distance.",
            _by_scores(
                lambda p: np.linalg.norm(p.cities[:, None] - p.members, axis=2).mean(axis=1)
            ),
        ),
        mistake(
            "sum of the distances",
            "You add up all members' distances to each city. The utility is minus the distance from the mean of the "
            "members: first the mean, then one distance.",
            _by_scores(
                lambda p: np.linalg.norm(p.cities[:, None] - p.members, axis=2).sum(axis=1),
            ),
        ),
        mistake(
            "sensitivity 1",
            "You take the sensitivity 1. One member who moves across the list moves the mean, and each distance from "
            "it, by the list's largest distance divided by n.",
            _by_scores(sensitivity=lambda p: 1.0),
        ),
        mistake(
            "n forgotten",
            "One member moves the mean by a distance divided by n. Without the n it is private, but wasteful.",
            _by_scores(sensitivity=lambda p: _farthest(p.cities, p.cities)), hides=True,
        ),
        mistake(
            "two forgotten",
            "The exponent is divided by 2 * sensitivity. Without the 2 the choice is only 2 epsilon private.",
            _by_scores(sensitivity=lambda p: _sensitivity(p) / 2),
        ),
        mistake(
            "farthest preferred",
            "The farthest city is the likeliest: the utility must be minus the distance.",
            _by_scores(distances=lambda p: -_distances(p)),
        ),
        mistake(
            "diameter of the members",
            "You take the largest distance between two members. The sensitivity must not depend on who they are: the "
            "new address may be any city of the list.",
            _by_scores(sensitivity=lambda p: _farthest(p.members, p.members) / len(p.members)), hides=False,
        ),
        mistake(
            "from the members to the cities",
            "You take the largest distance from a member of this society to a city. The sensitivity must not depend on "
            "who they are: the one who moves may come from any city of the list.",
            _by_scores(sensitivity=lambda p: _farthest(p.members, p.cities) / len(p.members)), hides=False,
        ),
        mistake(
            "from the mean to the cities",
            "You take the largest distance from the members' mean to a city. The sensitivity must not depend on who "
            "they are; and the one who moves may cross the whole list.",
            _by_scores(sensitivity=lambda p: _distances(p).max() / len(p.members)), hides=False,
        ),
    ],
)  # fmt: skip
