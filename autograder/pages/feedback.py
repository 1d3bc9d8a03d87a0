"""A student's page: verdicts, what to do about them, pictures, and what people wrote in the gradebook.

The pages tell nothing about the fresh probes, and are safe to open whatever the student wrote.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import Problem, bar, in_words
from autograder.course.course import Course, heading
from autograder.course.homework import Assignment
from autograder.course.names import is_one_folder
from autograder.examine.records import Record, TaskRecord, records_in, write_whole
from autograder.gradebook.read import CellMark, Mark, exists, gradebook, marks_of
from autograder.pages.questions import question

MANY = 100  # pages from which on it pays to start more processes


@dataclass(frozen=True)
class Page:
    """What one page is made of, and its place."""

    record: Record
    assignment: Assignment
    title: str
    mark: Mark | None
    place: Path


def read_records(course: Course, homeworks: list[str], students: Collection[str] = ()) -> list[Record]:
    """What was graded of these homeworks (and students). None at all is a :class:`Problem`."""
    records = [record for name in homeworks for record in records_in(course.records(name))]
    if not records:
        raise Problem(f"nothing of {', '.join(homeworks)} has been graded; `dpcourse grade` does it")
    for student in students:
        if student not in {record.student for record in records}:
            raise Problem(f"nothing of student {student!r} has been graded in {', '.join(homeworks)}")
    return [record for record in records if not students or record.student in students]


def read_marks(course: Course, homeworks: Collection[str]) -> dict[str, dict[str, Mark]]:
    """homework -> student -> what the gradebook says; nothing where there is no gradebook."""
    if not exists(course):
        return {name: {} for name in homeworks}
    with gradebook(course) as book:
        return {name: marks_of(book, name) for name in homeworks}


def write_pages(course: Course, records: list[Record]) -> list[Page]:
    """Make a page of each record and put it in its place: by all cores where there are many, for pictures take time."""
    homeworks = {record.assignment for record in records}
    assignments = {name: Assignment.read(course.source(name)) for name in homeworks}
    marks = read_marks(course, homeworks)
    pages = [
        Page(one, assignments[one.assignment], heading(course.source(one.assignment)),
             marks[one.assignment].get(one.student), course.feedback(one.student, one.assignment))
        for one in records if is_one_folder(one.student)
    ]  # fmt: skip
    with bar("feedback", len(pages)) as advance, ExitStack() as stack:
        each: Any = map
        if len(pages) >= MANY:
            spawn = multiprocessing.get_context("spawn")
            each = partial(stack.enter_context(ProcessPoolExecutor(os.cpu_count(), spawn)).map, chunksize=10)
        for _ in each(write_page, pages):
            advance()
    return pages


def write_page(page: Page) -> None:
    """Make one page and put it in its place."""
    write_whole(page.place, make_page(page.record, page.assignment, page.title, page.mark))


def make_page(record: Record, assignment: Assignment, title: str, mark: Mark | None = None) -> bytes:
    """One student's page."""
    from autograder.pages.page import rendered

    marks = mark.cells if mark else {}
    rejected = record.notes[-1] if record.status == "rejected" and record.notes else ""
    tasks = [describe_task(task, record, marks.get(task.task)) for task in record.tasks]
    texts = []
    for cell in (cell for cell in assignment.cells if cell.manual):
        own = marks.get(cell.grade_id)
        texts.append({
            "name": question(assignment, cell), "answer": record.answers.get(cell.grade_id, ""),
            "max_points": cell.points, "waits": own is None or own.waits, "points": own.score if own else 0.0,
            "read": own is not None and own.by_hand, "comment": own.comment if own else "",
        })  # fmt: skip
    return rendered(
        "feedback.html", title=title, student=record.student, status=record.status, rejected=rejected,
        notes=[note for note in record.student_notes if note != rejected], tasks=tasks, texts=texts,
        raw=mark.score if mark else record.score, score=mark.final if mark else record.score,
        max_score=mark.max_score if mark else record.max_score + assignment.manual_points,
        penalty=mark.penalty if mark else 0.0, late=in_words(mark.late) if mark else "",
        unread=mark.unread if mark else record.status == "rejected",
        waits=any(one["waits"] for one in (*tasks, *texts)),
    )  # fmt: skip


def describe_task(task: TaskRecord, record: Record, mark: CellMark | None) -> dict[str, Any]:
    """What a student sees of a verdict. Never its message: that may speak of the fresh probes."""
    from autograder.pages.page import COLOURS, WORDS, data_uri

    words = WORDS.get(task.status, task.status)
    if task.wasteful:
        words = "private, but wasteful"
    feedback = task.feedback
    if record.status == "rejected":
        words, feedback = "not graded", ""  # the page says why, once
    by_hand = mark is not None and mark.by_hand
    colour = COLOURS.get(task.status, COLOURS["missing"])
    if by_hand and record.status != "rejected":
        words, colour = "graded by a person", COLOURS["missing"]
    return {
        "name": task.task, "words": words, "colour": colour,
        "points": task.points if mark is None else mark.score, "doubt": task.doubt,
        "max_points": task.max_points, "by_hand": by_hand, "feedback": feedback, "picture": data_uri(task.picture),
        "waits": mark is not None and mark.waits,
        "comment": mark.comment if mark else "", "answer": record.answers.get(f"{task.task}-solution", ""),
    }  # fmt: skip
