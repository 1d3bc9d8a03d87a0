"""Submissions to homework 1: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.bank import gather
from testing.submissions.hw1 import attacker, choices, counts, fresh_eyes, open_tasks, proofs, sums

_PARTS = (counts, sums, choices, open_tasks, proofs, fresh_eyes, attacker)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
