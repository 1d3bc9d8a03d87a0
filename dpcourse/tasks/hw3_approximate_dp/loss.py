"""Homework 3, first part: the privacy loss as a random variable, its mean, and the exact delta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.privacy_loss import DiscreteLoss, GaussianLoss, LaplaceLoss
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.fixed_seed import constants, is_constant
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments

ATOM = 1e-4  # a loss so near to the bound (as a part of it) counts as being there: single precision is no mistake
DRAWS = 48_000  # of the last look: a noise scale that is 10% off is seen with probability 1 - 1e-6
FAR = 50.0  # scales of the noise: no output lies so far away


def _sum_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Neighbours on both sides, more than 1 apart, and a scale that is not 1.

    About 1.8 scales apart: there the share of outputs beyond the neighbour tells the most about the scale.
    """
    found = []
    for side in rng.permutation([-1, 1]):
        data, distance = int(rng.integers(40, 60)), int(rng.integers(4, 7))
        b = distance / float(rng.uniform(1.5, 2.1))
        found.append({"data": data, "neighbour": data + int(side) * distance, "b": b})
    return found


def _judge_samples(talk: Interview) -> None:
    """Two exact binomials for the spikes at both bounds, and Kolmogorov-Smirnov for what lies between them."""
    level = LEVEL / (len(talk.probes) + 1) / 3
    for number, probe in enumerate(talk.probes):
        for draws in (2 * talk.few, DRAWS)[: 2 if number == len(talk.probes) - 1 else 1]:
            _look_at_losses(talk, probe, draws, level)
    talk.praise = f"Your losses for {len(talk.probes)} pairs of worlds are spread as they should be."


def _look_at_losses(talk: Interview, probe: Probe, draws: int, level: float) -> None:
    bound = abs(probe["data"] - probe["neighbour"]) / probe["b"]
    right = LaplaceLoss(bound)
    losses = talk.draws(probe, draws)
    about = f"I called you {draws:,} times with {arguments(probe)}."
    if talk.public:
        ends = np.linspace(-1.1 * bound, 1.1 * bound, 12)  # the spikes fall into the outermost of eleven bins
        labels = [f"{middle:.2g}" for middle in (ends[1:] + ends[:-1]) / 2]
        found, expected = np.histogram(losses, ends)[0] / draws, np.diff(right.cdf(ends))
        talk.picture = shares(talk.task.name, labels, found, expected, what="loss")
    if is_constant(losses) and _same_noise(talk, probe):
        talk.fail(
            f"{about} Every loss was {losses[0]:.4g}: the noise is always the same (a generator made inside the "
            f"function, with a fixed seed?). Draw from the `rng` that you are given, or make your own generator once, "
            f"outside the function.",
            name="always the same noise",
        )
    if is_constant(losses) and np.isclose(losses[0], bound, rtol=ATOM):
        mirrored = {**probe, "neighbour": 2 * probe["data"] - probe["neighbour"]}
        if not is_constant(talk.draws(mirrored, talk.few)):
            talk.fail(
                f"{about} Every loss was {bound:.4g}, but with the neighbour on the other side they differ: your "
                f"outputs all lie on one side of the data. Laplace noise has both signs.",
                name="one-sided noise",
            )
    near = bound * (1 - ATOM)
    if np.abs(losses).max() > bound * (1 + ATOM):
        worst = losses[np.argmax(np.abs(losses))]
        talk.fail(f"{about} One loss is {worst:.4g}, but no output of this mechanism has a loss beyond {bound:.4g}.")
    low, high = float(right.cdf(-near)), float(right.above(near)[0])
    if not np.any(losses > near) and not is_constant(losses):
        talk.fail(
            f"{about} None of your losses is {bound:.4g}, but half of them should be: your outputs never lie on the "
            f"side of the data that the neighbour is not on. Laplace noise has both signs.",
            name="one-sided noise",
        )
    for side, hits, share in (("own", np.sum(losses > near), high), ("other", np.sum(losses <= -near), low)):
        end = bound if side == "own" else -bound
        talk.require(
            binomial_fit(int(hits), draws, share, level=level),
            f"{about} {hits / draws:.1%} of your losses are {end:.4g}; {share:.1%} is right: so often the output lies "
            f"on the {side} side of both answers.",
        )
    inside = losses[(losses > -near) & (losses <= near)]
    talk.require(
        ks_fit(inside, lambda loss: np.clip((right.cdf(loss) - low) / (1 - high - low), 0, 1), level=level),
        f"{about} The losses between {-bound:.4g} and {bound:.4g} are not spread as those of a Laplace mechanism are.",
    )


def _same_noise(talk: Interview, probe: Probe) -> bool:
    """Of a loss that never changes: does an output stand behind it?

    The neighbour is put far away, on one side and on the other. An output that lies z beside the data, always the same
    z, has the largest loss on one side and 2z/b less on the other; who draws none answers the same twice, or one of
    them with a minus.
    """
    away = [{**probe, "neighbour": probe["data"] + side * FAR * probe["b"]} for side in (1, -1)]
    found = [float(one) for one in constants(talk, away)]
    return len(found) == 2 and min(found) > 0 and not same_values(*found)


def _loss(t: float, data: float, neighbour: float, b: float) -> float:
    return (abs(t - neighbour) - abs(t - data)) / b


laplace_loss_sample = Task(
    name="laplace_loss_sample",
    see="lecture 3, The loss is a random variable",
    probes=_sum_probes,
    judge=_judge_samples,
    summary=lambda draws: np.round(draws.reshape(len(draws)), 3),
    mistakes=(
        Mistake(
            "other world", lambda data, neighbour, b, rng: _loss(rng.laplace(neighbour, b), data, neighbour, b),
            "The output is drawn from M(D) and its loss is ln of M(D) over M(D'). In yours one of the two is taken "
            "from the neighbour's world: on average the loss must be positive.",
        ),
        Mistake(
            "absolute value", lambda data, neighbour, b, rng: abs(_loss(rng.laplace(data, b), data, neighbour, b)),
            "The loss has a sign: a negative one speaks for the neighbour, and cancels others when answers add up.",
        ),
        Mistake(
            "b forgotten", lambda data, neighbour, b, rng: b * _loss(rng.laplace(data, b), data, neighbour, b),
            "The exponent of the density is the distance divided by b.",
        ),
        Mistake(
            "the ratio", lambda data, neighbour, b, rng: math.exp(_loss(rng.laplace(data, b), data, neighbour, b)),
            "That is the likelihood ratio; the privacy loss is its logarithm.",
        ),
        Mistake(
            "always the bound", lambda data, neighbour, b: abs(data - neighbour) / b,
            "That is the largest loss. The loss of an output depends on the output: draw one.",
        ),
        Mistake(
            "the output", lambda data, neighbour, b, rng: rng.laplace(data, b),
            "That is the noisy answer t itself. Put it into ln of the two densities.",
        ),
    ),
)  # fmt: skip


def _two_worlds(rng: np.random.Generator) -> Sequence[Probe]:
    """Discrete mechanisms; in the last, one output never comes from D (0 ln 0 = 0)."""
    found = []
    for number in range(3):
        p, q = rng.dirichlet(np.full(4, 2.0)), rng.dirichlet(np.full(4, 2.0))
        p, q = (p + 0.05) / 1.2, (q + 0.05) / 1.2
        if number == 2:
            p[1] = 0.0
            p /= p.sum()
        found.append({"p": p, "q": q})
    return found


def _mean(p: Any, q: Any) -> float:
    return DiscreteLoss.from_probabilities(p, q).mean


def _log(p: Any, q: Any) -> np.ndarray:
    p, q = np.asarray(p), np.asarray(q)
    return np.log(np.where(p > 0, p, q) / q)


loss_mean = Task(
    name="loss_mean",
    see="lecture 3, A step aside: averages that look like this",
    probes=_two_worlds,
    judge=values_of(_mean),
    mistakes=(
        Mistake(
            "wrong weights", lambda p, q: float(np.sum(q * _log(p, q))),
            "You average with the weights of the neighbour's world. The output comes from M(D): weigh with p.",
        ),
        Mistake(
            "not weighted", lambda p, q: float(np.mean(_log(p, q))),
            "Every output counts the same in yours. An expectation weighs each value with its probability.",
        ),
        Mistake(
            "base two", lambda p, q: _mean(p, q) / math.log(2),
            "That is in bits; the privacy loss uses the natural logarithm.",
        ),
        Mistake(
            "absolute values", lambda p, q: float(np.sum(p * np.abs(_log(p, q)))),
            "Losses have signs, and those of both signs are averaged.",
        ),
        Mistake(
            "weights are the names", lambda p, q: float(np.sum(np.arange(len(p)) * _log(p, q))),
            "You weigh with the value of the output, 0, 1, 2, ..., as the slide's formula for the entropy does. The "
            "weight must be the probability: the names of the outputs do not matter.",
        ),
        Mistake(
            "the entropy", lambda p, q: float(-np.sum(p[p > 0] * np.log(p[p > 0]))),
            "That is the entropy of M(D) alone; the loss compares two worlds.",
        ),
    ),
)  # fmt: skip


def _noise_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Sensitivities that are not 1, and values of delta that are large enough to be told apart."""
    found = []
    for mu in rng.uniform((0.4, 0.9, 1.4), (0.7, 1.3, 2.2)):
        sensitivity = float(rng.uniform(2, 5))
        epsilon = float(mu * rng.uniform(0.5, 1.5))
        found.append({"epsilon": epsilon, "sigma": sensitivity / float(mu), "sensitivity": sensitivity})
    return found


def _delta(epsilon: float, sigma: float, sensitivity: float) -> float:
    return float(GaussianLoss(sensitivity / sigma).delta(epsilon))


def _tails(epsilon: float, sigma: float, sensitivity: float) -> tuple[float, float]:
    """Pr[L > eps] and Pr[|L| > eps]."""
    loss = GaussianLoss(sensitivity / sigma)
    return float(loss.above(epsilon)[0]), float(loss.above(epsilon)[0] + loss.below(-epsilon)[0])


exact_delta = Task(
    name="exact_delta",
    see="lecture 3, The exact curve, in four steps",
    probes=_noise_probes,
    judge=values_of(_delta),
    mistakes=(
        Mistake(
            "the tail", lambda epsilon, sigma, sensitivity: _tails(epsilon, sigma, sensitivity)[0],
            "That is Pr[L > epsilon]. The definition counts an output only with the share 1 - e^(epsilon - L): delta "
            "is smaller.",
        ),
        Mistake(
            "both tails", lambda epsilon, sigma, sensitivity: _tails(epsilon, sigma, sensitivity)[1],
            "That is Pr[|L| > epsilon], which the slide takes for delta. It implies privacy, but it is larger than "
            "delta.",
        ),
        Mistake(
            "e^epsilon forgotten",
            lambda epsilon, sigma, sensitivity: _tails(epsilon, sigma, sensitivity)[0]
            - float(GaussianLoss(sensitivity / sigma).above(epsilon)[1]),
            "The neighbour's probability is multiplied by e^epsilon before it is subtracted.",
        ),
        Mistake(
            "sensitivity forgotten", lambda epsilon, sigma, sensitivity: _delta(epsilon, sigma, 1.0),
            "The worlds are sensitivity/sigma apart, in units of the noise; you take 1/sigma.",
        ),
        Mistake(
            "classical formula",
            lambda epsilon, sigma, sensitivity: 1.25 * math.exp(-((sigma * epsilon / sensitivity) ** 2) / 2),
            "That is the textbook formula solved for delta: a bound which needs epsilon < 1, not the exact value.",
        ),
        Mistake(
            "upside down", lambda epsilon, sigma, sensitivity: _delta(epsilon, sensitivity, sigma),
            "mu is sensitivity/sigma: more noise brings the worlds together.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (laplace_loss_sample, loss_mean, exact_delta)
