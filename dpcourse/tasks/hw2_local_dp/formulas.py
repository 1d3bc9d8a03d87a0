"""Homework 2, first part: from epsilon to a bent coin, and what one report betrays. All answers can be computed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import ATTEMPTS, RandomizedResponse
from dpcourse.mechanisms import theta as right_theta
from dpcourse.mechanisms.survey import epsilon_of
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown


def _from_odds(odds: float) -> float:
    return odds / (1 + odds)


def _theta_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A small and a large epsilon for each attempt, never 1."""
    small, large = float(rng.uniform(0.3, 0.8)), float(rng.uniform(2, 4))
    return [{"epsilon": epsilon, "attempt": attempt} for attempt in ATTEMPTS for epsilon in (small, large)]


def _judge_theta(talk: Interview) -> None:
    pairs = [(probe, talk.value(probe), right_theta(**probe)) for probe in talk.probes]
    for probe, found, right in pairs:
        if same_values(found, right):
            continue
        text = f"For {arguments(probe)} you answer {shown(found)}; right is {shown(right)}."
        wasteful = probe["attempt"] == "tight" and 0.5 < found < right
        if wasteful:
            text += (
                f" Your coin is private: its odds {found / (1 - found):.3g} stay below e^epsilon = "
                f"{math.exp(probe['epsilon']):.3g}. It is wasteful: it lies more often than the promise asks for."
            )
        elif 0 < found < 1 and found / (1 - found) > math.exp(probe["epsilon"]) * (1 + 1e-9):
            text += (
                f" Its odds {found / (1 - found):.3g} exceed e^epsilon = {math.exp(probe['epsilon']):.3g}: this coin "
                f"breaks the promise."
            )
        talk.fail(text, wasteful=wasteful)
    talk.praise = f"All {len(pairs)} probes are answered right."


def _theta_but(attempt_changed: str, wrong: Any) -> Any:
    """The right function with another value for one attempt."""
    return lambda epsilon, attempt: wrong(epsilon) if attempt == attempt_changed else right_theta(epsilon, attempt)


theta = Task(
    name="theta",
    see="lecture 2, sections 5 and 6 (First attempt; Can we do better?)",
    probes=_theta_probes,
    judge=_judge_theta,
    mistakes=(
        Mistake(
            "plus one forgotten", _theta_but("first", lambda epsilon: epsilon / (epsilon + 1)),
            "epsilon / (epsilon + 1) starts at 0, not at one half: for a small epsilon the coin would nearly always "
            "lie.",
        ),
        Mistake(
            "half forgotten", _theta_but("quadratic", lambda e: _from_odds(1 + e + e**2)),
            "The square comes with a half, 1 + eps + eps^2/2: without it the odds exceed e^epsilon for small epsilon.",
        ),
        Mistake(
            "upside down", _theta_but("tight", lambda epsilon: 1 / (1 + math.exp(epsilon))),
            "That is the probability of the lie: theta = 1/(1 + e^(-epsilon)), with a minus, must lie above one half.",
        ),
        Mistake(
            "probability of the lie", lambda epsilon, attempt: 1 - right_theta(epsilon, attempt),
            "That is the probability of the lie, 1 - theta. theta is that of the truth, above one half.",
        ),
        Mistake(
            "first attempt for all", lambda epsilon, attempt: right_theta(epsilon, "first"),
            "Only the first attempt has the odds 1 + epsilon; the others come closer to e^epsilon.",
        ),
        Mistake(
            "the odds", lambda epsilon, attempt: 1 / (1 / right_theta(epsilon, attempt) - 1),
            "Those are the odds theta/(1 - theta); the coin's probability is odds/(1 + odds).",
        ),
    ),
)  # fmt: skip


def _coin_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Coins on both sides of one half, and the fair one, which spends nothing."""
    bent = [{"theta": float(rng.uniform(*sides))} for sides in ((0.55, 0.7), (0.8, 0.97), (0.05, 0.4))]
    return [*bent, {"theta": 0.5}]


spent_epsilon = Task(
    name="spent_epsilon",
    see="lecture 2, section 6 (Can we do better?)",
    probes=_coin_probes,
    judge=values_of(lambda theta: epsilon_of(theta)),
    mistakes=(
        Mistake(
            "sign forgotten", lambda theta: math.log(theta / (1 - theta)),
            "A coin that mostly lies betrays as much as one that mostly tells the truth: a budget is never negative, "
            "because the pair (D, D') comes in both orders.",
        ),
        Mistake(
            "the odds", lambda theta: max(theta, 1 - theta) / min(theta, 1 - theta),
            "That is the largest ratio, e^epsilon; epsilon is its logarithm.",
        ),
        Mistake(
            "base ten", lambda theta: abs(math.log10(theta / (1 - theta))),
            "epsilon is the natural logarithm of the ratio, since the bound is e^epsilon.",
        ),
        Mistake(
            "base two", lambda theta: abs(math.log2(theta / (1 - theta))),
            "epsilon is the natural logarithm of the ratio, since the bound is e^epsilon; base 2 counts bits.",
        ),
        Mistake(
            "against a fair coin", lambda theta: abs(math.log(theta / 0.5)),
            "The two worlds are theta and 1 - theta: a report must be compared with what the other student would say, "
            "not with a fair coin.",
        ),
    ),
)  # fmt: skip


def _ratio_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Every pair of bits and every report."""
    return [
        {"bit": bit, "neighbour": neighbour, "report": report, "epsilon": float(rng.uniform(0.4, 2.5))}
        for bit in (0, 1)
        for neighbour in (0, 1)
        for report in (0, 1)
    ]


def _ratio(bit: int, neighbour: int, report: int, epsilon: float) -> float:
    return math.exp(RandomizedResponse(epsilon=epsilon).privacy_loss(report, bit, neighbour))


response_ratio = Task(
    name="response_ratio",
    see="lecture 2, section 5 (First attempt), the box on the ratio",
    probes=_ratio_probes,
    judge=values_of(_ratio),
    mistakes=(
        Mistake(
            "one if not flipped",
            lambda bit, neighbour, report, epsilon: math.exp(epsilon) if report == bit != neighbour else 1.0,
            "Where D is the one that flipped, the ratio is (1 - theta)/theta, below 1, and not 1. (The slide slips "
            "here.)",
        ),
        Mistake(
            "always the bound", lambda bit, neighbour, report, epsilon: math.exp(epsilon),
            "e^epsilon is the largest value that the ratio takes; six of the eight cases stay below it.",
        ),
        Mistake(
            "upside down", lambda bit, neighbour, report, epsilon: _ratio(neighbour, bit, report, epsilon),
            "Numerator and denominator are swapped: the bit's own probability stands above.",
        ),
        Mistake(
            "logarithm", lambda bit, neighbour, report, epsilon: math.log(_ratio(bit, neighbour, report, epsilon)),
            "That is the privacy loss, the logarithm of the ratio.",
        ),
        Mistake(
            "equal bits forgotten",
            lambda bit, neighbour, report, epsilon: math.exp(epsilon if report == bit else -epsilon),
            "If both bits are the same, both worlds are the same, and so the ratio is 1.",
        ),
    ),
)  # fmt: skip


def _belief_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A doubtful and a nearly certain onlooker, each with both reports."""
    return [
        {"report": report, "prior": float(rng.uniform(*sides)), "epsilon": float(rng.uniform(0.5, 2.5))}
        for sides in ((0.05, 0.35), (0.65, 0.95))
        for report in (1, 0)
    ]


def _belief(report: int, prior: float, epsilon: float) -> float:
    return RandomizedResponse(epsilon=epsilon).posterior(report, prior)


posterior = Task(
    name="posterior",
    see="lecture 2, section 7 (Deniability, as a formula)",
    probes=_belief_probes,
    judge=values_of(_belief),
    mistakes=(
        Mistake(
            "prior ignored", lambda report, prior, epsilon: _belief(report, 0.5, epsilon),
            "That is what somebody believes who knew nothing before (prior one half). Bayes' rule starts from the "
            "prior.",
        ),
        Mistake(
            "probability of the report",
            lambda report, prior, epsilon: (
                prior * right_theta(epsilon) + (1 - prior) * (1 - right_theta(epsilon)) if report
                else prior * (1 - right_theta(epsilon)) + (1 - prior) * right_theta(epsilon)
            ),
            "That is how likely the report is. What is asked is how likely the secret is, given the report.",
        ),
        Mistake(
            "report ignored", lambda report, prior, epsilon: _belief(1, prior, epsilon),
            'A "no" must lower the belief: the odds are then divided by e^epsilon.',
        ),
        Mistake(
            "the odds", lambda report, prior, epsilon: 1 / (1 / _belief(report, prior, epsilon) - 1),
            "Those are the odds; turn them back into a probability by odds/(1 + odds).",
        ),
        Mistake(
            "not normalised",
            lambda report, prior, epsilon: prior * (right_theta(epsilon) if report else 1 - right_theta(epsilon)),
            "That is the probability of secret and report together. Divide by the probability of the report.",
        ),
        Mistake(
            "probability multiplied",
            lambda report, prior, epsilon: min(1.0, prior * math.exp(epsilon if report else -epsilon)),
            "It is the odds that are multiplied by e^epsilon, not the probability.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (theta, spent_epsilon, response_ratio, posterior)
