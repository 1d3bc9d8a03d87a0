"""Tasks: what is asked of a student, the judge, and the known mistakes.

``check(f)`` examines a student's function with public probes; ``grade(f)`` with fresh ones. Judging is by the
mathematics of this package, never by comparing source code. Every random check has a known probability of failing a
right answer; a homework's sum is at most 1e-6.
"""

from dpcourse.tasks.answers import Answer, Answers
from dpcourse.tasks.check import check, grade
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.judges.choices import shares_of
from dpcourse.tasks.judges.noise import Noise, noise_of
from dpcourse.tasks.judges.values import values_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.registry import HOMEWORKS, task_named, tasks_of
from dpcourse.tasks.student import Student
from dpcourse.tasks.task import Task
from dpcourse.tasks.verdict import Verdict

__all__ = [
    "HOMEWORKS", "LEVEL", "Answer", "Answers", "Complaint", "Interview", "Mistake", "Noise", "Student", "Task",
    "Verdict", "check", "grade", "noise_of", "shares_of", "task_named", "tasks_of", "values_of",
]  # fmt: skip
