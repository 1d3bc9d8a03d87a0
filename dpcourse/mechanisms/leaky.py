"""Two algorithms that keep the letter of (0, delta)-DP and betray its spirit: why delta must be far below 1/n."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse import checks
from dpcourse.guarantee import Guarantee, Neighbours
from dpcourse.mechanisms.base import Mechanism
from dpcourse.privacy_loss import DiscreteLoss, PrivacyLoss
from dpcourse.privacy_loss.base import both_ways
from dpcourse.randomness import Rng, generator


@dataclass(frozen=True, kw_only=True)
class _Leak(Mechanism):
    """What both have in common: rows are any hashable things, compared by equality."""

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", checks.small_delta("delta", self.delta, zero=False))

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(0.0, self.delta, Neighbours.ADD_REMOVE)

    def worst_case(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return ("Alice", "Bob"), ("Bob",)

    def _worst_plrv(self) -> PrivacyLoss:
        return both_ways(self._plrv_of(*self.worst_case()))

    def _many(self, data: Any, size: int | None, rng: Rng) -> Any:
        rows, generator_ = _rows("data", data), generator(rng)
        if size is None:
            return self._once(rows, generator_)
        return [self._once(rows, generator_) for _ in range(checks.whole_number("size", size))]

    def _once(self, rows: tuple[Any, ...], rng: np.random.Generator) -> tuple[Any, ...]:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class LeakTable(_Leak):
    """With probability delta publish the whole table, otherwise a decoy that says nothing.

    Exactly (0, delta)-DP: the decoy is ``None``, the same for every dataset, and a real table appears with probability
    delta only. Then, however, it is everybody's.
    """

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """The rows of the table, or None; a list of those with ``size``."""
        return self._many(data, size, rng)

    def _once(self, rows: tuple[Any, ...], rng: np.random.Generator) -> Any:
        return rows if rng.random() < self.delta else None

    def log_prob(self, output: Any, data: Any) -> float:
        if output is None:
            return math.log1p(-self.delta)
        return math.log(self.delta) if _rows("output", output) == _rows("data", data) else -math.inf

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        if _rows("data", data) == _rows("neighbour", neighbour):
            return DiscreteLoss.from_atoms([0.0], [1.0])
        return DiscreteLoss.from_atoms([0.0], [1 - self.delta], only_p=self.delta, only_q=self.delta)

    def probability_somebody_leaks(self, people: int) -> float:
        """delta, whatever the size: all or nobody."""
        checks.whole_number("people", people)
        return self.delta


@dataclass(frozen=True, kw_only=True)
class LeakRows(_Leak):
    """Publish each row, independently, with probability delta.

    Exactly (0, delta)-DP: one person's row appears with probability delta. But among n people somebody is exposed with
    probability 1 - (1 - delta)^n, which n delta approximates only while it is small.
    """

    def release(self, data: Any, *, size: int | None = None, rng: Rng = None) -> Any:
        """The rows that leaked; a list of such tuples with ``size``."""
        return self._many(data, size, rng)

    def _once(self, rows: tuple[Any, ...], rng: np.random.Generator) -> tuple[Any, ...]:
        leaked = rng.random(len(rows)) < self.delta
        return tuple(row for row, out in zip(rows, leaked, strict=True) if out)

    def log_prob(self, output: Any, data: Any) -> float:
        """The rows of ``data`` must be distinct; any output but some of them, in their order, is impossible."""
        out, rows = _rows("output", output), _distinct("data", data)
        if out != tuple(row for row in rows if row in set(out)):
            return -math.inf
        return len(out) * math.log(self.delta) + (len(rows) - len(out)) * math.log1p(-self.delta)

    def _plrv_of(self, data: Any, neighbour: Any) -> PrivacyLoss:
        mine, theirs = (set(_distinct(name, rows)) for name, rows in (("data", data), ("neighbour", neighbour)))
        gone, new = len(mine - theirs), len(theirs - mine)
        quiet_mine, quiet_theirs = gone * math.log1p(-self.delta), new * math.log1p(-self.delta)
        # If none of the rows in which they differ leaks, the loss is the ratio of those silences; else it is infinite.
        return DiscreteLoss.from_atoms(
            [quiet_mine - quiet_theirs],
            [math.exp(quiet_mine)],
            only_p=self.probability_somebody_leaks(gone) if gone else 0.0,
            only_q=self.probability_somebody_leaks(new) if new else 0.0,
        )

    def probability_somebody_leaks(self, people: int) -> float:
        """1 - (1 - delta)^people, computed without cancellation."""
        people = checks.whole_number("people", people)
        return self.delta if people == 1 else -math.expm1(people * math.log1p(-self.delta))


def _distinct(name: str, table: Any) -> tuple[Any, ...]:
    rows = _rows(name, table)
    if len(set(rows)) < len(rows):
        raise ValueError(f"{name} must have distinct rows (give every person a name or a number), got {table!r}")
    return rows


def _rows(name: str, table: Any) -> tuple[Any, ...]:
    """A table as a tuple of hashable rows; a pandas DataFrame is taken row by row."""
    if hasattr(table, "itertuples"):
        return tuple(tuple(row) for row in table.itertuples(index=False))
    if isinstance(table, str | bytes) or not isinstance(table, Sequence | np.ndarray):
        raise TypeError(f"{name} must be a table: a sequence of rows or a DataFrame, got {table!r}")
    return tuple(tuple(row) if isinstance(row, list | np.ndarray) else row for row in table)
