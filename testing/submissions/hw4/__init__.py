"""Submissions to homework 4: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.hw4 import budgets
from testing.submissions.hw4 import lots
from testing.submissions.hw4 import steps
from testing.submissions.hw4 import training
from testing.submissions.bank import gather

_PARTS = (lots, steps, budgets, training)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
