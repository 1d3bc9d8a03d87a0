"""Homework 1, pure differential privacy: the ratio of two worlds, its bounds, a noisy count, and sensitivities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse import sensitivity
from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import CLOSER, Failed, Interview
from dpcourse.tasks.judges.noise import noise_of
from dpcourse.tasks.judges.noise_law import Noise
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, number


def _ratio_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Outputs on both sides of both counts, between them, and nearer to the neighbour (a ratio below 1); b never 1."""
    count = int(rng.integers(30, 80))
    offsets = [-3 - rng.random(), 0.5, 5 + rng.random(), 0.1 + 0.3 * rng.random()]
    offsets += [2 + rng.random(), 0.6 + 0.3 * rng.random()]
    return [
        {"y": float(count + offset), "count": count, "neighbour": count + side, "b": float(b)}
        for offset, side, b in zip(offsets, (1, 1, -1, 1, 1, 1), rng.uniform(1.5, 4, 6), strict=True)
    ]


def _likelihood_ratio(y: float, count: float, neighbour: float, b: float) -> float:
    return math.exp(Laplace(epsilon=1 / b, sensitivity=1).privacy_loss(y, count, neighbour))


likelihood_ratio = Task(
    name="likelihood_ratio",
    see="lecture 1, section 3",
    probes=_ratio_probes,
    judge=values_of(_likelihood_ratio),
    mistakes=(
        Mistake(
            "upside down", lambda y, count, neighbour, b: 1 / _likelihood_ratio(y, count, neighbour, b),
            "That is the ratio of the neighbour's density to the data's: numerator and denominator are swapped.",
        ),
        Mistake(
            "multiplied by b", lambda y, count, neighbour, b: math.exp((abs(y - neighbour) - abs(y - count)) * b),
            "The exponent is the distance divided by b, not times b: wide noise (a large b) must make the ratio tame.",
        ),
        Mistake(
            "logarithm left", lambda y, count, neighbour, b: (abs(y - neighbour) - abs(y - count)) / b,
            "That is the privacy loss, the logarithm of the ratio.",
        ),
        Mistake(
            "the bound", lambda y, count, neighbour, b: math.exp(abs(count - neighbour) / b),
            "That is the largest value which the ratio can take, not its value at this y.",
        ),
        Mistake(
            "never below 1", lambda y, count, neighbour, b: math.exp(abs(abs(y - neighbour) - abs(y - count)) / b),
            "An output that lies nearer to the neighbour's count is likelier there, and the ratio is below 1: do not "
            "take the absolute value of the difference.",
        ),
        Mistake(
            "one density only", lambda y, count, neighbour, b: math.exp(-abs(y - count) / b) / (2 * b),
            "That is the density of one world. The ratio compares it with the other world's.",
        ),
    ),
)  # fmt: skip


def _range_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [{"difference": int(d), "b": float(b)} for d, b in zip((1, 2, 5), rng.uniform(1.5, 4, 3), strict=True)]


def _ratio_range(difference: float, b: float) -> dict[str, float]:
    ends = (_likelihood_ratio(y, difference, 0, b) for y in (0, difference))
    return dict(zip(("smallest", "largest"), ends, strict=True))


ratio_range = Task(
    name="ratio_range",
    see="lecture 1, section 5",
    probes=_range_probes,
    judge=values_of(_ratio_range),
    answer=Answers({"smallest": Answer(infinite=True), "largest": Answer(infinite=True)}),
    mistakes=(
        Mistake(
            "the slide's range", lambda difference, b: (1.0, math.inf),
            "From 1 to infinity is what e^epsilon can be when you choose epsilon. For this b the ratio is bounded, and "
            "it falls below 1 as well: that is the point of the noise.",
        ),
        Mistake(
            "range of the bound", lambda difference, b: (1.0, math.exp(difference / b)),
            "An answer can also speak against Alice, and then the ratio is below 1. From 1 on is the range of the "
            "bound.",
        ),
        Mistake(
            "logarithms", lambda difference, b: (-difference / b, difference / b),
            "Those are the bounds of the privacy loss. The ratio is its exponential.",
        ),
        Mistake(
            "b upside down", lambda difference, b: (math.exp(-difference * b), math.exp(difference * b)),
            "More noise (a larger b) must bring the two ends together: the exponent is divided by b.",
        ),
        Mistake(
            "difference forgotten", lambda difference, b: (math.exp(-1 / b), math.exp(1 / b)),
            "The two counts need not differ by 1: here a whole family may have left.",
        ),
        Mistake(
            "largest first", lambda difference, b: (math.exp(difference / b), math.exp(-difference / b)),
            "The values are right, but the smallest comes first.",
        ),
    ),
)  # fmt: skip


def _count_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """An ordinary count, nobody at all (who needs noise, too), and another ordinary one."""
    counts = (int(rng.integers(20, 500)), 0, int(rng.integers(20, 500)))
    budgets = (rng.uniform(0.2, 0.5), rng.uniform(0.3, 0.6), rng.uniform(2, 3))
    return [{"count": count, "epsilon": float(epsilon)} for count, epsilon in zip(counts, budgets, strict=True)]


_judge_noise = noise_of(lambda count, epsilon: Noise(count, Laplace(epsilon=epsilon, sensitivity=1).scale))


def _judge_count(talk: Interview) -> None:
    """Noise that is too wide for one epsilon is only wasteful if it is not too narrow for another."""
    try:
        _judge_noise(talk)
    except Failed as failed:
        wide, last = talk.recorded[-1].probe, talk.probes[-1]
        if failed.wasteful and wide is not last:
            found = float(np.abs(talk.draws(last, CLOSER) - last["count"]).mean())
            if found * last["epsilon"] < 0.9:  # only to choose the words; its deviation is 0.02
                talk.fail(
                    f"For {arguments(wide)} your noise is wider than is needed; but for {arguments(last)} its "
                    f"scale is about {number(found)}, and {number(1 / last['epsilon'])} is "
                    f"needed: too little to hide one person."
                )
        raise


noisy_count = Task(
    name="noisy_count",
    see="lecture 1, section 8",
    probes=_count_probes,
    judge=_judge_count,
    mistakes=(
        Mistake(
            "scale upside down", lambda count, epsilon, rng: count + rng.laplace(0, epsilon),
            "It looks like the scale is epsilon, not 1/epsilon: less privacy (a larger epsilon) must mean less noise.",
        ),
        Mistake(
            "no noise", lambda count, epsilon: float(count),
            "Without noise, whoever knows everybody else's answer reads the last one off.",
        ),
        Mistake(
            "Gaussian noise", lambda count, epsilon, rng: count + rng.normal(0, math.sqrt(2) / epsilon),
            "Gaussian noise of the same variance: far out its densities differ by any factor, so the ratio has no "
            "bound.",
        ),
        Mistake(
            "one-sided", lambda count, epsilon, rng: count + rng.exponential(1 / epsilon),
            "The noise only ever adds: an answer below the count never comes, and rules a neighbour out.",
        ),
        Mistake(
            "deviation for scale", lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon / math.sqrt(2)),
            "It looks like the standard deviation is 1/epsilon. Laplace noise of scale b has the deviation sqrt(2) b; "
            "it is the "
            "scale that must be 1/epsilon.",
        ),
        Mistake(
            "epsilon squared", lambda count, epsilon, rng: count + rng.laplace(0, 1 / epsilon**2),
            "It looks like the scale is 1/epsilon**2. Where epsilon is below 1 that is more noise than needed, and "
            "where it is above 1 less: there it does not keep its promise.",
        ),
    ),
)  # fmt: skip

QUERIES = ("count", "sum", "mean", "histogram")


def _sensitivity_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Ranges in which the lower end is the larger one in size, the upper one is, and both lie above 0."""
    a, b, c = rng.uniform(1.5, 4), rng.uniform(5, 9), rng.uniform(11, 20)
    ranges = [tuple(float(round(x, 2)) for x in pair) for pair in ((-b, a), (-a, c), (a, b))]
    return [
        {"query": query, "relation": relation, "low": low, "high": high, "n": int(rng.integers(20, 200))}
        for query in QUERIES for relation in ("add/remove", "replace")
        for low, high in (ranges if query in ("sum", "mean") else ranges[:1])
    ]  # fmt: skip


def _sensitivity_of(query: str, relation: str, low: float, high: float, n: int) -> float:
    if query in ("count", "histogram"):
        return {"count": sensitivity.count, "histogram": sensitivity.histogram}[query](relation)
    if query == "sum":
        return sensitivity.bounded_sum(low, high, relation)
    return sensitivity.mean(low, high, relation, n=n)


def _but(queries: str, rule: Callable[[str, float, float, int], float]) -> Callable[..., Any]:
    """Right, but for these queries, where ``rule(relation, low, high, n)`` answers (a mean: divided by n)."""

    def wrong(query: str, relation: str, low: float, high: float, n: int) -> float:
        if query not in queries.split():
            return _sensitivity_of(query, relation, low, high, n)
        return rule(relation, low, high, n) / (n if query == "mean" else 1)

    return wrong


sensitivity_of = Task(
    name="sensitivity_of",
    see="lecture 1, sections 4, 10 and 11",
    probes=_sensitivity_probes,
    judge=values_of(_sensitivity_of),
    mistakes=(
        Mistake(
            "range under add/remove", _but("sum mean", lambda relation, low, high, n: high - low),
            "The width of the range is for replacing a row. A row that comes brings its own value, at most max(|low|, "
            "|high|).",
        ),
        Mistake(
            "largest size under replace", _but("sum mean", lambda relation, low, high, n: max(abs(low), abs(high))),
            "Replacing trades one value for another: from low to high, a move of high - low.",
        ),
        Mistake(
            "lower end forgotten",
            _but("sum mean", lambda relation, low, high, n: high if relation == "add/remove" else high - low),
            "The range goes below 0: a person of value low moves the sum by |low|, which may be more than high.",
        ),
        Mistake(
            "mean not divided",
            _but("mean", lambda relation, low, high, n: n * _sensitivity_of("sum", relation, low, high, n)),
            "The mean is the sum divided by the public n, so one person moves it n times less.",
        ),
        Mistake(
            "histogram counted once", _but("histogram", lambda relation, low, high, n: 1.0),
            "Who moves from one category to another changes two counts: one falls, one rises.",
        ),
        Mistake(
            "histogram counted twice", _but("histogram", lambda relation, low, high, n: 2.0),
            "Who comes or goes is in one category only and changes one count. 2 would be private, but wasteful.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (likelihood_ratio, ratio_range, noisy_count, sensitivity_of)
