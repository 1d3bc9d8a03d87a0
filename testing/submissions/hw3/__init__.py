"""Submissions to homework 3: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.bank import gather
from testing.submissions.hw3 import deltas, fresh_eyes, gaussian, held_out, losses, rules

_PARTS = (losses, gaussian, deltas, rules, held_out, fresh_eyes)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
