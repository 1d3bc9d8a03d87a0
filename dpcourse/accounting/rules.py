"""The rules of the lectures, which need nothing but (epsilon, delta): composition, sub-sampling, groups."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from dpcourse import checks
from dpcourse.accounting.cost import Spent


def basic_composition(costs: Iterable[Any]) -> Cost:
    """Epsilons and deltas add up, also if each query was chosen after seeing the earlier answers.

    Dwork, Kenthapadi, McSherry, Mironov & Naor 2006, Theorem 1. ``costs`` are (epsilon, delta) pairs.
    """
    pairs = []
    for cost in costs:
        if not isinstance(cost, tuple | list) or len(cost) != 2:
            raise TypeError(f"costs must be (epsilon, delta) pairs, got {cost!r}")
        pairs.append((checks.non_negative("epsilon", cost[0]), checks.small_delta("delta", cost[1])))
    if not pairs:
        raise ValueError("costs must name at least one (epsilon, delta), got none")
    epsilons, deltas = zip(*pairs, strict=True)
    return Cost(math.fsum(epsilons), min(math.fsum(deltas), 1.0), "basic composition")


def advanced_composition(epsilon: float, delta: float, k: int, slack: float) -> Cost:
    """k rounds of (epsilon, delta)-DP: about sqrt(k) epsilon, bought with an extra delta' = ``slack``.

    epsilon' = epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1) and delta' = k delta + slack (Dwork, Rothblum &
    Vadhan 2010, Theorem III.3). Larger than the basic sum unless epsilon is small and k is not: see best_composition.
    """
    epsilon, delta, k = (
        checks.positive("epsilon", epsilon),
        checks.small_delta("delta", delta),
        checks.whole_number("k", k),
    )
    slack = checks.small_delta("slack", slack, zero=False)
    total = epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * _expm1(epsilon)
    return Cost(total, min(k * delta + slack, 1.0), "advanced composition")


def best_composition(epsilon: float, delta: float, k: int, slack: float) -> Cost:
    """The smaller of basic and advanced composition; only the advanced one uses the slack."""
    advanced = advanced_composition(epsilon, delta, k, slack)
    k = checks.whole_number("k", k)
    basic = Cost(k * epsilon, min(k * delta, 1.0), "basic composition")
    return basic if basic.epsilon <= advanced.epsilon else advanced


def amplify_by_sampling(epsilon: float, delta: float, q: float) -> Cost:
    """(epsilon, delta)-DP on a Poisson sample of rate q: ln(1 + q (e^epsilon - 1)) and q delta.

    Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi 2018, Theorem 8. For Poisson sampling and add/remove neighbours; not
    for shuffled batches and not for replace-one.
    """
    epsilon, delta = checks.non_negative("epsilon", epsilon), checks.small_delta("delta", delta)
    q = checks.fraction_of_one("q", q)
    if epsilon > 700:  # e^epsilon overflows; the 1 - q beside it no longer counts
        return Cost(epsilon + math.log(q), q * delta, "amplification by sampling")
    return Cost(math.log1p(q * math.expm1(epsilon)), q * delta, "amplification by sampling")


def group_privacy(epsilon: float, delta: float, k: int, *, sharp: bool = True) -> Cost:
    """The guarantee for k people at once: k epsilon, and a delta that grows exponentially with k.

    delta (e^(k eps) - 1)/(e^eps - 1) is what the chain of k neighbours gives; the slides' k e^((k-1) eps) delta
    (``sharp=False``) is valid too, but never smaller. For epsilon = 0 both are k delta.
    """
    epsilon, delta = checks.non_negative("epsilon", epsilon), checks.small_delta("delta", delta)
    k = checks.whole_number("k", k)
    # In logarithms, because e^(k eps) overflows: (e^(k eps) - 1)/(e^eps - 1) is e^((k-1) eps) times a factor in [1, k].
    factor = math.expm1(-k * epsilon) / math.expm1(-epsilon) if sharp and epsilon else float(k)
    log_total = math.log(delta) + (k - 1) * epsilon + math.log(factor) if delta else -math.inf
    total = math.exp(min(log_total, 0.0))
    return Cost(k * epsilon, total, "group privacy" if sharp else "group privacy (as on the slides)")


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 700 else math.inf
