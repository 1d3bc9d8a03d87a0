"""Submissions to homework 5: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw5 import learning, patterns, reports, restricted, second_budget, styles, utilities

_PARTS = (reports, second_budget, restricted, utilities, learning, styles, patterns)


def _together(parts):
    tasks = {task: {} for part in parts for task in part}
    for part in parts:
        for task, submissions in part.items():
            same = tasks[task].keys() & submissions.keys()
            if same:
                raise ValueError(f"{task} has two submissions called {sorted(same)}")
            tasks[task].update(submissions)
    return tasks


RIGHT = _together([part.RIGHT for part in _PARTS])

#: Without the wrong functions that the tasks know themselves.
WRONG = _together([part.WRONG for part in _PARTS])
