"""What came out of a grading, ready to be compared."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from autograder.examine.records import Record
from testing.five_tasks import HOMEWORK


def bare(record: Record) -> Record:
    """Without what may differ between two runs: times, and the run's name."""
    return replace(record, seconds=0.0, run="", tasks=tuple(replace(task, seconds=0.0) for task in record.tasks))


def in_gradebook(root: Path) -> dict[str, float]:
    code = (
        "import json, sys\nfrom nbgrader.api import Gradebook\n"
        "with Gradebook(sys.argv[1]) as book:\n"
        "    print(json.dumps([(one.student.id, one.score) for one in book.assignment_submissions(sys.argv[2])]))"
    )
    place = f"sqlite:///{root / 'gradebook.db'}"
    told = subprocess.run([sys.executable, "-c", code, place, HOMEWORK], capture_output=True, text=True, check=True)
    pairs = json.loads(told.stdout.splitlines()[-1])
    assert len(dict(pairs)) == len(pairs), "somebody is in the gradebook twice"
    return dict(pairs)
