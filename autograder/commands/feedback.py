"""Make a page for each student: verdicts, what to do about them, pictures, and what people wrote in the gradebook.

The pages tell nothing about the fresh probes, and are safe to open whatever the student wrote.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import Problem, bar, counted, tell, write_json
from autograder.course.course import Course, heading
from autograder.course.homework import Assignment
from autograder.course.names import is_one_folder
from autograder.examine.records import Record, TaskRecord, records_in, write_whole
from autograder.gradebook.read import CellMark, Mark, exists, gradebook, marks_of

EXAMPLE = "dpcourse feedback hw1_pure_dp --student ada"
MANY = 100  # pages from which on it pays to start more processes


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse feedback``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all)")
    parser.add_argument("--student", action="append", metavar="S", help="only this student (may be repeated)")


def run(options: argparse.Namespace) -> int:
    """Write the pages."""
    course = Course.find(Path(options.course))
    records = graded(course, course.chosen(options.homework), options.student)
    marks = marks_for(course, {record.assignment for record in records})
    assignments = {name: Assignment.read(course.source(name)) for name in {record.assignment for record in records}}
    pages = [
        (record, assignments[record.assignment], heading(course.source(record.assignment)),
         marks.get(record.assignment, {}).get(record.student),
         course.feedback(record.student, record.assignment))
        for record in records if is_one_folder(record.student)
    ]  # fmt: skip
    with bar("feedback", len(pages)) as shown, workers(len(pages)) as many:
        for _ in many(write_page, pages):
            shown.update(1)
    written = [
        {"student": record.student, "assignment": record.assignment, "file": str(place)} for record, *_, place in pages
    ]
    write_json(options.json, written)
    tell(options, f"{counted(len(written), 'page')} under {course.root / 'feedback'}")
    return 0


@contextmanager
def workers(number: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """A ``map`` that uses all cores where there is much to do: painting pictures takes a while."""
    if number < MANY:
        yield map
        return
    with ProcessPoolExecutor(os.cpu_count(), mp_context=multiprocessing.get_context("spawn")) as pool:
        yield partial(pool.map, chunksize=10)


def write_page(given: tuple[Record, Assignment, str, Mark | None, Path]) -> None:
    """Make one page and put it in its place."""
    record, assignment, title, mark, place = given
    write_whole(place, page(record, assignment, title, mark))


def graded(course: Course, homeworks: list[str], students: list[str] | None = None) -> list[Record]:
    """The records of these homeworks (and students). None at all is a :class:`Problem`."""
    found = [record for name in homeworks for record in records_in(course.records(name))]
    if not found:
        raise Problem(f"nothing of {', '.join(homeworks)} has been graded; `dpcourse grade` does it")
    for student in students or ():
        if student not in {record.student for record in found}:
            raise Problem(f"nothing of student {student!r} has been graded in {', '.join(homeworks)}")
    return [record for record in found if not students or record.student in students]


def marks_for(course: Course, homeworks: set[str]) -> dict[str, dict[str, Mark]]:
    """homework -> student -> what the gradebook says; nothing where there is no gradebook."""
    if not exists(course):
        return {}
    with gradebook(course) as book:
        return {name: marks_of(book, name) for name in homeworks}


def page(record: Record, assignment: Assignment, title: str, mark: Mark | None = None) -> bytes:
    """One student's page."""
    from autograder.pages.page import rendered
    from autograder.pages.questions import question

    cells = mark.cells if mark else {}
    rejected = record.notes[-1] if record.status == "rejected" and record.notes else ""
    tasks = [task_shown(task, record, cells.get(task.task)) for task in record.tasks]
    texts = []
    for cell in (cell for cell in assignment.cells if cell.manual):
        given = cells.get(cell.grade_id)
        texts.append({
            "name": question(assignment, cell), "answer": record.answers.get(cell.grade_id, ""),
            "max_points": cell.points, "waits": given is None or given.waits, "points": given.score if given else 0.0,
            "read": given is not None and given.by_hand, "comment": given.comment if given else "",
        })  # fmt: skip
    raw = mark.score if mark else record.score
    return rendered(
        "feedback.html", title=title, student=record.student, status=record.status, rejected=rejected,
        notes=[note for note in record.student_notes if note != rejected],
        tasks=tasks, texts=texts, raw=raw, score=mark.final if mark else record.score,
        max_score=mark.max_score if mark else record.max_score + assignment.manual_points,
        penalty=mark.penalty if mark else 0.0, waits=any(shown["waits"] for shown in (*tasks, *texts)),
    )  # fmt: skip


def task_shown(task: TaskRecord, record: Record, given: CellMark | None) -> dict[str, Any]:
    """What a student sees of a verdict. Never its message: that may speak of the fresh probes."""
    from autograder.pages.page import COLOURS, WORDS, data_uri

    words = WORDS.get(task.status, task.status)
    if task.wasteful:
        words = "private, but wasteful"
    feedback = task.feedback
    if record.status == "rejected":
        words, feedback = "not graded", ""  # the page says why, once
    by_hand = given is not None and given.by_hand
    return {
        "name": task.task, "words": words, "colour": COLOURS.get(task.status, COLOURS["missing"]),
        "points": given.score if given is not None and (by_hand or given.extra_credit) else task.points,
        "max_points": task.max_points, "by_hand": by_hand, "feedback": feedback, "picture": data_uri(task.picture),
        "waits": given is not None and given.waits,
        "comment": given.comment if given else "", "answer": record.answers.get(f"{task.task}-solution", ""),
    }  # fmt: skip
