"""Tasks: what is asked of a student, the judge, and the known mistakes.

``check(f)`` examines a student's function with public probes; ``grade(f)`` with fresh ones. Judging is by the
mathematics of this package, never by comparing source code. Every random check has a known probability of failing a
right answer; a homework's sum is at most 1e-6.
"""

from dpcourse.tasks import probes
from dpcourse.tasks.answers import NUMBER, TABLE, VECTOR, Answer, Answers
from dpcourse.tasks.check import check, grade
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.declare import choice_task, gaussian_task, judged_task, laplace_task, value_task
from dpcourse.tasks.interview import LEVEL, Interview
from dpcourse.tasks.mistake import Mistake, mistake
from dpcourse.tasks.registry import HOMEWORKS, task_named, tasks_of
from dpcourse.tasks.student import Student
from dpcourse.tasks.task import Task
from dpcourse.tasks.verdict import Verdict

__all__ = [
    "HOMEWORKS", "LEVEL", "NUMBER", "TABLE", "VECTOR", "Answer", "Answers", "Complaint", "Interview", "Mistake",
    "Student", "Task", "Verdict", "check", "choice_task", "gaussian_task", "grade", "judged_task", "laplace_task",
    "mistake", "probes", "task_named", "tasks_of", "value_task",
]  # fmt: skip
