"""A student's own notebook, looked at as grading would: public probes only, and no box, for it is their machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.box.packages import packages_for, packages_named
from autograder.box.sandbox import mentioned, without_walls
from autograder.console import Problem
from autograder.course.homework import Assignment, Cell
from autograder.course.programs import read_program
from autograder.examine.examination import Examination
from autograder.intake.answers import match_answers
from autograder.intake.notebook import RawCell, Unreadable, cells_of, read_file
from autograder.intake.submission import Submission
from dpcourse.tasks import HOMEWORKS, Verdict, task_named, tasks_of
from dpcourse.tasks.own_course import FILE, libraries_near, tasks_near

if TYPE_CHECKING:
    from dpcourse.tasks import Task

SOLUTION = "-solution"  # a task's name and this is the name of the cell in which its function stands
STUB = "raise NotImplementedError()"  # stands where nothing was written yet
DELETED = "(Its cell with `check` is missing in your notebook. Grading asks it all the same.)"


def check_notebook(path: Path, progress: Callable[[Verdict], object] = lambda _: None) -> list[Verdict]:
    """Every task's public checks. Only the solution cells and the given ones are run, as when it is graded.

    The answers are found as when it is graded, too: see ``intake.answers``.
    """
    try:
        cells, _ = cells_of(read_file(path))
    except Unreadable as error:
        raise Problem(f"{path.name!r} cannot be read as a notebook: {error}") from None
    folder = path.resolve().parent
    tasks, unknown = _tasks_of(path, cells, folder)
    homework = Assignment(path.stem, tuple(_outline(cells, tasks)))
    matching = match_answers(cells, homework, lambda cell, source: not source.strip() or STUB in source)
    answers = {name: cell.source for name, cell in matching.cells.items()}
    sources = {cell.source for cell in homework.cells}
    others = [raw for i, raw in enumerate(cells) if i not in matching.used and raw.kind == "code"]
    added = tuple(raw.source for raw in others if raw.source not in sources and raw.grade_id not in tasks)
    code = [*homework.given_code, *answers.values()]
    libraries = libraries_near(folder) or libraries_near()
    packages = packages_for(code, (), packages_named(libraries))
    sandbox = without_walls(preload=mentioned(code), packages=packages, libraries=libraries)
    submission = Submission("you", homework.name, answers=answers, extra=added)
    try:
        quick = Examination(submission, homework, tasks, sandbox, public=True, progress=progress, rest=lambda _: None)
        examined = quick.verdicts()  # without waits: it is their own machine, and nothing is hidden from it
    finally:
        sandbox.close()
    asked = {raw.grade_id for raw in cells} | {raw.source.strip() for raw in cells}
    comments = {name: matching.doubts.get(homework.solution_of(name), "") for name in tasks}
    for name in tasks:
        if not asked & {name, f"check({name})"}:
            comments[name] = f"{comments[name]} {DELETED}".strip()
    said = [replace(one, message=f"{one.message} {comments[one.task]}".strip()) for one, _ in examined]
    return said + unknown


def _outline(cells: Sequence[RawCell], tasks: Mapping[str, Task]) -> Iterator[Cell]:
    """The homework, as far as the notebook shows it: given code, the place of each answer, and each task after it.

    In our homeworks every given cell is marked as such. In a notebook without such marks, what stands above the first
    answer is taken to be given.
    """
    names = [_task_in(raw, tasks) for raw in cells]
    first = next((i for i, name in enumerate(names) if name), len(cells))
    marked = any(raw.kind == "code" and raw.is_locked and raw.grade_id not in tasks for raw in cells)
    seen = set[str]()
    for i, (raw, name) in enumerate(zip(cells, names, strict=True)):
        if name and name not in seen:
            seen.add(name)
            yield Cell(f"{name}{SOLUTION}", "code", "solution", f"def {name}(): ...", cell_id=raw.cell_id)
            yield Cell(name, "code", "task", f"check({name})")
        elif raw.kind == "code" and not name and (raw.is_locked and raw.grade_id not in tasks if marked else i < first):
            yield Cell(raw.grade_id, "code", "given", raw.source)
    for name in tasks:
        if name not in seen:
            yield Cell(f"{name}{SOLUTION}", "code", "solution", f"def {name}(): ...")
            yield Cell(name, "code", "task", f"check({name})")


def _task_in(raw: RawCell, tasks: Mapping[str, Task]) -> str:
    """The task whose answer a cell is, by its mark or by the function in it; "" if it is none."""
    marked = raw.grade_id.removesuffix(SOLUTION)
    if raw.grade_id.endswith(SOLUTION) and marked in tasks:
        return marked
    if raw.kind != "code" or raw.is_locked:
        return ""
    return next((name for name in tasks if name in read_program(raw.source).functions), "")


def _likeliest(names: set[str]) -> Mapping[str, Task]:
    """The tasks of the homework of this package with which a notebook shares most names; none if it shares none."""
    shared = {homework: len(names & tasks_of(homework).keys()) for homework in HOMEWORKS}
    best = max(shared, key=lambda homework: shared[homework])
    return tasks_of(best) if shared[best] else {}


def _tasks_of(path: Path, cells: Sequence[RawCell], folder: Path) -> tuple[dict[str, Task], list[Verdict]]:
    """The tasks that the notebook asks for, and a verdict on each graded cell that has none.

    The course's own ones are looked for beside the notebook and above it, then from the working directory. A task whose
    graded cell was deleted is known by its answer, and where the marks are gone, by the name of a function.
    """
    try:
        own = tasks_near(folder) or tasks_near()
    except ValueError as error:
        raise Problem(str(error)) from None
    marked, graded = list[str](), set[str]()
    for raw in cells:
        name = raw.grade_id.removesuffix(SOLUTION)
        if raw.is_locked and f"check({name})" in raw.source:
            graded.add(name)
        if name in graded or name != raw.grade_id:
            marked.append(name)
    code = (raw.source for raw in cells if raw.kind == "code" and not raw.is_locked)
    functions = {name for source in code for name in read_program(source).functions}
    homework = _likeliest(set(marked) or functions)
    tasks: dict[str, Task] = {}
    unknown = list[Verdict]()
    for name in [*marked, *sorted(functions & (own.keys() | homework.keys()), key=[*own, *homework].index)]:
        try:
            tasks[name] = task_named(name, own)
        except ValueError as error:
            if name in graded:
                text = f"The course's {FILE} is missing here, or of another version: {error}"
                unknown.append(Verdict(task=name, status="error", message=text))
                graded.remove(name)
    if not tasks and unknown:
        raise Problem(f"{path.name!r} asks for tasks that are not known here. {unknown[0].message}")
    if not tasks:
        raise Problem(f"{path.name!r} has no cell of a homework of this course: open the notebook you were given")
    return tasks, unknown
