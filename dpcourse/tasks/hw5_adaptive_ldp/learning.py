"""Homework 5, second half: what a subset is good for, one step of the sampler, and the whole survey."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpcourse.adaptive_ldp import best_subset as best_of
from dpcourse.adaptive_ldp import utilities
from dpcourse.adaptive_ldp.posterior import langevin_step
from dpcourse.audit import ks_fit
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.hw5_adaptive_ldp.survey import adaptive_survey
from dpcourse.tasks.hw5_adaptive_ldp.utilities import six_utilities
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.noise import look_at_noise
from dpcourse.tasks.judges.noise_law import NORMAL, Noise
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown

STEPS = 3_000  # of the sampler, from each point


def _subset_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Shares in no order, whose best size is none, a few, and all but a few (never a tie, never the largest alone)."""
    probes: list[Probe] = []
    for fits in (lambda s, k: s == 0, lambda s, k: 2 <= s <= k - 3, lambda s, k: 2 <= s <= 4, lambda s, k: s == 0):
        while True:
            k, epsilon = int(rng.integers(6, 9)), float(rng.uniform(0.8, 3.5))
            theta, first = rng.dirichlet(np.full(k, rng.choice([0.5, 1.0, 20.0]))), 0.8 * epsilon
            values = np.sort(utilities(theta, epsilon, first, "honest"))
            subset = best_of(theta, epsilon, first)
            scattered = not subset or set(subset) != set(range(len(subset)))
            if fits(len(subset), k) and scattered and values[-1] - values[-2] > 1e-3:
                break
        probes.append({"theta": theta, "epsilon": epsilon, "first": first})
    return probes


def _top(theta: np.ndarray, size: int) -> np.ndarray:
    return np.argsort(-np.asarray(theta), kind="stable")[:size]


def _best_size(values: np.ndarray, sizes: Sequence[int]) -> int:
    return int(max(sizes, key=lambda size: values[size]))


def _honest(theta: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return utilities(theta, epsilon, first, "honest")


def _even_field(theta: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    flat = np.full(len(theta), 1 / len(theta))
    return _top(theta, _best_size(_honest(flat, epsilon, first), range(len(theta))))


def _reaching(theta: np.ndarray, epsilon: float, first: float) -> np.ndarray:
    return _top(theta, int(np.searchsorted(np.cumsum(-np.sort(-theta)), 0.9 - 1e-12)) + 1)


def subsets_of(reference: Callable[..., Any]) -> Callable[[Interview], None]:
    """The student's categories must be those of ``reference``, in any order."""

    def judge(talk: Interview) -> None:
        answers = [np.sort(talk.value(probe)) for probe in talk.probes]
        for probe, found in zip(talk.probes, answers, strict=True):
            right = np.sort(np.asarray(reference(**probe), dtype=float))
            if not np.array_equal(found, right):
                known = (m.name for m in talk.task.mistakes if _same_sets(m.wrong, talk.probes, answers))
                talk.fail(
                    f"For {arguments(probe)} you choose the categories {_listed(found)}; {_listed(right)} is right.",
                    name=next(known, ""),
                )
        talk.praise = f"All {len(talk.probes)} subsets are the best ones."

    return judge


def _same_sets(wrong: Callable[..., Any], probes: Sequence[Probe], answers: Sequence[np.ndarray]) -> bool:
    return all(np.array_equal(np.sort(np.asarray(wrong(**p), float)), a) for p, a in zip(probes, answers, strict=True))


def _listed(categories: np.ndarray) -> str:
    return shown(categories) if categories.size else "[] (nobody)"


best_subset = Task(
    name="best_subset",
    see="lecture 5, Which subset?",
    probes=_subset_probes,
    judge=subsets_of(lambda theta, epsilon, first: best_of(theta, epsilon, first, "honest")),
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "SRR not among the candidates",
            lambda theta, epsilon, first: _top(
                theta, _best_size(_honest(theta, epsilon, first), range(1, len(theta)))
            ),
            "You never choose the empty subset. |S| = 0 is plain SRR, and for an even field it is the best. (The "
            "authors' published code starts at 1, too.)",
        ),
        Mistake(
            "not sorted",
            lambda theta, epsilon, first: np.arange(_best_size(_honest(theta, epsilon, first), range(len(theta)))),
            "The size is right, but S must hold the most frequent categories, not the first labels.",
        ),
        Mistake(
            "rarest first",
            lambda theta, epsilon, first: _top(
                -theta, _best_size(_honest(theta, epsilon, first), range(len(theta)))
            ),
            "You sort upwards: S holds the rarest categories. What S favours should be what is frequent.",
        ),
        Mistake(
            "theta not used", _even_field,
            "You choose the size as if all categories were equally frequent (an average over x that is not weighted by "
            "theta).",
        ),
        Mistake(
            "nine tenths", _reaching,
            "That is the semi-adaptive rule, the smallest S that holds 90%. Here the utility decides.",
        ),
    ),
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


def _center(phi: np.ndarray, rows: np.ndarray, n: int, rho: float, gamma: float) -> np.ndarray:
    return langevin_step(phi, rows, n, rho, gamma, np.zeros(len(phi)), plain=True)


def _step_law(**probe: Any) -> Noise:
    return Noise(_center(**probe), math.sqrt(probe["gamma"]), NORMAL)


def _judge_step(talk: Interview) -> None:
    look_at_noise(talk, _step_law, 0.75 * LEVEL, draws=STEPS, hides=False)
    _look_near_zero(talk, LEVEL / 4)
    talk.praise = f"Your steps from {len(talk.probes) + 1} points have the right center, spread and shape, near 0, too."


def _look_near_zero(talk: Interview, level: float) -> None:
    """Under a nearly flat prior half of the steps would lead below 0: a right one is |N(center, gamma)| in each
    coordinate, so that its distribution function makes all of them uniform. (Drawing again until it is positive gives
    nearly the same law there, and is not told apart.)"""
    probe = {**talk.probes[0], "phi": talk.rng.uniform(0.05, 0.15, len(talk.probes[0]["phi"])), "rho": 1.1}
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
    center, sigma = _center(**probe), math.sqrt(probe["gamma"])
    uniform = ndtr((answers - center) / sigma) - ndtr((-answers - center) / sigma)
    talk.require(
        ks_fit(uniform.ravel(), lambda u: np.clip(u, 0, 1), level=level),
        f"{about} A step below 0 is reflected, by taking the absolute value: your steps are not spread like those.",
        name="not reflected",
    )


def _stepping(
    *, noise: Callable[[float], float] = math.sqrt, step: float = 0.5, scaled: bool = True,
    prior: Callable[..., Any] = lambda rho, phi: (rho - 1) / phi - 1, reflected: bool = True,
) -> Callable[..., np.ndarray]:  # fmt: skip
    """A step with one thing wrong: the noise's width, the factor of the gradient, n/m, the prior, the reflection."""

    def wrong(
        phi: np.ndarray, rows: np.ndarray, n: int, rho: float, gamma: float, rng: np.random.Generator
    ) -> np.ndarray:
        total = phi.sum()
        likelihood = ((rows / (rows @ (phi / total))[:, None]) - 1).sum(axis=0) / total
        slope = prior(rho, phi) + (n / len(rows) if scaled else 1.0) * likelihood
        moved = phi + step * gamma * slope + noise(gamma) * rng.normal(size=len(phi))
        return np.asarray(np.abs(moved) if reflected else moved)

    return wrong


sgld_step = Task(
    name="sgld_step",
    see="lecture 5, Posterior sampling",
    probes=_step_probes,
    judge=_judge_step,
    answer=Answer((None,)),
    mistakes=(
        Mistake(
            "gamma W", _stepping(noise=lambda gamma: gamma),
            "You add gamma W, as the slide does. The noise must be sqrt(gamma) W: with gamma W the sampler nearly "
            "stops exploring, and its intervals are too narrow.",
        ),
        Mistake(
            "half forgotten", _stepping(step=1.0),
            "The gradient is multiplied by gamma/2, not by gamma. Only then noise of variance gamma makes the "
            "posterior.",
        ),
        Mistake(
            "n/m forgotten", _stepping(scaled=False),
            "A minibatch of m rows stands for all n responses, so its sum counts n/m times. Without it the prior is "
            "far too strong.",
        ),
        Mistake(
            "rho for rho - 1", _stepping(prior=lambda rho, phi: rho / phi - 1),
            "The Gamma(rho, 1) density is phi^(rho - 1) e^-phi: its logarithm has the slope (rho - 1)/phi - 1.",
        ),
        Mistake(
            "prior forgotten", _stepping(prior=lambda rho, phi: 0.0),
            "The gradient of the prior, (rho - 1)/phi - 1, is missing: you sample from the likelihood alone.",
        ),
        Mistake(
            "no noise", lambda phi, rows, n, rho, gamma: _center(phi, rows, n, rho, gamma),
            "Without noise phi climbs to the likeliest point and stays there: that is an optimiser, not a sampler.",
        ),
        Mistake(
            "cut at 0",
            lambda phi, rows, n, rho, gamma, rng: np.maximum(
                _stepping(reflected=False)(phi, rows, n, rho, gamma, rng), 1e-9
            ),
            "A step below 0 is reflected, |phi|. If you cut it there, phi sticks to the wall, and from 1e-9 the slope "
            "(rho - 1)/phi throws it far away.",
        ),
        Mistake(
            "no reflection", _stepping(reflected=False),
            "A Gamma variable is never negative.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (six_utilities, best_subset, sgld_step, adaptive_survey)
