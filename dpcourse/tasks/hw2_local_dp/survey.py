"""Homework 2, third part: what a class of students tells, and how many of them it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpcourse.mechanisms import RandomizedResponse
from dpcourse.mechanisms import theta as right_theta
from dpcourse.mechanisms.survey_planning import central_error, local_error, people_needed
from dpcourse.tasks.answers import NUMBER, Answers
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.declare import value_task
from dpcourse.tasks.interview import Failed, Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import Variation, arguments_of, mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown


def _class_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A large class, its estimate within [0.1, 0.4]; and two small ones in which so few, or so many, say yes that the
    estimate leaves [0, 1]."""
    probes = []
    for people, share in ((int(rng.integers(300, 900)), rng.uniform(0.38, 0.45)), (20, 0.05), (30, 0.95)):
        reports = np.zeros(people, dtype=int)
        reports[: round(people * share)] = 1
        epsilon = float(rng.uniform(0.7, 0.9) if people > 100 else rng.uniform(1.2, 2))
        probes.append({"reports": rng.permutation(reports), "epsilon": epsilon})
    return probes


def _estimate(p: Any) -> tuple[float, float]:
    estimate = RandomizedResponse(epsilon=p.epsilon).estimate(p.reports)
    return estimate.value, estimate.standard_error


def _share(p: Any) -> float:
    return _estimate(p)[0]


def _error(p: Any) -> float:
    return _estimate(p)[1]


def _yes(p: Any) -> float:
    return float(np.mean(p.reports))


def _gain(p: Any) -> float:
    return 2 * right_theta(p.epsilon) - 1


def _error_of_yes(p: Any, less: int = 0) -> float:
    """Of the share of yes, as if people were drawn at random; the variance may be divided by n - 1."""
    return float(np.std(p.reports, ddof=less)) / math.sqrt(len(p.reports))


def _drawn_error(p: Any, less: int = 0) -> float:
    """Of n people who are drawn at random and tell the truth: sqrt(p(1 - p)/n), for the estimated share p."""
    share = min(max(_share(p), 0.0), 1.0)
    return math.sqrt(share * (1 - share) / (len(p.reports) - less))


def _with_first_coin(p: Any) -> tuple[float, float]:
    theta = right_theta(p.epsilon, "first")
    gain = 2 * theta - 1
    return (_yes(p) - 1 + theta) / gain, math.sqrt(theta * (1 - theta) / len(p.reports)) / gain


def _twice(name: str, message: str, parts: Callable[[int], dict[str, Any]]) -> list[Variation]:
    """A mistake whose variance is divided by n, and the same by n - 1, as ``np.std(reports, ddof=1)`` does."""
    return [mistake(name, message, **parts(0)), mistake(f"{name}, n - 1", message, **parts(1))]


COINS = "coins forgotten"


def _known_by_the_first(judge: Callable[[Interview], None]) -> Callable[[Interview], None]:
    """Where the estimate leaves [0, 1], sqrt(p(1 - p)/n) has no value: the large class, asked first, tells the mistake.

    So does the square root of an absolute value, which has another one there.
    """

    def patient(talk: Interview) -> None:
        try:
            judge(talk)
        except (Complaint, Failed) as stopped:
            if not talk.recorded or (isinstance(stopped, Failed) and stopped.names):
                raise
            probe, answer = talk.recorded[0].probe, talk.recorded[0].found
            p = arguments_of(probe)
            errors = [{"share": _share(p), "standard_error": _drawn_error(p, less)} for less in (0, 1)]
            if not any(same_values(answer, one) for one in errors):
                raise
            right = dict(zip(errors[0], _estimate(p), strict=True))
            talk.fail(f"For {arguments(probe)} you answer {shown(answer)}; right is {shown(right)}.", name=COINS)

    return patient


_share_of_class: Task = value_task(
    "share_of_class",
    see="lecture 2, section 7 (Now the class; How sure are we?)",
    probes=_class_probes,
    right=_estimate,
    form=Answers({"share": NUMBER, "standard_error": NUMBER}),
    mistakes=[
        *_twice(
            "share of the yes",
            "That is the share of those who said yes, with its usual standard error. Many of them only followed their "
            "coin: the estimate is biased towards one half. Walk the straight line backwards.",
            lambda less: {"share": _yes, "standard_error": lambda p: _error_of_yes(p, less)},
        ),
        mistake(
            "raw share",
            "That is the share of those who said yes. Many of them only followed their coin: the estimate is biased "
            "towards one half. Walk the straight line backwards.",
            share=_yes,
        ),
        mistake(
            "divided by theta",
            "You divide the share of yes by theta. Those without the secret say yes, too, with probability 1 - theta: "
            "subtract that, and divide by 2 theta - 1.",
            share=lambda p: _yes(p) / right_theta(p.epsilon),
        ),
        mistake(
            "clipped",
            "Your estimate is cut to [0, 1]. That looks nicer, but then it is no longer unbiased: errors upwards "
            "stay, and those downwards are cut off.",
            share=lambda p: min(max(_share(p), 0.0), 1.0),
        ),
        mistake(
            "not stretched",
            "You subtract the chance answers, 1 - theta, but do not divide by 2 theta - 1: the coins also shrank the "
            "difference between those who have the secret and those who do not.",
            share=lambda p: _yes(p) - 1 + right_theta(p.epsilon),
        ),
        mistake(
            "chance answers not subtracted",
            "You stretch, but do not subtract 1 - theta first, the yes that chance alone provides.",
            share=lambda p: _yes(p) / _gain(p),
        ),
        mistake(
            "share of the no",
            "That is the share of those who do not have the secret.",
            share=lambda p: 1 - _share(p),
        ),
        mistake(
            "error not stretched",
            "Your standard error is that of the share of yes. Dividing by 2 theta - 1 stretches the error as well.",
            standard_error=lambda p: _error(p) * _gain(p),
        ),
        mistake(
            "variance",
            "That is the variance; the standard error is its square root.",
            standard_error=lambda p: _error(p) ** 2,
        ),
        *_twice(
            "error of the reports",
            "You take the variance of the reports from y(1 - y). That also counts who was asked, as if the class were "
            "drawn at random. Asked is the error that the coins make: each report has the variance theta (1 - theta), "
            "whichever bit is behind it.",
            lambda less: {"standard_error": lambda p: _error_of_yes(p, less) / _gain(p)},
        ),
        mistake(
            COINS,
            "sqrt(p (1 - p)/n) is the error of n students who are drawn at random and tell the truth. Here the "
            "students are fixed, and what errs is their coins: each report has the variance theta (1 - theta), and "
            "dividing by 2 theta - 1 stretches the error. (Where the estimate p leaves [0, 1], and it may, your root "
            "would not even have a value.)",
            standard_error=_drawn_error,
        ),
        *_twice(
            "error of the yes",
            "sqrt(y (1 - y)/n) is the usual error of the share of yes among people who are drawn at random. Here the "
            "students are fixed, and what errs is their coins: each report has the variance theta (1 - theta), and "
            "dividing by 2 theta - 1 stretches the error as it stretches the share.",
            lambda less: {"standard_error": lambda p: _error_of_yes(p, less)},
        ),
        mistake(
            "largest variance",
            "1/4 is the largest variance that a coin can have. Yours is known: theta (1 - theta).",
            standard_error=lambda p: 0.5 / math.sqrt(len(p.reports)) / _gain(p),
        ),
        mistake(
            "root of n forgotten",
            "That is the error of a single report; the mean of n reports errs by a factor sqrt(n) less.",
            standard_error=lambda p: _error(p) * math.sqrt(len(p.reports)),
        ),
        mistake(
            "n - 1 for n",
            "The variance of a coin is known, theta (1 - theta), and not estimated from the reports: divide by n.",
            standard_error=lambda p: _error(p) * math.sqrt(len(p.reports) / (len(p.reports) - 1)),
        ),
        mistake(
            "first attempt",
            "You take the first coin, (eps + 1)/(eps + 2). The reports were made with the tight one.",
            _with_first_coin,
        ),
    ],
)
share_of_class = replace(_share_of_class, judge=_known_by_the_first(_share_of_class.judge))


def _plan_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Errors for which both numbers, before rounding up, end in .1 to .4, so that rounding otherwise always shows."""
    probes: list[Probe] = []
    while len(probes) < 3:
        probe = {"error": float(rng.uniform(0.015, 0.04)), "epsilon": float(rng.uniform(0.3, 2.0))}
        p = arguments_of(probe)
        if all(0.1 < number % 1 < 0.4 for number in (_local(p), _central(p))) and _local(p) < 8_000:
            probes.append(probe)
    return probes


def _local(p: Any) -> float:
    """Before rounding up."""
    return (local_error(RandomizedResponse(epsilon=p.epsilon), 1) / p.error) ** 2


def _central(p: Any) -> float:
    return central_error(p.epsilon, 1) / p.error


NO_FRACTION = "There is no fraction of a student: round up."
TOO_FEW = "With so many the error is still a little larger than asked: round up, not down (nor to the nearest)."

students_needed = value_task(
    "students_needed",
    see="lecture 2, section 8 (The price of trusting nobody)",
    probes=_plan_probes,
    right=lambda p: (people_needed(RandomizedResponse(epsilon=p.epsilon), p.error), math.ceil(_central(p))),
    form=Answers({"local": NUMBER, "central": NUMBER}),
    mistakes=[
        mistake("not rounded up", NO_FRACTION, local=_local, central=_central),
        mistake("local not rounded up", NO_FRACTION, local=_local),
        mistake("central not rounded up", NO_FRACTION, central=_central),
        mistake(
            "rounded down", TOO_FEW, local=lambda p: math.floor(_local(p)), central=lambda p: math.floor(_central(p))
        ),
        mistake("local rounded down", TOO_FEW, local=lambda p: math.floor(_local(p))),
        mistake("central rounded down", TOO_FEW, central=lambda p: math.floor(_central(p))),
        mistake(
            "square forgotten",
            "The local error falls as 1/sqrt(n) only. Solving for n squares: half the error takes four times the "
            "students.",
            local=lambda p: math.ceil(math.sqrt(_local(p))),
        ),
        mistake(
            "curator squared",
            "The curator adds noise once, and the error falls as 1/n: nothing is squared there.",
            central=lambda p: math.ceil(_central(p) ** 2),
        ),
        mistake(
            "scale for the standard deviation",
            "The standard deviation of Laplace noise of scale b is sqrt(2) b, not b.",
            central=lambda p: math.ceil(_central(p) / math.sqrt(2)),
        ),
        mistake(
            "variance for the standard deviation",
            "The variance of Laplace noise of scale b is 2 b^2; its standard deviation is sqrt(2) b, not 2 b.",
            central=lambda p: math.ceil(_central(p) * math.sqrt(2)),
        ),
        mistake(
            "not stretched",
            "You plan for the share of yes. The estimate divides by 2 theta - 1, and that stretches the error.",
            local=lambda p: math.ceil(_local(p) * (2 * right_theta(p.epsilon) - 1) ** 2),
        ),
        mistake(
            "largest variance",
            "1/4 is the largest variance that a coin can have. Yours is known: theta (1 - theta).",
            local=lambda p: math.ceil((0.5 / (2 * right_theta(p.epsilon) - 1) / p.error) ** 2),
        ),
        mistake(
            "small epsilon",
            "1/(eps sqrt(n)) is the error for a small epsilon only. Take the exact one.",
            local=lambda p: math.ceil(1 / (p.epsilon * p.error) ** 2),
        ),
        mistake(
            "first attempt",
            "You take the first coin, (eps + 1)/(eps + 2). The estimate of 4.1 uses the tight one.",
            local=lambda p: math.ceil((1 + p.epsilon) / (p.epsilon * p.error) ** 2),
        ),
        mistake(
            "swapped",
            "Local and central are swapped: trusting nobody costs more students.",
            lambda p: (math.ceil(_central(p)), math.ceil(_local(p))),
        ),
    ],
)  # fmt: skip
