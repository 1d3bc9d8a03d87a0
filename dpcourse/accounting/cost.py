"""What an accountant answers: an (epsilon, delta) that says how it was obtained and how much it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass

#: "upper bound": the truth is at most this. "exact": it is this. "approximation": near this, on no certain side.
LABELS = ("upper bound", "exact", "approximation")


@dataclass(frozen=True)
class Cost:
    """A total privacy cost."""

    epsilon: float
    delta: float
    method: str
    label: str = "upper bound"

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"label must be one of {LABELS}, got {self.label!r}")

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon:.6g}, delta = {self.delta:.3g} ({self.method}: {self.label})"
