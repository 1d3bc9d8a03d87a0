"""Homework 3, third part: what delta allows: leaks, a heavy tail that is private all the same, and post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import LeakRows, LeakTable
from dpcourse.privacy_loss import DiscreteLoss
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown

SINGLE = 2e-6  # what single precision may change in a probability or a loss


def _leak_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Products n delta around 1, where the slide's approximation is visibly off."""
    return [
        {"delta": float(product / n), "n": int(n), "risk": float(rng.uniform(0.1, 0.5))}
        for product, n in zip(rng.uniform((0.3, 0.8, 1.5), (0.6, 1.4, 3)), rng.integers(50, 400, 3), strict=True)
    ]


def _leaks(delta: float, n: int, risk: float) -> dict[str, float]:
    return {
        "table": LeakTable(delta=delta).probability_somebody_leaks(n),
        "rows": LeakRows(delta=delta).probability_somebody_leaks(n),
        "largest_delta": -math.expm1(math.log1p(-risk) / n),  # where 1 - (1 - delta)^n equals the risk
    }


def _leaks_but(**wrong: Any) -> Any:
    """The right answers with one of them replaced."""
    return lambda delta, n, risk: {
        **_leaks(delta, n, risk), **{part: value(delta, n, risk) for part, value in wrong.items()}
    }  # fmt: skip


leaks = Task(
    name="leaks",
    see='lecture 3, "What is this δ doing?"',
    probes=_leak_probes,
    judge=values_of(_leaks),
    answer=Answers({"table": Answer(), "rows": Answer(), "largest_delta": Answer()}),
    mistakes=(
        Mistake(
            "n times delta", _leaks_but(rows=lambda delta, n, risk: n * delta),
            "n delta is the number of people who leak on average. It is near the probability that somebody does only "
            "while it is small, and it may exceed 1.",
        ),
        Mistake(
            "n times delta throughout",
            _leaks_but(rows=lambda delta, n, risk: n * delta, largest_delta=lambda delta, n, risk: risk / n),
            "n delta is the number of people who leak on average, and risk/n the largest delta by it. The probability "
            "that somebody leaks is 1 - (1 - delta)^n: solve that for delta.",
        ),
        Mistake(
            "swapped",
            _leaks_but(
                table=lambda delta, n, risk: _leaks(delta, n, risk)["rows"],
                rows=lambda delta, n, risk: _leaks(delta, n, risk)["table"],
            ),
            "Table and rows are swapped: one coin for the whole table, or one for every row.",
        ),
        Mistake(
            "nobody", _leaks_but(rows=lambda delta, n, risk: (1 - delta) ** n),
            "(1 - delta)^n is the probability that nobody leaks.",
        ),
        Mistake(
            "table by rows", _leaks_but(table=lambda delta, n, risk: 1 - (1 - delta) ** n),
            "The whole table is published by one toss of the coin: all or nobody, whatever n is.",
        ),
        Mistake(
            "risk over n", _leaks_but(largest_delta=lambda delta, n, risk: risk / n),
            "risk/n is the largest delta by the approximation n delta. It is on the safe side, but not the largest.",
        ),
        Mistake(
            "one over n", _leaks_but(largest_delta=lambda delta, n, risk: 1 / n),
            "With delta = 1/n somebody leaks in nearly two of three cases. delta must follow from the risk you accept.",
        ),
    ),
)  # fmt: skip


def _promise_probes(rng: np.random.Generator) -> Sequence[Probe]:
    return [
        {"epsilon": float(epsilon), "delta": float(delta)}
        for epsilon, delta in zip(rng.uniform((0.2, 0.8), (0.6, 2)), rng.uniform((0.02, 0.1), (0.08, 0.3)), strict=True)
    ]


def _judge_heavy_tail(talk: Interview) -> None:
    found = [talk.value(probe) for probe in talk.probes]
    for probe, worlds in zip(talk.probes, found, strict=True):
        epsilon, delta = probe["epsilon"], probe["delta"]
        about = f"For {arguments(probe)} you answer p = {shown(worlds['p'])}, q = {shown(worlds['q'])}."
        _refuse_no_probabilities(talk, about, worlds["p"], worlds["q"])
        loss = DiscreteLoss.from_probabilities(*(worlds[name] / worlds[name].sum() for name in ("p", "q")))
        needed = [float(one.delta(epsilon)) for one in (loss, loss.reverse())]
        over = [order > delta + SINGLE for order in needed]
        if any(over):
            name = "not private" if all(over) else "one order only"
            talk.fail(
                f"{about} It is not private: the smallest delta at this epsilon is {needed[0]:.4g} for p against q, "
                f"and {needed[1]:.4g} for q against p; {delta:.4g} is allowed.",
                name=name,
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


def _private_one_way(epsilon: float, delta: float) -> tuple[list[float], list[float]]:
    """An output that comes only from the neighbour: half-way between what one order forbids and the other allows."""
    only_q = (delta + 1 - (1 - delta) * math.exp(-epsilon)) / 2
    return [1.0, 0.0], [1 - only_q, only_q]


heavy_tail = Task(
    name="heavy_tail",
    see='lecture 3, "Does the tail promise give us this?"',
    probes=_promise_probes,
    judge=_judge_heavy_tail,
    answer=Answers({"p": Answer(shape=(None,)), "q": Answer(shape=(None,))}),
    mistakes=(
        Mistake(
            "tail too small", lambda epsilon, delta: _response_with_odds(math.exp(epsilon)),
            "Randomized response with the tight theta never exceeds epsilon: its tail is 0. Tell the truth a little "
            "more often, as often as delta allows.",
        ),
        Mistake(
            "tail as large as delta", lambda epsilon, delta: ([1 - delta, delta, 0], [1 - delta, 0, delta]),
            "A leak with probability delta uses all of delta for infinite losses, and so its tail is just delta. "
            "Losses that exceed epsilon by little count by little: have many of those.",
        ),
        Mistake(
            "not private", lambda epsilon, delta: _response_with_odds(math.exp(epsilon) * (1 + 4 * delta) + 8 * delta),
            "A loss above epsilon must be paid for: Pr[M(D) in Y] - e^epsilon Pr[M(D') in Y] is delta at most, for "
            "every Y.",
        ),
        Mistake(
            "one order only", lambda epsilon, delta: _private_one_way(epsilon, delta),
            "Neighbours come in both orders: swap p and q, and the definition must hold again.",
        ),
        Mistake(
            "no probabilities", lambda epsilon, delta: ([math.exp(epsilon), 1], [1, math.exp(epsilon)]),
            "Each world is a distribution over the same outputs: as many numbers in both, none below 0, and their sum "
            "is 1.",
        ),
    ),
)  # fmt: skip


def _deltas(p: Any, q: Any, epsilon: float) -> tuple[float, float]:
    """The smallest delta of both orders."""
    loss = DiscreteLoss.from_probabilities(p, q)
    return float(loss.delta(epsilon)), float(loss.reverse().delta(epsilon))


def _merged(world: Any, g: Any) -> np.ndarray:
    return np.bincount(np.asarray(g), weights=world)


def _gains(one: np.ndarray, other: np.ndarray, epsilon: float) -> np.ndarray:
    return np.maximum(one - math.exp(epsilon) * other, 0)


def _after_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Six outputs, three values of g. Both times something is lost, and each order is once the worse one.

    Worse by two values of g, not by one: else the worst set would be a single output.
    """
    found: list[Probe] = []
    while len(found) < 2:
        p, q = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(6))
        g, epsilon = rng.permutation([0, 0, 1, 1, 2, 2]), float(rng.uniform(0.1, 0.3))
        before = max(_gains(p, q, epsilon).sum(), _gains(q, p, epsilon).sum())
        worlds = (_merged(p, g), _merged(q, g))
        worse, better = (_gains(worlds[i], worlds[1 - i], epsilon) for i in (len(found), 1 - len(found)))
        if np.sum(worse > 0.01) == 2 and before > worse.sum() + 0.02 and worse.sum() > better.sum() + 0.02 > 0.03:
            found.append({"p": p, "q": q, "g": g, "epsilon": epsilon})
    return found


def _delta_after(p: Any, q: Any, g: Any, epsilon: float) -> float:
    return max(_deltas(_merged(p, g), _merged(q, g), epsilon))


delta_after = Task(
    name="delta_after",
    see="lecture 3, What all private algorithms share (post-processing)",
    probes=_after_probes,
    judge=values_of(_delta_after),
    mistakes=(
        Mistake(
            "before", lambda p, q, g, epsilon: max(_deltas(p, q, epsilon)),
            "That is the delta of M itself, or you took the positive parts before you merged. Outputs with the same g "
            "cannot be told apart any more: add up their probabilities first.",
        ),
        Mistake(
            "one order only", lambda p, q, g, epsilon: _deltas(_merged(p, g), _merged(q, g), epsilon)[0],
            "Neighbours come in both orders: take the larger of the two deltas.",
        ),
        Mistake(
            "one output at a time",
            lambda p, q, g, epsilon: max(
                float(np.max(one - math.exp(epsilon) * other))
                for one, other in ((_merged(p, g), _merged(q, g)), (_merged(q, g), _merged(p, g)))
            ),
            "You take the worst single output. The worst set collects all outputs with a positive difference: add "
            "them up.",
        ),
        Mistake(
            "e^epsilon forgotten", lambda p, q, g, epsilon: max(_deltas(_merged(p, g), _merged(q, g), 0.0)),
            "The neighbour's probability is multiplied by e^epsilon before it is subtracted.",
        ),
        Mistake(
            "largest loss",
            lambda p, q, g, epsilon: float(np.max(np.abs(np.log(_merged(p, g) / _merged(q, g))))),
            "That is the largest privacy loss, the epsilon of pure privacy. Asked is delta at the given epsilon.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (leaks, heavy_tail, delta_after)
