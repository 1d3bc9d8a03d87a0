"""Submissions to homework 1: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.hw1 import choices
from testing.submissions.hw1 import counts
from testing.submissions.hw1 import fresh_eyes
from testing.submissions.hw1 import open_tasks
from testing.submissions.hw1 import proofs
from testing.submissions.hw1 import sums
from testing.submissions.bank import gather

_PARTS = (counts, sums, choices, open_tasks, proofs, fresh_eyes)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
