"""A privacy budget that is really spent: a ledger, and a refusal before it is overdrawn."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dpcourse import door
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
    without further conditions: Rogers, Roth, Ullman & Vadhan 2016.) All queries must share one neighbour relation.
    """

    epsilon: float
    delta: float = 0.0
    relation: Neighbours | None = None
    ledger: list[Entry] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        door.positive("epsilon", self.epsilon)
        door.small_delta("delta", self.delta)
        if self.relation is not None:
            self.relation = Neighbours.of(self.relation)

    @property
    def spent(self) -> tuple[float, float]:
        """(epsilon, delta) charged so far."""
        return math.fsum(entry.epsilon for entry in self.ledger), math.fsum(entry.delta for entry in self.ledger)

    @property
    def remaining(self) -> tuple[float, float]:
        """What is left."""
        epsilon, delta = self.spent
        return max(self.epsilon - epsilon, 0.0), max(self.delta - delta, 0.0)

    def spend(self, epsilon: float, delta: float = 0.0, label: str = "") -> None:
        """Charge (epsilon, delta), or raise BudgetExceeded and charge nothing."""
        epsilon, delta = door.non_negative("epsilon", epsilon), door.small_delta("delta", delta)
        total_epsilon, total_delta = self.spent
        # Ten times 0.1 is 1 to a person: allow for the rounding of the sum, and for nothing else.
        too_much = total_epsilon + epsilon > self.epsilon * (1 + 1e-12)
        if too_much or total_delta + delta > self.delta * (1 + 1e-12):
            left = self.remaining
            raise BudgetExceeded(
                f"{label or 'this query'} costs epsilon = {epsilon:g}, delta = {delta:g}, but only epsilon = "
                f"{left[0]:g}, delta = {left[1]:g} are left of epsilon = {self.epsilon:g}, delta = {self.delta:g}"
            )
        self.ledger.append(Entry(label or f"query {len(self.ledger) + 1}", epsilon, delta))

    def release(self, mechanism: Mechanism, data: Any, *, label: str = "", rng: Rng = None) -> Any:
        """Charge the mechanism's guarantee, then release its answer: one call, so that neither is forgotten."""
        guarantee = mechanism.guarantee
        if self.relation is None:
            self.relation = guarantee.relation
        if guarantee.relation != self.relation:
            raise ValueError(
                f"this budget counts {self.relation.value} neighbours, the mechanism's guarantee is for "
                f"{guarantee.relation.value}: their epsilons cannot be added"
            )
        before = len(self.ledger)
        self.spend(guarantee.epsilon, guarantee.delta, label or type(mechanism).__name__)
        try:
            return mechanism.release(data, rng=rng)
        except BaseException:
            del self.ledger[before:]  # nothing came out, nothing is owed
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
