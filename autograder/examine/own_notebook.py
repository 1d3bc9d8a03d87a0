"""A student's own notebook, looked at as grading would: public probes only, and no box, for it is their machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.box.sandbox import mentioned, without_walls
from autograder.console import Problem
from autograder.course.homework import Assignment, Cell
from autograder.examine.examination import Examination
from autograder.intake.submission import Submission
from dpcourse.tasks import HOMEWORKS, tasks_of

if TYPE_CHECKING:
    from dpcourse.tasks.verdict import Verdict

DELETED = "(Its cell with `check` is missing in your notebook. Grading asks it all the same.)"


def check_notebook(path: Path, progress: Callable[[Verdict], object] = lambda _: None) -> list[Verdict]:
    """Every task's public checks. Only the solution cells and the given ones are run, as when it is graded."""
    try:
        written = Assignment.read(path)
    except ValueError as error:
        raise Problem(f"{path.name!r} cannot be read as a notebook: {error}") from None
    tasks = tasks_of(_homework(written))
    answers = {cell.grade_id: cell.source for cell in written.cells if cell.role == "solution"}
    own = _added(written)
    added = tuple(cell.source for cell in own)
    there = [cell for cell in written.cells if cell not in own and (cell.role != "task" or cell.grade_id in tasks)]
    asked = {cell.grade_id for cell in there if cell.role == "task"}
    deleted = [name for name in tasks if f"{name}-solution" in answers and name not in asked]
    cells = [*there, *(Cell(name, "code", "task", "") for name in deleted)]
    sandbox = without_walls(preload=mentioned([cell.source for cell in written.cells if cell.kind == "code"]))
    submission = Submission("you", written.name, answers=answers, extra=added)
    try:
        homework = Assignment(written.name, tuple(cells))
        examined = Examination(submission, homework, tasks, sandbox, public=True, progress=progress).verdicts()
    finally:
        sandbox.close()
    return [
        replace(verdict, message=f"{verdict.message} {DELETED}") if verdict.task in deleted else verdict
        for verdict, _ in examined
    ]


def _added(written: Assignment) -> list[Cell]:
    """The code cells that are the student's own. In our homeworks every given cell is marked as such.

    In one without such marks, what stands above the first solution is taken to be given.
    """
    unmarked = [cell for cell in written.cells if cell.kind == "code" and not cell.grade_id]
    if any(cell.role == "given" and cell.kind == "code" and cell.grade_id for cell in written.cells):
        return unmarked
    roles = [cell.role for cell in written.cells]
    first = roles.index("solution") if "solution" in roles else len(roles)
    return [cell for cell in unmarked if written.cells.index(cell) > first]


def _homework(written: Assignment) -> str:
    """Which homework it is: by its cells, whatever the file is called."""
    found = {cell.grade_id for cell in written.cells}
    shared = {
        homework: sum(name in found or f"{name}-solution" in found for name in tasks_of(homework))
        for homework in HOMEWORKS
    }
    best = max(shared, key=lambda homework: shared[homework])
    if not shared[best]:
        raise Problem(f"{written.name!r} has no cell of a homework of this course: open the notebook you were given")
    return best
