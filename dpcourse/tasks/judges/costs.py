"""Answers that are a cost, (epsilon, delta): what a wrong one means for whoever is promised it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpcourse.tasks.answers import NUMBER, Answers
from dpcourse.tasks.judges.values import Note

COST = Answers({"epsilon": NUMBER, "delta": NUMBER})
TRUE_BUT_WASTEFUL = Note("What you promise is true, but wasteful: a smaller cost is true as well.", wasteful=True)


def meaning_of_cost(p: Any, answer: Mapping[str, float], right: Mapping[str, float]) -> Note | None:
    """A cost that is nowhere smaller than the right one holds, but wastes budget."""
    return TRUE_BUT_WASTEFUL if all(answer[part] >= right[part] * (1 - 1e-9) for part in right) else None
