"""Homework 4, what training costs by the slides' rules: amplification, and advanced composition and when it loses."""

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
)
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown

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
                text = f"For {arguments(probe)} you answer {shown(found)}; right is {shown(right)}.{waste}"
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
    see="lecture 4, Trick 3: perhaps you were not even there",
    probes=_amplification_probes,
    judge=costs_of(amplify_by_sampling),
    answer=COST,
    mistakes=(
        Mistake(
            "q times epsilon", _amplified(lambda epsilon, q: q * epsilon),
            "q epsilon is the approximation for a small epsilon. For a large one it promises too much.",
        ),
        Mistake(
            "minus one forgotten", _amplified(lambda epsilon, q: math.log(1 + q * math.exp(epsilon))),
            "With q -> 1 nothing is sampled away and epsilon must come out again: ln(1 + q (e^eps - 1)).",
        ),
        Mistake(
            "logarithm forgotten", _amplified(lambda epsilon, q: 1 + q * math.expm1(epsilon)),
            "1 + q (e^eps - 1) bounds the ratio. Epsilon is its logarithm.",
        ),
        Mistake(
            "delta not amplified",
            lambda epsilon, delta, q: (amplify_by_sampling(epsilon, delta, q).epsilon, delta),
            "Whoever is not in the sample cannot be leaked: delta shrinks to q delta, too. (Your promise is true, but "
            "wasteful.)",
        ),
        Mistake(
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
    see="lecture 4, Problem 2: too many steps",
    probes=_composition_probes,
    judge=costs_of(best_composition),
    answer=COST,
    mistakes=(
        Mistake(
            "always advanced", _advanced,
            "Advanced composition is not always better: at epsilon = 1 and ten steps it says 32, and adding up says "
            "10. Both are true, so take the smaller one.",
        ),
        Mistake(
            "always basic", _basic,
            "You only add up. That is true, but for many steps with a small epsilon the advanced rule promises far "
            "less.",
        ),
        Mistake(
            "second term forgotten", _smaller(lambda e, k, slack: e * math.sqrt(2 * k * math.log(1 / slack))),
            "The term k eps (e^eps - 1) is missing. It is small for a small epsilon, but it is not nothing.",
        ),
        Mistake(
            "2 forgotten",
            _smaller(lambda e, k, slack: e * math.sqrt(k * math.log(1 / slack)) + k * e * math.expm1(e)),
            "Under the root it is 2 k ln(1/delta').",
        ),
        Mistake(
            "slack not charged", _slack_free,
            "The advanced rule buys its smaller epsilon with delta': the total is k delta + delta'.",
        ),
    ),
)  # fmt: skip


TASKS: tuple[Task, ...] = (amplified_budget, composed_budget)
