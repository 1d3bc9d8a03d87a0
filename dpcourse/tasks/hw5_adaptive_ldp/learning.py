"""Homework 5, second half: the best subset, and one step of the sampler."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpcourse.adaptive_ldp import best_subset as best_of
from dpcourse.adaptive_ldp import restricted_matrix, utilities
from dpcourse.adaptive_ldp.langevin import langevin_step
from dpcourse.audit import ks_fit
from dpcourse.tasks.answers import VECTOR, Answer
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.noise import look_at_noise
from dpcourse.tasks.judges.noise_law import NORMAL, Noise, with_parts
from dpcourse.tasks.mistake import arguments_of, mistake
from dpcourse.tasks.respondent import Probe

STEPS = 3_000  # of the sampler, from each point


class Categories(Answer):
    """Some categories, in any order."""

    def read(self, raw: Any) -> Any:
        """Their labels, sorted."""
        return np.sort(super().read(raw))


#: K, how many shares are large (None: drawn without a plan), and the best size.
SUBSETS = ((7, 0, 0), (7, 3, 0), (7, None, 2), (8, 2, 2), (9, 4, 4), (7, 4, 4), (9, 5, 5), (11, 6, 6))


def _subset_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Shares in no order, whose best size is none, few, or more than half; a few times it is not how many are large.

    Never a tie, never the largest alone.
    """
    return [_subset_probe(rng, *wanted) for wanted in rng.permutation(np.array(SUBSETS, dtype=object)).tolist()]


def _subset_probe(rng: np.random.Generator, k: int, large: int | None, size: int) -> Probe:
    while True:
        theta, epsilon = _shares(rng, k, large), float(rng.uniform(0.8, 3.5))
        first = 0.8 * epsilon
        values, best = np.sort(utilities(theta, epsilon, first, "honest")), best_of(theta, epsilon, first)
        planned = large is not None or np.count_nonzero(theta > 1 / k) != size
        scattered = size in (0, k) or set(best) != set(range(size))
        if len(best) == size and planned and scattered and values[-1] - values[-2] > 1e-3:
            return {"theta": theta, "epsilon": epsilon, "first": first}


def _shares(rng: np.random.Generator, k: int, large: int | None) -> np.ndarray:
    if large is None:
        return rng.dirichlet(np.ones(k))
    weights = rng.uniform(0.8, 1.2, k)
    weights[large:] *= rng.uniform(0.01, 0.1) if large else 1.0
    return rng.permutation(weights / weights.sum())


def _top(p: Any, size: int) -> np.ndarray:
    return np.argsort(-np.asarray(p.theta), kind="stable")[:size]


def _best_size(p: Any, smallest: int = 0, utility: str = "honest") -> int:
    values = utilities(p.theta, p.epsilon, p.first, utility)
    return smallest + int(np.argmax(values[smallest:]))


def _all_of_epsilon(p: Any) -> int:
    """The best size if the second step had all of epsilon."""
    k, order = len(p.theta), _top(p, len(p.theta))
    values = [p.theta @ np.diag(restricted_matrix(k, order[:size], p.first, p.epsilon)) for size in range(k)]
    return int(np.argmax(values))


best_subset = value_task(
    "best_subset",
    see="lecture 5, Which subset?",
    probes=_subset_probes,
    right=lambda p: best_of(p.theta, p.epsilon, p.first, "honest"),
    form=Categories((None,)),
    mistakes=[
        mistake(
            "SRR not among the candidates",
            "You never choose the empty subset. |S| = 0 is plain SRR, and for an even field it is the best. (The "
            "authors' published code starts at 1, too.)",
            lambda p: _top(p, _best_size(p, smallest=1)),
        ),
        mistake(
            "not sorted",
            "The size is right, but S must hold the most frequent categories, not the first labels.",
            lambda p: np.arange(_best_size(p)),
        ),
        mistake(
            "rarest first",
            "You sort upwards: S holds the rarest categories. What S favours should be what is frequent.",
            lambda p: _top(p, len(p.theta))[::-1][: _best_size(p)],
        ),
        mistake(
            "theta not used",
            "You always choose nobody. That is the best for an even field: is your average over x weighted by theta?",
            lambda p: [],
        ),
        mistake(
            "nine tenths",
            "That is the semi-adaptive rule, the smallest S that holds 90%. Here the utility decides.",
            lambda p: _top(p, int(np.searchsorted(np.cumsum(-np.sort(-p.theta)), 0.9 - 1e-12)) + 1),
        ),
        mistake(
            "the largest alone",
            "You always choose the largest category and no other. The utility decides how many.",
            lambda p: _top(p, 1),
        ),
        mistake(
            "above the average",
            "You choose whatever has more than 1/K. The utility decides: a category with a large share may stay out.",
            lambda p: np.flatnonzero(p.theta > 1 / len(p.theta)),
        ),
        mistake(
            "three at most",
            "You compare the sizes up to 3 only. Any size up to K - 1 may be the best.",
            lambda p: _top(p, int(np.argmax(utilities(p.theta, p.epsilon, p.first, "honest")[:4]))),
        ),
        mistake(
            "half of them at most",
            "You compare the sizes up to K/2 only. Any size up to K - 1 may be the best.",
            lambda p: _top(
                p, int(np.argmax(utilities(p.theta, p.epsilon, p.first, "honest")[: len(p.theta) // 2 + 1]))
            ),
        ),
        mistake(
            "eps2 = eps",
            "Your sizes are the best ones if the second step had all of eps. It has eps2: see the task on it.",
            lambda p: _top(p, _all_of_epsilon(p)),
        ),
    ],
)  # fmt: skip


def _step_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A prior that is not flat, fewer rows than responses, and phi at about four deviations of the noise.

    So near 0 every term of the gradient shows, and a step is reflected so rarely (once in a thousand) that the
    answers are Gaussian as far as any test here can see.
    """
    probes: list[Probe] = []
    for m in rng.permutation([5, 8]).tolist():
        gamma, k = float(rng.uniform(0.1, 0.25)), 6
        probes.append(
            {
                "phi": rng.uniform(3.6, 4.6, k) * math.sqrt(gamma), "rows": rng.dirichlet(np.full(k, 2.0), size=m),
                "n": int(rng.integers(8, 12)) * m, "rho": float(rng.uniform(4, 6)), "gamma": gamma,
            }
        )  # fmt: skip
    return probes


def _center(p: Any) -> np.ndarray:
    return langevin_step(p.phi, p.rows, p.n, p.rho, p.gamma, np.zeros(len(p.phi)), plain=True)


def _step_law(**probe: Any) -> Noise:
    return Noise(_center(arguments_of(probe)), math.sqrt(probe["gamma"]), NORMAL)


def _judge_step(talk: Interview) -> None:
    look_at_noise(talk, _step_law, 0.75 * LEVEL, draws=STEPS, hides=False)
    _look_near_zero(talk, LEVEL / 4)
    talk.praise = f"Your steps from {len(talk.probes) + 1} points have the right center, spread and shape, near 0, too."


def _look_near_zero(talk: Interview, level: float) -> None:
    """From here nearly half of the steps would lead below 0, in each coordinate: prior and likelihood hardly pull.

    A right step is |N(center, gamma)|, so that its distribution function makes all of them uniform. (Drawing again
    until it is positive gives nearly the same law there, and is not told apart.)
    """
    first, k = talk.probes[0], len(talk.probes[0]["phi"])
    near = {"phi": talk.rng.uniform(0.05, 0.15, k), "rows": talk.rng.dirichlet(np.full(k, 200.0), len(first["rows"]))}
    probe = {**first, **near, "n": len(first["rows"]), "rho": 1.1}
    answers, about = talk.draws(probe, talk.few), f"I called you {talk.few} times with phi near 0."
    if (answers < 0).any():  # a right step reflects, always
        talk.fail(
            f"From phi near 0 you step to {answers.min():.3g}. phi must stay positive: a step below 0 is reflected, by "
            f"taking the absolute value.",
            name="no reflection",
        )
    lowest = float(np.mean(answers == answers.min()))
    if lowest > 0.02:
        talk.fail(f"{about} In {lowest:.0%} of the coordinates you step to {answers.min():.3g}.", name="cut at 0")
    center, sigma = _center(arguments_of(probe)), math.sqrt(probe["gamma"])
    uniform = ndtr((answers - center) / sigma) - ndtr((-answers - center) / sigma)
    talk.require(
        ks_fit(uniform.ravel(), lambda u: np.clip(u, 0, 1), level=level),
        f"{about} A step below 0 is reflected, by taking the absolute value: your steps are not spread like those.",
        name="not reflected",
    )


def _moved(p: Any, *, step: float = 0.5, prior: Any = None, likelihood: Any = None, times: float | None = None) -> Any:
    """Where a step leads without noise; with another factor, prior, likelihood, or number of times that it counts."""
    total = p.phi.sum()
    prior = (p.rho - 1) / p.phi - 1 if prior is None else prior
    likelihood = (p.rows / (p.rows @ p.phi / total)[:, None] - 1) / total if likelihood is None else likelihood
    times = p.n / len(p.rows) if times is None else times
    return p.phi + step * p.gamma * (prior + times * likelihood.sum(axis=0))


def _unreflected(p: Any, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(_moved(p) + math.sqrt(p.gamma) * rng.normal(size=len(p.phi)))


def _center_is(**change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda p: _moved(p, **{name: other(p) for name, other in change.items()})


sgld_step = judged_task(
    "sgld_step",
    see="lecture 5, Posterior sampling",
    probes=_step_probes,
    judge=_judge_step,
    form=VECTOR,
    varied=lambda one: with_parts(_step_law, one.parts, one.name, one.message),
    mistakes=[
        mistake(
            "gamma W",
            "You add gamma W, as the slide does. The noise must be sqrt(gamma) W: with gamma W the sampler nearly "
            "stops exploring, and its intervals are too narrow.",
            scale=lambda p: p.gamma,
        ),
        mistake(
            "sqrt(2 gamma) W",
            "sqrt(2 gamma) W belongs to a step of gamma times the gradient. Here it is gamma/2, with sqrt(gamma) W.",
            scale=lambda p: math.sqrt(2 * p.gamma),
        ),
        mistake(
            "half forgotten",
            "The gradient is multiplied by gamma/2, not by gamma. Only then noise of variance gamma makes the "
            "posterior.",
            center=_center_is(step=lambda p: 1.0),
        ),
        mistake(
            "downhill",
            "You subtract the gradient. The step goes uphill, to where the posterior is larger.",
            center=_center_is(step=lambda p: -0.5),
        ),
        mistake(
            "n/m forgotten",
            "A minibatch of m rows stands for all n responses, so its sum counts n/m times. Without it the prior is "
            "far too strong.",
            center=_center_is(times=lambda p: 1.0),
        ),
        mistake(
            "n for n/m",
            "You multiply the sum over the minibatch by n. It has m rows already: it counts n/m times.",
            center=_center_is(times=lambda p: float(p.n)),
        ),
        mistake(
            "rho for rho - 1",
            "The Gamma(rho, 1) density is phi^(rho - 1) e^-phi: its logarithm has the slope (rho - 1)/phi - 1.",
            center=_center_is(prior=lambda p: p.rho / p.phi - 1),
        ),
        mistake(
            "prior forgotten",
            "The gradient of the prior, (rho - 1)/phi - 1, is missing: you sample from the likelihood alone.",
            center=_center_is(prior=lambda p: 0.0),
        ),
        mistake(
            "one of the prior forgotten",
            "The prior's slope is (rho - 1)/phi - 1: the -1 at its end is missing.",
            center=_center_is(prior=lambda p: (p.rho - 1) / p.phi),
        ),
        mistake(
            "likelihood not divided",
            "The likelihood's slope is divided by the sum of phi, because theta = phi / sum(phi).",
            center=_center_is(likelihood=lambda p: p.rows / (p.rows @ p.phi / p.phi.sum())[:, None] - 1),
        ),
        mistake(
            "sum of phi held fixed",
            "Each phi also enters the sum by which all are divided: that is the -1 in (row[k]/p - 1) / sum(phi).",
            center=_center_is(likelihood=lambda p: p.rows / (p.rows @ p.phi)[:, None]),
        ),
        mistake(
            "no noise",
            "Without noise phi climbs to the likeliest point and stays there: that is an optimiser, not a sampler.",
            lambda p: np.abs(_center(p)),
        ),
        mistake("shared noise", "W holds a normal number for each coordinate, not one for all.", shared=True),
        mistake(
            "cut at 0",
            "A step below 0 is reflected, |phi|. If you cut it there, phi sticks to the wall, and from 1e-9 the slope "
            "(rho - 1)/phi throws it far away.",
            draw=lambda p, rng: np.maximum(_unreflected(p, rng), 1e-9),
        ),
        mistake("no reflection", "A Gamma variable is never negative.", draw=_unreflected),
    ],
)  # fmt: skip
