"""RRRR, the response that mostly stays within a subset S of the categories.

Yildirim & Aydin, "Bayesian Frequency Estimation Under Local Differential Privacy With an Adaptive Randomized Response
Mechanism" (AdOBEst-LDP). Any two categories are neighbours: each person's own answer is what is protected.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.adaptive_ldp.rrrr_columns import Columns, columns
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism, release_shape
from dpcourse.mechanisms.category_sampling import moved
from dpcourse.privacy_loss import DiscreteLoss
from dpcourse.randomness import Rng, generator


@dataclass(frozen=True)
class RestrictedResponse(Mechanism):
    """RRRR(X; S, eps), the randomly restricted randomized response of the talk, on the categories 0..k-1.

    Whoever is in S draws R uniformly outside S and answers SRR(X; S + {R}, eps1). Whoever is not takes R =
    SRR(X; S^c, eps2) and answers SRR(R; S + {R}, eps1). S is ``subset``, possibly empty (then it is SRR at eps);
    eps1 is ``first``, by default 0.8 eps, or eps where a single category is outside S (see ``first_epsilons``); eps2
    is the largest one that keeps eps-LDP (see ``second_epsilon``), which is then tight for n >= 2 outside.
    """

    k: int
    subset: Sequence[int]
    epsilon: float = field(kw_only=True)
    first: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        object.__setattr__(self, "k", checks.whole_number("k", self.k, at_least=2))
        if isinstance(self.subset, str | bytes) or not isinstance(self.subset, Iterable):
            raise TypeError(f"subset must be a list of categories, got {self.subset!r}")
        raw = np.asarray(self.subset if hasattr(self.subset, "dtype") else list(self.subset))
        if raw.dtype.kind == "b":
            raise TypeError(f"subset must list its categories, not mark them, got {self.subset!r}")
        chosen = sorted(checks.categories("subset", raw, self.k).ravel().tolist())
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"subset must name each category once, got {self.subset!r}")
        if len(chosen) == self.k:
            raise ValueError(
                f"subset must leave a category out (R is drawn from outside it), got all {self.k}: {self.subset!r}"
            )
        object.__setattr__(self, "subset", tuple(chosen))
        if self.first is not None:
            checks.real("first", self.first)  # one number: that of this subset's size
            object.__setattr__(self, "first", float(self.columns.first[0]))

    @property
    def columns(self) -> Columns:
        """The probabilities for all subset sizes; those of this one stand at ``len(subset)``."""
        return columns(self.k, self.epsilon, self.first)

    @property
    def first_epsilon(self) -> float:
        """eps1, the budget of the response on S with one more category."""
        return float(self.columns.first[len(self.subset)])

    @property
    def second_epsilon(self) -> float:
        """eps2, the budget of the response outside S."""
        return float(self.columns.second[len(self.subset)])

    @property
    def guarantee(self) -> Guarantee:
        tight = self.k - len(self.subset) >= 2 or self.first_epsilon == self.epsilon
        return Guarantee(self.epsilon, 0.0, Neighbours.REPLACE, tight=tight)

    @cached_property
    def member(self) -> np.ndarray:
        """Which categories are in S: k truth values."""
        member = np.zeros(self.k, dtype=bool)
        member[list(self.subset)] = True
        member.setflags(write=False)
        return member

    def column(self, output: Any) -> tuple[Any, Any, Any]:
        """base, step and peak of the column P(output | x) = base + step [x in S] + peak [x = output]."""
        s, c, inside = len(self.subset), self.columns, self.member[checks.categories("output", output, self.k)]
        return (
            np.where(inside, c.inside[s], c.missed[s])[()],
            np.where(inside, 0.0, c.outside_step[s])[()],
            np.where(inside, c.inside_peak[s], c.outside_peak[s])[()],
        )

    @property
    def matrix(self) -> np.ndarray:
        """P(y | x): a row for each true category x, a column for each report y."""
        everyone = np.arange(self.k)
        return np.exp(self.log_prob(everyone[None, :], everyone[:, None]))

    def log_prob(self, output: Any, data: Any) -> Any:
        """Log probability of each person's report."""
        y, x = checks.categories("output", output, self.k), checks.categories("data", data, self.k)
        s, c, y_in, x_in = len(self.subset), self.columns, self.member[y], self.member[x]
        in_subset = np.where(y == x, c.log_told[s], c.log_inside[s])
        outside = np.where(x_in, c.log_crossed[s], np.where(y == x, c.log_found[s], c.log_missed[s]))
        return np.where(y_in, in_subset, outside)[()]

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """Reports, one for each person's category in ``data``, by the algorithm of the talk."""
        rng, categories = generator(rng), checks.categories("data", data, self.k)
        categories = np.broadcast_to(categories, release_shape(categories, size))
        s, c = len(self.subset), self.columns
        # Places: the categories of S first, then the others.
        order = np.argsort(~self.member, kind="stable")
        place = np.argsort(order, kind="stable")[categories]
        n, second = self.k - s, math.exp(-c.second[s])
        drawn = rng.integers(n, size=place.shape)
        told = moved(np.maximum(place - s, 0), n, second / (1 + (n - 1) * second), rng)
        extra = s + np.where(place < s, drawn, told)  # R
        report = moved(np.minimum(place, s), s + 1, c.inside[s], rng)  # on S + {R}, where R has the number s
        reports = order[np.where(report < s, report, extra)]
        return reports if np.ndim(reports) else int(reports)

    def worst_case(self) -> tuple[int, int]:
        """A pair whose loss is the largest: epsilon wherever the guarantee is tight."""
        s, c = len(self.subset), self.columns
        inside, outside = np.flatnonzero(self.member), np.flatnonzero(~self.member)
        pairs: list[tuple[float, int, int]] = []
        if s and self.k > s:
            pairs.append((c.log_found[s] - c.log_crossed[s], outside[0], inside[0]))
            pairs.append((c.first[s], inside[0], outside[0]))
        if len(outside) > 1:
            pairs.append((c.second[s], outside[1], outside[0]))
        _, x, other = max(pairs, key=lambda pair: pair[0])
        return int(x), int(other)

    def _plrv_of(self, data: Any, neighbour: Any) -> DiscreteLoss:
        reports = np.arange(self.k)
        here, there = (self.log_prob(reports, checks.whole_number("data", x, at_least=0)) for x in (data, neighbour))
        # The bound is exact; the last bit of a difference of logarithms is not.
        losses = np.clip(here - there, -self.epsilon, self.epsilon)
        return DiscreteLoss._merged(losses, np.exp(here), 0.0, 0.0)
