"""Homework 1, pure differential privacy: the ratio of two worlds, its bounds, a noisy count, and sensitivities."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse import sensitivity
from dpcourse.mechanisms import Laplace
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.declare import laplace_task, value_task
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.probes import each, edges, fixed, uniform, whole
from dpcourse.tasks.respondent import Probe


def _ratio_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Outputs on both sides of both counts, between them, and nearer to the neighbour (a ratio below 1); b never 1."""
    count = int(rng.integers(30, 80))
    offsets = [-3 - rng.random(), 0.5, 5 + rng.random(), 0.1 + 0.3 * rng.random()]
    offsets += [2 + rng.random(), 0.6 + 0.3 * rng.random()]
    return [
        {"y": float(count + offset), "count": count, "neighbour": count + side, "b": float(b)}
        for offset, side, b in zip(offsets, (1, 1, -1, 1, 1, 1), rng.uniform(1.5, 4, 6), strict=True)
    ]


def _loss(p: Any) -> float:
    """The logarithm of the ratio."""
    return Laplace(epsilon=1 / p.b, sensitivity=1).privacy_loss(p.y, p.count, p.neighbour)


likelihood_ratio = value_task(
    "likelihood_ratio",
    see="lecture 1, section 3",
    probes=edges(
        _ratio_probes,
        {"y": 0.0, "count": 0, "neighbour": 1, "b": uniform(0.3, 0.6)},
        {"y": -7.5, "count": 40, "neighbour": 40},
        {"y": uniform(4_000, 4_100), "count": 4_050, "neighbour": 4_000, "b": uniform(30, 60)},
    ),
    right=lambda p: math.exp(_loss(p)),
    mistakes=[
        mistake(
            "upside down",
            "That is the ratio of the neighbour's density to the data's: numerator and denominator are swapped.",
            lambda p: math.exp(-_loss(p)),
        ),
        mistake(
            "multiplied by b",
            "The exponent is the distance divided by b, not times b: wide noise (a large b) must make the ratio tame.",
            lambda p: math.exp(_loss(p) * p.b**2),
        ),
        mistake(
            "b forgotten",
            "The distances are not divided by b: the wider the noise, the less an answer says.",
            lambda p: math.exp(_loss(p) * p.b),
        ),
        mistake(
            "2b in the exponent",
            "The density is exp(-|y - c|/b)/(2b): the 2 stands in front of it, and cancels, but not in the exponent.",
            lambda p: math.exp(_loss(p) / 2),
        ),
        mistake("logarithm left", "That is the privacy loss, the logarithm of the ratio.", _loss),
        mistake(
            "logarithm to the base 10",
            "That is the logarithm of the ratio, and to the base 10. Asked for is the ratio itself.",
            lambda p: _loss(p) / math.log(10),
        ),
        mistake(
            "the bound",
            "That is the largest value which the ratio can take, not its value at this y.",
            lambda p: math.exp(abs(p.count - p.neighbour) / p.b),
        ),
        mistake(
            "absolute values forgotten",
            "Without the absolute values y drops out. The distances |y - c| count, whichever side y is on.",
            lambda p: math.exp((p.count - p.neighbour) / p.b),
        ),
        mistake(
            "distances added",
            "Dividing by the second density turns the sign of its exponent: one distance is subtracted from the other.",
            lambda p: math.exp((abs(p.y - p.neighbour) + abs(p.y - p.count)) / p.b),
        ),
        mistake(
            "never below 1",
            "An output that lies nearer to the neighbour's count is likelier there, and the ratio is below 1: do not "
            "take the absolute value of the difference.",
            lambda p: math.exp(abs(_loss(p))),
        ),
        mistake(
            "one density only",
            "That is the density of one world. The ratio compares it with the other world's.",
            lambda p: math.exp(-abs(p.y - p.count) / p.b) / (2 * p.b),
        ),
        mistake(
            "Gaussian densities",
            "Those are the densities of Gaussian noise. The noise here is Laplace noise: |y - c|, not its square.",
            lambda p: math.exp(((p.y - p.neighbour) ** 2 - (p.y - p.count) ** 2) / (2 * p.b**2)),
        ),
    ],
)


def _range_of(exponent: float) -> tuple[float, float]:
    return math.exp(-exponent), math.exp(exponent)


ratio_range = value_task(
    "ratio_range",
    see="lecture 1, section 5",
    probes=edges(
        each(3, difference=fixed(1, 2, 5), b=uniform(1.5, 4)), {"difference": 0}, {"difference": 12, "b": uniform(6, 9)}
    ),
    right=lambda p: _range_of(Laplace(epsilon=1 / p.b, sensitivity=1).privacy_loss(0, 0, p.difference)),
    form=Answers({"smallest": Answer(infinite=True), "largest": Answer(infinite=True)}),
    mistakes=[
        mistake(
            "the slide's range",
            "From 1 to infinity is what e^epsilon can be when you choose epsilon. For this b the ratio is bounded, and "
            "it falls below 1 as well: that is the point of the noise.",
            lambda p: (1.0, math.inf),
        ),
        mistake(
            "without bounds",
            "From 0 to infinity is the range without noise. However far out y lies, its distances to the two counts "
            "differ by no more than the counts do.",
            lambda p: (0.0, math.inf),
        ),
        mistake(
            "from 0 on",
            "The ratio never comes near 0: far out on the neighbour's side it stays at e^(-difference/b).",
            smallest=lambda p: 0.0,
        ),
        mistake(
            "range of the bound",
            "An answer can also speak against Alice, and then the ratio is below 1. From 1 on is the range of the "
            "bound.",
            smallest=lambda p: 1.0,
        ),
        mistake(
            "logarithms",
            "Those are the bounds of the privacy loss. The ratio is its exponential.",
            lambda p: (-p.difference / p.b, p.difference / p.b),
        ),
        mistake(
            "b upside down",
            "More noise (a larger b) must bring the two ends together: the exponent is divided by b.",
            lambda p: _range_of(p.difference * p.b),
        ),
        mistake(
            "difference forgotten",
            "The two counts need not differ by 1: here a whole family may have left.",
            lambda p: _range_of(1 / p.b),
        ),
        mistake(
            "b forgotten",
            "The wider the noise, the nearer to 1 both ends must be: the exponent is divided by b.",
            lambda p: _range_of(p.difference),
        ),
        mistake(
            "sign of the smallest",
            "You take minus the largest ratio. A ratio of densities is never negative: the smallest one is 1 over it.",
            smallest=lambda p: -math.exp(p.difference / p.b),
        ),
        mistake(
            "largest first",
            "The values are right, but the smallest comes first.",
            lambda p: _range_of(-p.difference / p.b),
        ),
    ],
)

noisy_count = laplace_task(
    "noisy_count",
    see="lecture 1, section 8",
    # an ordinary count, nobody at all (who needs noise, too), and another ordinary one
    probes=edges(
        each(3, count=whole((20, 499), (0, 0), (20, 499)), epsilon=uniform((0.2, 0.5), (0.3, 0.6), (2, 3))),
        {"count": 1},
        {"count": whole(1_500, 9_000)},
        {"count": whole(2_000_000, 4_000_000), "epsilon": uniform(0.001, 0.002)},
        {"epsilon": uniform(6, 9)},
    ),
    law=lambda p: (p.count, Laplace(epsilon=p.epsilon, sensitivity=1).scale),
    mistakes=[
        mistake(
            "scale upside down",
            "It looks like the scale is epsilon, not 1/epsilon: less privacy (a larger epsilon) must mean less noise.",
            scale=lambda p: p.epsilon,
        ),
        mistake(
            "no noise",
            "Without noise, whoever knows everybody else's answer reads the last one off.",
            lambda p: float(p.count),
        ),
        mistake(
            "Gaussian noise",
            "Gaussian noise of the same variance: far out its densities differ by any factor, so the ratio has no "
            "bound.",
            noise=lambda rng, size: rng.normal(0, math.sqrt(2), size),
        ),
        mistake(
            "one-sided",
            "The noise only ever adds: an answer below the count never comes, and rules a neighbour out.",
            noise=lambda rng, size: rng.exponential(size=size),
        ),
        mistake(
            "deviation for scale",
            "It looks like the standard deviation is 1/epsilon. Laplace noise of scale b has the deviation sqrt(2) b; "
            "it is the scale that must be 1/epsilon.",
            scale=lambda p: 1 / p.epsilon / math.sqrt(2),
        ),
        mistake(
            "variance for scale",
            "It looks like the scale is 2/epsilon**2. That is the variance of Laplace noise of scale 1/epsilon: where "
            "epsilon is above 2 it is less noise than needed, and does not keep the promise.",
            scale=lambda p: 2 / p.epsilon**2,
        ),
        mistake(
            "epsilon squared",
            "It looks like the scale is 1/epsilon**2. Where epsilon is below 1 that is more noise than needed, and "
            "where it is above 1 less: there it does not keep its promise.",
            scale=lambda p: 1 / p.epsilon**2,
        ),
        mistake(
            "epsilon forgotten",
            "It looks like the scale is 1, whatever epsilon is. It is 1/epsilon: a smaller budget needs more noise.",
            scale=lambda p: 1.0,
        ),
        mistake(
            "replaced",
            "It looks like the scale is 2/epsilon: private, but wasteful. One patient more or less moves the count by "
            "1, and so does a patient who is replaced by another.",
            scale=lambda p: 2 / p.epsilon, hides=True,
        ),
        mistake(
            "noise as large as the count",
            "It looks like the scale grows with the count. One patient moves it by 1, however large it is; and the "
            "width of the noise would tell the count, which is the secret.",
            draw=lambda p, rng: p.count + rng.laplace(0, p.count / p.epsilon), hides=False,
        ),
    ],
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


def _sensitivity(p: Any) -> float:
    if p.query in ("count", "histogram"):
        return {"count": sensitivity.count, "histogram": sensitivity.histogram}[p.query](p.relation)
    if p.query == "sum":
        return sensitivity.bounded_sum(p.low, p.high, p.relation)
    return sensitivity.mean(p.low, p.high, p.relation, n=p.n)


def _but(queries: str, relation: str, rule: Callable[[Any], float]) -> Callable[[Any], float]:
    """Right, but for these queries under relations with this word in their name (a mean: divided by n)."""

    def wrong(p: Any) -> float:
        if p.query not in queries.split() or relation not in p.relation:
            return _sensitivity(p)
        return rule(p) / (p.n if p.query == "mean" else 1)

    return wrong


sensitivity_of = value_task(
    "sensitivity_of",
    see="lecture 1, sections 4, 10 and 11",
    probes=edges(
        _sensitivity_probes,
        *({"query": "mean", "relation": relation, "n": 1} for relation in ("add/remove", "replace")),
        *(
            {"query": query, "relation": relation, "low": -9.5, "high": -4.25}
            for query in ("sum", "mean") for relation in ("add/remove", "replace")
        ),
        {"query": "sum", "relation": "add/remove", "low": 0.0, "high": 2_500.0},
        {"query": "histogram", "relation": "replace", "n": 1},
    ),
    right=_sensitivity,
    mistakes=[
        mistake(
            "range under add/remove",
            "The width of the range is for replacing a row. A row that comes brings its own value, at most max(|low|, "
            "|high|).",
            _but("sum mean", "add", lambda p: p.high - p.low),
        ),
        mistake(
            "largest size under replace",
            "Replacing trades one value for another: from low to high, a move of high - low.",
            _but("sum mean", "replace", lambda p: max(abs(p.low), abs(p.high))),
        ),
        mistake(
            "lower end forgotten",
            "The range goes below 0: a person of value low moves the sum by |low|, which may be more than high.",
            _but("sum mean", "add", lambda p: p.high),
        ),
        mistake(
            "ends added in size",
            "From low to high it is high - low. |low| + |high| is the same only where the range holds 0.",
            _but("sum mean", "replace", lambda p: abs(p.low) + abs(p.high)), hides=True,
        ),
        mistake(
            "upper end under replace",
            "Replacing trades low for high, or high for low: a move of high - low, and not of high alone.",
            _but("sum mean", "replace", lambda p: p.high),
        ),
        mistake(
            "mean not divided",
            "The mean is the sum divided by the public n, so one person moves it n times less.",
            _but("mean", "", lambda p: p.n**2 * _sensitivity(p)), hides=True,
        ),
        mistake(
            "count moved by two",
            "Who is replaced by another may match where the other does not: the count moves by 1, not by 2.",
            _but("count", "replace", lambda p: 2.0), hides=True,
        ),
        mistake(
            "histogram counted once",
            "Who moves from one category to another changes two counts: one falls, one rises.",
            _but("histogram", "", lambda p: 1.0),
        ),
        mistake(
            "straight length of the histogram",
            "sqrt(2) is the l2 length of the change. In l1 the sizes add up: one count falls by 1, another rises by 1.",
            _but("histogram", "replace", lambda p: math.sqrt(2)),
        ),
        mistake(
            "histogram counted twice",
            "Who comes or goes is in one category only and changes one count. 2 would be private, but wasteful.",
            _but("histogram", "", lambda p: 2.0), hides=True,
        ),
    ],
)  # fmt: skip
