"""Submissions to homework 5: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.bank import gather
from testing.submissions.hw5 import (
    attacker,
    fresh_eyes,
    learning,
    patterns,
    reports,
    restricted,
    second_budget,
    styles,
    utilities,
)

_PARTS = (reports, second_budget, restricted, utilities, learning, styles, patterns, fresh_eyes, attacker)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
