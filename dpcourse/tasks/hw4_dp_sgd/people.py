"""Homework 4, whom it protects: an update that hides whole users, and how much a model knows of a canary."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpcourse.tasks.answers import Answer
from dpcourse.tasks.hw4_dp_sgd.average import NO_C, told_truly
from dpcourse.tasks.judges.noise import noise_of
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.vectors import clipped as clipped_rows


def _user_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One user writes most of the messages, user numbers have gaps and no order; then a round in which nobody came."""
    probes: list[Probe] = []
    numbers = rng.choice(1_000, 6, replace=False)
    for counts in ((9, 1, 2, 4, 1, 2), ()):
        users = rng.permutation(np.repeat(numbers[: len(counts)], np.array(counts, dtype=np.int64)))
        clip = float(rng.uniform(1.6, 2.4) if counts else rng.uniform(0.3, 0.6))
        probes.append(
            {
                "gradients": rng.normal(0.4, 0.5, size=(len(users), 5)), "users": users.astype(np.int64), "clip": clip,
                "sigma": float(rng.uniform(0.5, 0.8)), "expected": float(rng.integers(9, 13)),
            }
        )  # fmt: skip
    return probes


def by_user(gradients: np.ndarray, users: np.ndarray) -> np.ndarray:
    """The sum of each user's rows, a row for each user."""
    everybody = np.unique(users)
    return np.asarray((users == everybody[:, None]).astype(float) @ gradients)


def _user_law(gradients: np.ndarray, users: np.ndarray, clip: float, sigma: float, expected: float) -> Noise:
    updates = clipped_rows(by_user(gradients, users), clip)
    return Noise(updates.sum(axis=0) / expected, sigma * clip / expected, NORMAL)


def _update(
    rows: Callable[..., np.ndarray] = lambda gradients, users, clip: clipped_rows(by_user(gradients, users), clip),
    noise: Callable[..., float] = lambda users, clip, sigma: sigma * clip,
    divisor: Callable[..., float] = lambda users, expected: expected,
) -> Callable[..., np.ndarray]:
    """A round with one thing exchanged."""

    def update(
        gradients: np.ndarray, users: np.ndarray, clip: float, sigma: float, expected: float, rng: np.random.Generator
    ) -> np.ndarray:
        total = rows(gradients, users, clip).sum(axis=0)
        return np.asarray((total + noise(users, clip, sigma) * rng.normal(size=5)) / divisor(users, expected))

    return update


def _means(gradients: np.ndarray, users: np.ndarray) -> np.ndarray:
    return by_user(gradients, users) / np.unique(users, return_counts=True)[1][:, None]


def _most(users: np.ndarray) -> int:
    return int(np.unique(users, return_counts=True)[1].max(initial=1))


user_level_average = Task(
    name="user_level_average",
    see="lecture 4, DP-FedAvg",
    probes=_user_probes,
    judge=told_truly(
        noise_of(_user_law, draws=2_500),
        {
            "C forgotten": NO_C,
            "noise per user": "Here that is too much; and when nobody comes there is none.",
            "noise for the busiest": "Here that is too much; but how much it is depends on the data.",
        },
    ),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "messages clipped", _update(rows=lambda gradients, users, clip: clipped_rows(gradients, clip)),
            "You clip each message. Whoever writes nine of them then moves the sum by up to 9 C, and noise for C does "
            "not hide that. Add up what each user sends, and clip that.",
        ),
        Mistake(
            "mean of each user",
            _update(rows=lambda gradients, users, clip: clipped_rows(_means(gradients, users), clip)),
            "You take the mean of each user's messages. That is as private, but not what is asked: add them up, and "
            "clip the sum.",
        ),
        Mistake(
            "divided by those who came", _update(divisor=lambda users, expected: max(len(np.unique(users)), 1)),
            "You divide by the number of users who came. It is private: it changes by one with each user. Divide by "
            "the expected number.",
        ),
        Mistake(
            "divided by messages", _update(divisor=lambda users, expected: max(len(users), 1)),
            "You divide by the number of messages, which changes by as many as one user writes.",
        ),
        Mistake(
            "noise per user",
            _update(noise=lambda users, clip, sigma: sigma * clip * math.sqrt(len(np.unique(users)))),
            "It looks like noise for every user. Once, on the sum, is enough; and with nobody there you add none.",
        ),
        Mistake(
            "noise for the busiest", _update(noise=lambda users, clip, sigma: sigma * clip * _most(users)),
            "Your noise grows with the messages of the busiest user. After clipping each user, C bounds them already; "
            "and a scale that depends on the data tells about it.",
        ),
        Mistake(
            "C forgotten", _update(noise=lambda users, clip, sigma: sigma),
            "The noise on the sum must be sigma C, not sigma.",
        ),
    ),
)  # fmt: skip


def _canary_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A canary that stands out, one in the middle, one that shares its place with others; never the very best."""
    probes: list[Probe] = []
    for place, ties in ((2, 0), (int(rng.integers(40, 90)), 0), (int(rng.integers(5, 20)), 6)):
        size = int(rng.integers(150, 400))
        scores = np.sort(rng.uniform(12, 40, size))
        scores[place : place + ties + 1] = scores[place]
        order = rng.permutation(size)
        probes.append({"log_perplexities": scores[np.argsort(order)], "canary": int(order[place])})
    return probes


def _rank(log_perplexities: np.ndarray, canary: int) -> int:
    """Equal ones share the worst rank: a model that knows nothing must expose nothing."""
    return int(np.count_nonzero(log_perplexities <= log_perplexities[canary]))


def bits(log_perplexities: np.ndarray, canary: int) -> float:
    """log2 |R| - log2 rank, as :class:`dpcourse.attacks.canary.Exposure` has it (which would load torch)."""
    return math.log2(len(log_perplexities)) - math.log2(_rank(log_perplexities, canary))


canary_exposure = Task(
    name="canary_exposure",
    see="lecture 4, A network with a good memory",
    probes=_canary_probes,
    judge=values_of(bits),
    mistakes=(
        Mistake(
            "ranked the wrong way", lambda log_perplexities, canary: bits(-log_perplexities, canary),
            "You rank upwards in likelihood. A low log-perplexity means likely: rank 1 has the lowest.",
        ),
        Mistake(
            "natural logarithm", lambda log_perplexities, canary: bits(log_perplexities, canary) * math.log(2),
            "These are nats. Exposure is in bits: log2.",
        ),
        Mistake(
            "ties in its disfavour forgotten",
            lambda log_perplexities, canary: math.log2(
                len(log_perplexities) / (1 + np.count_nonzero(log_perplexities < log_perplexities[canary]))
            ),
            "Of several equally likely codes the canary gets the worst rank. Otherwise a model that holds all codes "
            "for equally likely would expose every one of them completely.",
        ),
        Mistake(
            "rank from 0",
            lambda log_perplexities, canary: math.log2(
                len(log_perplexities) / max(_rank(log_perplexities, canary) - 1, 1)
            ),
            "The likeliest code has rank 1, not 0: count the canary itself.",
        ),
        Mistake(
            "rank alone", lambda log_perplexities, canary: math.log2(_rank(log_perplexities, canary)),
            "That is log2 of the rank: what an attacker still has to guess. Exposure is what he no longer has to: "
            "log2 of the number of codes, minus that.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (user_level_average, canary_exposure)
