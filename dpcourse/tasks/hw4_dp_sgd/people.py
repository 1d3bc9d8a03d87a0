"""Homework 4, whom it protects: an update that hides whole users, and how much a model knows of a canary."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.sensitivity.rows import clipped as clipped_rows
from dpcourse.sensitivity.rows import norms
from dpcourse.tasks.answers import VECTOR
from dpcourse.tasks.declare import gaussian_task, value_task
from dpcourse.tasks.hw4_dp_sgd.average import DRAWS
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe

BUSY = 30  # messages of the busiest user


def _user_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """One user writes most of the messages, user numbers have gaps and no order, one is 0 and one negative; then rounds
    in which one user comes, where less than one is expected, and nobody.

    Of the two users with a single message one's is much longer than C, the other one's shorter: neither may be left out
    of the clipping, nor stretched. A third one has four, one of them so long, and against the others, that clipping
    it first turns their sum. The second half of what the busiest one writes points elsewhere than the first.
    """
    probes: list[Probe] = []
    numbers = rng.permutation(np.append(rng.choice(1_000, 4, replace=False) + 1, (0, -int(rng.integers(1, 9)))))
    for counts in ((BUSY, 1, 2, 4, 1, 2), (2,), ()):
        places = rng.permutation(np.repeat(np.arange(len(counts)), np.array(counts, dtype=np.int64)))
        clip = float(rng.uniform(1.6, 2.4) if counts else rng.uniform(0.3, 0.6))
        rows = rng.normal(0.4, 0.5, size=(len(places), 5))
        for user, lengths in ((1, [3]), (4, [0.5]), (3, [-4, 0.9, 0.9, 0.9])) if len(counts) > 1 else ():
            theirs = places == user
            rows[theirs] *= clip * (np.array(lengths) / norms(rows[theirs]))[:, None]
        if len(counts) > 1:
            turn = np.linalg.qr(rng.normal(size=(5, 2)))[0].T
            rows[places == 0] = 0.3 * clip * (rng.normal(0, 0.1, (BUSY, 5)) + turn[np.arange(BUSY) * 2 // BUSY])
        probes.append(
            {
                "gradients": rows, "users": numbers[places].astype(np.int64), "clip": clip,
                "sigma": float(rng.uniform(*((1.2, 1.6) if len(counts) == 1 else (0.5, 0.8)))),
                "expected": float(rng.uniform(0.4, 0.7) if len(counts) == 1 else rng.integers(9, 13)),
            }
        )  # fmt: skip
    return probes


def by_user(gradients: np.ndarray, users: np.ndarray) -> np.ndarray:
    """The sum of each user's rows, a row for each user."""
    everybody = np.unique(users)
    return np.asarray((users == everybody[:, None]).astype(float) @ gradients)


def _center(p: Any, rows: np.ndarray | None = None) -> np.ndarray:
    """The average of each user's clipped update, or of other rows."""
    updates = clipped_rows(by_user(p.gradients, p.users), p.clip) if rows is None else rows
    return np.asarray(updates.sum(axis=0) * (1 / p.expected))


def _scale(p: Any) -> float:
    return float(p.sigma * p.clip / p.expected)


def _messages(p: Any) -> np.ndarray:
    """How many messages each user has written."""
    return np.unique(p.users, return_counts=True)[1]


def _came(p: Any) -> float:
    """What an answer that is divided by the number of users who came is, over the right one."""
    return float(p.expected / max(len(_messages(p)), 1))


user_level_average = gaussian_task(
    "user_level_average",
    see="lecture 4, DP-FedAvg",
    probes=_user_probes,
    law=lambda p: (_center(p), _scale(p)),
    form=VECTOR,
    draws=DRAWS,
    mistakes=[
        mistake(
            "messages clipped",
            "You clip each message. Whoever writes nine of them then moves the sum by up to 9 C, and noise for C does "
            "not hide that. Add up what each user sends, and clip that.",
            center=lambda p: _center(p, clipped_rows(p.gradients, p.clip)), hides=False,
        ),
        mistake(
            "clipped twice",
            "You clip each message, and then what each user sends. That is as private, but not what is asked: add the "
            "messages up as they are, and clip the sum.",
            center=lambda p: _center(p, clipped_rows(by_user(clipped_rows(p.gradients, p.clip), p.users), p.clip)),
        ),
        mistake(
            "not clipped",
            "Nothing is clipped: one user can move the sum by any length, and no noise hides that.",
            center=lambda p: _center(p, p.gradients), hides=False,
        ),
        mistake(
            "always length C",
            "Short updates are stretched to length C. Only longer ones are clipped: divide by max(1, length / C).",
            center=lambda p: _center(
                p, (rows := by_user(p.gradients, p.users)) * p.clip / np.maximum(norms(rows), 1e-300)[:, None]
            ),
        ),
        mistake(
            "mean of each user",
            "You take the mean of each user's messages. That is as private, but not what is asked: add them up, and "
            "clip the sum.",
            center=lambda p: _center(p, clipped_rows(by_user(p.gradients, p.users) / _messages(p)[:, None], p.clip)),
        ),
        mistake(
            "divided by those who came",
            "You divide by the number of users who came. It is private: it changes by one with each user. Divide by "
            "the expected number.",
            center=lambda p: _center(p) * _came(p), scale=lambda p: _scale(p) * _came(p), hides=False,
        ),
        mistake(
            "divided by messages",
            "You divide by the number of messages, which changes by as many as one user writes.",
            center=lambda p: _center(p) * p.expected / max(len(p.users), 1),
            scale=lambda p: _scale(p) * p.expected / max(len(p.users), 1), hides=False,
        ),
        mistake(
            "noise per user",
            "It looks like noise for every user. Once, on the sum, is enough; and with nobody there you add none.",
            scale=lambda p: _scale(p) * math.sqrt(len(_messages(p))), hides=False,
        ),
        mistake(
            "noise per message",
            "It looks like noise for every message. Once, on the sum, is enough; and with nobody there you add none.",
            scale=lambda p: _scale(p) * math.sqrt(len(p.users)), hides=False,
        ),
        mistake(
            "noise for the busiest",
            "Your noise grows with the messages of the busiest user. After clipping each user, C bounds them already; "
            "and a scale that depends on the data tells about it.",
            scale=lambda p: _scale(p) * _messages(p).max(initial=1), hides=False,
        ),
        mistake(
            "C forgotten",
            "The noise on the sum must be sigma C, not sigma.",
            scale=lambda p: p.sigma / p.expected, hides=False,
        ),
        mistake(
            "noise after dividing",
            "The noise sigma C belongs onto the sum, before dividing. On the average it is as many times too much as "
            "you expect users.",
            scale=lambda p: p.sigma * p.clip,
        ),
        mistake(
            "nothing for an empty round",
            "A round without users must give noise like any other. Silence says: nobody was there.",
            draw=lambda p, rng: _center(p) + (_scale(p) * rng.normal(size=5) if len(p.users) else 0),
        ),
        mistake("no noise", "Clipping bounds what one user can do; only noise hides it.", _center),
    ],
)  # fmt: skip


def _canary_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A canary that stands out; one in the middle, among scores below 1; one whose place is shared, with the likeliest
    or with others.

    In the order of the list it is the first of those that are equal, then the last: no way of sorting is right by luck.
    """
    probes: list[Probe] = []
    sizes = [int(size) for size in rng.integers(150, 400, 4)]
    places = (2, 0), (int(rng.uniform(0.55, 0.8) * sizes[1]), 0), (0, 4), (int(rng.integers(5, 20)), 6)
    for number, ((place, ties), size) in enumerate(zip(places, sizes, strict=True)):
        scores = np.sort(rng.uniform(*((0.1, 0.9) if number == 1 else (12.0, 40.0)), size=size))
        scores[place : place + ties + 1] = scores[place]
        order = rng.permutation(size)
        shuffled = scores[order]
        equal = np.flatnonzero(shuffled == scores[place])
        probes.append({"log_perplexities": shuffled, "canary": int(equal[0 if number == 2 else -1])})
    return probes


def _rank(log_perplexities: np.ndarray, canary: int) -> int:
    """Equal ones share the worst rank: a model that knows nothing must expose nothing."""
    return int(np.count_nonzero(log_perplexities <= log_perplexities[canary]))


def bits(log_perplexities: np.ndarray, canary: int) -> float:
    """log2 |R| - log2 rank, as :class:`dpcourse.attacks.canary.Exposure` has it (which would load torch)."""
    return math.log2(len(log_perplexities)) - math.log2(_rank(log_perplexities, canary))


def _bits(p: Any) -> float:
    return bits(p.log_perplexities, p.canary)


def _better(p: Any) -> int:
    """How many codes are likelier than the canary."""
    return int(np.count_nonzero(p.log_perplexities < p.log_perplexities[p.canary]))


def _bits_at(rank: Any) -> Any:
    """Exposure with another rank."""
    return lambda p: math.log2(len(p.log_perplexities) / rank(p))


canary_exposure = value_task(
    "canary_exposure",
    see="lecture 4, A network with a good memory",
    probes=_canary_probes,
    right=_bits,
    mistakes=[
        mistake(
            "ranked the wrong way",
            "You rank upwards in likelihood. A low log-perplexity means likely: rank 1 has the lowest.",
            lambda p: bits(-p.log_perplexities, p.canary),
        ),
        mistake(
            "natural logarithm",
            "These are nats. Exposure is in bits: log2.",
            lambda p: _bits(p) * math.log(2),
        ),
        mistake(
            "base ten",
            "That is the logarithm to base 10. Exposure is in bits: log2.",
            lambda p: _bits(p) * math.log10(2),
        ),
        mistake(
            "ties in its favour",
            "Of several equally likely codes the canary gets the worst rank. Otherwise a model that holds all codes "
            "for equally likely would expose every one of them completely.",
            _bits_at(lambda p: 1 + _better(p)),
        ),
        mistake(
            "ties in the middle",
            "Of several equally likely codes the canary gets the worst rank, not the average of their ranks.",
            _bits_at(lambda p: (1 + _better(p) + _rank(p.log_perplexities, p.canary)) / 2),
        ),
        mistake(
            "place in the sorted list",
            "Sorting puts equally likely codes one after the other. All of them get the worst of their ranks.",
            _bits_at(lambda p: 1 + int(np.argsort(np.argsort(p.log_perplexities, kind="stable"))[p.canary])),
        ),
        mistake(
            "rank from 0",
            "The likeliest code has rank 1, not 0: count the canary itself.",
            _bits_at(lambda p: max(_rank(p.log_perplexities, p.canary) - 1, 1)),
        ),
        mistake(
            "rank alone",
            "That is log2 of the rank: what an attacker still has to guess. Exposure is what he no longer has to: "
            "log2 of the number of codes, minus that.",
            lambda p: math.log2(_rank(p.log_perplexities, p.canary)),
        ),
        mistake(
            "no logarithm",
            "That is the number of codes over the rank. Exposure is its logarithm, log2.",
            lambda p: len(p.log_perplexities) / _rank(p.log_perplexities, p.canary),
        ),
        mistake(
            "sign turned",
            "The sign is turned: exposure is log2 of the number of codes, minus log2 of the rank.",
            lambda p: -_bits(p),
        ),
    ],
)  # fmt: skip
