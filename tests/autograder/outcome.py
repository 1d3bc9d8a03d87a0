"""What came out of a grading, ready to be compared."""

from dataclasses import replace
from pathlib import Path

from autograder.records import Record
from tests.autograder.five import HOMEWORK


def bare(record: Record) -> Record:
    """Without what may differ between two runs: times, and the run's name."""
    return replace(
        record, seconds=0.0, run="", judge="", tasks=tuple(replace(task, seconds=0.0) for task in record.tasks)
    )


def in_gradebook(root: Path) -> dict[str, float]:
    """student -> points, as nbgrader reads them."""
    from nbgrader.api import Gradebook  # seconds, once for all tests of a process

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        pairs = [(one.student.id, one.score) for one in book.assignment_submissions(HOMEWORK)]
    assert len(dict(pairs)) == len(pairs), "somebody is in the gradebook twice"
    return dict(pairs)
