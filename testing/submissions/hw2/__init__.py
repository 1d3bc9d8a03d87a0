"""Submissions to homework 2: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.hw2 import fresh_eyes
from testing.submissions.hw2 import local_noise
from testing.submissions.hw2 import patterns
from testing.submissions.hw2 import proofs
from testing.submissions.hw2 import reports
from testing.submissions.hw2 import styles
from testing.submissions.hw2 import survey
from testing.submissions.hw2 import values
from testing.submissions.bank import gather

_PARTS = (values, reports, local_noise, survey, proofs, styles, patterns, fresh_eyes)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
