"""The gradebook, read: points by machine and by people, comments, penalties."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.examine.records import Record
from autograder.gradebook.penalties import LatePenalties, are_same, due_date, seconds_late
from autograder.intake.submission import submitted_at

DROPPED = "dropped.jsonl"  # beside the records: what people gave for tasks that are no longer asked
UNREAD = "What was handed in could not be read."  # the comment by which the gradebook knows it


@dataclass(frozen=True, kw_only=True)
class CellMark:
    """One graded cell of a submission. ``waits``: a person has to look at it. ``auto``: points by machine, if any."""

    score: float
    max_score: float
    waits: bool
    by_hand: bool
    auto: float | None = None
    extra_credit: float = 0.0
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One submission. ``score`` is before the penalty; ``final`` is what counts.

    ``unread``: nobody could read what was handed in, so its points are unknown, and not 0.
    """

    student: str
    assignment: str
    score: float
    max_score: float
    penalty: float
    waits: bool
    unread: bool = False
    time: datetime | None = None
    due: datetime | None = None  # with the student's extension
    cells: dict[str, CellMark] = field(default_factory=dict)

    @property
    def final(self) -> float:
        """What counts: never below 0."""
        return round(max(0.0, self.score - self.penalty), 6)

    @property
    def late(self) -> timedelta:
        """How late it was handed in; nothing where nobody knows."""
        return timedelta(seconds=seconds_late(self.time, self.due) or 0)


def exists(course: Course) -> bool:
    """Is there a gradebook? Opening a new one would make it, which takes seconds."""
    kind, _, place = course.db_url.partition(":///")
    return kind != "sqlite" or Path(place).is_file()


@contextmanager
def gradebook(course: Course) -> Iterator[Any]:
    """nbgrader's gradebook."""
    from nbgrader.api import Gradebook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLAlchemy's, about nbgrader's tables
        with Gradebook(course.db_url, course.name) as book:
            yield book


def marks_of(book: Any, assignment: str) -> dict[str, Mark]:
    """The submissions of a homework by student."""
    from nbgrader import api
    from sqlalchemy.orm import selectinload

    try:
        homework = book.find_assignment(assignment)
    except api.MissingEntry:
        return {}
    notebooks = selectinload(api.SubmittedAssignment.notebooks)
    rows = (
        book.db.query(api.SubmittedAssignment)
        .filter(api.SubmittedAssignment.assignment_id == homework.id)
        .options(
            notebooks.selectinload(api.SubmittedNotebook.grades),
            notebooks.selectinload(api.SubmittedNotebook.comments),
        )
    )
    cells = [cell for notebook in homework.notebooks for cell in notebook._base_cells]
    names = {cell.id: cell.name for cell in cells}
    most = {cell.id: float(cell.max_score) for cell in cells if hasattr(cell, "max_score")}
    # A row without a notebook is an extension for somebody who has not handed in yet.
    return {row.student_id: _mark(row, assignment, names, most) for row in rows if row.notebooks}


def agrees(mark: Mark | None, record: Record) -> bool:
    """Are the points by machine in the gradebook those of the record?"""
    if mark is None:
        return False
    points = {task.task: None if record.status == "rejected" else task.points for task in record.tasks}
    return all(name in mark.cells and are_close(mark.cells[name].auto, points[name]) for name in points)


def are_close(one: float | None, other: float | None) -> bool:
    """Are these points the same, as far as a database keeps them?"""
    return one is other if one is None or other is None else are_same(one, other)


def outdated(course: Course, marks: Iterable[Mark]) -> list[Mark]:
    """Those whose late penalty is not the one of today: see ``penalties``."""
    penalties, wrong = LatePenalties(course), []
    for mark in marks:
        time = submitted_at(course.submitted(mark.student, mark.assignment)) or mark.time
        late = seconds_late(time, mark.due)
        penalty = penalties.of_today(mark.assignment, mark.student, mark.score, late, mark.penalty)
        if not are_same(mark.penalty, penalty):
            wrong.append(mark)
    return wrong


def _mark(row: Any, assignment: str, names: dict[str, str], most: dict[str, float]) -> Mark:
    """From what has been loaded: nbgrader's own sums would ask the database once more for each submission.

    A comment belongs to the solution cell, which has the name of the graded one, but another id.
    """
    comments = {names[one.cell_id]: one.comment or "" for book in row.notebooks for one in book.comments}
    grades = [grade for book in row.notebooks for grade in book.grades]
    cells = {
        names[grade.cell_id]: CellMark(
            score=float(grade.score or 0), auto=grade.auto_score, max_score=most.get(grade.cell_id, 0.0),
            waits=bool(grade.needs_manual_grade),
            by_hand=grade.manual_score is not None, extra_credit=float(grade.extra_credit or 0),
            comment=comments.get(names[grade.cell_id], ""),
        )
        for grade in grades
    }  # fmt: skip
    comments_by_machine = {comment.auto_comment for book in row.notebooks for comment in book.comments}
    return Mark(
        unread=UNREAD in comments_by_machine and not any(cell.by_hand for cell in cells.values()),
        student=row.student_id, assignment=assignment, time=row.timestamp, cells=cells, max_score=sum(most.values()),
        score=round(sum(cell.score for cell in cells.values()), 6), waits=any(cell.waits for cell in cells.values()),
        penalty=sum(float(book.late_submission_penalty or 0) for book in row.notebooks),
        due=due_date(row),
    )  # fmt: skip
