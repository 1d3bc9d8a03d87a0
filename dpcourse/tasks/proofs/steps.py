"""The form of a derivation: a list of steps (relation, formula, reason), all three of them texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.wording import described

MOST_STEPS = 30
LONGEST_REASON = 100  # letters
RELATIONS = {"=": "=", "==": "=", "<=": "<=", "≤": "<=", "=<": "<=", ">=": ">=", "≥": ">=", "=>": ">="}


class Step(NamedTuple):
    """One line of a derivation."""

    relation: str
    formula: str
    reason: str


@dataclass(frozen=True)
class Steps:
    """The form of the answer: a list of (relation, formula, reason), all three of them texts."""

    def read(self, raw: Any) -> tuple[Step, ...]:
        """The steps, or a :class:`Complaint`."""
        if raw is None:
            raise Complaint("Your function gave back nothing (None): is a `return` missing?")
        if not isinstance(raw, list | tuple) or not raw:
            raise Complaint(
                f'I expected a list of steps like ("=", "exp(1/b)", "algebra"), but got {described(raw, 80)}.'
            )
        if len(raw) > MOST_STEPS:
            raise Complaint(f"Your derivation has {len(raw)} steps; {MOST_STEPS} are more than enough.")
        steps = []
        for number, one in enumerate(raw, 1):
            if not isinstance(one, list | tuple) or len(one) != 3 or not all(isinstance(part, str) for part in one):
                raise Complaint(
                    f"Step {number} must be three texts (relation, formula, reason), but is {described(one)}."
                )
            relation = RELATIONS.get(one[0].strip() if len(one[0]) <= LONGEST_REASON else "")
            if relation is None:
                raise Complaint(f"Step {number}: the relation must be =, <= or >=, but is {described(one[0], 20)}.")
            if len(one[2]) > LONGEST_REASON:
                raise Complaint(
                    f"Step {number}: {described(one[2], 40)} has {len(one[2]):,} letters: no reason is so long."
                )
            steps.append(Step(relation, one[1], one[2].strip().rstrip(".").lower()))
        return tuple(steps)
