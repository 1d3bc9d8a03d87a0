"""Submissions to homework 5: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw5 import learning, reports, restricted, second_budget, utilities

_PARTS = (reports, second_budget, restricted, utilities, learning)

RIGHT = {task: styles for part in _PARTS for task, styles in part.RIGHT.items()}

#: Without the wrong functions that the tasks know themselves.
WRONG = {task: styles for part in _PARTS for task, styles in part.WRONG.items()}
