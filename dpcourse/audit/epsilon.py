"""A lower bound on the true epsilon of a black box, from its outputs alone.

(epsilon, delta)-DP promises Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta for every set Y. One set that breaks the
promise refutes it, and two counts are enough to show it: bound the first probability from below, the second from above,
and no epsilon under ln((p_low - delta) / q_high) can be true.

References: Z. Ding et al. (2018), "Detecting violations of differential privacy", CCS; M. Jagielski, J. Ullman and
A. Oprea (2020), "Auditing differentially private machine learning", NeurIPS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.audit.binomial import first_count, lower_tail, probability_at_least, probability_at_most, upper_tail
from dpcourse.audit.events import most_telling
from dpcourse.audit.outputs import Outputs, Statistic, comparable, draw
from dpcourse.randomness import Rng, generator

_PROPOSE, _CHOOSE = 0.2, 0.4  # up to the first share draws propose events, up to the second they choose, the rest tests
_FEWEST = 20  # draws per world


@dataclass(frozen=True, kw_only=True)
class EpsilonBound:
    """What an audit found: with probability ``confidence``, the true epsilon (at this delta) is at least ``epsilon``.

    ``event`` happened in ``hits_likely`` of ``draws_likely`` test draws of the world named by ``likely`` ("with" or
    "without"), and in ``hits_unlikely`` of ``draws_unlikely`` of the other. ``estimate`` is the same ratio without any
    caution. ``largest_certifiable`` is the most that this number of draws could have shown, had the event separated the
    worlds perfectly: a bound close to it means "at least", not "about". ``claimed`` is what the mechanism promises.
    """

    epsilon: float
    delta: float
    level: float
    event: str
    likely: str
    hits_likely: int
    draws_likely: int
    hits_unlikely: int
    draws_unlikely: int
    largest_certifiable: float
    claimed: float | None = None

    @property
    def confidence(self) -> float:
        """1 - the probability of a false alarm (a bound above the true epsilon)."""
        return 1 - self.level

    @property
    def violated(self) -> bool:
        """True if the claimed epsilon is refuted; asks for a claim."""
        if self.claimed is None:
            raise ValueError("violated needs the claimed epsilon: pass claimed=... to the audit")
        return self.epsilon > self.claimed

    @property
    def estimate(self) -> float:
        """ln((p - delta) / q) with plain shares for p and q: no bound, may be infinite."""
        p, q = self.hits_likely / self.draws_likely - self.delta, self.hits_unlikely / self.draws_unlikely
        return 0.0 if p <= q else math.inf if q == 0 else math.log(p / q)

    def __str__(self) -> str:
        other = "without" if self.likely == "with" else "with"
        delta = f" (delta = {self.delta:g})" if self.delta else ""
        claim = ""
        if self.claimed is not None:
            claim = f", which {'REFUTES' if self.violated else 'does not refute'} the claimed {self.claimed:g}"
        return (
            f"epsilon >= {self.epsilon:.4g}{delta} with confidence {self.confidence:.10g}{claim}: {self.event} in "
            f"{self.hits_likely:,} of {self.draws_likely:,} draws {self.likely}, {self.hits_unlikely:,} of "
            f"{self.draws_unlikely:,} {other}; no more than {self.largest_certifiable:.4g} could have been shown."
        )


def epsilon_lower_bound(
    outputs_with: Any,
    outputs_without: Any,
    *,
    delta: float = 0.0,
    level: float = 0.01,
    statistic: Statistic | None = None,
    claimed: float | None = None,
    rng: Rng = 0,
) -> EpsilonBound:
    """Lower confidence bound on epsilon from independent outputs on one dataset and on its neighbour.

    Outputs are numbers or labels (strings, None, ...), one per draw; ``statistic`` maps anything else to one of them.
    The draws are shuffled (``rng``) and split: 40% find an event (a tail, single values, sets of values or bins with a
    high ratio, in both directions), 60% test it. Both probabilities get a Clopper-Pearson bound at ``level`` / 2, so
    the bound exceeds the true epsilon with probability at most ``level``, whatever the mechanism and whatever event
    was found. The converse does not hold: a small bound proves no privacy, the leak may be elsewhere.
    """
    delta = checks.small_delta("delta", delta)
    level = checks.small_delta("level", level, zero=False)
    claimed = None if claimed is None else checks.non_negative("claimed", claimed)
    outputs = comparable(outputs_with, outputs_without, statistic).shuffled(generator(rng))
    for name, world in (("outputs_with", outputs.with_it), ("outputs_without", outputs.without_it)):
        if world.size < _FEWEST:
            raise ValueError(f"{name} must hold at least {_FEWEST} draws, got {world.size}")
    first, second = _part(outputs, 0, _PROPOSE), _part(outputs, _PROPOSE, _CHOOSE)
    event, with_is_likely = most_telling(first, second, delta=delta, level=level)
    test = _part(outputs, _CHOOSE, 1)
    worlds = (test.with_it, test.without_it) if with_is_likely else (test.without_it, test.with_it)
    hits, misses = (int(np.count_nonzero(event.contains(world))) for world in worlds)
    n, m = worlds[0].size, worlds[1].size
    return EpsilonBound(
        epsilon=certified(hits, n, misses, m, delta=delta, level=level),
        delta=delta,
        level=level,
        event=event.words.replace("output", "statistic(output)") if statistic is not None else event.words,
        likely="with" if with_is_likely else "without",
        hits_likely=hits,
        draws_likely=n,
        hits_unlikely=misses,
        draws_unlikely=m,
        largest_certifiable=certified(n, n, 0, m, delta=delta, level=level),
        claimed=claimed,
    )


def audit_mechanism(
    mechanism: Any, data: Any, neighbour: Any, *, draws: int = 20_000, rng: Rng = None, **options: Any
) -> EpsilonBound:
    """Run ``mechanism`` ``draws`` times on ``data`` and on ``neighbour`` and bound its epsilon from below.

    ``mechanism`` is a :class:`~dpcourse.mechanisms.Mechanism`, or a function ``f(data)`` (``f(data, rng=...)`` if it
    takes one). ``options`` are those of :func:`epsilon_lower_bound`.
    """
    rng = generator(rng)
    first, second = draw(mechanism, data, draws, rng), draw(mechanism, neighbour, draws, rng)
    return epsilon_lower_bound(first, second, rng=rng, **options)


def certified(hits: int, draws: int, other_hits: int, other_draws: int, *, delta: float, level: float) -> float:
    """ln((p_low - delta) / q_high), at least 0: Clopper-Pearson bounds that each fail with probability level / 2."""
    excess = probability_at_least(hits, draws, level / 2) - delta
    ceiling = probability_at_most(other_hits, other_draws, level / 2)
    return max(0.0, math.log(excess / ceiling)) if excess > 0 else 0.0


def detectable_epsilon(
    claimed: float, draws: int, *, delta: float = 0.0, level: float = 0.01, power: float | None = None
) -> float:
    """The smallest true epsilon whose excess over ``claimed`` an audit with ``draws`` per world can be trusted to show.

    Computed for randomized response, which every (epsilon, delta)-DP pair is a post-processing of [Kairouz, Oh and
    Viswanath 2015], by the event "the answer is 1". ``power`` defaults to 1 - level. Infinite if there is none.
    """
    claimed, delta = checks.non_negative("claimed", claimed), checks.small_delta("delta", delta)
    level = checks.small_delta("level", level, zero=False)
    miss = level if power is None else 1 - checks.small_delta("power", power, zero=False)
    n = checks.whole_number("draws", draws, at_least=_FEWEST)
    n -= int(_CHOOSE * n)

    def convicted(epsilon: float) -> bool:
        lie = (1 - delta) / (1 + math.exp(epsilon))
        # Each count is at least this unlucky with probability at most miss / 2, so both are better otherwise.
        hits = first_count(lambda k: lower_tail(k, n, 1 - lie) > miss / 2, n)
        other = first_count(lambda k: upper_tail(k + 1, n, lie) <= miss / 2, n)
        return certified(hits, n, other, n, delta=delta, level=level) > claimed

    low, high = claimed, 700.0
    if not convicted(high):
        return math.inf
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if convicted(middle) else (middle, high)
    return high


def _part(outputs: Outputs, start: float, stop: float) -> Outputs:
    cut = [world[int(start * world.size) : int(stop * world.size)] for world in (outputs.with_it, outputs.without_it)]
    return Outputs(cut[0], cut[1], outputs.labels)
