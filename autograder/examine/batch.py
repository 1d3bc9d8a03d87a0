"""A whole class: what is to be graded, and by whom. It can be stopped at any time and goes on (see ``runs``)."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.box import sandbox
from autograder.box.packages import packages_for
from autograder.console import Problem
from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.course.libraries import libraries_of, need_libraries
from autograder.examine.records import Record
from autograder.examine.runs import Run, Writing
from autograder.examine.workers import Job, Setting, local
from autograder.intake.notebook import Unreadable, read_file
from autograder.intake.submission import Submission

if TYPE_CHECKING:
    from dpcourse.tasks.task import Task


@dataclass(frozen=True)
class End:
    """How a run ended: whose late penalties were changed, where grades still differ, how many were examined."""

    penalties: dict[str, list[str]]
    differences: list[str]
    examined: int


OnEnd = Callable[[End], object]


def grade(
    course: Course,
    assignments: Sequence[str],
    *,
    students: Sequence[str] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    seed: int | None = None,
    regrade: bool = False,
    unsafe: bool = False,
    progress: Callable[[Record], object] | None = None,
    repeat_probes: bool = False,
    on_end: OnEnd = lambda end: None,
) -> list[Record]:
    """Grade what was handed in; the records of everything asked for, those of earlier runs included."""
    if not unsafe and cluster is None:
        sandbox.check()
    with course.alone():
        runs = {
            name: Run(course, name, seed=seed, regrade=regrade, whole=students is None, repeat_probes=repeat_probes)
            for name in assignments
        }
        return _graded(course, runs, students, jobs, cluster, unsafe, progress, on_end)


def _graded(
    course: Course, runs: dict[str, Run], students: Sequence[str] | None, jobs: int | None, cluster: str | None,
    unsafe: bool, progress: Callable[[Record], object] | None, on_end: OnEnd,
) -> list[Record]:  # fmt: skip
    wanted = [
        (run, student)
        for run in runs.values()
        for student in course.students_of(run.name)
        if not students or student in students
    ]
    setting = setting_of(course, wanted, runs, unsafe)
    found: dict[tuple[str, str], Record] = {}

    def told(record: Record) -> None:
        found[record.assignment, record.student] = record
        if progress is not None:
            progress(record)

    def still() -> Iterator[Job]:
        for run, student in wanted:
            submission = run.submission(student)
            if run.is_done(submission):
                told(run.records[student])
                if run.resumed:
                    writer.add(run.records[student], submission)
                continue
            run.begin()
            handed[run.name, student] = submission
            yield Job(submission, run.seed)

    handed: dict[tuple[str, str], Submission] = {}
    with Writing(course, runs) as writer:
        for run in runs.values():
            run.restate(writer)
        if cluster is not None:
            from autograder.examine.cluster import on_cluster

            graded = on_cluster(still(), setting, cluster)
        else:
            graded = local(still(), setting, jobs or os.cpu_count() or 1)
        with contextlib.closing(graded):  # on Ctrl-C the workers end at once, not when Python gets round to it
            for record in graded:
                kept = writer.kept(record)
                writer.add(kept, handed.pop((record.assignment, record.student)))
                told(kept)
        for run in runs.values():
            writer.complete(run)
        on_end(End(writer.update_penalties(students), writer.differences(), writer.examined))
    if students is None:
        for run in runs.values():
            run.end()
    return [found[run.name, student] for run, student in wanted]


def setting_of(course: Course, wanted: Sequence[tuple[Run, str]], runs: dict[str, Run], unsafe: bool) -> Setting:
    """What the workers need to know. A graded cell without a task is an error of the instructor's, told at once."""
    assignments = {name: run.assignment for name, run in runs.items()}
    tasks = {name: tasks_of(course, one) for name, one in assignments.items()}
    given = [source for one in assignments.values() for source in one.given_code]
    sample = wanted[:: max(1, len(wanted) // 40)]
    answers = [list(run.submission(student).answers.values()) for run, student in sample]
    seen = Counter(name for sources in answers for name in sandbox.mentioned(sources))
    often = {name for name, count in seen.items() if count >= len(sample) / 10}  # worth loading once for all
    preload = tuple(sorted(often.union(sandbox.mentioned(given))))  # the given cells run in every submission
    libraries = need_libraries(course)
    packages = packages_of(course, assignments.values(), libraries)
    own_tasks = course.tasks_file.read_bytes() if course.tasks_file.is_file() else b""
    return Setting(assignments, tasks, preload, packages, unsafe, own_tasks, tuple(sorted(libraries)))


def packages_of(
    course: Course, assignments: Iterable[Assignment], libraries: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The distributions that the box of these homeworks holds (``packages_for``), of those that the course allows."""
    homeworks = list(assignments)
    source = [cell.source for homework in homeworks for cell in homework.cells if cell.kind == "code"]

    def submitted() -> Iterator[bytes]:
        for homework in homeworks:
            for path in (course.root / "submitted").glob(f"*/{homework.name}/*.ipynb"):
                with contextlib.suppress(OSError, Unreadable):
                    yield read_file(path)

    return packages_for(source, submitted(), libraries_of(course) if libraries is None else libraries)


def tasks_of(course: Course, assignment: Assignment) -> dict[str, Task]:
    """The tasks that its graded cells name."""
    found = {}
    for name in assignment.task_names:
        try:
            found[name] = course.task(name)
        except Problem:  # the file of the course's own tasks is broken, whatever this cell is called
            raise
        except ValueError as error:
            raise Problem(f"the graded cell {name!r} of {assignment.name} has no task: {error}") from None
    return found
