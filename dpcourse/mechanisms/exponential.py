"""Choosing from a list: the exponential mechanism (McSherry & Talwar 2007) and report-noisy-max, which equals it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism
from dpcourse.privacy_loss import DiscreteLoss, PrivacyLoss
from dpcourse.randomness import Rng, generator


@dataclass(frozen=True, kw_only=True)
class Exponential(Mechanism):
    """Choose candidate r with probability proportional to exp(epsilon u(D, r) / (2 sensitivity)).

    ``candidates`` is any finite list (up to a million); ``utility(data, candidates)`` returns one score for each,
    higher is better. Without a ``utility``, ``data`` is the vector of scores itself. ``sensitivity`` is the largest
    change of any one score over all pairs of neighbours *and* all candidates.
    """

    epsilon: float
    sensitivity: float
    candidates: Sequence[Any]
    utility: Callable[[Any, Sequence[Any]], Any] | None = None
    neighbours: Neighbours = Neighbours.REPLACE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.positive("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", checks.positive("sensitivity", self.sensitivity))
        checks.positive("epsilon / (2 sensitivity)", self.epsilon / (2 * self.sensitivity))
        # Arrays and pandas columns become lists: what is chosen is then a plain value, and equality means equality.
        candidates = self.candidates.tolist() if hasattr(self.candidates, "tolist") else self.candidates
        if isinstance(candidates, str | bytes) or not isinstance(candidates, Sequence):
            raise TypeError(f"candidates must be a sequence such as a list, got {self.candidates!r}")
        if len(candidates) == 0:
            raise ValueError(f"candidates must have at least one entry, got {self.candidates!r}")
        object.__setattr__(self, "candidates", tuple(candidates) if isinstance(candidates, list) else candidates)
        if self.utility is not None and not callable(self.utility):
            raise TypeError(f"utility must be a function of data and candidates, got {self.utility!r}")
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours, "neighbours"))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, 0.0, self.neighbours)

    def scores(self, data: Any) -> np.ndarray:
        """The utility of every candidate on ``data``."""
        raw = data if self.utility is None else self.utility(data, self.candidates)
        scores = checks.finite_array("utility", raw)
        if scores.shape != (len(self.candidates),):
            raise ValueError(f"utility must give one score for each of {len(self.candidates)} candidates, got {raw!r}")
        return scores

    def log_probabilities(self, data: Any) -> np.ndarray:
        """ln Pr[r] for all candidates, computed in log space: no score is too large or too small."""
        exponent = self._exponent(data)
        exponent = exponent - exponent.max()
        return exponent - np.log(np.exp(exponent).sum())

    def probabilities(self, data: Any) -> np.ndarray:
        """Pr[r] for all candidates; sums to one."""
        return np.exp(self.log_probabilities(data))

    def _exponent(self, data: Any) -> np.ndarray:
        return self.scores(data) * (self.epsilon / (2 * self.sensitivity))

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """A candidate; with ``size``, a list of that many independent choices."""
        picked = self._pick(data, 1 if size is None else checks.whole_number("size", size), generator(rng))
        chosen = [self.candidates[i] for i in picked]
        return chosen[0] if size is None else chosen

    def _pick(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        cumulative = np.cumsum(self.probabilities(data))
        return np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right")

    def log_prob(self, output: Any, data: Any) -> float:
        """ln Pr[``output``], the sum over entries of the candidate list that equal it."""
        log_probabilities = self.log_probabilities(data)
        where = [i for i, candidate in enumerate(self.candidates) if _same(candidate, output)]
        if not where:
            raise ValueError(f"output must be one of the candidates, got {output!r}")
        return float(np.logaddexp.reduce(log_probabilities[where]))

    def worst_case(self) -> tuple[np.ndarray, np.ndarray]:
        """Score vectors at which the loss reaches epsilon: a hopeless candidate that the neighbour makes more hopeless.

        Only for mechanisms that take scores; with a ``utility`` the reachable datasets are the caller's to know.
        """
        if self.utility is not None:
            raise ValueError("worst_case is known for scores only: pass data and neighbour of your own utility")
        if len(self.candidates) == 1:
            return np.zeros(1), np.zeros(1)
        hopeless = -80 * self.sensitivity / self.epsilon
        data = np.zeros(len(self.candidates))
        data[0] = hopeless
        neighbour = np.full(len(self.candidates), self.sensitivity)
        neighbour[0] = hopeless - self.sensitivity
        return data, neighbour

    def _worst_plrv(self) -> PrivacyLoss:
        """Randomized response at epsilon, which dominates every epsilon-DP mechanism (Kairouz, Oh & Viswanath 2015).

        An upper bound: the exponential mechanism also has *bounded range*, so its true delta curve lies lower, and
        no single pair attains all of it (Dong, Durfee & Rogers 2020).
        """
        from dpcourse.mechanisms.randomized_response import RandomizedResponse

        return RandomizedResponse(epsilon=self.epsilon)._plrv_of(1, 0).as_upper_bound()

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        return DiscreteLoss.from_log_probabilities(self.log_probabilities(data), self.log_probabilities(neighbour))


@dataclass(frozen=True, kw_only=True)
class ReportNoisyMax(Exponential):
    """Add Gumbel noise of scale 2 sensitivity/epsilon to every score and report the winner.

    The Gumbel trick: the winner is distributed exactly as the exponential mechanism's choice, so probabilities and
    guarantee are inherited and only the sampler differs.
    """

    def _pick(self, data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        exponent = self._exponent(data)
        # One choice at a time: size x candidates Gumbels at once may not fit into memory.
        return np.array([np.argmax(exponent + rng.gumbel(size=exponent.size)) for _ in range(size)])


def _same(candidate: Any, output: Any) -> bool:
    return candidate is output or bool(np.all(np.asarray(candidate == output)))
