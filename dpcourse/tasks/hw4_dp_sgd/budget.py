"""Homework 4, what training costs by the slides' rules: amplification, and advanced composition and when it loses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dpcourse.accounting import Cost, advanced_composition, amplify_by_sampling, basic_composition, best_composition
from dpcourse.tasks.declare import value_task
from dpcourse.tasks.judges.costs import COST, meaning_of_cost
from dpcourse.tasks.mistake import Variation, mistake
from dpcourse.tasks.probes import each, edges, log_uniform, uniform, whole


def _pair(spent: Cost) -> tuple[float, float]:
    return spent.epsilon, spent.delta


def _ratio(p: Any) -> float:
    """1 + q (e^eps - 1), by which an output may be likelier."""
    return 1 + p.q * math.expm1(p.epsilon)


amplified_budget = value_task(
    "amplified_budget",
    see="lecture 4, Trick 3: perhaps you were not even there",
    # Small and large epsilons, small and large lots: nowhere is q epsilon a good approximation by luck.
    probes=edges(
        each(
            3, epsilon=uniform((0.4, 0.9), (1.7, 2.4), (3, 5)), delta=log_uniform(-7, -5),
            q=uniform((0.04, 0.1), (0.6, 0.8), (0.001, 0.01)),
        ),
        {"delta": 0.0},
    ),
    right=lambda p: _pair(amplify_by_sampling(p.epsilon, p.delta, p.q)),
    form=COST,
    note=meaning_of_cost,
    mistakes=[
        mistake(
            "q times epsilon",
            "q epsilon is the approximation for a small epsilon. For a large one it promises too much.",
            epsilon=lambda p: p.q * p.epsilon,
        ),
        mistake(
            "minus one forgotten",
            "With q -> 1 nothing is sampled away and epsilon must come out again: ln(1 + q (e^eps - 1)).",
            epsilon=lambda p: math.log(1 + p.q * math.exp(p.epsilon)),
        ),
        mistake(
            "logarithm forgotten",
            "1 + q (e^eps - 1) bounds the ratio. Epsilon is its logarithm.",
            epsilon=_ratio,
        ),
        mistake(
            "logarithm left out",
            "q (e^eps - 1) is how far the ratio may exceed 1. Epsilon is ln(1 + q (e^eps - 1)), which is smaller.",
            epsilon=lambda p: _ratio(p) - 1,
        ),
        mistake(
            "base ten",
            "That is the logarithm to base 10; epsilon uses the natural logarithm.",
            epsilon=lambda p: math.log10(_ratio(p)),
        ),
        mistake(
            "coin upside down",
            "q is the probability to be in the lot; you use it as that to be left out.",
            epsilon=lambda p: math.log(p.q + (1 - p.q) * math.exp(p.epsilon)),
        ),
        mistake(
            "delta not amplified",
            "Whoever is not in the sample cannot be leaked: delta shrinks to q delta, too. (Your promise is true, but "
            "wasteful.)",
            delta=lambda p: p.delta,
        ),
        mistake(
            "not amplified",
            "That is the cost without sampling: true, but it wastes what the coins hide.",
            epsilon=lambda p: p.epsilon, delta=lambda p: p.delta,
        ),
    ],
)  # fmt: skip


def _advanced(p: Any) -> tuple[float, float]:
    return _pair(advanced_composition(p.epsilon, p.delta, p.k, p.slack))


def _basic(p: Any) -> tuple[float, float]:
    return _pair(basic_composition([(p.epsilon, p.delta)] * p.k))


def _best(p: Any) -> tuple[float, float]:
    return _pair(best_composition(p.epsilon, p.delta, p.k, p.slack))


def _second(p: Any) -> float:
    """The second term of advanced composition."""
    return p.k * p.epsilon * math.expm1(p.epsilon)


def _by_another_rule(name: str, message: str, advanced: Callable[[Any], float]) -> Variation:
    """The smaller of basic and a wrong advanced composition."""

    def cost(p: Any) -> tuple[float, float]:
        wrong = advanced(p)
        return (wrong, p.k * p.delta + p.slack) if wrong < p.k * p.epsilon else _basic(p)

    return mistake(name, message, cost)


composed_budget = value_task(
    "composed_budget",
    see="lecture 4, Problem 2: too many steps",
    # Twice advanced composition wins, with k delta above the slack, and below; then it loses, also for a single step.
    probes=edges(
        each(
            5, epsilon=uniform((0.01, 0.03), (0.05, 0.1), (1.1, 1.4), (0.3, 0.5), (0.3, 0.8)),
            delta=log_uniform((-8.3, -8), (-9.5, -9), (-9, -8), (-9, -8), (-9, -8)),
            k=whole((2_000, 5_999), (150, 299), (8, 14), (3, 5), (1, 1)), slack=log_uniform(-6, -5.1),
        ),
        {"delta": 0.0},
    ),
    right=_best,
    form=COST,
    note=meaning_of_cost,
    mistakes=[
        mistake(
            "always advanced",
            "Advanced composition is not always better: at epsilon = 1 and ten steps it says 32, and adding up says "
            "10. Both are true, so take the smaller one.",
            _advanced,
        ),
        mistake(
            "always basic",
            "You only add up. That is true, but for many steps with a small epsilon the advanced rule promises far "
            "less.",
            _basic,
        ),
        mistake(
            "the larger one",
            "You take the rule with the larger epsilon. Both promises are true: take the smaller one.",
            lambda p: max(_basic(p), _advanced(p)),
        ),
        _by_another_rule(
            "second term forgotten",
            "The term k eps (e^eps - 1) is missing. It is small for a small epsilon, but it is not nothing.",
            lambda p: p.epsilon * math.sqrt(2 * p.k * math.log(1 / p.slack)),
        ),
        _by_another_rule(
            "2 forgotten",
            "Under the root it is 2 k ln(1/delta').",
            lambda p: p.epsilon * math.sqrt(p.k * math.log(1 / p.slack)) + _second(p),
        ),
        _by_another_rule(
            "base ten",
            "ln is the natural logarithm; yours is to base 10.",
            lambda p: p.epsilon * math.sqrt(2 * p.k * math.log10(1 / p.slack)) + _second(p),
        ),
        _by_another_rule(
            "delta for slack",
            "Under the root stands delta', the slack that you choose, not the delta of a step.",
            lambda p: p.epsilon * math.sqrt(2 * p.k * math.log(1 / p.delta)) + _second(p),
        ),
        mistake(
            "slack not charged",
            "The advanced rule buys its smaller epsilon with delta': the total is k delta + delta'.",
            delta=lambda p: p.k * p.delta,
        ),
        mistake(
            "slack always charged",
            "Adding up costs no slack: where the basic rule wins, the total is k delta.",
            delta=lambda p: p.k * p.delta + p.slack,
        ),
        mistake(
            "delta of one step",
            "Each of the k steps spends its delta: the total is k delta, and delta' where the advanced rule is used.",
            delta=lambda p: _best(p)[1] - (p.k - 1) * p.delta,
        ),
    ],
)  # fmt: skip
