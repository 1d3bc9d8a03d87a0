"""Homework 3, fourth part: what a whole group is promised, and a budget that is spent query by query."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.accounting import Budget, BudgetExceeded, basic_composition, group_privacy
from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown


def _group_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Families of 3 to 7; the last mechanism has epsilon = 0, where the geometric sum is not a quotient."""
    return [
        {"epsilon": float(epsilon), "delta": float(10 ** rng.uniform(-4, -3)), "k": int(rng.integers(3, 8))}
        for epsilon in (rng.uniform(0.2, 0.4), rng.uniform(0.5, 0.9), 0.0)
    ]


def _group(epsilon: float, delta: float, k: int, *, sharp: bool = True) -> dict[str, float]:
    spent = group_privacy(epsilon, delta, k, sharp=sharp)
    return {"epsilon": spent.epsilon, "delta": spent.delta}


def _judge_group(talk: Interview) -> None:
    pairs = [(probe, talk.value(probe)) for probe in talk.probes]
    for probe, found in pairs:
        right = _group(**probe)
        if not same_values(found, right):
            text = f"For {arguments(probe)} you answer {shown(found)}; right is {shown(right)}."
            loose = same_values(found, _group(**probe, sharp=False))
            talk.fail(text, wasteful=loose and found["delta"] > right["delta"])
    talk.praise = f"All {len(pairs)} probes are answered right."


group_guarantee = Task(
    name="group_guarantee",
    see="lecture 3, What all private algorithms share (group privacy)",
    probes=_group_probes,
    judge=_judge_group,
    answer=Answers({"epsilon": Answer(), "delta": Answer()}),
    mistakes=(
        Mistake(
            "the slide's bound", lambda epsilon, delta, k: _group(epsilon, delta, k, sharp=False),
            "k e^((k-1) eps) delta is the slide's bound: valid, but wasteful. It replaces each term of the geometric "
            "sum 1 + e^eps + ... + e^((k-1) eps) by the largest one.",
        ),
        Mistake(
            "k delta", lambda epsilon, delta, k: (k * epsilon, k * delta),
            "Each link of the chain multiplies what came before by e^epsilon, the earlier deltas included: k delta is "
            "too small a promise to keep.",
        ),
        Mistake(
            "epsilon kept", lambda epsilon, delta, k: (epsilon, _group(epsilon, delta, k)["delta"]),
            "k rows may differ, and each costs a factor e^epsilon: together e^(k epsilon).",
        ),
        Mistake(
            "epsilon exponential",
            lambda epsilon, delta, k: (math.exp(k * epsilon), _group(epsilon, delta, k)["delta"]),
            "epsilon grows in proportion, k epsilon. What grows exponentially is the ratio e^(k epsilon), and delta. "
            "(The slide is loose here.)",
        ),
        Mistake(
            "one term too many",
            lambda epsilon, delta, k: (k * epsilon, delta * sum(math.exp(i * epsilon) for i in range(k + 1))),
            "A chain of k links has k deltas: the sum runs from e^0 to e^((k-1) eps).",
        ),
    ),
)  # fmt: skip


def _ledger_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Four days at the hospital. Prices are whole multiples of a power of 2, so that a budget can be used up to the
    last bit, in any order of adding.

    On the first day a refused query is followed by smaller ones that fit, the last of them exactly; on the second,
    delta runs out before epsilon, is missed by a quarter of the smallest price and then used up; the third is long, and
    one of its queries costs more than the whole budget; on the fourth there is no delta, and epsilon is missed by
    little.
    """
    unit = float(rng.integers(1, 4)) / 8
    tiny = float(rng.integers(3, 6)) * 2.0**-18  # 1.1e-5 to 1.9e-5, exact in 17 decimal digits as well
    little = tiny / 4
    first = [(4 * unit, 0.0), (2 * unit, tiny), (4 * unit, 0.0), (unit, 0.0), (unit, 0.0), (unit, 0.0)]
    second = [
        (unit, 3 * tiny), (unit, 4 * tiny), (unit, 2 * tiny), (unit, 2 * tiny - little), (2 * unit, tiny), (unit, 0.0),
    ]  # fmt: skip
    third = [(float(rng.integers(1, 5)) / 8, float(rng.uniform(0.5, 1.5)) * tiny) for _ in range(12)]
    third[int(rng.integers(2, 9))] = (2.25, tiny)
    return [
        {"costs": first, "epsilon": 8 * unit, "delta": 3 * tiny},
        {"costs": second, "epsilon": 8 * unit, "delta": 7 * tiny - little},
        {"costs": third, "epsilon": 2.0, "delta": 20 * tiny},
        {
            "costs": [(2 * unit, 0.0), (unit, tiny), (2 * unit, 0.0), (unit, 0.0)],
            "epsilon": 4 * unit - 2.0**-12,
            "delta": 0.0,
        },
    ]


def _ledger(costs: Any, epsilon: float, delta: float) -> dict[str, Any]:
    budget, answered = Budget(epsilon=epsilon, delta=delta), []
    for cost in costs:
        try:
            budget.spend(*cost)
            answered.append(1.0)
        except BudgetExceeded:
            answered.append(0.0)
    spent = basic_composition([cost for cost, yes in zip(costs, answered, strict=True) if yes])
    return {"answered": np.array(answered), "epsilon": spent.epsilon, "delta": spent.delta}


def _judge_ledger(talk: Interview) -> None:
    """Names the first query that is decided wrongly, and what was left then."""
    found = [talk.value(probe) for probe in talk.probes]
    for probe, answer in zip(talk.probes, found, strict=True):
        right, costs = _ledger(**probe), probe["costs"]
        about = f"For epsilon = {probe['epsilon']:g}, delta = {probe['delta']:.3g} and the costs {_pairs(costs)}:"
        if answer["answered"].shape != right["answered"].shape:
            talk.fail(f"{about} there are {len(costs)} queries, but you decide on {answer['answered'].size}.")
        wrong = np.flatnonzero(answer["answered"] != right["answered"])
        if wrong.size:
            first = int(wrong[0])
            spent = [
                sum(cost[i] for cost, yes in zip(costs[:first], right["answered"], strict=False) if yes) for i in (0, 1)
            ]
            verb, truth = ("refuse", "it fits") if right["answered"][first] else ("answer", "it does not fit")
            talk.fail(
                f"{about} you {verb} query number {first + 1}, but {truth}: it costs "
                f"{_pairs(costs[first : first + 1])}, and ({probe['epsilon'] - spent[0]:g}, "
                f"{probe['delta'] - spent[1]:.3g}) is left.",
                name=_decided_like(talk, found),
            )
        if not same_values(answer, right):
            totals = [f"({one['epsilon']:.6g}, {one['delta']:.4g})" for one in (answer, right)]
            talk.fail(f"{about} you decide right, but say that {totals[0]} is spent; it is {totals[1]}.")
    talk.praise = f"All {len(found)} ledgers are right."


def _decided_like(talk: Interview, found: Sequence[Any]) -> str:
    """The one mistake that decides on every query as the student does, whatever is said to be spent; or "".

    Two of them always decide alike (refused and charged, closed after the first refusal): then what is spent tells.
    """
    alike = [
        known.name
        for known in talk.task.mistakes
        if all(
            np.array_equal(one["answered"], known.wrong(**probe)["answered"])
            for one, probe in zip(found, talk.probes, strict=True)
        )
    ]
    return alike[0] if len(alike) == 1 else ""


def _pairs(costs: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"({epsilon:g}, {delta:.3g})" for epsilon, delta in costs)


def _left(costs: Any, epsilon: float, delta: float) -> dict[str, Any]:
    """Decided right, but what is left is given back for what is spent."""
    right = _ledger(costs, epsilon, delta)
    return {**right, "epsilon": epsilon - right["epsilon"], "delta": delta - right["delta"]}


def _kept(costs: Any, epsilon: float, delta: float, *, rule: str) -> dict[str, Any]:
    """A ledger with one mistake."""
    answered: list[float] = []
    eps = dlt = 0.0
    closed = False
    for cost in costs:
        fits = eps + cost[0] <= epsilon and (dlt + cost[1] <= delta or rule == "delta")
        if rule == "strict":
            fits = eps + cost[0] < epsilon and dlt + cost[1] < delta
        if rule == "late":
            fits = eps < epsilon and dlt < delta
        if rule == "alone":
            fits = cost[0] <= epsilon and cost[1] <= delta
        if rule == "twice":
            fits = eps + cost[0] <= epsilon - eps and dlt + cost[1] <= delta - dlt
        if rule == "either":
            fits = eps + cost[0] <= epsilon or dlt + cost[1] <= delta
        if rule == "all":
            fits = True
        closed = closed or (rule == "stop" and not fits)
        answered.append(float(fits and not closed))
        if answered[-1] or rule == "charged":
            eps, dlt = eps + cost[0], dlt + cost[1]
    return {"answered": np.array(answered), "epsilon": eps, "delta": dlt}


ledger = Task(
    name="ledger",
    see="lecture 3, What all private algorithms share (composition)",
    probes=_ledger_probes,
    judge=_judge_ledger,
    answer=Answers({"answered": Answer(shape=(None,)), "epsilon": Answer(), "delta": Answer()}),
    mistakes=(
        Mistake(
            "refused and charged", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="charged"),
            "You charge for what you refuse. Nothing was released then, so nothing is owed.",
        ),
        Mistake(
            "closed after the first refusal", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="stop"),
            "After a refusal the budget is not gone: a smaller query may still fit.",
        ),
        Mistake(
            "delta not checked", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="delta"),
            "A query must fit twice: its epsilon into the epsilon that is left, and its delta into the delta.",
        ),
        Mistake(
            "never used up", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="strict"),
            "A query that uses up the budget exactly is still within it: compare with <=, not with <.",
        ),
        Mistake(
            "refused too late", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="late"),
            "You look whether something is left, not whether the query fits into it: the budget is overdrawn before "
            "you refuse, and a published answer cannot be taken back.",
        ),
        Mistake(
            "left for spent", _left,
            "That is what is left of the budget. Asked is what is spent: the sum of the prices that were answered.",
        ),
        Mistake(
            "each query by itself", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="alone"),
            "You compare each query with the whole budget, as if it were the first one. What was answered before has "
            "been spent: compare with what is left.",
        ),
        Mistake(
            "spent counted twice", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="twice"),
            "What is spent is counted twice: already taken off the budget in what is left, and added to the price "
            "again. Compare either the price with what is left, or spent and price together with the whole budget.",
        ),
        Mistake(
            "one of them fits", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="either"),
            "You answer a query if its epsilon or its delta fits. Both must fit.",
        ),
        Mistake(
            "nothing refused", lambda costs, epsilon, delta: _kept(costs, epsilon, delta, rule="all"),
            "Every query is answered, whatever it costs: a budget is kept by saying no.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (group_guarantee, ledger)
