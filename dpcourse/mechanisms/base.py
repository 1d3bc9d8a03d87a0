"""The first noun: a Mechanism is what is true about one private algorithm.

Three methods make a mechanism (``release``, ``log_prob``, ``worst_case``) and a ``guarantee``; the privacy loss of one
output and the whole privacy loss random variable of a pair of neighbours follow from them, here, once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.privacy_loss import PrivacyLoss
from dpcourse.randomness import Rng


class Mechanism(ABC):
    """A randomized algorithm M with its exact output distribution and the guarantee it claims.

    Subclasses are frozen dataclasses with keyword-only parameters, checked at construction.
    """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The (epsilon, delta) claim, with its neighbour relation."""

    @property
    def neighbours(self) -> Neighbours:
        """The neighbour relation the guarantee is stated for."""
        return self.guarantee.neighbours

    @abstractmethod
    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """Run the mechanism on the true answer ``data``; ``size`` independent times if given.

        ``data`` is the query's true answer (a number or an array), not the table. ``rng`` is a numpy Generator or a
        seed for reproducible lectures and tests; without it, fresh entropy is used.
        """

    @abstractmethod
    def log_prob(self, output: Any, data: Any) -> Any:
        """Natural log of the density (or probability) of ``output`` when the true answer is ``data``."""

    @abstractmethod
    def worst_case(self) -> tuple[Any, Any]:
        """A pair of neighbouring true answers at which the privacy loss is largest."""

    def privacy_loss(self, output: Any, data: Any, neighbour: Any) -> Any:
        """ln(Pr[M(data) = output] / Pr[M(neighbour) = output]); +-inf where only one of the two can be."""
        # An output that neither world can produce tells nothing: inf - inf is taken as no loss.
        with np.errstate(invalid="ignore"):
            loss = np.subtract(self.log_prob(output, data), self.log_prob(output, neighbour))
        return np.where(np.isnan(loss), 0.0, loss)[()]

    def plrv(self, data: Any = None, neighbour: Any = None) -> PrivacyLoss:
        """The privacy loss random variable of a pair of neighbours (by default the worst case)."""
        if (data is None) != (neighbour is None):
            raise TypeError("give both data and neighbour, or neither for the worst case")
        loss = self._worst_plrv() if data is None else self._plrv_of(data, neighbour)
        return loss.between(self.neighbours)

    def _worst_plrv(self) -> PrivacyLoss:
        return self._plrv_of(*self.worst_case())

    @abstractmethod
    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        """The PLRV of this very pair, which the caller has checked to be complete."""


def release_shape(data: np.ndarray, size: int | None) -> tuple[int, ...]:
    """The shape of ``size`` independent releases of an answer of this shape (``size=None``: one release)."""
    if size is None:
        return data.shape
    return (checks.whole_number("size", size), *data.shape)
