"""Submissions to homework 2: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw2 import local_noise, proofs, reports, survey, values

_PARTS = (values, reports, local_noise, survey, proofs)

RIGHT = {task: styles for part in _PARTS for task, styles in part.RIGHT.items()}

#: Without the wrong functions that the tasks know themselves.
WRONG = {task: styles for part in _PARTS for task, styles in part.WRONG.items()}
