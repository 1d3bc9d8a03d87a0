"""Both directions of a pair at once: a person removed, or a person added. The worse one is the guarantee."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails
from dpcourse.randomness import Rng


@dataclass(frozen=True)
class EitherDirection(PrivacyLoss):
    """``removed``: the PLRV of (with the person, without). ``added``: of (without, with).

    ``delta`` and ``epsilon`` are the worse of the two; ``mean``, ``cdf`` and ``sample`` describe ``removed``, the
    loss of the person who took part. Composition keeps the directions apart: whoever is missing from a dataset is
    missing in every round.
    """

    removed: PrivacyLoss
    added: PrivacyLoss

    def __post_init__(self) -> None:
        for name, loss in (("removed", self.removed), ("added", self.added)):
            if not isinstance(loss, PrivacyLoss):
                raise TypeError(f"{name} must be a PrivacyLoss, got {loss!r}")

    @property
    def label(self) -> str:  # type: ignore[override]
        return self.removed.label

    def above(self, loss: Any) -> Tails:
        return self.removed.above(loss)

    def below(self, loss: Any) -> Tails:
        return self.removed.below(loss)

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        return self.removed.sample(size, rng=rng)

    def reverse(self) -> EitherDirection:
        return EitherDirection(removed=self.added, added=self.removed)

    @property
    def mean(self) -> float:
        return self.removed.mean

    @property
    def max_loss(self) -> float:
        return max(self.removed.max_loss, self.added.max_loss)

    @property
    def _max_finite_loss(self) -> float:
        return max(self.removed._max_finite_loss, self.added._max_finite_loss)

    @property
    def infinite_mass(self) -> float:
        return max(self.removed.infinite_mass, self.added.infinite_mass)

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        return _worse(*(side._delta(epsilon, lower_too=lower_too) for side in (self.removed, self.added)))

    def _epsilon_bounds(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        removed = self.removed._epsilon_bounds(delta, lower_too=lower_too, scale=scale)
        # The other direction is resolved only as far as it could matter beside the first.
        reached = removed.upper if removed.upper < float("inf") else 0.0
        return _worse(removed, self.added._epsilon_bounds(delta, lower_too=lower_too, scale=max(scale, reached)))


def _worse(one: Bracket, other: Bracket) -> Bracket:
    return Bracket(max(one.lower, other.lower), max(one.upper, other.upper))
