"""A student's own notebook, looked at as grading would: public probes only, and no box, for it is their machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.box.packages import packages_for, packages_named
from autograder.box.sandbox import mentioned, without_walls
from autograder.console import Problem
from autograder.course.homework import Assignment, Cell
from autograder.examine.examination import Examination
from autograder.intake.submission import Submission
from dpcourse.tasks import Verdict, task_named
from dpcourse.tasks.own import FILE, libraries_near, tasks_near

if TYPE_CHECKING:
    from dpcourse.tasks import Task

SOLUTION = "-solution"  # a task's name and this is the name of the cell in which its function stands
DELETED = "(Its cell with `check` is missing in your notebook. Grading asks it all the same.)"


def check_notebook(path: Path, progress: Callable[[Verdict], object] = lambda _: None) -> list[Verdict]:
    """Every task's public checks. Only the solution cells and the given ones are run, as when it is graded."""
    try:
        written = Assignment.read(path)
    except ValueError as error:
        raise Problem(f"{path.name!r} cannot be read as a notebook: {error}") from None
    folder = path.resolve().parent
    tasks, unknown = _tasks_of(written, folder)
    answers = {cell.grade_id: cell.source for cell in written.cells if cell.role == "solution"}
    own = _added(written)
    added = tuple(cell.source for cell in own)
    there = [cell for cell in written.cells if cell not in own and (cell.role != "task" or cell.grade_id in tasks)]
    asked = {cell.grade_id for cell in there if cell.role == "task"}
    deleted = [name for name in tasks if name not in asked]
    cells = [*there, *(Cell(name, "code", "task", "", tasks[name].points) for name in deleted)]
    code = [cell.source for cell in written.cells if cell.kind == "code"]
    libraries = libraries_near(folder) or libraries_near()
    packages = packages_for(code, (), packages_named(libraries))
    sandbox = without_walls(preload=mentioned(code), packages=packages, libraries=libraries)
    submission = Submission("you", written.name, answers=answers, extra=added)
    try:
        homework = Assignment(written.name, tuple(cells))
        examined = Examination(submission, homework, tasks, sandbox, public=True, progress=progress).verdicts()
    finally:
        sandbox.close()
    verdicts = [
        replace(verdict, message=f"{verdict.message} {DELETED}") if verdict.task in deleted else verdict
        for verdict, _ in examined
    ]
    return verdicts + unknown


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


def _tasks_of(written: Assignment, folder: Path) -> tuple[dict[str, Task], list[Verdict]]:
    """The tasks that the notebook asks for, and a verdict on each graded cell that has none.

    The course's own ones are looked for beside the notebook and above it, then from the working directory. A task whose
    graded cell was deleted is known by the cell of its solution.
    """
    try:
        own = tasks_near(folder) or tasks_near()
    except ValueError as error:
        raise Problem(str(error)) from None
    tasks: dict[str, Task] = {}
    unknown = list[Verdict]()
    for cell in written.cells:
        if cell.role != "task" and not (cell.role == "solution" and cell.grade_id.endswith(SOLUTION)):
            continue
        name = cell.grade_id.removesuffix(SOLUTION) if cell.role == "solution" else cell.grade_id
        try:
            tasks[name] = task_named(name, own)
        except ValueError as error:
            if cell.role == "task":
                text = f"The course's {FILE} is missing here, or of another version: {error}"
                unknown.append(Verdict(task=name, status="error", points=0, max_points=cell.points, message=text))
    if not tasks and unknown:
        raise Problem(f"{written.name!r} asks for tasks that are not known here. {unknown[0].message}")
    if not tasks:
        raise Problem(f"{written.name!r} has no cell of a homework of this course: open the notebook you were given")
    return tasks, unknown
