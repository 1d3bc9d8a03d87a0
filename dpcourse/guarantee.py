"""What a mechanism promises, and to whom: the (epsilon, delta) claim and the neighbour relation behind it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from dpcourse import checks


class Neighbours(StrEnum):
    """When do two datasets differ in *one person*?

    ADD_REMOVE: one row is there or is not (lecture 4 of the slides; the size of the table may differ by one).
    REPLACE: one row is exchanged for another (lecture 5; the size is public; every local mechanism uses it).
    """

    ADD_REMOVE = "add/remove"
    REPLACE = "replace"

    @classmethod
    def of(cls, value: Neighbours | str, name: str = "neighbours") -> Neighbours:
        """Accept the member or its text, quoting anything else under the ``name`` the caller knows it by."""
        return cls(checks.one_of(name, getattr(value, "value", value), [member.value for member in cls]))


@dataclass(frozen=True)
class Guarantee:
    """(epsilon, delta)-DP under a neighbour relation [Dwork & Roth 2014, Definition 2.4].

    For all neighbours D, D' and all sets Y of outputs: Pr[M(D) in Y] <= e^epsilon Pr[M(D') in Y] + delta.
    ``tight`` says whether some pair attains the bound, so that no smaller epsilon (at this delta) would be true.
    """

    epsilon: float
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    tight: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checks.non_negative("epsilon", self.epsilon))
        object.__setattr__(self, "delta", checks.small_delta("delta", self.delta))
        object.__setattr__(self, "neighbours", Neighbours.of(self.neighbours))

    def __str__(self) -> str:
        delta = f", delta = {self.delta:g}" if self.delta else ""
        return f"epsilon = {self.epsilon:.6g}{delta} ({self.neighbours.value} one person)"
