"""Homework 4, what training costs: amplification, advanced composition and when it loses, steps within a budget."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from dpcourse.accounting import (
    Spent,
    advanced_composition,
    amplify_by_sampling,
    basic_composition,
    best_composition,
    dp_sgd_epsilon,
)
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.diagnosis import same_values
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import Interview, Misconception, Task
from dpcourse.tasks.values import described, shown

COST = Answers({"epsilon": Answer(), "delta": Answer()})
Cost = tuple[float, float]


def costs_of(reference: Callable[..., Spent]) -> Callable[[Interview], None]:
    """The student's (epsilon, delta) must be the reference's. One that is nowhere smaller holds, but wastes budget."""

    def judge(talk: Interview) -> None:
        asked = [(probe, talk.value(probe), reference(**probe)) for probe in talk.probes]
        pairs = [(probe, found, {"epsilon": spent.epsilon, "delta": spent.delta}) for probe, found, spent in asked]
        holds = all(found[part] >= right[part] * (1 - 1e-9) for _, found, right in pairs for part in right)
        waste = " What you promise is true, but wasteful: a smaller cost is true as well." if holds else ""
        for probe, found, right in pairs:
            if not same_values(found, right):
                text = f"For {described(probe)} you answer {shown(found)}; right is {shown(right)}.{waste}"
                talk.fail(text, wasteful=holds)
        talk.praise = f"All {len(pairs)} probes are answered right."

    return judge


def _amplification_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Small and large epsilons, small and large lots: nowhere is q epsilon a good approximation by luck."""
    return [
        {"epsilon": float(epsilon), "delta": float(10 ** rng.uniform(-7, -5)), "q": float(q)}
        for epsilon, q in (
            (rng.uniform(0.4, 0.9), rng.uniform(0.02, 0.1)),
            (rng.uniform(1.2, 2), rng.uniform(0.2, 0.4)),
            (rng.uniform(3, 5), rng.uniform(0.001, 0.01)),
        )
    ]


def _amplified(epsilon_of: Callable[[float, float], float]) -> Callable[..., Cost]:
    return lambda epsilon, delta, q: (epsilon_of(epsilon, q), q * delta)


amplified_budget = Task(
    name="amplified_budget",
    points=1,
    see="lecture 4, Trick 3: perhaps you were not even there",
    probes=_amplification_probes,
    judge=costs_of(amplify_by_sampling),
    answer=COST,
    misconceptions=(
        Misconception(
            "q times epsilon", _amplified(lambda epsilon, q: q * epsilon),
            "q epsilon is the approximation for a small epsilon. For a large one it promises too much.",
        ),
        Misconception(
            "minus one forgotten", _amplified(lambda epsilon, q: math.log(1 + q * math.exp(epsilon))),
            "With q -> 1 nothing is sampled away and epsilon must come out again: ln(1 + q (e^eps - 1)).",
        ),
        Misconception(
            "logarithm forgotten", _amplified(lambda epsilon, q: 1 + q * math.expm1(epsilon)),
            "1 + q (e^eps - 1) bounds the ratio. Epsilon is its logarithm.",
        ),
        Misconception(
            "delta not amplified",
            lambda epsilon, delta, q: (amplify_by_sampling(epsilon, delta, q).epsilon, delta),
            "Whoever is not in the sample cannot be leaked: delta shrinks to q delta, too. (Your promise is true, but "
            "wasteful.)",
        ),
        Misconception(
            "not amplified", lambda epsilon, delta, q: (epsilon, delta),
            "That is the cost without sampling: true, but it wastes what the coins hide.",
        ),
    ),
)  # fmt: skip


def _composition_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Twice where advanced composition wins, twice where it loses."""
    cases = ((0.01, 0.03, 2_000, 6_000), (0.05, 0.1, 150, 300), (0.8, 1.2, 8, 15), (0.3, 0.5, 3, 6))
    return [
        {
            "epsilon": float(rng.uniform(low, high)), "delta": float(10 ** rng.uniform(-9, -8)),
            "k": int(rng.integers(few, many)), "slack": float(10 ** rng.uniform(-6, -5)),
        }
        for low, high, few, many in cases
    ]  # fmt: skip


def _smaller(advanced: Callable[[float, int, float], float]) -> Callable[..., Cost]:
    """The smaller of basic and a wrong advanced composition."""

    def cost(epsilon: float, delta: float, k: int, slack: float) -> Cost:
        wrong = advanced(epsilon, k, slack)
        return (wrong, k * delta + slack) if wrong < k * epsilon else (k * epsilon, k * delta)

    return cost


def _basic(epsilon: float, delta: float, k: int, slack: float) -> Cost:
    spent = basic_composition([(epsilon, delta)] * k)
    return spent.epsilon, spent.delta


def _advanced(epsilon: float, delta: float, k: int, slack: float) -> Cost:
    spent = advanced_composition(epsilon, delta, k, slack)
    return spent.epsilon, spent.delta


def _slack_free(epsilon: float, delta: float, k: int, slack: float) -> Cost:
    return best_composition(epsilon, delta, k, slack).epsilon, k * delta


composed_budget = Task(
    name="composed_budget",
    points=2,
    see="lecture 4, Problem 2: too many steps",
    probes=_composition_probes,
    judge=costs_of(best_composition),
    answer=COST,
    misconceptions=(
        Misconception(
            "always advanced", _advanced,
            "Advanced composition is not always better: at epsilon = 1 and ten steps it says 32, and adding up says "
            "10. Both are true, so take the smaller one.",
        ),
        Misconception(
            "always basic", _basic,
            "You only add up. That is true, but for many steps with a small epsilon the advanced rule promises far "
            "less.",
        ),
        Misconception(
            "second term forgotten", _smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack))),
            "The term k eps (e^eps - 1) is missing. It is small for a small epsilon, but it is not nothing.",
        ),
        Misconception(
            "2 forgotten",
            _smaller(lambda e, k, slack: e * math.sqrt(k * math.log(1 / slack)) + k * e * math.expm1(e)),
            "Under the root it is 2 k ln(1/delta').",
        ),
        Misconception(
            "slack not charged", _slack_free,
            "The advanced rule buys its smaller epsilon with delta': the total is k delta + delta'.",
        ),
    ),
)  # fmt: skip


def _steps_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """The budget lies half-way between the costs of T and T + 1 steps, so that no rounding decides."""
    probes: list[Probe] = []
    for steps, sigma, q in (
        (int(rng.integers(24, 60)), rng.uniform(1.2, 1.8), rng.uniform(0.05, 0.15)),
        (int(rng.integers(5, 16)), rng.uniform(4, 6), 1.0),
    ):
        probe = {"delta": float(10 ** rng.uniform(-6, -5)), "sigma": float(sigma), "q": float(q)}
        between = (dp_sgd_epsilon(**probe, steps=steps) + dp_sgd_epsilon(**probe, steps=steps + 1)) / 2
        probes.append({"epsilon": float(between), **probe})
    return probes


def _judge_steps(talk: Interview) -> None:
    """More steps than fit are a broken promise; fewer are private, and half of the points in proportion."""
    shares, words = [], []
    answers = [round(talk.value(probe), 9) for probe in talk.probes]
    for probe, steps in zip(talk.probes, answers, strict=True):
        if steps != int(steps) or steps < 0:
            talk.fail(f"For {described(probe)} you answer {steps:g}; a number of steps is a whole number, not below 0.")
        within = {key: probe[key] for key in ("sigma", "q", "delta")}
        spent = dp_sgd_epsilon(**within, steps=int(steps)) if steps else 0.0
        if spent > probe["epsilon"]:
            talk.fail(
                f"For {described(probe)} you allow {steps:g} steps. They cost epsilon = {spent:.4g}: overspent.",
                name=_same_steps(talk, answers),
            )
        more = dp_sgd_epsilon(**within, steps=int(steps) + 1)
        if more <= probe["epsilon"]:
            best = _largest(probe, int(steps) + 1)
            shares.append(0.5 * steps / best)
            words.append(
                f"For {described(probe)} you allow {steps:g} steps; {best} fit. Private, but wasteful: the rest of the "
                f"budget buys nothing."
            )
        else:
            shares.append(1.0)
    talk.share = float(np.mean(shares))
    talk.praise = "Your numbers of steps use the budget to the last one."
    if words:
        talk.noticed, talk.wasteful = _same_steps(talk, answers), True
        known = {m.name: m.message for m in talk.task.misconceptions}
        talk.praise = " ".join([words[0], known.get(talk.noticed, "")]).strip()


def _same_steps(talk: Interview, answers: Sequence[float]) -> str:
    for known in talk.task.misconceptions:
        if all(known.wrong(**probe) == steps for probe, steps in zip(talk.probes, answers, strict=True)):
            return known.name
    return ""


def _largest(probe: Probe, fits: int) -> int:
    """The largest number of steps, given one that fits (a few evaluations, only for the words)."""
    within = {key: probe[key] for key in ("sigma", "q", "delta")}
    high = fits
    while dp_sgd_epsilon(**within, steps=high) <= probe["epsilon"]:
        fits, high = high, 2 * high
    while high - fits > 1:
        middle = (fits + high) // 2
        fits, high = (middle, high) if dp_sgd_epsilon(**within, steps=middle) <= probe["epsilon"] else (fits, middle)
    return fits


def _added_up(epsilon: float, delta: float, sigma: float, q: float) -> int:
    return int(epsilon / dp_sgd_epsilon(sigma, q, 1, delta))


def _without_coins(epsilon: float, delta: float, sigma: float, q: float) -> int:
    if dp_sgd_epsilon(sigma, 1.0, 1, delta) > epsilon:
        return 0
    return _largest({"epsilon": epsilon, "delta": delta, "sigma": sigma, "q": 1.0}, 1)


def _exact(epsilon: float, delta: float, sigma: float, q: float) -> int:
    return _largest({"epsilon": epsilon, "delta": delta, "sigma": sigma, "q": q}, 1)


def _root(epsilon: float, delta: float, sigma: float, q: float) -> int:
    return int((epsilon / dp_sgd_epsilon(sigma, q, 1, delta)) ** 2)


steps_in_budget = Task(
    name="steps_in_budget",
    points=2,
    see="lecture 4, The accountant",
    probes=_steps_probes,
    judge=_judge_steps,
    misconceptions=(
        Misconception(
            "one too many", lambda epsilon, delta, sigma, q: _exact(epsilon, delta, sigma, q) + 1,
            "That is the first number of steps that no longer fits. The last one that does is one less.",
        ),
        Misconception(
            "epsilons added up", _added_up,
            "You divide the budget by the cost of one step. That is basic composition; the exact cost of many steps "
            "grows much more slowly.",
        ),
        Misconception(
            "coins forgotten", _without_coins,
            "You account as if everybody took part in every step (q = 1). The coins of the lots hide people, too.",
        ),
        Misconception(
            "square root taken for exact", _root,
            "Costs grow about like the root of the number of steps, but not exactly: compute the cost, and search.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (amplified_budget, composed_budget, steps_in_budget)
