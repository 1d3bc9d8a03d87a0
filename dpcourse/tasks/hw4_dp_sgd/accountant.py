"""Homework 4, what training costs by the exact accountant: how many steps fit into a budget."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpcourse.accounting import dp_sgd_epsilon
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments

_cost = lru_cache(maxsize=256)(dp_sgd_epsilon)  # the judge asks what the probes were made from


def _steps_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The budget lies half-way between the costs of T and T + 1 steps, so that no rounding decides."""
    probes: list[Probe] = []
    for steps, sigma, q in (
        (int(rng.integers(24, 60)), rng.uniform(1.2, 1.8), rng.uniform(0.05, 0.15)),
        (int(rng.integers(5, 16)), rng.uniform(4, 6), 1.0),
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
        spent = _cost(**within, steps=min(int(steps), 100_000)) if steps else 0.0  # far beyond any budget here
        if spent > probe["epsilon"]:
            talk.fail(
                f"For {arguments(probe)} you allow {steps:g} steps. They cost epsilon = {spent:.4g}: overspent.",
                name=_same_steps(talk, probes, answers),
            )
        more = _cost(**within, steps=int(steps) + 1)
        if more <= probe["epsilon"]:
            best = _largest(probe, int(steps) + 1)
            shares.append(0.5 * steps / best)
            words.append(
                f"For {arguments(probe)} you allow {steps:g} steps; {best} fit. Private, but wasteful: the rest of the "
                f"budget buys nothing."
            )
        else:
            shares.append(1.0)
    talk.share = float(np.mean(shares[: len(talk.probes)]))  # 0 steps of a budget for none earn nothing
    talk.praise = "Your numbers of steps use the budget to the last one."
    if words:
        name = _same_steps(talk, probes, answers)
        talk.noticed, talk.wasteful = ((name,) if name else ()), True
        known = {m.name: m.message for m in talk.task.mistakes}
        talk.praise = " ".join([words[0], known.get(name, "")]).strip()


def _same_steps(talk: Interview, probes: Sequence[Probe], answers: Sequence[float]) -> str:
    for known in talk.task.mistakes:
        if all(known.wrong(**probe) == steps for probe, steps in zip(probes, answers, strict=True)):
            return known.name
    return ""


def _largest(probe: Probe, fits: int) -> int:
    """The largest number of steps, given one that fits (a few evaluations, only for the words)."""
    within = {key: probe[key] for key in ("sigma", "q", "delta")}
    high = fits
    while _cost(**within, steps=high) <= probe["epsilon"]:
        fits, high = high, 2 * high
    while high - fits > 1:
        middle = (fits + high) // 2
        fits, high = (middle, high) if _cost(**within, steps=middle) <= probe["epsilon"] else (fits, middle)
    return fits


def _added_up(epsilon: float, delta: float, sigma: float, q: float) -> int:
    return int(epsilon / dp_sgd_epsilon(sigma, q, 1, delta))


def _without_coins(epsilon: float, delta: float, sigma: float, q: float) -> int:
    if dp_sgd_epsilon(sigma, 1.0, 1, delta) > epsilon:
        return 0
    return _largest({"epsilon": epsilon, "delta": delta, "sigma": sigma, "q": 1.0}, 1)


def _exact(epsilon: float, delta: float, sigma: float, q: float) -> int:
    if _cost(sigma, q, 1, delta) > epsilon:
        return 0
    return _largest({"epsilon": epsilon, "delta": delta, "sigma": sigma, "q": q}, 1)


def _root(epsilon: float, delta: float, sigma: float, q: float) -> int:
    return int((epsilon / dp_sgd_epsilon(sigma, q, 1, delta)) ** 2)


steps_in_budget = Task(
    name="steps_in_budget",
    see="lecture 4, The accountant",
    probes=_steps_probes,
    judge=_judge_steps,
    mistakes=(
        Mistake(
            "one too many", lambda epsilon, delta, sigma, q: _exact(epsilon, delta, sigma, q) + 1,
            "That is the first number of steps that no longer fits. The last one that does is one less.",
        ),
        Mistake(
            "at least one", lambda epsilon, delta, sigma, q: max(1, _exact(epsilon, delta, sigma, q)),
            "If not even one step fits, the answer is 0.",
        ),
        Mistake(
            "epsilons added up", _added_up,
            "You divide the budget by the cost of one step. That is basic composition; the exact cost of many steps "
            "grows much more slowly.",
        ),
        Mistake(
            "coins forgotten", _without_coins,
            "You account as if everybody took part in every step (q = 1). The coins of the lots hide people, too.",
        ),
        Mistake(
            "square root taken for exact", _root,
            "Costs grow about like the root of the number of steps, but not exactly: compute the cost, and search.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (steps_in_budget,)
