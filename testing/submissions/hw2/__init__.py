"""Submissions to homework 2: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from testing.submissions.bank import gather
from testing.submissions.hw2 import attacker, fresh_eyes, local_noise, patterns, proofs, reports, styles, survey, values

_PARTS = (values, reports, local_noise, survey, proofs, styles, patterns, fresh_eyes, attacker)

RIGHT = gather(part.RIGHT for part in _PARTS)

#: Without the wrong functions that the tasks know themselves.
WRONG = gather(part.WRONG for part in _PARTS)
