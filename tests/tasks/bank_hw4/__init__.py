"""Submissions to homework 4: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw4 import budgets, lots, steps, training

_PARTS = (lots, steps, budgets, training)

RIGHT = {task: styles for part in _PARTS for task, styles in part.RIGHT.items()}

#: Without the wrong functions that the tasks know themselves.
WRONG = {task: styles for part in _PARTS for task, styles in part.WRONG.items()}
