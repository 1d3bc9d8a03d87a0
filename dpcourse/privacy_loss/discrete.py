"""Finitely many losses: randomized response, the exponential mechanism, discrete noise, the leaky algorithms."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.privacy_loss.base import Bracket, PrivacyLoss, Tails
from dpcourse.randomness import Rng, generator


@dataclass(frozen=True, eq=False)
class DiscreteLoss(PrivacyLoss):
    """A loss that takes the values ``losses`` with P-probabilities ``masses`` (so Q-probabilities mass e^-loss).

    ``only_p`` is the mass of outputs that Q never has (loss +inf); ``only_q`` the mass Q puts where P has none.
    ``step``, if given, says that all losses are whole multiples of it: composition is then free of discretisation.
    """

    losses: np.ndarray
    masses: np.ndarray
    only_p: float = 0.0
    only_q: float = 0.0
    step: float | None = None
    label: str = field(default="exact")

    def __post_init__(self) -> None:
        for array in (self.losses, self.masses):
            array.setflags(write=False)  # sums of them are remembered

    @classmethod
    def from_probabilities(cls, p: Any, q: Any) -> DiscreteLoss:
        """The loss of an output drawn from the probability vector ``p``, against the alternative ``q``."""
        p, q = checks.probability_vector("p", p), checks.probability_vector("q", q)
        if p.shape != q.shape:
            raise ValueError(f"p and q must have one probability for each output, got {p.size} and {q.size}")
        with np.errstate(divide="ignore"):
            return cls._from_logs(np.log(p), np.log(q), p, q)

    @classmethod
    def from_log_probabilities(cls, log_p: Any, log_q: Any) -> DiscreteLoss:
        """The same from logarithms: outputs too rare for a probability to be a number still count for max_loss."""
        log_p, log_q = np.asarray(log_p, dtype=float), np.asarray(log_q, dtype=float)
        p, q = checks.probability_vector("p", np.exp(log_p)), checks.probability_vector("q", np.exp(log_q))
        return cls._from_logs(log_p, log_q, p, q)

    @classmethod
    def _from_logs(cls, log_p: np.ndarray, log_q: np.ndarray, p: np.ndarray, q: np.ndarray) -> DiscreteLoss:
        in_p, in_q = log_p > -np.inf, log_q > -np.inf
        both = in_p & in_q
        return cls._merged(log_p[both] - log_q[both], p[both], p[in_p & ~in_q].sum(), q[in_q & ~in_p].sum())

    @classmethod
    def from_densities(cls, log_p: Any, log_q: Any, low: float, high: float, cells: int = 200_000) -> DiscreteLoss:
        """The loss of any two densities on an interval, by the midpoint rule: an *approximation*, and labelled so."""
        (low, high), cells = checks.interval(low, high), checks.whole_number("cells", cells)
        middle = low + (high - low) * (np.arange(cells) + 0.5) / cells
        p, q = np.exp(log_p(middle)), np.exp(log_q(middle))
        if not (np.isfinite(p).all() and np.isfinite(q).all() and p.sum() > 0 and q.sum() > 0):
            raise ValueError(f"the densities must be finite and not all zero on [{low!r}, {high!r}]")
        return replace(cls.from_probabilities(p / p.sum(), q / q.sum()), label="approximation")

    @classmethod
    def from_atoms(
        cls, losses: Any, masses: Any, *, only_p: float = 0.0, only_q: float = 0.0, step: float | None = None
    ) -> DiscreteLoss:
        """From losses and their P-probabilities, which with ``only_p`` must sum to 1, as Q's must with ``only_q``."""
        losses, masses = checks.finite_array("losses", losses), checks.finite_array("masses", masses)
        if losses.ndim != 1 or losses.shape != masses.shape:
            raise ValueError(f"losses and masses must be vectors of one length, got {losses.shape}, {masses.shape}")
        only_p, only_q = checks.probability("only_p", only_p), checks.probability("only_q", only_q)
        checks.probability_vector("masses with only_p", np.append(masses, only_p))
        with np.errstate(over="ignore"):
            alternative = np.append(masses * np.exp(-losses), only_q)
        checks.probability_vector("masses e^-losses with only_q", np.where(alternative > 1e300, 1e300, alternative))
        return cls._merged(losses, masses, only_p, only_q, step)

    @classmethod
    def _merged(
        cls,
        losses: np.ndarray,
        masses: np.ndarray,
        only_p: float,
        only_q: float,
        step: float | None = None,
        label: str = "exact",
    ) -> DiscreteLoss:
        """Sort the atoms and merge those that are equal up to rounding."""
        order = np.argsort(losses, kind="stable")
        losses, masses = losses[order], masses[order]
        if losses.size:
            # ln p - ln q of equal ratios differs in the last bits; atoms that close are one atom.
            new = np.concatenate(([True], np.diff(losses) > 4.5e-16 * np.maximum(1.0, np.abs(losses[1:]))))
            group = np.cumsum(new) - 1
            losses, masses = losses[new], np.bincount(group, weights=masses)
        return cls(losses, masses, float(only_p), float(only_q), step or _common_step(losses), label)

    def as_upper_bound(self) -> DiscreteLoss:
        """The same loss, standing for another one that it dominates."""
        return replace(self, label="upper bound")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DiscreteLoss) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        extra = f", only_p={self.only_p:g}" if self.only_p else ""
        if self.losses.size > 6:
            return f"DiscreteLoss({self.losses.size} atoms in [{self.losses[0]:g}, {self.losses[-1]:g}]{extra})"
        return f"DiscreteLoss(losses={self.losses.tolist()}, masses={self.masses.tolist()}{extra})"

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return self.losses.tobytes(), self.masses.tobytes(), self.only_p, self.only_q, self.label

    @cached_property
    def _q_masses(self) -> np.ndarray:
        return self.masses * np.exp(np.minimum(-self.losses, 700.0))  # beyond e^700 a mass of P has become 0 anyway

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Cumulative masses from the right (above) and from the left (below), each summed from its small end."""
        pad = np.zeros(1)
        above_p = np.concatenate((np.cumsum(self.masses[::-1])[::-1], pad))
        above_q = np.concatenate((np.cumsum(self._q_masses[::-1])[::-1], pad))
        below_p = np.concatenate((pad, np.cumsum(self.masses)))
        below_q = np.concatenate((pad, np.cumsum(self._q_masses)))
        return above_p + self.only_p, above_q, below_p, below_q + self.only_q

    def above(self, loss: Any) -> Tails:
        index = np.searchsorted(self.losses, np.asarray(loss, dtype=float), side="right")
        return self._sums[0][index], self._sums[1][index]

    def below(self, loss: Any) -> Tails:
        index = np.searchsorted(self.losses, np.asarray(loss, dtype=float), side="left")
        return self._sums[2][index], self._sums[3][index]

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Rng = None) -> Any:
        values = np.append(self.losses, np.inf)
        cumulative = np.cumsum(np.append(self.masses, self.only_p))
        u = generator(rng).random(size) * cumulative[-1]
        return values[np.minimum(np.searchsorted(cumulative, u, side="right"), values.size - 1)]

    def reverse(self) -> DiscreteLoss:
        return DiscreteLoss(
            -self.losses[::-1], self._q_masses[::-1], self.only_q, self.only_p, self.step, label=self.label
        )

    @property
    def mean(self) -> float:
        return math.inf if self.only_p > 0 else float(self.masses @ self.losses)

    @property
    def max_loss(self) -> float:
        return math.inf if self.only_p > 0 else self._max_finite_loss

    @property
    def _max_finite_loss(self) -> float:
        return float(self.losses[-1]) if self.losses.size else 0.0

    @property
    def infinite_mass(self) -> float:
        return self.only_p

    @property
    def natural_step(self) -> float | None:
        return self.step

    def _delta(self, epsilon: float, *, lower_too: bool = True) -> Bracket:
        # Summed term by term, so that nothing cancels.
        tail = self.losses > epsilon
        value = float(self.only_p - np.sum(self.masses[tail] * np.expm1(epsilon - self.losses[tail])))
        return self._certified(value)

    def _certified(self, value: float) -> Bracket:
        """Both ends if this loss is exact; if it only dominates another, nothing is known from below."""
        return Bracket(value if self.label == "exact" else 0.0, value)

    def _epsilon(self, delta: float, *, lower_too: bool, scale: float = 0.0) -> Bracket:
        # Between two atoms delta = p - e^eps q with the tails of the lower one: solved exactly.
        if self._delta(0.0).upper <= delta:
            return self._certified(0.0)
        atoms = self.losses[self.losses > 0]
        low, high = 0, atoms.size  # the first atom at which delta is small enough, by bisection
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._delta(float(atoms[middle])).upper <= delta else (middle + 1, high)
        reference = float(atoms[min(low, atoms.size - 1)])
        tail = self.losses >= reference
        p = self.masses[tail].sum() + self.only_p
        # q relative to the reference, because e^-loss itself may be too small for a number
        q = np.sum(self.masses[tail] * np.exp(reference - self.losses[tail]))
        return self._certified(float(reference + np.log((p - delta) / q)))


def _common_step(losses: np.ndarray) -> float | None:
    """A step that divides all losses, if a coarse one exists: symmetric two- and three-point losses have one."""
    nonzero = np.abs(losses[np.abs(losses) > 1e-300])
    if nonzero.size == 0:
        return 1.0  # a loss that is always 0 lies on every grid
    if losses.size > 64:
        return None
    step = float(nonzero.min())
    multiples = losses / step
    whole = np.abs(multiples - np.round(multiples)) <= 1e-14 * np.maximum(1, np.abs(multiples))
    return step if whole.all() and np.abs(multiples).max() <= 4096 else None
