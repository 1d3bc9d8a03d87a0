"""Homework 3, fourth part: what a whole group is promised, and a budget that is spent query by query."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.accounting import Budget, BudgetExceeded, basic_composition, group_privacy
from dpcourse.tasks.answers import NUMBER, VECTOR, Answers
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.costs import COST, meaning_of_cost
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import arguments_of, mistake
from dpcourse.tasks.probes import each, edges, log_uniform, uniform, whole
from dpcourse.tasks.respondent import Probe


def _group(p: Any) -> tuple[float, float]:
    spent = group_privacy(p.epsilon, p.delta, p.k, sharp=True)
    return spent.epsilon, spent.delta


def _sum_of(terms: Callable[[int], range]) -> Callable[[Any], float]:
    """delta times the sum of e^(i eps) over other terms."""
    return lambda p: p.delta * sum(math.exp(i * p.epsilon) for i in terms(p.k))


group_guarantee = value_task(
    "group_guarantee",
    see="lecture 3, Group privacy",
    # One mechanism has epsilon = 0, where the geometric sum is not a quotient. A family may be a single person.
    probes=edges(
        each(
            4, epsilon=uniform((0.2, 0.4), (1.1, 1.5), (0, 0), (0.5, 0.9)), k=whole((3, 7), (3, 7), (3, 7), (1, 1)),
            delta=log_uniform((-4, -3), (-7, -6), (-4, -3), (-4, -3)),
        ),
        {"delta": 0.0},
    ),
    right=_group,
    form=COST,
    note=meaning_of_cost,
    mistakes=[
        mistake(
            "the slide's bound",
            "k e^((k-1) eps) delta is the slide's bound: valid, but wasteful. It replaces each term of the geometric "
            "sum 1 + e^eps + ... + e^((k-1) eps) by the largest one.",
            delta=lambda p: p.k * math.exp((p.k - 1) * p.epsilon) * p.delta, hides=True,
        ),
        mistake(
            "k for k - 1",
            "It looks like k e^(k eps) delta. The slide's bound has k - 1 in the exponent, and the chain's sum is "
            "smaller still.",
            delta=lambda p: p.k * math.exp(p.k * p.epsilon) * p.delta, hides=True,
        ),
        mistake(
            "k delta",
            "Each link of the chain multiplies what came before by e^epsilon, the earlier deltas included: k delta is "
            "too small a promise to keep.",
            delta=lambda p: p.k * p.delta,
        ),
        mistake(
            "delta kept",
            "delta is that of one person. Each link of the chain adds another delta, and multiplies those before it.",
            delta=lambda p: p.delta,
        ),
        mistake(
            "last term only",
            "e^((k-1) eps) delta is the largest term of the sum. Each of the k links has a delta: add them all up.",
            delta=lambda p: math.exp((p.k - 1) * p.epsilon) * p.delta,
        ),
        mistake(
            "epsilon kept",
            "k rows may differ, and each costs a factor e^epsilon: together e^(k epsilon).",
            epsilon=lambda p: p.epsilon,
        ),
        mistake(
            "epsilon exponential",
            "epsilon grows in proportion, k epsilon. What grows exponentially is the ratio e^(k epsilon), and delta. "
            "(The slide is loose here.)",
            epsilon=lambda p: math.exp(p.k * p.epsilon),
        ),
        mistake(
            "one term too many",
            "A chain of k links has k deltas: the sum runs from e^0 to e^((k-1) eps).",
            delta=_sum_of(lambda k: range(k + 1)),
        ),
        mistake(
            "one term too few",
            "A chain of k links has k deltas: the sum runs from e^0 to e^((k-1) eps), both included.",
            delta=_sum_of(lambda k: range(k - 1)),
        ),
        mistake(
            "sum from e^epsilon",
            "The last link's delta is multiplied by nothing: the sum begins with e^0 = 1 and ends with e^((k-1) eps).",
            delta=_sum_of(lambda k: range(1, k + 1)),
        ),
    ],
)  # fmt: skip


HAIR = 2.0**-40  # 9.1e-13: who compares "up to rounding" spends it


def _ledger_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Five days at the hospital. Prices are whole multiples of a power of 2, so that a budget can be used up to the
    last bit, in any order of adding.

    On the first day a refused query is followed by smaller ones that fit, the last of them exactly; on the second,
    delta runs out before epsilon, is missed by a quarter of the smallest price and then used up; the third is long, and
    one of its queries costs more than the whole budget; on the fourth there is no delta, not even a little for a query
    without epsilon, and epsilon is missed by a hair; on the fifth the first query takes all of epsilon, so that even
    the smallest is refused, and delta is missed by a hair.
    """
    unit = float(rng.integers(1, 4)) / 8
    tiny = float(rng.integers(3, 6)) * 2.0**-18  # 1.1e-5 to 1.9e-5, exact in 17 decimal digits as well
    little = tiny / 4
    first = [(4 * unit, 0.0), (2 * unit, tiny), (4 * unit, 0.0), (unit, 0.0), (unit, 0.0), (unit, 0.0)]
    second = [
        (unit, 3 * tiny), (unit, 4 * tiny), (unit, 2 * tiny), (unit, 2 * tiny - little), (2 * unit, tiny), (unit, 0.0),
    ]  # fmt: skip
    third = [(float(rng.integers(1, 5)) / 8, float(rng.integers(16, 48)) / 32 * tiny) for _ in range(12)]
    third[int(rng.integers(2, 9))] = (2.25, tiny)
    return [
        {"costs": first, "epsilon": 8 * unit, "delta": 3 * tiny},
        {"costs": second, "epsilon": 8 * unit, "delta": 7 * tiny - little},
        {"costs": third, "epsilon": 2.0, "delta": 20 * tiny},
        {
            "costs": [(2 * unit, 0.0), (unit, tiny), (0.0, HAIR), (2 * unit, 0.0), (unit, 0.0)],
            "epsilon": 4 * unit - HAIR,
            "delta": 0.0,
        },
        {
            "costs": [(unit, tiny), (HAIR, 0.0), (0.0, 2 * tiny + HAIR), (0.0, tiny)],
            "epsilon": unit,
            "delta": 3 * tiny,
        },
    ]


Spending = dict[str, Any]
#: Is a query answered? By what is spent, its price, and the budget, each (epsilon, delta).
Rule = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]


def _ledger(p: Any) -> Spending:
    budget, answered = Budget(epsilon=p.epsilon, delta=p.delta), []
    for cost in p.costs:
        try:
            budget.spend(*cost)
            answered.append(1.0)
        except BudgetExceeded:
            answered.append(0.0)
    spent = basic_composition([cost for cost, yes in zip(p.costs, answered, strict=True) if yes])
    return {"answered": np.array(answered), "epsilon": spent.epsilon, "delta": spent.delta}


def _by(rule: Rule, *, charged: bool = False, closes: bool = False) -> Callable[[Any], Spending]:
    """A ledger by a rule; one that is ``charged`` for what it refuses, or that ``closes`` at the first refusal."""

    def ledger(p: Any) -> Spending:
        answered, spent, budget = list[float](), np.zeros(2), np.array([p.epsilon, p.delta])
        for cost in np.array(p.costs):
            answered.append(float(bool(np.all(rule(spent, cost, budget))) and not (closes and 0.0 in answered)))
            if answered[-1] or charged:
                spent = spent + cost
        return {"answered": np.array(answered), "epsilon": float(spent[0]), "delta": float(spent[1])}

    return ledger


def _fits(spent: np.ndarray, cost: np.ndarray, budget: np.ndarray) -> Any:
    return spent + cost <= budget


def _left(p: Any) -> Spending:
    right = _ledger(p)
    return {**right, "epsilon": p.epsilon - right["epsilon"], "delta": p.delta - right["delta"]}


def _judge_ledger(talk: Interview) -> None:
    """Names the first query that is decided wrongly, and what was left then."""
    asked = [(probe, talk.value(probe), _ledger(arguments_of(probe))) for probe in talk.probes]
    for probe, answer, right in asked:
        costs, talk.failing = probe["costs"], probe
        about = f"For epsilon = {probe['epsilon']:g}, delta = {probe['delta']:.3g} and the costs {_pairs(costs)}:"
        if answer["answered"].shape != right["answered"].shape:
            talk.fail(f"{about} there are {len(costs)} queries, but you decide on {answer['answered'].size}.")
        wrong = np.flatnonzero(answer["answered"] != right["answered"])
        if wrong.size:
            first = int(wrong[0])
            spent = right["answered"][:first] @ np.array(costs[:first]).reshape(first, 2)
            left = np.array([probe["epsilon"], probe["delta"]]) - spent
            over = np.array(costs[first]) - left
            verb, truth = ("refuse", "it fits") if right["answered"][first] else ("answer", "it does not fit")
            hair = f" It costs {over.max():.2g} too much. Compare exactly." if 0 < over.max() <= HAIR else ""
            talk.fail(
                f"{about} you {verb} query number {first + 1}, but {truth}: it costs "
                f"{_pairs(costs[first : first + 1])}, and ({left[0]:g}, {left[1]:.3g}) is left.{hair}",
                name=_decided_like(talk, [one["answered"] for _, one, _ in asked]),
            )
        if not same_values(answer, right):
            totals = [f"({one['epsilon']:.6g}, {one['delta']:.4g})" for one in (answer, right)]
            talk.fail(f"{about} you decide right, but say that {totals[0]} is spent; it is {totals[1]}.")
    talk.praise = f"All {len(asked)} ledgers are right."


def _decided_like(talk: Interview, answered: Sequence[np.ndarray]) -> str:
    """The one mistake that decides on every query as the student does, whatever is said to be spent; or "".

    Two of them always decide alike (refused and charged, closed after the first refusal): then what is spent tells.
    """
    alike = [
        known.name
        for known in talk.task.mistakes
        if all(
            np.array_equal(one, known.wrong(**probe)["answered"])
            for one, probe in zip(answered, talk.probes, strict=True)
        )
    ]
    return alike[0] if len(alike) == 1 else ""


def _pairs(costs: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"({epsilon:g}, {delta:.3g})" for epsilon, delta in costs)


ledger = judged_task(
    "ledger",
    see="lecture 3, Composition",
    probes=_ledger_probes,
    judge=_judge_ledger,
    form=Answers({"answered": VECTOR, "epsilon": NUMBER, "delta": NUMBER}),
    mistakes=[
        mistake(
            "refused and charged",
            "You charge for what you refuse. Nothing was released then, so nothing is owed.",
            _by(_fits, charged=True),
        ),
        mistake(
            "closed after the first refusal",
            "After a refusal the budget is not gone: a smaller query may still fit.",
            _by(_fits, closes=True),
        ),
        mistake(
            "delta not checked",
            "A query must fit twice: its epsilon into the epsilon that is left, and its delta into the delta.",
            _by(lambda spent, cost, budget: _fits(spent, cost, budget)[0]),
        ),
        mistake(
            "epsilon not checked",
            "A query must fit twice: its epsilon into the epsilon that is left, and its delta into the delta.",
            _by(lambda spent, cost, budget: _fits(spent, cost, budget)[1]),
        ),
        mistake(
            "never used up",
            "A query that uses up the budget exactly is still within it: compare with <=, not with <.",
            _by(lambda spent, cost, budget: spent + cost < budget),
        ),
        mistake(
            "refused too late",
            "You look whether something is left, not whether the query fits into it: the budget is overdrawn before "
            "you refuse, and a published answer cannot be taken back.",
            _by(lambda spent, cost, budget: spent < budget),
        ),
        mistake(
            "left for spent",
            "That is what is left of the budget. Asked is what is spent: the sum of the prices that were answered.",
            _left,
        ),
        mistake(
            "each query by itself",
            "You compare each query with the whole budget, as if it were the first one. What was answered before has "
            "been spent: compare with what is left.",
            _by(lambda spent, cost, budget: cost <= budget),
        ),
        mistake(
            "spent counted twice",
            "What is spent is counted twice: already taken off the budget in what is left, and added to the price "
            "again. Compare either the price with what is left, or spent and price together with the whole budget.",
            _by(lambda spent, cost, budget: spent + cost <= budget - spent),
        ),
        mistake(
            "one of them fits",
            "You answer a query if its epsilon or its delta fits. Both must fit.",
            _by(lambda spent, cost, budget: np.any(_fits(spent, cost, budget))),
        ),
        mistake(
            "nothing refused",
            "Every query is answered, whatever it costs: a budget is kept by saying no.",
            _by(lambda spent, cost, budget: True),
        ),
    ],
)  # fmt: skip
