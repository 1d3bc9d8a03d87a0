"""Homework 4, what training costs by the exact accountant: how many steps fit into a budget."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse.accounting import dp_sgd_epsilon, renyi_sampled_gaussian
from dpcourse.tasks.declare import judged_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments

MOST = 100_000  # steps: far beyond any budget here
_cost = lru_cache(maxsize=256)(dp_sgd_epsilon)  # the judge asks what the probes were made from


def _steps_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Dozens of steps, a few, and thousands.

    The budget lies half-way between the costs of T and T + 1 steps, so that no rounding decides.
    """
    probes: list[Probe] = []
    for steps, sigma, q in (
        (int(rng.integers(24, 60)), rng.uniform(0.75, 0.95), rng.uniform(0.05, 0.15)),
        (int(rng.integers(5, 16)), rng.uniform(16, 24), 1.0),
        (int(rng.integers(1_500, 3_000)), rng.uniform(250, 400), 1.0),
    ):
        probe = {"delta": float(10 ** rng.uniform(-6, -5)), "sigma": float(sigma), "q": float(q)}
        between = (_cost(**probe, steps=steps) + _cost(**probe, steps=steps + 1)) / 2
        probes.append({"epsilon": float(between), **probe})
    return probes


def _too_small(probe: Probe) -> Probe:
    """A budget into which not even one step fits."""
    return {**probe, "epsilon": _cost(probe["sigma"], probe["q"], 1, probe["delta"]) / 2}


def _judge_steps(talk: Interview) -> None:
    """More steps than fit are a broken promise; fewer are private, and half of the points in proportion."""
    shares, words = [], []
    probes = [*talk.probes, _too_small(talk.probes[0])]
    answers = [round(talk.value(probe), 9) for probe in probes]
    for probe, steps in zip(probes, answers, strict=True):
        if steps != int(steps) or steps < 0:
            talk.fail(f"For {arguments(probe)} you answer {steps:g}; a number of steps is a whole number, not below 0.")
        within = {key: probe[key] for key in ("sigma", "q", "delta")}
        spent = _cost(**within, steps=min(int(steps), MOST)) if steps else 0.0
        if spent > probe["epsilon"]:
            talk.fail(
                f"For {arguments(probe)} you allow {_counted(steps)}. That costs epsilon = {spent:.6g}: overspent.",
                name=_same_steps(talk, probes, answers),
            )
        more = _cost(**within, steps=int(steps) + 1)
        if more <= probe["epsilon"]:
            best = _largest(probe, int(steps) + 1)
            shares.append(0.5 * steps / best)
            words.append(
                f"For {arguments(probe)} you allow {_counted(steps)}; {best:,} fit. Private, but wasteful: the rest of "
                f"the budget buys nothing."
            )
        else:
            shares.append(1.0)
    talk.share = float(np.mean(shares[: len(talk.probes)]))  # 0 steps of a budget for none earn nothing
    talk.praise = "Your numbers of steps use the budget to the last one."
    if words:
        name = _same_steps(talk, probes, answers)
        talk.noticed, talk.wasteful = ((name,) if name else ()), True
        known = {one.name: one.message for one in talk.task.mistakes}
        talk.praise = f"{words[0]} {known.get(name, '')}".strip()


def _counted(steps: float) -> str:
    return "1 step" if steps == 1 else f"{steps:,.0f} steps"


def _same_steps(talk: Interview, probes: Sequence[Probe], answers: Sequence[float]) -> str:
    for known in talk.task.mistakes:
        if all(known.wrong(**probe) == steps for probe, steps in zip(probes, answers, strict=True)):
            return known.name
    return ""


def _largest(probe: Probe, fits: int) -> int:
    """The largest number of steps, given one that fits."""
    within = {key: probe[key] for key in ("sigma", "q", "delta")}
    high = fits
    while _cost(**within, steps=high) <= probe["epsilon"]:
        fits, high = high, 2 * high
    while high - fits > 1:
        middle = (fits + high) // 2
        fits, high = (middle, high) if _cost(**within, steps=middle) <= probe["epsilon"] else (fits, middle)
    return fits


def _fits(p: Any, **other: float) -> int:
    """How many steps fit, with other settings than those of the question."""
    probe = {**vars(p), **other}
    one = _cost(probe["sigma"], probe["q"], 1, probe["delta"])
    return 0 if one > probe["epsilon"] else _largest(probe, 1)


def _by_renyi(p: Any) -> int:
    one = renyi_sampled_gaussian(p.sigma, p.q)
    return bisect_right(range(1, MOST), p.epsilon, key=lambda steps: one.compose(steps).epsilon(p.delta))


def _times_one(p: Any) -> float:
    """The budget over the cost of one step."""
    return p.epsilon / _cost(p.sigma, p.q, 1, p.delta)


steps_in_budget = judged_task(
    "steps_in_budget",
    see="lecture 4, The accountant",
    probes=_steps_probes,
    judge=_judge_steps,
    mistakes=[
        mistake(
            "one too many",
            "That is the first number of steps that no longer fits. The last one that does is one less.",
            lambda p: _fits(p) + 1,
        ),
        mistake(
            "one too few",
            "One step more still fits: a cost of exactly epsilon, or just below it, is within the budget.",
            lambda p: max(0, _fits(p) - 1),
        ),
        mistake("at least one", "If not even one step fits, the answer is 0.", lambda p: max(1, _fits(p))),
        mistake(
            "epsilons added up",
            "You divide the budget by the cost of one step. That is basic composition; the exact cost of many steps "
            "grows much more slowly.",
            lambda p: int(_times_one(p)),
        ),
        mistake(
            "coins forgotten",
            "You account as if everybody took part in every step (q = 1). The coins of the lots hide people, too.",
            lambda p: _fits(p, q=1.0),
        ),
        mistake(
            "square root taken for exact",
            "Costs grow about like the root of the number of steps, but not exactly: compute the cost, and search.",
            lambda p: int(_times_one(p) ** 2),
        ),
        mistake(
            "by Renyi",
            "It looks like the cost by Rényi divergences. That is a valid bound, but larger than the exact cost.",
            _by_renyi,
        ),
    ],
)  # fmt: skip
