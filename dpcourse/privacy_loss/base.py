"""The second noun: PrivacyLoss, the privacy loss random variable (PLRV) of one ordered pair of output distributions.

For P = M(D) and Q = M(D') the loss of an output t is l(t) = ln P(t)/Q(t), and the PLRV is L = l(t) with t ~ P.
Everything below rests on two functions of a threshold l, *under both distributions*:

    above(l) = (P[L > l], Q[L > l])        below(l) = (P[L < l], Q[L < l])

because the exact trade-off between epsilon and delta is the hockey-stick divergence

    delta(eps) = E_P[(1 - e^(eps - L))+] = P[L > eps] - e^eps Q[L > eps]          (Balle & Wang 2018).

It is *not* P[L > eps]: that tail is never smaller and mostly larger, and bounding it is sufficient for privacy but not
necessary.
"""

from __future__ import annotations

import copy
import math
import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Neighbours
from dpcourse.randomness import Rng
from dpcourse.solve import NoSolution, root

if TYPE_CHECKING:
    from dpcourse.privacy_loss.either_direction import EitherDirection

Tails: TypeAlias = "tuple[np.ndarray, np.ndarray]"
#: Beyond this loss an output identifies its dataset (odds of e^600): the numerics treat it as infinite.
LARGEST_LOSS = 600.0


class NeighbourWarning(UserWarning):
    """A result that holds for other neighbours than those the mechanism was stated for."""


class Bracket(NamedTuple):
    """A certified interval: the true value lies between ``lower`` and ``upper``."""

    lower: float
    upper: float


class PrivacyLoss(ABC):
    """The PLRV of one ordered pair (P, Q): what an observer of P's output learns against the alternative Q."""

    #: "exact" (closed form), "upper bound" (certified numerics) or "approximation".
    label: str = "exact"
    #: When the two datasets of the pair are neighbours; None for two distributions that nobody called datasets.
    neighbours: Neighbours | None = None

    # ---- what a subclass provides -----------------------------------------------------------------------------
    @abstractmethod
    def above(self, loss: Any) -> Tails:
        """(P[L > loss], Q[L > loss]), elementwise; P's infinite losses count, an atom at ``loss`` does not."""

    @abstractmethod
    def below(self, loss: Any) -> Tails:
        """(P[L < loss], Q[L < loss]), elementwise; outputs that only Q has (L = -inf) count for Q."""

    @abstractmethod
    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        """Draw the loss: outputs from P, pushed through ln P/Q."""

    @abstractmethod
    def _reversed(self) -> PrivacyLoss:
        """The PLRV of the pair the other way round; its neighbours are looked after by ``reverse``."""

    @property
    @abstractmethod
    def mean(self) -> float:
        """E[L], the Kullback-Leibler divergence KL(P || Q)."""

    @property
    @abstractmethod
    def max_loss(self) -> float:
        """The supremum of L: the smallest epsilon of pure DP for this pair (infinite if there is none)."""

    @property
    def infinite_mass(self) -> float:
        """P[L = inf]: outputs of P that Q never has. No epsilon covers them; delta must."""
        return 0.0

    @property
    def natural_step(self) -> float | None:
        """A step of which all atoms are multiples (so that a grid can hold them exactly), if there is one."""
        return None

    # ---- what follows -----------------------------------------------------------------------------------------
    def cdf(self, loss: Any) -> Any:
        """P[L <= loss]."""
        return np.clip(1.0 - self.above(np.asarray(loss, dtype=float))[0], 0.0, 1.0)

    @overload
    def delta(self, epsilon: Any, *, bracket: Literal[False] = False) -> Any: ...
    @overload
    def delta(self, epsilon: Any, *, bracket: Literal[True]) -> Bracket: ...
    def delta(self, epsilon: Any, *, bracket: bool = False) -> Any:
        """The smallest delta for which this pair is (epsilon, delta)-indistinguishable; arrays are welcome.

        Where the loss has no closed form this is a certified upper bound; ``bracket=True`` (one epsilon at a time)
        returns the certified interval.
        """
        if np.ndim(epsilon):
            if bracket:
                raise ValueError(f"bracket=True takes one epsilon at a time, got {np.shape(epsilon)} of them")
            return self._curve(np.asarray(epsilon))
        bounds = self._delta(checks.non_negative("epsilon", epsilon), lower_too=bracket)
        return bounds if bracket else bounds.upper

    def _curve(self, epsilons: np.ndarray) -> np.ndarray:
        """delta at many epsilons: what bounds delta at a smaller epsilon bounds it at every larger one."""
        flat = epsilons.ravel()
        order = np.argsort(flat, kind="stable")
        deltas = np.empty(flat.shape)
        deltas[order] = np.minimum.accumulate([self.delta(each) for each in flat[order]] or np.empty(0))
        return deltas.reshape(epsilons.shape)

    @overload
    def epsilon(self, delta: Any, *, bracket: Literal[False] = False) -> Any: ...
    @overload
    def epsilon(self, delta: Any, *, bracket: Literal[True]) -> Bracket: ...
    def epsilon(self, delta: Any, *, bracket: bool = False) -> Any:
        """The smallest epsilon >= 0 for which this pair is (epsilon, delta)-indistinguishable; arrays are welcome.

        Infinite if ``delta`` is below the mass of infinite losses. Without a closed form: a certified upper bound,
        or with ``bracket=True`` the certified interval.
        """
        if np.ndim(delta):
            if bracket:
                raise ValueError(f"bracket=True takes one delta at a time, got {np.shape(delta)} of them")
            return np.array([self.epsilon(each) for each in np.ravel(delta)]).reshape(np.shape(delta))
        bounds = self._epsilon_bounds(checks.small_delta("delta", delta), lower_too=bracket)
        return bounds if bracket else bounds.upper

    def _epsilon_bounds(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        if delta > self.infinite_mass:
            return self._epsilon(delta, lower_too=lower_too, scale=scale)
        # A delta of just the infinite mass (0 for pure DP) leaves nothing for the finite losses: cover them all.
        value = max(self._max_finite_loss, 0.0) if delta == self.infinite_mass else math.inf
        return Bracket(value, value)

    def compose(self, times: Any) -> PrivacyLoss:
        """The loss of ``times`` independent (or adaptively chosen, equally bounded) runs: the sum of their losses."""
        from dpcourse.privacy_loss.composed import compose

        return compose([(self, checks.whole_number("k (the number of compositions)", times))])

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        """The loss of running two different mechanisms: the sum of independent losses."""
        from dpcourse.privacy_loss.composed import compose

        if not isinstance(other, PrivacyLoss):
            return NotImplemented
        return compose([(self, 1), (other, 1)])

    def __radd__(self, other: Any) -> PrivacyLoss:
        """So that sum([a, b, c]) works, which starts with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def reverse(self) -> PrivacyLoss:
        """The PLRV of the pair the other way round, (Q, P)."""
        return self._reversed().between(self.neighbours)

    def between(self, neighbours: Neighbours | None) -> PrivacyLoss:
        """The same loss, as that of two datasets that are neighbours in this sense.

        Every operation keeps it, and losses of different relations do not add up: their epsilons protect against
        different changes of the data.
        """
        if not isinstance(neighbours, Neighbours | None):
            raise TypeError(f"neighbours must be Neighbours.ADD_REMOVE, Neighbours.REPLACE or None, got {neighbours!r}")
        if neighbours is self.neighbours:
            return self
        loss = copy.copy(self)
        object.__setattr__(loss, "neighbours", neighbours)
        return loss

    def subsample(self, q: Any) -> PrivacyLoss:
        """Run on a Poisson sample: each person takes part with probability ``q`` (add/remove neighbours).

        Returns an :class:`EitherDirection`: removing a person and adding one are different pairs after sampling, and
        the worse one counts. ``q = 1`` changes nothing.
        """
        from dpcourse.privacy_loss.subsampled import subsample

        if self.neighbours is Neighbours.REPLACE:
            warnings.warn(
                "this loss belongs to a mechanism whose neighbours replace one person. Sub-sampling is computed for "
                "add/remove neighbours, taking the pair as (person in the sample, person not in it): for replace-one "
                "neighbours the true loss can be larger",
                NeighbourWarning,
                stacklevel=2,
            )
        return subsample(self, checks.fraction_of_one("q", q)).between(self.neighbours)

    # ---- default answers for losses with closed-form tails ----------------------------------------------------
    @property
    def _max_finite_loss(self) -> float:
        return self.max_loss

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        p, q = (float(tail) for tail in self.above(epsilon))
        value = max(p - math.exp(epsilon + math.log(q)), 0.0) if q > 0 else p
        return Bracket(value, value)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        """``scale``: an epsilon already reached elsewhere; differences much smaller than it need not be resolved."""
        value = invert_delta(lambda epsilon: self._delta(epsilon).upper, delta)
        return Bracket(value, value)


def invert_delta(delta_of: Any, delta: float, relative: float = 8.9e-16) -> float:
    """The epsilon >= 0 at which a continuous, decreasing delta(epsilon) passes ``delta``."""
    if delta_of(0.0) <= delta:
        return 0.0
    target = math.log(delta)

    def covered(epsilon: float) -> float:
        return target - math.log(max(delta_of(epsilon), 5e-324))

    try:
        return root(covered, 0.0, 1.0, limits=(0.0, 1e15), tolerance=1e-300, relative=relative)
    except NoSolution:
        return math.inf


def both_ways(loss: PrivacyLoss) -> EitherDirection:
    """The pair and its reverse, as one object whose answers are the worse of the two."""
    from dpcourse.privacy_loss.either_direction import EitherDirection

    if isinstance(loss, EitherDirection):
        return loss
    return EitherDirection(removed=loss, added=loss.reverse())
