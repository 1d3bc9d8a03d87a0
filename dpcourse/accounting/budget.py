"""A privacy budget that is really spent: a ledger, and a refusal before it is overdrawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from dpcourse import checks
from dpcourse.guarantee import Neighbours
from dpcourse.mechanisms.base import Mechanism
from dpcourse.randomness import Rng


class BudgetExceeded(RuntimeError):
    """The query would cost more than what is left. Nothing was released and nothing was charged."""


class Entry(NamedTuple):
    """One line of the ledger."""

    label: str
    epsilon: float
    delta: float


@dataclass
class Budget:
    """(epsilon, delta) to be spent over a sequence of queries, each possibly chosen after seeing earlier answers.

    Charged by basic composition, which holds for queries *and prices* chosen adaptively. (Advanced composition does not
    without further conditions: Rogers, Roth, Ullman & Vadhan 2016.) All queries must be about the same neighbours.
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours | None = None
    ledger: list[Entry] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.epsilon = checks.positive("epsilon", self.epsilon)
        self.delta = checks.small_delta("delta", self.delta)
        if self.neighbours is not None:
            self.neighbours = Neighbours.of(self.neighbours)

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) charged so far."""
        return _total(e.epsilon for e in self.ledger), _total(e.delta for e in self.ledger)

    @property
    def remaining(self) -> tuple[float, float]:
        """What is left."""
        epsilon, delta = self.spent
        return _total([self.epsilon, -epsilon]), _total([self.delta, -delta])

    def spend(self, epsilon: float, delta: float = 0.0, label: str = "") -> Entry:
        """Charge (epsilon, delta), or raise BudgetExceeded and charge nothing."""
        entry = Entry(
            str(label) or f"query {len(self.ledger) + 1}",
            checks.non_negative("epsilon", epsilon),
            checks.small_delta("delta", delta),
        )
        left = self.remaining
        if entry.epsilon > left[0] or entry.delta > left[1]:
            raise BudgetExceeded(
                f"{label or 'this query'} costs epsilon = {epsilon:g}, delta = {delta:g}, but only epsilon = "
                f"{left[0]:g}, delta = {left[1]:g} are left of epsilon = {self.epsilon:g}, delta = {self.delta:g}"
            )
        self.ledger.append(entry)
        return entry

    def release(self, mechanism: Mechanism, data: Any, *, label: str = "", rng: Rng = None) -> Any:
        """Charge the mechanism's guarantee, then release its answer: one call, so that neither is forgotten."""
        if not isinstance(mechanism, Mechanism):
            raise TypeError(f"mechanism must be a dpcourse Mechanism, got {mechanism!r}")
        guarantee = mechanism.guarantee
        if self.neighbours not in (None, guarantee.neighbours):
            raise ValueError(
                f"this budget counts {self.neighbours} neighbours, the mechanism's guarantee is for "
                f"{guarantee.neighbours}: their epsilons cannot be added"
            )
        entry = self.spend(guarantee.epsilon, guarantee.delta, label or type(mechanism).__name__)
        self.neighbours = guarantee.neighbours
        try:
            return mechanism.release(data, rng=rng)
        except BaseException:
            # Nothing came out, nothing is owed: but only this entry goes. A utility function may itself have released
            # something through this budget, and that has been answered.
            self.ledger = [other for other in self.ledger if other is not entry]
            raise

    def __str__(self) -> str:
        width = max([len("remaining"), *(len(entry.label) for entry in self.ledger)])
        lines = [f"{'query':<{width}}  {'epsilon':>10}  {'delta':>10}  {'epsilon so far':>14}"]
        so_far = 0.0
        for entry in self.ledger:
            so_far += entry.epsilon
            lines.append(f"{entry.label:<{width}}  {entry.epsilon:>10.4g}  {entry.delta:>10.3g}  {so_far:>14.4g}")
        left = self.remaining
        lines.append(f"{'remaining':<{width}}  {left[0]:>10.4g}  {left[1]:>10.3g}  {'':>14}".rstrip())
        return "\n".join(lines)


def _total(costs: Iterable[float]) -> float:
    """Add up as a person would: in decimals, so that ten times 0.1 is exactly 1 and nothing is rounded away."""
    return float(sum((Decimal(repr(float(cost))) for cost in costs), Decimal(0)))
