"""The gradebook, read: points by machine and by people, comments, penalties."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.course.course import Course
from autograder.gradebook.penalties import LatePenalties, are_same, due_date, seconds_late
from autograder.intake.submission import submitted_at


@dataclass(frozen=True, kw_only=True)
class CellMark:
    """One graded cell of a submission. ``waits``: a person has to look at it."""

    score: float
    max_score: float
    waits: bool
    by_hand: bool
    extra_credit: float = 0.0
    comment: str = ""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """One submission. ``score`` is before the penalty; ``final`` is what counts."""

    student: str
    assignment: str
    score: float
    max_score: float
    penalty: float
    waits: bool
    time: datetime | None = None
    due: datetime | None = None  # with the student's extension
    cells: dict[str, CellMark] = field(default_factory=dict)

    @property
    def final(self) -> float:
        """What counts: never below 0."""
        return round(max(0.0, self.score - self.penalty), 6)


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
    found = (
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
    return {row.student_id: _mark(row, assignment, names, most) for row in found}


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
            score=float(grade.score or 0), max_score=most.get(grade.cell_id, 0.0), waits=bool(grade.needs_manual_grade),
            by_hand=grade.manual_score is not None, extra_credit=float(grade.extra_credit or 0),
            comment=comments.get(names[grade.cell_id], ""),
        )
        for grade in grades
    }  # fmt: skip
    return Mark(
        student=row.student_id, assignment=assignment, time=row.timestamp, cells=cells, max_score=sum(most.values()),
        score=round(sum(cell.score for cell in cells.values()), 6), waits=any(cell.waits for cell in cells.values()),
        penalty=sum(float(book.late_submission_penalty or 0) for book in row.notebooks),
        due=due_date(row),
    )  # fmt: skip
