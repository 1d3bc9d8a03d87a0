"""Submissions to homework 1: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw1 import choices, counts, open_tasks, proofs, sums

_PARTS = (counts, sums, choices, open_tasks, proofs)

RIGHT = {task: styles for part in _PARTS for task, styles in part.RIGHT.items()}

#: Without the wrong functions that the tasks know themselves.
WRONG = {task: styles for part in _PARTS for task, styles in part.WRONG.items()}
