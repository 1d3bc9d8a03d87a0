"""Homework 3, first part: the privacy loss as a random variable, its mean, and the exact delta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.privacy_loss import DiscreteLoss, GaussianLoss, LaplaceLoss
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.fixed_seed import constants, is_constant
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments

ATOM = 1e-4  # a loss so near to the bound (as a part of it) counts as being there: single precision is no mistake
DRAWS = 48_000  # of the last look: a noise scale that is 10% off is seen with probability 1 - 1e-6
FAR = 50.0  # scales of the noise: no output lies so far away
TESTS = 4  # of one look
BOTH_SIGNS = "Laplace noise has both signs."


def _sum_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Neighbours on both sides, once more than 1 apart and once less; a scale above 1, and one below.

    About 1.8 scales apart: there the share of outputs beyond the neighbour tells the most about the scale.
    """
    probes = []
    for side, ends in zip(rng.permutation([-1, 1]), rng.permutation([(4, 7), (0.4, 0.8)]), strict=True):
        data, distance = int(rng.integers(40, 60)), round(float(rng.uniform(*ends)), 1)
        b = distance / float(rng.uniform(1.5, 2.1))
        probes.append({"data": data, "neighbour": data + int(side) * distance, "b": b})
    return probes


def _judge_samples(talk: Interview) -> None:
    level = LEVEL / (len(talk.probes) + 1) / TESTS
    for number, probe in enumerate(talk.probes):
        for draws in (2 * talk.few, DRAWS)[: 2 if number == len(talk.probes) - 1 else 1]:
            _look_at_losses(talk, probe, draws, level)
    talk.praise = f"Your losses for {len(talk.probes)} pairs of worlds are spread as they should be."


def _look_at_losses(talk: Interview, probe: Probe, draws: int, level: float) -> None:
    """Exact binomials for the spikes at both bounds and for two calls in a row, Kolmogorov-Smirnov between the bounds.

    Half of the losses are at the bound: whether one is there is a fair coin, and so is whether two calls agree on it.
    """
    bound = abs(probe["data"] - probe["neighbour"]) / probe["b"]
    right, near = LaplaceLoss(bound), bound * (1 - ATOM)
    losses = talk.draws(probe, draws)
    about, constant = f"I called you {draws:,} times with {arguments(probe)}.", is_constant(losses)
    talk.failing = probe
    if talk.public:
        ends = np.linspace(-1.1 * bound, 1.1 * bound, 12)  # the spikes fall into the outermost of eleven bins
        labels = [f"{middle:.2g}" for middle in (ends[1:] + ends[:-1]) / 2]
        counts = np.histogram(losses, ends)[0] / draws
        talk.picture = shares(talk.task.name, labels, counts, np.diff(right.cdf(ends)), what="loss")
    if constant and _same_noise(talk, probe):
        talk.fail(
            f"{about} Every loss was {losses[0]:.4g}: the noise is always the same (a generator made inside the "
            f"function, with a fixed seed?). Draw from the `rng` that you are given, or make your own generator once, "
            f"outside the function.",
            name="always the same noise",
        )
    if constant and np.isclose(losses[0], bound, rtol=ATOM):
        mirrored = {**probe, "neighbour": 2 * probe["data"] - probe["neighbour"]}
        if not is_constant(talk.draws(mirrored, talk.few)):
            talk.fail(
                f"{about} Every loss was {bound:.4g}, but with the neighbour on the other side they differ: your "
                f"outputs all lie on one side of the data. {BOTH_SIGNS}",
                name="one-sided noise",
            )
    if np.abs(losses).max() > bound * (1 + ATOM):
        worst = losses[np.argmax(np.abs(losses))]
        talk.fail(f"{about} One loss is {worst:.4g}, but no output of this mechanism has a loss beyond {bound:.4g}.")
    if not np.any(losses > near) and np.any(losses <= -near) and not constant:
        talk.fail(
            f"{about} None of your losses is {bound:.4g}, but half of them should be: your outputs never lie on the "
            f"side of the data that the neighbour is not on. {BOTH_SIGNS}",
            name="one-sided noise",
        )
    low, high = float(right.cdf(-near)), float(right.above(near)[0])
    for side, end, hits, share in (
        ("on the side of `data` that is away from `neighbour`", bound, np.sum(losses > near), high),
        ("beyond `neighbour`, seen from `data`", -bound, np.sum(losses <= -near), low),
    ):
        talk.require(
            binomial_fit(int(hits), draws, share, level=level),
            f"{about} {hits / draws:.1%} of your losses are {end:.4g}; {share:.1%} is right: so often the noisy answer "
            f"lies {side}.",
        )
    inside = losses[(losses > -near) & (losses <= near)]
    talk.require(
        ks_fit(inside, lambda loss: np.clip((right.cdf(loss) - low) / (1 - high - low), 0, 1), level=level),
        f"{about} The losses between {-bound:.4g} and {bound:.4g} are not spread as those of a Laplace mechanism are.",
    )
    agree = int(np.count_nonzero((losses[1:] > near) == (losses[:-1] > near)))
    talk.require(
        binomial_fit(agree, draws - 1, 0.5, level=level),
        f"{about} Two calls in a row both gave the largest loss, or both another one, in {agree / (draws - 1):.0%} of "
        f"all cases; half is right: every call needs an output of its own.",
    )


def _same_noise(talk: Interview, probe: Probe) -> bool:
    """Of a loss that never changes: does an output stand behind it?

    The neighbour is put far away, on one side and on the other. An output that lies z beside the data, always the same
    z, has the largest loss on one side and 2z/b less on the other; who draws none answers the same twice, or one of
    them with a minus.
    """
    away = [{**probe, "neighbour": probe["data"] + side * FAR * probe["b"]} for side in (1, -1)]
    losses = [float(one) for one in constants(talk, away)]
    return len(losses) == 2 and min(losses) > 0 and not same_values(*losses)


def _loss(t: float, p: Any) -> float:
    return float(abs(t - p.neighbour) - abs(t - p.data)) / p.b


laplace_loss_sample = judged_task(
    "laplace_loss_sample",
    see="lecture 3, The loss is a random variable",
    probes=_sum_probes,
    judge=_judge_samples,
    summary=lambda draws: np.round(draws.reshape(len(draws)), 3),
    mistakes=[
        mistake(
            "other world",
            "The output is drawn from M(D) and its loss is ln of M(D) over M(D'). In yours one of the two is taken "
            "from the neighbour's world: on average the loss must be positive.",
            draw=lambda p, rng: _loss(rng.laplace(p.neighbour, p.b), p),
        ),
        mistake(
            "absolute value",
            "The loss has a sign: a negative one speaks for the neighbour, and cancels others when answers add up.",
            draw=lambda p, rng: abs(_loss(rng.laplace(p.data, p.b), p)),
        ),
        mistake(
            "b forgotten",
            "The exponent of the density is the distance divided by b.",
            draw=lambda p, rng: p.b * _loss(rng.laplace(p.data, p.b), p),
        ),
        mistake(
            "noise of scale 1",
            "The noise of your output has scale 1. Its scale is b.",
            draw=lambda p, rng: _loss(rng.laplace(p.data, 1), p),
        ),
        mistake(
            "the ratio",
            "That is the likelihood ratio; the privacy loss is its logarithm.",
            draw=lambda p, rng: math.exp(_loss(rng.laplace(p.data, p.b), p)),
        ),
        mistake(
            "base ten",
            "It looks like the logarithm to base 10; ln is the natural logarithm.",
            draw=lambda p, rng: _loss(rng.laplace(p.data, p.b), p) / math.log(10),
        ),
        mistake(
            "always the bound",
            "That is the largest loss. The loss of an output depends on the output: draw one.",
            lambda p: abs(p.data - p.neighbour) / p.b,
        ),
        mistake(
            "the output",
            "That is the noisy answer t itself. Put it into ln of the two densities.",
            draw=lambda p, rng: rng.laplace(p.data, p.b),
        ),
    ],
)  # fmt: skip


def _two_worlds(rng: np.random.Generator) -> Sequence[Probe]:
    """Discrete mechanisms. In the second, the mean is above 1; in the last, one output never comes from D."""
    probes = []
    for number in range(3):
        p, q = ((rng.dirichlet(np.full(4, 2.0)) + 0.05) / 1.2 for _ in range(2))
        if number == 1:
            likely = int(np.argmin(q))
            p[likely] += 6.0
            q[likely] = 0.04
        if number == 2:
            p[1] = 0.0
        p, q = p / p.sum(), q / q.sum()
        probes.append({"p": p, "q": q})
    return probes


def _mean(worlds: Any) -> float:
    return DiscreteLoss.from_probabilities(worlds.p, worlds.q).mean


def _losses(worlds: Any) -> np.ndarray:
    """The loss of every output; 0 for one that never comes."""
    p, q = np.asarray(worlds.p), np.asarray(worlds.q)
    return np.log(np.where(p > 0, p, q) / q)


loss_mean = value_task(
    "loss_mean",
    see="lecture 3, A step aside: averages that look like this",
    probes=_two_worlds,
    right=_mean,
    mistakes=[
        mistake(
            "wrong weights",
            "You average with the weights of the neighbour's world. The output comes from M(D): weigh with p.",
            lambda w: float(np.sum(w.q * _losses(w))),
        ),
        mistake(
            "worlds swapped",
            "p and q are swapped: the output comes from M(D), so weigh ln(p/q) with p.",
            lambda w: float(-np.sum(w.q * _losses(w))),
        ),
        mistake(
            "sign turned",
            "You average ln(q/p). The loss is ln(p/q), and on average it is positive.",
            lambda w: -_mean(w),
        ),
        mistake(
            "not weighted",
            "Every output counts the same in yours. An expectation weighs each value with its probability.",
            lambda w: float(np.mean(_losses(w))),
        ),
        mistake(
            "base two",
            "That is in bits; the privacy loss uses the natural logarithm.",
            lambda w: _mean(w) / math.log(2),
        ),
        mistake(
            "base ten",
            "That is the logarithm to base 10; the privacy loss uses the natural logarithm.",
            lambda w: _mean(w) / math.log(10),
        ),
        mistake(
            "absolute values",
            "Losses have signs, and those of both signs are averaged.",
            lambda w: float(np.sum(w.p * np.abs(_losses(w)))),
        ),
        mistake(
            "mean of the ratio",
            "You average the ratio p/q, without the logarithm.",
            lambda w: float(np.sum(w.p * w.p / w.q)),
        ),
        mistake(
            "weights are the names",
            "You weigh with the value of the output, 0, 1, 2, ..., as the slide's formula for the entropy does. The "
            "weight must be the probability: the names of the outputs do not matter.",
            lambda w: float(np.sum(np.arange(len(w.p)) * _losses(w))),
        ),
        mistake(
            "the entropy",
            "That is the entropy of M(D) alone; the loss compares two worlds.",
            lambda w: float(-np.sum(w.p[w.p > 0] * np.log(w.p[w.p > 0]))),
        ),
    ],
)  # fmt: skip


def _noise_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Every argument is once above 1 and once below, and delta is large enough to tell the values apart."""
    probes = []
    for mu, ends in zip(rng.uniform((0.4, 0.9, 1.4), (0.7, 1.3, 2.2)), ((2, 5), (0.1, 0.3), (2, 5)), strict=True):
        sensitivity = float(rng.uniform(*ends))
        epsilon = float(mu * rng.uniform(*((0.8, 1.5) if mu > 1.4 else (0.5, 1.3))))
        probes.append({"epsilon": epsilon, "sigma": sensitivity / float(mu), "sensitivity": sensitivity})
    return probes


def _loss_of(p: Any) -> GaussianLoss:
    return GaussianLoss(p.sensitivity / p.sigma)


def _tail(p: Any) -> float:
    """Pr[L > eps]."""
    return float(_loss_of(p).above(p.epsilon)[0])


exact_delta = value_task(
    "exact_delta",
    see="lecture 3, The exact curve, in four steps",
    probes=_noise_probes,
    right=lambda p: float(_loss_of(p).delta(p.epsilon)),
    mistakes=[
        mistake(
            "the tail",
            "That is Pr[L > epsilon]. The definition counts an output only with the share 1 - e^(epsilon - L): delta "
            "is smaller.",
            _tail,
        ),
        mistake(
            "both tails",
            "That is Pr[|L| > epsilon], which the slide takes for delta. It implies privacy, but it is larger than "
            "delta.",
            lambda p: _tail(p) + float(_loss_of(p).below(-p.epsilon)[0]),
        ),
        mistake(
            "e^epsilon forgotten",
            "The neighbour's probability is multiplied by e^epsilon before it is subtracted.",
            lambda p: _tail(p) - float(_loss_of(p).above(p.epsilon)[1]),
        ),
        mistake(
            "sensitivity forgotten",
            "The worlds are sensitivity/sigma apart, in units of the noise; you take 1/sigma.",
            lambda p: float(GaussianLoss(1 / p.sigma).delta(p.epsilon)),
        ),
        mistake(
            "variance for deviation",
            "It looks like sigma squared in place of sigma: mu is sensitivity/sigma.",
            lambda p: float(GaussianLoss(p.sensitivity / p.sigma**2).delta(p.epsilon)),
        ),
        mistake(
            "classical formula",
            "That is the textbook formula solved for delta: a bound which needs epsilon < 1, not the exact value.",
            lambda p: 1.25 * math.exp(-((p.sigma * p.epsilon / p.sensitivity) ** 2) / 2),
        ),
        mistake(
            "delta at 0",
            "That is delta at epsilon = 0, the total variation distance. Asked is delta at the given epsilon.",
            lambda p: float(_loss_of(p).delta(0.0)),
        ),
        mistake(
            "upside down",
            "mu is sensitivity/sigma: more noise brings the worlds together.",
            lambda p: float(GaussianLoss(p.sigma / p.sensitivity).delta(p.epsilon)),
        ),
    ],
)  # fmt: skip
