"""Homework 2, first part: from epsilon to a bent coin, and what one report betrays. All answers can be computed."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

from dpcourse.mechanisms import ATTEMPTS, RandomizedResponse
from dpcourse.mechanisms import theta as right_theta
from dpcourse.mechanisms.survey_planning import epsilon_of
from dpcourse.tasks.declare import value_task
from dpcourse.tasks.judges.values import Note
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import each, fixed, uniform


def _from_odds(odds: float) -> float:
    return odds / (1 + odds)


def _odds_of(p: Any, answer: float, right: float) -> Note | None:
    """Does this coin keep the promise?"""
    if not 0 < answer < 1:
        return None
    odds, bound = answer / (1 - answer), math.exp(p.epsilon)
    if odds > bound * (1 + 1e-5):
        return Note(f"Its odds {odds:.3g} exceed e^epsilon = {bound:.3g}: this coin breaks the promise.")
    if p.attempt == "tight" and 0.5 < answer < right:
        text = f"Your coin is private: its odds {odds:.3g} stay below e^epsilon = {bound:.3g}."
        return Note(f"{text} It is wasteful: it lies more often than the promise asks for.", wasteful=True)
    return None


def _only(attempt: str, wrong: Callable[[float], float]) -> Callable[[Any], float]:
    """The right answer with another value for one attempt."""
    return lambda p: wrong(p.epsilon) if p.attempt == attempt else right_theta(p.epsilon, p.attempt)


def _theta(p: Any) -> float:
    return right_theta(p.epsilon, p.attempt)


SMALL, LARGE = (0.3, 0.8), (2.0, 4.0)

theta = value_task(
    "theta",
    see="lecture 2, sections 5 and 6 (First attempt; Can we do better?)",
    probes=each(
        2 * len(ATTEMPTS),
        attempt=fixed(*(attempt for attempt in ATTEMPTS for _ in range(2))),
        epsilon=uniform(*(SMALL, LARGE) * len(ATTEMPTS)),
    ),
    right=_theta,
    note=_odds_of,
    mistakes=[
        mistake(
            "plus one forgotten",
            "epsilon / (epsilon + 1) starts at 0, not at one half: for a small epsilon the coin would nearly always "
            "lie.",
            _only("first", lambda epsilon: epsilon / (epsilon + 1)),
        ),
        mistake(
            "half forgotten",
            "The square comes with a half, 1 + eps + eps^2/2: without it the odds exceed e^epsilon for small epsilon.",
            _only("quadratic", lambda epsilon: _from_odds(1 + epsilon + epsilon**2)),
        ),
        mistake(
            "square forgotten",
            "The third term of the quadratic attempt is eps^2/2, with a square.",
            _only("quadratic", lambda epsilon: _from_odds(1 + 1.5 * epsilon)),
        ),
        mistake(
            "upside down",
            "That is the probability of the lie: theta = 1/(1 + e^(-epsilon)), with a minus, must lie above one half.",
            _only("tight", lambda epsilon: 1 / (1 + math.exp(epsilon))),
        ),
        mistake(
            "quadratic for tight",
            "The tight coin has the odds e^epsilon itself, not the first terms of its series.",
            _only("tight", lambda epsilon: right_theta(epsilon, "quadratic")),
        ),
        mistake(
            "probability of the lie",
            "That is the probability of the lie, 1 - theta. theta is that of the truth, above one half.",
            lambda p: 1 - _theta(p),
        ),
        mistake(
            "first attempt for all",
            "Only the first attempt has the odds 1 + epsilon; the others come closer to e^epsilon.",
            lambda p: right_theta(p.epsilon, "first"),
        ),
        mistake(
            "tight for all",
            "Each attempt has odds of its own. Only the tight one has e^epsilon.",
            lambda p: right_theta(p.epsilon, "tight"),
        ),
        mistake(
            "the odds",
            "Those are the odds theta/(1 - theta); the coin's probability is odds/(1 + odds).",
            lambda p: 1 / (1 / _theta(p) - 1),
        ),
    ],
)


def _log_odds(p: Any) -> float:
    return math.log(p.theta / (1 - p.theta))


spent_epsilon = value_task(
    "spent_epsilon",
    see="lecture 2, section 6 (Can we do better?)",
    probes=lambda rng: [*each(3, theta=uniform((0.55, 0.7), (0.8, 0.97), (0.05, 0.4)))(rng), {"theta": 0.5}],
    right=lambda p: epsilon_of(p.theta),
    mistakes=[
        mistake(
            "sign forgotten",
            "A coin that mostly lies betrays as much as one that mostly tells the truth: a budget is never negative, "
            "because the pair (D, D') comes in both orders.",
            _log_odds,
        ),
        mistake(
            "never below zero",
            "A coin that mostly lies betrays as much as one that mostly tells the truth: whoever knows it reads it "
            "backwards. Its budget is not 0.",
            lambda p: max(_log_odds(p), 0.0),
        ),
        mistake(
            "the odds",
            "That is the largest ratio, e^epsilon; epsilon is its logarithm.",
            lambda p: math.exp(abs(_log_odds(p))),
        ),
        mistake(
            "odds without log",
            "Those are the odds of the truth. epsilon is the logarithm of the larger one of both ratios.",
            lambda p: p.theta / (1 - p.theta),
        ),
        mistake(
            "base ten",
            "epsilon is the natural logarithm of the ratio, since the bound is e^epsilon.",
            lambda p: abs(_log_odds(p)) / math.log(10),
        ),
        mistake(
            "base two",
            "epsilon is the natural logarithm of the ratio, since the bound is e^epsilon; base 2 counts bits.",
            lambda p: abs(_log_odds(p)) / math.log(2),
        ),
        mistake(
            "against a fair coin",
            "The two worlds are theta and 1 - theta: a report must be compared with what the other student would say, "
            "not with a fair coin.",
            lambda p: abs(math.log(p.theta / 0.5)),
        ),
        mistake(
            "first attempt turned around",
            "You solve theta = (eps + 1)/(eps + 2) for eps. That coin spends ln(1 + eps), less than eps: take the "
            "logarithm of the ratio.",
            lambda p: math.exp(abs(_log_odds(p))) - 1,
        ),
    ],
)


def _ratio(p: Any) -> float:
    return math.exp(RandomizedResponse(epsilon=p.epsilon).privacy_loss(p.report, p.bit, p.neighbour))


CASES = tuple(product((0, 1), repeat=3))

response_ratio = value_task(
    "response_ratio",
    see="lecture 2, section 5 (First attempt), the box on the ratio",
    probes=each(
        len(CASES),
        bit=fixed(*(bit for bit, _, _ in CASES)),
        neighbour=fixed(*(neighbour for _, neighbour, _ in CASES)),
        report=fixed(*(report for *_, report in CASES)),
        epsilon=uniform(0.4, 2.5),
    ),
    right=_ratio,
    mistakes=[
        mistake(
            "one if not flipped",
            "Where D is the one that flipped, the ratio is (1 - theta)/theta, below 1, and not 1. (The slide slips "
            "here.)",
            lambda p: math.exp(p.epsilon) if p.report == p.bit != p.neighbour else 1.0,
        ),
        mistake(
            "always the bound",
            "e^epsilon is the largest value that the ratio takes; six of the eight cases stay below it.",
            lambda p: math.exp(p.epsilon),
        ),
        mistake(
            "upside down",
            "Numerator and denominator are swapped: the bit's own probability stands above.",
            lambda p: 1 / _ratio(p),
        ),
        mistake(
            "never below one",
            "You take the larger one of the ratio and its inverse. Asked is this ratio, D above D'.",
            lambda p: max(_ratio(p), 1 / _ratio(p)),
        ),
        mistake(
            "logarithm", "That is the privacy loss, the logarithm of the ratio.", lambda p: math.log(_ratio(p))
        ),
        mistake(
            "equal bits forgotten",
            "If both bits are the same, both worlds are the same, and so the ratio is 1.",
            lambda p: math.exp(p.epsilon if p.report == p.bit else -p.epsilon),
        ),
        mistake(
            "first attempt",
            "These are the ratios of the first coin, with the odds 1 + eps. Asked is the tight one, with e^eps.",
            lambda p: (1 + p.epsilon) ** (math.log(_ratio(p)) / p.epsilon),
        ),
    ],
)  # fmt: skip


def _belief(p: Any, report: int | None = None, prior: float | None = None) -> float:
    coin = RandomizedResponse(epsilon=p.epsilon)
    return coin.posterior(p.report if report is None else report, p.prior if prior is None else prior)


def _told(p: Any) -> float:
    """How likely the report is if the secret is a 1."""
    return right_theta(p.epsilon) if p.report else 1 - right_theta(p.epsilon)


posterior = value_task(
    "posterior",
    see="lecture 2, section 7 (Deniability, as a formula)",
    # A doubtful and a nearly certain onlooker, each with both reports.
    probes=each(
        4,
        report=fixed(1, 0, 1, 0),
        prior=uniform((0.05, 0.35), (0.05, 0.35), (0.65, 0.95), (0.65, 0.95)),
        epsilon=uniform(0.5, 2.5),
    ),
    right=_belief,
    mistakes=[
        mistake(
            "prior ignored",
            "That is what somebody believes who knew nothing before (prior one half). Bayes' rule starts from the "
            "prior.",
            lambda p: _belief(p, prior=0.5),
        ),
        mistake(
            "probability of the report",
            "That is how likely the report is. What is asked is how likely the secret is, given the report.",
            lambda p: p.prior * _told(p) + (1 - p.prior) * (1 - _told(p)),
        ),
        mistake(
            "report ignored",
            'A "no" must lower the belief: the odds are then divided by e^epsilon.',
            lambda p: _belief(p, report=1),
        ),
        mistake(
            "report turned around",
            'A "yes" raises the belief, and a "no" lowers it: yours do the opposite.',
            lambda p: _belief(p, report=1 - p.report),
        ),
        mistake(
            "of no secret",
            "That is the probability that the bit is 0. Asked is that of the secret, a 1.",
            lambda p: 1 - _belief(p),
        ),
        mistake(
            "the odds",
            "Those are the odds; turn them back into a probability by odds/(1 + odds).",
            lambda p: 1 / (1 / _belief(p) - 1),
        ),
        mistake(
            "not normalised",
            "That is the probability of secret and report together. Divide by the probability of the report.",
            lambda p: p.prior * _told(p),
        ),
        mistake(
            "probability multiplied",
            "It is the odds that are multiplied by e^epsilon, not the probability.",
            lambda p: min(1.0, p.prior * math.exp(p.epsilon if p.report else -p.epsilon)),
        ),
        mistake(
            "first attempt",
            "You take the first coin, with the odds 1 + eps. The report was made with the tight one: e^eps.",
            lambda p: 1 / (1 + (1 / p.prior - 1) * (1 + p.epsilon) ** (1 - 2 * p.report)),
        ),
    ],
)
