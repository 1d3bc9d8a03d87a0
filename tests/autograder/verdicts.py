"""A submission of the small homework, and what was decided about it."""

import base64

from autograder.examine.records import Record, TaskRecord
from autograder.intake.submission import Submission
from tests.autograder.small_course import HW

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()


def handed_in(answers=None, **more):
    right = {
        "likelihood_ratio-solution": "def likelihood_ratio(): ...",
        "noisy_count-solution": "x = 1 < 2",
        "why-written": "Because $a<b$.",
    }
    return Submission("ada", HW, {**right, **(answers or {})}, **more)


def decided(feedback="Look at the scale.", status="failed", points=0.5, **more):
    tasks = (
        TaskRecord(task="likelihood_ratio", points=1, max_points=1, status="passed", feedback="Fine."),
        TaskRecord(
            task="noisy_count", points=points, max_points=2, status=status, feedback=feedback,
            message="HIDDEN PROBE 0.123", picture=PNG, mistake="upside down",
        ),
    )  # fmt: skip
    return Record(student="ada", assignment=HW, status="graded", tasks=tasks, **more)
