"""Submissions to homework 4: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.bank import gather
from testing.submissions.hw4 import budgets, fresh_eyes, held_out, lots, steps, training

_PARTS = (lots, steps, budgets, training, held_out, fresh_eyes)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
