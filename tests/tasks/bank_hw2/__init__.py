"""Submissions to homework 2: right ones in many styles, and wrong ones with the name of their mistake (or None)."""

from tests.tasks.bank_hw2 import local_noise, patterns, proofs, reports, styles, survey, values

_PARTS = (values, reports, local_noise, survey, proofs, styles, patterns)


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
