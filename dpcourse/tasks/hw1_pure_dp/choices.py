"""Homework 1, choosing: the exponential mechanism's probabilities, its sampler, and the secret society."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse import data
from dpcourse.mechanisms import Exponential
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.judges.choices import shares_of
from dpcourse.tasks.judges.fixed_seed import SAME_COIN
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task

CITIES = ("Ottawa", "Toronto", "New York", "Washington", "Memphis", "Los Angeles", "La Habana")

DRAWS = 7_000  # of the last look: what differs as little as Laplace from Gumbel noise is doubtful then
MORE = 12_000  # if it is: enough to convict it with probability 1 - 1e-6


def _probability_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {
            "utilities": rng.uniform(-6, 6, int(rng.integers(3, 8))).round(2),
            "epsilon": float(rng.uniform(0.4, 3)),
            "sensitivity": float(rng.uniform(1.3, 4)),
        }
        for _ in range(3)
    ]


def _probabilities(utilities: Any, epsilon: float, sensitivity: float) -> np.ndarray:
    mechanism = Exponential(epsilon=epsilon, sensitivity=sensitivity, candidates=range(len(utilities)))
    return mechanism.probabilities(utilities)


def _shares(exponents: Any) -> np.ndarray:
    weights = np.exp(exponents - np.max(exponents))
    return np.asarray(weights / weights.sum())


exponential_probabilities = Task(
    name="exponential_probabilities",
    see="lecture 1, section 13",
    probes=_probability_probes,
    judge=values_of(_probabilities),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "two forgotten", lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / sensitivity),
            "The exponent is divided by 2 * sensitivity: a neighbour moves the candidate's score and its rivals' "
            "scores, and "
            "each costs half. Without the 2 this is only 2 epsilon private.",
        ),
        Mistake(
            "not normalised",
            lambda utilities, epsilon, sensitivity: np.exp(epsilon * utilities / (2 * sensitivity)),
            "Those are the weights. Probabilities sum to 1: divide by the sum of all weights.",
        ),
        Mistake(
            "sensitivity forgotten", lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / 2),
            "The sensitivity is missing: a score that one person can move far must count for little.",
        ),
        Mistake(
            "sensitivity upside down",
            lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities * sensitivity / 2),
            "You multiply by the sensitivity. A score that one person can move far must count for less, not for more.",
        ),
        Mistake(
            "worst preferred",
            lambda utilities, epsilon, sensitivity: _shares(-epsilon * utilities / (2 * sensitivity)),
            "The sign is turned: a higher utility is better and must be likelier.",
        ),
    ),
)  # fmt: skip


def _choice_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Four scores far apart, so that some candidates are rare and none is impossible; then one ahead of six others.

    The lead of the last one, about 1.6 / (epsilon / (2 sensitivity)), is where Laplace noise on the scores, in place
    of Gumbel noise, shows most: the shares of the winner differ by 0.04, and nowhere by more with seven candidates.
    """
    ahead = np.append(rng.uniform(1.5, 1.75), np.linspace(-0.3, 0.3, len(CITIES) - 1))
    probes = []
    for exponents, epsilon in ((np.linspace(0, 2, 4), rng.uniform(1.5, 2)), (ahead, rng.uniform(2, 2.5))):
        sensitivity, number = float(rng.uniform(1.5, 4)), len(exponents)
        scores = rng.permutation(exponents) * 2 * sensitivity / epsilon - rng.uniform(1, 5)
        names = [str(name) for name in rng.permutation(CITIES)[:number]]
        probes.append(
            {"candidates": names, "utilities": scores.round(3), "epsilon": float(epsilon), "sensitivity": sensitivity}
        )
    return probes


def _chosen(shares: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Draw by these (wrong) probabilities."""

    def wrong(candidates: Any, utilities: Any, epsilon: float, sensitivity: float, rng: Any) -> Any:
        return candidates[int(rng.choice(len(candidates), p=shares(utilities, epsilon, sensitivity)))]

    return wrong


def _by_hand(utilities: Any, epsilon: float, sensitivity: float) -> np.ndarray:
    return _shares(epsilon * utilities / (2 * sensitivity))


exponential_choice = Task(
    name="exponential_choice",
    see="lecture 1, section 13",
    probes=_choice_probes,
    judge=shares_of(
        lambda candidates, utilities, epsilon, sensitivity: _probabilities(utilities, epsilon, sensitivity),
        lambda candidates, utilities, epsilon, sensitivity: candidates,
        draws=DRAWS,
        more=MORE,
    ),
    answer=Answer(choices=CITIES),
    summary=lambda draws: np.array([CITIES.index(str(one)) for one in draws.ravel()], dtype=float),
    mistakes=(
        Mistake(
            "always the best",
            lambda candidates, utilities, epsilon, sensitivity: candidates[int(np.argmax(utilities))],
            "The best one always wins: no dice. One person who changes the winner is seen with certainty.",
        ),
        Mistake(
            "two forgotten",
            _chosen(lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / sensitivity)),
            "The exponent is divided by 2 * sensitivity. Without the 2 the choice is only 2 epsilon private.",
        ),
        Mistake(
            "scores not looked at",
            _chosen(lambda utilities, epsilon, sensitivity: np.full(len(utilities), 1 / len(utilities))),
            "Every candidate is as likely as the others: perfectly private, and useless.",
        ),
        Mistake(
            "worst preferred",
            _chosen(lambda utilities, epsilon, sensitivity: _shares(-epsilon * utilities / (2 * sensitivity))),
            "The sign is turned: a higher utility is better and must be likelier.",
        ),
        Mistake(
            "four instead of two",
            _chosen(lambda utilities, epsilon, sensitivity: _shares(epsilon * utilities / (4 * sensitivity))),
            "That is private, but wasteful: it spends epsilon/2 only. Is a factor 2 in twice?",
        ),
        Mistake(
            "Laplace noise on the scores",
            lambda candidates, utilities, epsilon, sensitivity, rng: candidates[
                int(np.argmax(utilities + rng.laplace(0, 2 * sensitivity / epsilon, len(candidates))))
            ],
            "It looks like the best score after Laplace noise. That is epsilon-private, too, but another mechanism: "
            "its probabilities are not e^(epsilon u / (2 sensitivity)), divided by their sum. Noise from the Gumbel "
            "distribution gives these.",
        ),
        Mistake(
            "always the same coin",
            lambda candidates, utilities, epsilon, sensitivity: _chosen(_by_hand)(
                candidates, utilities, epsilon, sensitivity, np.random.default_rng(0)
            ),
            SAME_COIN,
        ),
    ),
)  # fmt: skip


def _society_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Members in cities of all kinds, never all in one; but first none near an end of the list's diameter.

    There the members are closer together than the list allows, and so are each of them and every city.
    """
    cities = data.cities()[["latitude", "longitude"]].to_numpy(dtype=float)
    farthest = np.linalg.norm(cities[:, None] - cities, axis=2).max(axis=1)
    inner = np.flatnonzero(farthest < 0.95 * farthest.max())
    homes = [np.concatenate([rng.permutation(inner)[:3], rng.choice(inner, int(rng.integers(1, 4)))])]
    homes += [
        np.concatenate([rng.permutation(len(cities))[:3], rng.integers(0, len(cities), int(rng.integers(*more)))])
        for more in ((2, 6), (6, 12))
    ]
    return [{"members": cities[home], "cities": cities, "epsilon": float(rng.uniform(1.5, 5))} for home in homes]


def _society(members: np.ndarray, cities: np.ndarray, epsilon: float) -> np.ndarray:
    import pandas as pd

    columns = ["latitude", "longitude"]
    places = pd.DataFrame(cities, columns=columns).assign(city=range(len(cities)))
    utility = data.meeting_utility(pd.DataFrame(members, columns=columns), places)
    return _probabilities(utility.to_numpy(), epsilon, data.utility_sensitivity(len(members), places))


def _distances(members: np.ndarray, cities: np.ndarray) -> np.ndarray:
    return np.linalg.norm(cities - members.mean(axis=0), axis=1)


def _diameter(points: np.ndarray) -> float:
    return float(np.linalg.norm(points[:, None] - points[None, :], axis=2).max())


meeting_probabilities = Task(
    name="meeting_probabilities",
    see="lecture 1, sections 12 and 13",
    probes=_society_probes,
    judge=values_of(_society),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "one over the distance",
            lambda members, cities, epsilon: _shares(
                epsilon / _distances(members, cities) / (2 * _diameter(cities) / len(members))
            ),
            "1/d has no finite sensitivity: when the mean comes to lie on a city it is infinite. Take u = -d.",
        ),
        Mistake(
            "n forgotten",
            lambda members, cities, epsilon: _shares(-epsilon * _distances(members, cities) / (2 * _diameter(cities))),
            "One member moves the mean by a distance divided by n. Without the n it is private, but wasteful.",
        ),
        Mistake(
            "two forgotten",
            lambda members, cities, epsilon: _shares(
                -epsilon * _distances(members, cities) / (_diameter(cities) / len(members))
            ),
            "The exponent is divided by 2 * sensitivity. Without the 2 the choice is only 2 epsilon private.",
        ),
        Mistake(
            "farthest preferred",
            lambda members, cities, epsilon: _shares(
                epsilon * _distances(members, cities) / (2 * _diameter(cities) / len(members))
            ),
            "The farthest city is the likeliest: the utility must be minus the distance.",
        ),
        Mistake(
            "diameter of the members",
            lambda members, cities, epsilon: _shares(
                -epsilon * _distances(members, cities) / (2 * _diameter(members) / len(members))
            ),
            "You take the largest distance between two members. The sensitivity must not depend on who they are: the "
            "new address may be any city of the list.",
        ),
        Mistake(
            "from the members to the cities",
            lambda members, cities, epsilon: _shares(
                -epsilon * _distances(members, cities)
                / (2 * np.linalg.norm(members[:, None] - cities, axis=2).max() / len(members))
            ),
            "You take the largest distance from a member of this society to a city. The sensitivity must not depend on "
            "who they are: the one who moves may come from any city of the list.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (exponential_probabilities, exponential_choice, meeting_probabilities)
