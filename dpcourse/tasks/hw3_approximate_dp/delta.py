"""Homework 3, third part: what delta allows: leaks, a heavy tail that is private all the same, and post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import LeakRows, LeakTable
from dpcourse.privacy_loss import DiscreteLoss
from dpcourse.tasks.answers import NUMBER, VECTOR, Answers
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.mistake import mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, shown

SINGLE = 2e-6  # what single precision may change in a probability or a loss


def _leak_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Products n delta around 1, where the slide's approximation is visibly off; and a single patient.

    Few patients: so the approximations by e^(-n delta) and ln(1 - risk) / n are off by more than the tolerance, too.
    """
    sizes = [*rng.integers(20, 60, 3), 1]
    products = rng.uniform((0.3, 0.8, 1.5, 0.6), (0.6, 1.4, 3, 0.8))
    risks = rng.uniform((0.1, 0.1, 0.6, 0.1), (0.5, 0.5, 0.9, 0.5))
    return [
        {"delta": float(product / n), "n": int(n), "risk": float(risk)}
        for product, n, risk in zip(products, sizes, risks, strict=True)
    ]


def _rows(p: Any) -> float:
    return LeakRows(delta=p.delta).probability_somebody_leaks(p.n)


def _largest(p: Any) -> float:
    """Where 1 - (1 - delta)^n equals the risk."""
    return -math.expm1(math.log1p(-p.risk) / p.n)


leaks = value_task(
    "leaks",
    see='lecture 3, "What is this δ doing?"',
    probes=_leak_probes,
    right=lambda p: (LeakTable(delta=p.delta).probability_somebody_leaks(p.n), _rows(p), _largest(p)),
    form=Answers({"table": NUMBER, "rows": NUMBER, "largest_delta": NUMBER}),
    tolerance=1e-4,  # single precision loses three digits in 1 - (1 - risk)^(1/n)
    mistakes=[
        mistake(
            "n times delta",
            "n delta is the number of people who leak on average. It is near the probability that somebody does only "
            "while it is small, and it may exceed 1.",
            rows=lambda p: p.n * p.delta,
        ),
        mistake(
            "n times delta, at most 1",
            "n delta is the number of people who leak on average. Cut at 1 it is still only a bound: the probability "
            "that nobody leaks is (1 - delta)^n.",
            rows=lambda p: min(1.0, p.n * p.delta),
        ),
        mistake(
            "n times delta throughout",
            "n delta is the number of people who leak on average, and risk/n the largest delta by it. The probability "
            "that somebody leaks is 1 - (1 - delta)^n: solve that for delta.",
            rows=lambda p: p.n * p.delta, largest_delta=lambda p: p.risk / p.n,
        ),
        mistake(
            "swapped",
            "Table and rows are swapped: one coin for the whole table, or one for every row.",
            table=_rows, rows=lambda p: p.delta,
        ),
        mistake("nobody", "(1 - delta)^n is the probability that nobody leaks.", rows=lambda p: (1 - p.delta) ** p.n),
        mistake(
            "one certain patient",
            "delta is the probability that a certain patient leaks. Asked is whether anybody does, of all n.",
            rows=lambda p: p.delta,
        ),
        mistake(
            "by an exponential",
            "e^(-n delta) is an approximation of (1 - delta)^n for a small delta, and not exact.",
            rows=lambda p: -math.expm1(-p.n * p.delta),
        ),
        mistake(
            "table by rows",
            "The whole table is published by one toss of the coin: all or nobody, whatever n is.",
            table=_rows,
        ),
        mistake(
            "risk over n",
            "risk/n is the largest delta by the approximation n delta. It is on the safe side, but not the largest.",
            largest_delta=lambda p: p.risk / p.n,
        ),
        mistake(
            "one over n",
            "With delta = 1/n somebody leaks in nearly two of three cases. delta must follow from the risk you accept.",
            largest_delta=lambda p: 1 / p.n,
        ),
        mistake(
            "root of the risk",
            "risk^(1/n) is the delta at which all n leak with probability risk. Asked is whether somebody does.",
            largest_delta=lambda p: p.risk ** (1 / p.n),
        ),
        mistake(
            "one minus forgotten",
            "(1 - risk)^(1/n) is 1 - delta: the probability that a certain patient does not leak.",
            largest_delta=lambda p: (1 - p.risk) ** (1 / p.n),
        ),
    ],
)  # fmt: skip


def _promise_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {"epsilon": float(epsilon), "delta": float(delta)}
        for epsilon, delta in zip(rng.uniform((0.2, 1.2), (0.6, 3)), rng.uniform((0.02, 0.1), (0.08, 0.3)), strict=True)
    ]


def _judge_heavy_tail(talk: Interview) -> None:
    for probe, worlds in [(probe, talk.value(probe)) for probe in talk.probes]:
        epsilon, delta, p, q = probe["epsilon"], probe["delta"], worlds["p"], worlds["q"]
        about = f"For {arguments(probe)} you answer p = {shown(p)}, q = {shown(q)}."
        talk.failing = probe
        _refuse_no_probabilities(talk, about, p, q)
        loss = DiscreteLoss.from_probabilities(p / p.sum(), q / q.sum())
        needed = [float(one.delta(epsilon)) for one in (loss, loss.reverse())]
        over = [order > delta + SINGLE for order in needed]
        if any(over):
            talk.fail(
                f"{about} It is not private: the smallest delta at this epsilon is {needed[0]:.4g} for p against q, "
                f"and {needed[1]:.4g} for q against p; {delta:.4g} is allowed.",
                name="not private" if all(over) else "one order only",
            )
        tail = float(loss.above(epsilon + SINGLE)[0] + loss.below(-epsilon - SINGLE)[0])
        if tail <= delta + SINGLE:
            talk.fail(
                f"{about} It is private, but its tail Pr[|L| > epsilon] is {tail:.4g}, and that does not exceed delta "
                f"= {delta:.4g}.",
                name="tail as large as delta" if tail > delta - SINGLE else "tail too small",
            )
    talk.praise = "Private, and the tail is larger than delta: the tail promise is sufficient, not necessary."


def _refuse_no_probabilities(talk: Interview, about: str, p: np.ndarray, q: np.ndarray) -> None:
    if p.size != q.size or p.size == 0:
        talk.fail(f"{about} Both worlds need the same outputs, so p and q the same length.", name="no probabilities")
    for name, world in (("p", p), ("q", q)):
        if world.min() < 0 or abs(world.sum() - 1) > SINGLE:
            talk.fail(f"{about} {name} must be probabilities: none below 0, sum 1.", name="no probabilities")


def _response_with_odds(odds: float) -> tuple[list[float], list[float]]:
    truth = odds / (1 + odds)
    return [truth, 1 - truth], [1 - truth, truth]


def _private_one_way(p: Any) -> tuple[list[float], list[float]]:
    """An output that comes only from the neighbour: half-way between what one order forbids and the other allows."""
    only_q = (p.delta + 1 - (1 - p.delta) * math.exp(-p.epsilon)) / 2
    return [1.0, 0.0], [1 - only_q, only_q]


heavy_tail = judged_task(
    "heavy_tail",
    see='lecture 3, "Does the tail promise give us this?"',
    probes=_promise_probes,
    judge=_judge_heavy_tail,
    form=Answers({"p": VECTOR, "q": VECTOR}),
    mistakes=[
        mistake(
            "tail too small",
            "Randomized response with the tight theta never exceeds epsilon: its tail is 0. Tell the truth a little "
            "more often, as often as delta allows.",
            lambda p: _response_with_odds(math.exp(p.epsilon)),
        ),
        mistake(
            "tail as large as delta",
            "A leak with probability delta uses all of delta for infinite losses, and so its tail is just delta. "
            "Losses that exceed epsilon by little count by little: have many of those.",
            lambda p: ([1 - p.delta, p.delta, 0], [1 - p.delta, 0, p.delta]),
        ),
        mistake(
            "not private",
            "A loss above epsilon must be paid for: Pr[M(D) in Y] - e^epsilon Pr[M(D') in Y] is delta at most, for "
            "every Y.",
            lambda p: _response_with_odds(math.exp(p.epsilon) * (1 + 4 * p.delta) + 8 * p.delta),
        ),
        mistake(
            "one order only",
            "Neighbours come in both orders: swap p and q, and the definition must hold again.",
            _private_one_way,
        ),
        mistake(
            "no probabilities",
            "Each world is a distribution over the same outputs: as many numbers in both, none below 0, and their sum "
            "is 1.",
            lambda p: ([math.exp(p.epsilon), 1], [1, math.exp(p.epsilon)]),
        ),
    ],
)  # fmt: skip


def _deltas(p: Any, q: Any, epsilon: float) -> tuple[float, float]:
    """The smallest delta of both orders."""
    loss = DiscreteLoss.from_probabilities(p, q)
    return float(loss.delta(epsilon)), float(loss.reverse().delta(epsilon))


def _merged(world: Any, g: Any) -> np.ndarray:
    return np.bincount(np.asarray(g), weights=world)


def _seen(p: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both worlds, as the journalist sees them."""
    return _merged(p.p, p.g), _merged(p.q, p.g)


def _gains(one: np.ndarray, other: np.ndarray, epsilon: float) -> np.ndarray:
    return np.maximum(one - math.exp(epsilon) * other, 0)


def _after_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Six outputs, three values of g. Something is always lost, each order is once the worse one, epsilon once above 1.

    Worse by two values of g, not by one: else the worst set would be a single output. Each of the answers that could be
    mixed up (before, both orders, the worst single output) differs from the others.
    """
    probes: list[Probe] = []
    while len(probes) < 2:
        p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        g, epsilon = rng.permutation([0, 0, 1, 1, 2, 2]), float(rng.uniform(*((0.1, 0.3), (1.05, 1.15))[len(probes)]))
        before = max(_gains(p, q, epsilon).sum(), _gains(q, p, epsilon).sum())
        worlds = (_merged(p, g), _merged(q, g))
        worse, better = (_gains(worlds[i], worlds[1 - i], epsilon) for i in (len(probes), 1 - len(probes)))
        apart = before > worse.sum() + 0.02 and worse.max() > better.sum() + 0.01 > 0.02
        if np.sum(worse > 0.01) == 2 and apart:
            probes.append({"p": p, "q": q, "g": g, "epsilon": epsilon})
    return probes


delta_after = value_task(
    "delta_after",
    see="lecture 3, Post-processing",
    probes=_after_probes,
    right=lambda p: max(_deltas(*_seen(p), p.epsilon)),
    mistakes=[
        mistake(
            "before",
            "That is the delta of M itself, or you took the positive parts before you merged. Outputs with the same g "
            "cannot be told apart any more: add up their probabilities first.",
            lambda p: max(_deltas(p.p, p.q, p.epsilon)),
        ),
        mistake(
            "one order only",
            "Neighbours come in both orders: take the larger of the two deltas.",
            lambda p: _deltas(*_seen(p), p.epsilon)[0],
        ),
        mistake(
            "the other order only",
            "You compare q with p only. Neighbours come in both orders: take the larger of the two deltas.",
            lambda p: _deltas(*_seen(p), p.epsilon)[1],
        ),
        mistake(
            "the smaller order",
            "You take the smaller of the two deltas. The promise must hold in both orders: take the larger one.",
            lambda p: min(_deltas(*_seen(p), p.epsilon)),
        ),
        mistake(
            "both orders added",
            "You add up the deltas of both orders. Each order is a promise of its own: take the larger delta.",
            lambda p: sum(_deltas(*_seen(p), p.epsilon)),
        ),
        mistake(
            "average of both orders",
            "You take the average of the deltas of both orders. The promise must hold in both: take the larger one.",
            lambda p: sum(_deltas(*_seen(p), p.epsilon)) / 2,
        ),
        mistake(
            "mean for sum",
            "You take the mean probability of the outputs with the same g. The journalist sees any of them: add their "
            "probabilities up.",
            lambda p: max(
                float(_gains(one / np.bincount(p.g), other / np.bincount(p.g), p.epsilon).sum())
                for one, other in (_seen(p), _seen(p)[::-1])
            ),
        ),
        mistake(
            "one output at a time",
            "You take the worst single output. The worst set collects all outputs with a positive difference: add "
            "them up.",
            lambda p: max(float(_gains(one, other, p.epsilon).max()) for one, other in (_seen(p), _seen(p)[::-1])),
        ),
        mistake(
            "e^epsilon forgotten",
            "The neighbour's probability is multiplied by e^epsilon before it is subtracted.",
            lambda p: max(_deltas(*_seen(p), 0.0)),
        ),
        mistake(
            "largest loss",
            "That is the largest privacy loss, the epsilon of pure privacy. Asked is delta at the given epsilon.",
            lambda p: float(np.abs(np.log(np.divide(*_seen(p)))).max()),
        ),
    ],
)  # fmt: skip
