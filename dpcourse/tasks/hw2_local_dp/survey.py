"""Homework 2, third part: what a class of students tells, and how many of them it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import RandomizedResponse
from dpcourse.mechanisms import theta as right_theta
from dpcourse.mechanisms.survey import central_error, local_error, people_needed
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown


def _class_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """A large class, its estimate within [0.1, 0.4]; and two small ones in which so few, or so many, say yes that the
    estimate leaves [0, 1]."""
    found = []
    for people, share in ((int(rng.integers(300, 900)), rng.uniform(0.38, 0.45)), (20, 0.05), (30, 0.95)):
        reports = np.zeros(people, dtype=int)
        reports[: round(people * share)] = 1
        epsilon = float(rng.uniform(0.7, 0.9) if people > 100 else rng.uniform(1.2, 2))
        found.append({"reports": rng.permutation(reports), "epsilon": epsilon})
    return found


def _share(reports: Any, epsilon: float) -> dict[str, float]:
    estimate = RandomizedResponse(epsilon=epsilon).estimate(reports)
    return {"share": estimate.value, "standard_error": estimate.standard_error}


def _naive_share(reports: Any, epsilon: float) -> tuple[float, float]:
    yes = float(np.mean(reports))
    return yes, math.sqrt(yes * (1 - yes) / len(reports))


def _drawn_error(reports: Any, epsilon: float) -> float:
    """Of n people who are drawn at random and tell the truth: sqrt(p(1 - p)/n), for the estimated share p."""
    share = min(max(_share(reports, epsilon)["share"], 0.0), 1.0)
    return math.sqrt(share * (1 - share) / len(reports))


def _gain(epsilon: float) -> float:
    return 2 * right_theta(epsilon) - 1


def _with_share(wrong: Any) -> Any:
    """The right standard error beside another share."""
    return lambda reports, epsilon: (wrong(reports, epsilon), _share(reports, epsilon)["standard_error"])


def _with_error(wrong: Any) -> Any:
    """The right share beside another standard error."""
    return lambda reports, epsilon: (_share(reports, epsilon)["share"], wrong(reports, epsilon))


COINS = "coins forgotten"
OF_REPORTS, OF_YES, SHARE_OF_YES = "error of the reports", "error of the yes", "share of the yes"


def _coins_forgotten(probe: Probe, found: Any, right: Any) -> bool:
    """The right share with the error of a sample of truthful people; the variance may be divided by n - 1, too."""
    errors = _drawn_error(**probe) * np.array([1, _less_one(probe)])
    return same_values(found["share"], right["share"]) and bool(np.isclose(found["standard_error"], errors).any())


def _less_one(probe: Probe) -> float:
    """What an error grows by if the variance is divided by n - 1."""
    return math.sqrt(len(probe["reports"]) / (len(probe["reports"]) - 1))


def _named_share(pairs: Sequence[tuple[Probe, Any, Any]]) -> str:
    """A mistake whose variance may be divided by n - 1 as well, as ``np.std(reports, ddof=1)`` does."""
    if _coins_forgotten(*pairs[0]):
        return COINS
    for name, wrong in OF_THE_SAMPLE.items():
        if all(
            same_values(found, {"share": share, "standard_error": error * _less_one(probe)})
            for probe, found, _ in pairs
            for share, error in [wrong(**probe)]
        ):
            return name
    return ""


def _judge_share(talk: Interview) -> None:
    """Where the estimate leaves [0, 1], sqrt(p(1 - p)/n) has no value: the large class names the mistake before."""
    try:
        values_of(_share, named=_named_share)(talk)
    except Complaint:
        for asked in talk.recorded[:1]:
            right = _share(**asked.probe)
            if _coins_forgotten(asked.probe, asked.found, right):
                talk.fail(
                    f"For {arguments(asked.probe)} you answer {shown(asked.found)}; right is {shown(right)}.",
                    name=COINS,
                )
        raise


#: The wrong answers that take the variance of the reports for what errs.
OF_THE_SAMPLE = {
    SHARE_OF_YES: _naive_share,
    OF_REPORTS: _with_error(lambda reports, epsilon: _naive_share(reports, epsilon)[1] / _gain(epsilon)),
    OF_YES: _with_error(lambda reports, epsilon: _naive_share(reports, epsilon)[1]),
}

share_of_class = Task(
    name="share_of_class",
    see="lecture 2, section 7 (Now the class; How sure are we?)",
    probes=_class_probes,
    judge=_judge_share,
    answer=Answers({"share": Answer(), "standard_error": Answer()}),
    mistakes=(
        Mistake(
            SHARE_OF_YES, OF_THE_SAMPLE[SHARE_OF_YES],
            "That is the share of those who said yes, with its usual standard error. Many of them only followed their "
            "coin: the estimate is biased towards one half. Walk the straight line backwards.",
        ),
        Mistake(
            "clipped", _with_share(lambda reports, epsilon: min(max(_share(reports, epsilon)["share"], 0.0), 1.0)),
            "Your estimate is cut to [0, 1]. That looks nicer, but then it is no longer unbiased: errors upwards "
            "stay, and those downwards are cut off.",
        ),
        Mistake(
            "not stretched", _with_share(lambda reports, epsilon: float(np.mean(reports)) - 1 + right_theta(epsilon)),
            "You subtract the chance answers, 1 - theta, but do not divide by 2 theta - 1: the coins also shrank the "
            "difference between those who have the secret and those who do not.",
        ),
        Mistake(
            "chance answers not subtracted",
            _with_share(lambda reports, epsilon: float(np.mean(reports)) / _gain(epsilon)),
            "You stretch, but do not subtract 1 - theta first, the yes that chance alone provides.",
        ),
        Mistake(
            "error not stretched",
            _with_error(lambda reports, epsilon: _share(reports, epsilon)["standard_error"] * _gain(epsilon)),
            "Your standard error is that of the share of yes. Dividing by 2 theta - 1 stretches the error as well.",
        ),
        Mistake(
            "variance", _with_error(lambda reports, epsilon: _share(reports, epsilon)["standard_error"] ** 2),
            "That is the variance; the standard error is its square root.",
        ),
        Mistake(
            OF_REPORTS, OF_THE_SAMPLE[OF_REPORTS],
            "You take the variance of the reports from y(1 - y). That also counts who was asked, as if the class were "
            "drawn at random. Asked is the error that the coins make: each report has the variance theta (1 - theta), "
            "whichever bit is behind it.",
        ),
        Mistake(
            COINS, _with_error(_drawn_error),
            "sqrt(p (1 - p)/n) is the error of n students who are drawn at random and tell the truth. Here the "
            "students are fixed, and what errs is their coins: each report has the variance theta (1 - theta), and "
            "dividing by 2 theta - 1 stretches the error. (Where the estimate p leaves [0, 1], and it may, your root "
            "would not even have a value.)",
        ),
        Mistake(
            OF_YES, OF_THE_SAMPLE[OF_YES],
            "sqrt(y (1 - y)/n) is the usual error of the share of yes among people who are drawn at random. Here the "
            "students are fixed, and what errs is their coins: each report has the variance theta (1 - theta), and "
            "dividing by 2 theta - 1 stretches the error as it stretches the share.",
        ),
        Mistake(
            "root of n forgotten",
            _with_error(lambda reports, epsilon: _share(reports, epsilon)["standard_error"] * math.sqrt(len(reports))),
            "That is the error of a single report; the mean of n reports errs by a factor sqrt(n) less.",
        ),
    ),
)  # fmt: skip


def _plan_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Errors for which the numbers, before rounding up, end in .1 to .4, so that rounding otherwise always shows."""
    found = []
    for side in ("local", "local", "central"):
        epsilon, part = (
            float(rng.uniform(0.3, 0.8) if side == "central" else rng.uniform(0.3, 2.0)),
            rng.uniform(0.1, 0.4),
        )
        if side == "local":
            error = local_error(RandomizedResponse(epsilon=epsilon), 1) / math.sqrt(
                int(rng.integers(200, 3_000)) + part
            )
        else:
            error = central_error(epsilon, 1) / (int(rng.integers(40, 200)) + part)
        found.append({"error": float(error), "epsilon": epsilon})
    return found


def _needed(error: float, epsilon: float) -> dict[str, int]:
    return {
        "local": people_needed(RandomizedResponse(epsilon=epsilon), error),
        "central": math.ceil(central_error(epsilon, 1) / error),
    }


def _exact(error: float, epsilon: float) -> tuple[float, float]:
    return (local_error(RandomizedResponse(epsilon=epsilon), 1) / error) ** 2, central_error(epsilon, 1) / error


def _up(local: float, central: float) -> tuple[int, int]:
    return math.ceil(local), math.ceil(central)


def _rounding(pairs: Sequence[tuple[Probe, Any, Any]]) -> str:
    """How the numbers were rounded, if that alone is wrong: each is less than 1 away from what is to be rounded up."""
    parts = []
    for probe, found, _ in pairs:
        for answer, exact in zip((found["local"], found["central"]), _exact(**probe), strict=True):
            if abs(answer - exact) >= 1:
                return ""
            parts.append(answer % 1)
    return "not rounded up" if any(parts) else "rounded down"


students_needed = Task(
    name="students_needed",
    see="lecture 2, section 8 (The price of trusting nobody)",
    probes=_plan_probes,
    judge=values_of(_needed, tolerance=1e-9, named=_rounding),
    answer=Answers({"local": Answer(), "central": Answer()}),
    mistakes=(
        Mistake(
            "not rounded up", _exact,
            "There is no fraction of a student: round up.",
        ),
        Mistake(
            "rounded down", lambda error, epsilon: tuple(math.floor(n) for n in _exact(error, epsilon)),
            "With so many the error is still a little larger than asked: round up, not down (nor to the nearest).",
        ),
        Mistake(
            "square forgotten",
            lambda error, epsilon: _up(math.sqrt(_exact(error, epsilon)[0]), _exact(error, epsilon)[1]),
            "The local error falls as 1/sqrt(n) only. Solving for n squares: half the error takes four times the "
            "students.",
        ),
        Mistake(
            "curator squared",
            lambda error, epsilon: _up(_exact(error, epsilon)[0], _exact(error, epsilon)[1] ** 2),
            "The curator adds noise once, and the error falls as 1/n: nothing is squared there.",
        ),
        Mistake(
            "scale for the standard deviation",
            lambda error, epsilon: _up(_exact(error, epsilon)[0], _exact(error, epsilon)[1] / math.sqrt(2)),
            "The standard deviation of Laplace noise of scale b is sqrt(2) b, not b.",
        ),
        Mistake(
            "not stretched",
            lambda error, epsilon: _up(_exact(error, epsilon)[0] * _gain(epsilon) ** 2, _exact(error, epsilon)[1]),
            "You plan for the share of yes. The estimate divides by 2 theta - 1, and that stretches the error.",
        ),
        Mistake(
            "swapped", lambda error, epsilon: _up(*reversed(_exact(error, epsilon))),
            "Local and central are swapped: trusting nobody costs more students.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (share_of_class, students_needed)
