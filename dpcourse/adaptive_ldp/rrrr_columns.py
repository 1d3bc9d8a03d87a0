"""The numbers behind RRRR: its two budgets, and the five probabilities that fill its matrix, for every subset size.

Notation: K categories, a subset S of ``size`` of them, n = K - size outside it; eps1 (``first``) is the budget of the
response on S with one more category, eps2 (``second``) that of the response outside S. Every column of the matrix is

    P(y | x) = base + step [x in S] + peak [x = y],

one such triple for y in S (with step 0) and one for y outside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpcourse import checks

#: The talk's c: eps1 = c eps, where nothing else is said. (The talk tries .8 and .9.)
SHARE = 0.8


def first_epsilons(k: int, epsilon: float, share: float = SHARE) -> np.ndarray:
    """eps1 for every subset size 0..K-1: ``share`` of epsilon, and all of it where one category is left outside.

    With n = 1 the response outside S has nothing to choose from and spends nothing: RRRR is then SRR at eps1, and
    eps1 = eps recovers what would be left unused.
    """
    k, epsilon = checks.whole_number("k", k, at_least=2), checks.positive("epsilon", epsilon)
    firsts = np.full(k, checks.fraction_of_one("share", share) * epsilon)
    firsts[-1] = epsilon
    return firsts


def second_epsilon(epsilon: float, first: float, inside: int, outside: int) -> float:
    """The largest eps2 for which RRRR with |S| = ``inside``, n = ``outside`` and eps1 = ``first`` is epsilon-LDP.

    min(eps, ln((n - 1) / (n e^(eps1 - eps) - 1))) where the denominator is positive and S is not empty, else eps.
    It is 0 for eps1 = eps and n >= 2 (nothing can be learnt outside S), and has no effect for n = 1.
    """
    epsilon = checks.positive("epsilon", epsilon)
    inside = checks.whole_number("inside", inside, at_least=0)
    outside = checks.whole_number("outside", outside)  # with nothing outside there is nothing to draw R from
    return float(_second(epsilon, np.array(_first("first", first, epsilon)), np.array(inside), np.array(outside)))


def _second(epsilon: float, first: np.ndarray, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    # The slide's argument of ln, upside down: (n e^-g - 1)/(n - 1) = 1 + n (e^-g - 1)/(n - 1), exact at g = 0.
    below_one = outside * np.expm1(first - epsilon) / np.maximum(outside - 1, 1)
    bound = (inside > 0) & (outside > 1) & (below_one > -1)
    return np.where(bound, np.minimum(epsilon, 0.0 - np.log1p(np.where(bound, below_one, 0.0))), epsilon)  # 0, not -0


def _first(name: str, value: Any, epsilon: float) -> float:
    first = checks.positive(name, value)
    if first > epsilon:
        raise ValueError(f"{name} (eps1) must be in (0, epsilon = {epsilon!r}], got {value!r}")
    return first


@dataclass(frozen=True, eq=False)
class Columns:
    """The probabilities of RRRR for K categories, as arrays over the subset sizes 0..K-1.

    told: y = x in S.  inside: y in S, y != x (any x).  crossed: x in S, y outside.  found: y = x outside.
    missed: x != y, both outside. Logarithms of all five are kept too (``log_told`` ...).
    """

    epsilon: float
    first: np.ndarray
    second: np.ndarray
    log_told: np.ndarray
    log_inside: np.ndarray
    log_crossed: np.ndarray
    log_found: np.ndarray
    log_missed: np.ndarray
    told: np.ndarray
    inside: np.ndarray
    crossed: np.ndarray
    found: np.ndarray
    missed: np.ndarray
    #: the peak of a column inside S (told - inside), and step (crossed - missed) and peak (found - missed) outside
    inside_peak: np.ndarray
    outside_step: np.ndarray
    outside_peak: np.ndarray

    @property
    def k(self) -> int:
        """The number of categories."""
        return len(self.first)


def columns(k: int, epsilon: float, first: Any = None) -> Columns:
    """The probabilities for all subset sizes; ``first`` is eps1, one eps1 for each size, or None (first_epsilons)."""
    k, epsilon = checks.whole_number("k", k, at_least=2), checks.positive("epsilon", epsilon)
    if first is not None and np.ndim(first) == 0:
        return _columns(k, epsilon, (_first("first", first, epsilon),) * k)
    firsts = first_epsilons(k, epsilon) if first is None else checks.finite_array("first", first)
    if firsts.shape != (k,):
        raise ValueError(f"first must be one eps1, or one for each of the {k} subset sizes, got {first!r}")
    return _columns(k, epsilon, tuple(_first("first", value, epsilon) for value in firsts.tolist()))


@lru_cache(maxsize=256)
def _columns(k: int, epsilon: float, given: tuple[float, ...]) -> Columns:
    firsts = np.array(given)
    size = np.arange(k)
    outside = k - size
    second = _second(epsilon, firsts, size, outside)
    # Written with e^-eps, so that a large epsilon is no overflow.
    log_told = -np.log1p(size * np.exp(-firsts))
    log_inside = log_told - firsts
    log_crossed = log_inside - np.log(outside)
    log_found = log_told - np.log1p((outside - 1) * np.exp(-second))
    log_missed = log_found - second
    logs = (log_told, log_inside, log_crossed, log_found, log_missed)
    told, inside, crossed, found, missed = (np.exp(log) for log in logs)
    peaks = (-told * np.expm1(-firsts), crossed - missed, -found * np.expm1(-second))
    made = Columns(epsilon, firsts, second, *logs, told, inside, crossed, found, missed, *peaks)
    for value in vars(made).values():
        if isinstance(value, np.ndarray):
            value.setflags(write=False)  # shared between callers
    return made
