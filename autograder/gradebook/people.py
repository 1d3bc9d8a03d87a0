"""The students in nbgrader's gradebook: their names, and who may hand in later than the others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from autograder.console import Problem
from autograder.course.course import Course
from autograder.course.roster import Roster
from autograder.gradebook.penalties import due_date
from autograder.gradebook.read import exists, gradebook


def store_names(course: Course, roster: Roster) -> int:
    """Give the gradebook the names and addresses of the class list; how many students were new or have changed.

    What the list leaves empty stays as it is there.
    """
    changed = 0
    with gradebook(course) as book:
        known = {student.id: student for student in book.students}
        for name, row in roster.rows.items():
            first, last = roster.name(name)
            values = {"first_name": first, "last_name": last, "email": row.get("email") or row.get("email_address")}
            values = {column: value for column, value in values.items() if value}
            student = known.get(name)
            if student is None or any(getattr(student, column) != value for column, value in values.items()):
                book.update_or_create_student(name, **values)
                changed += 1
    return changed


def read_names(course: Course) -> dict[str, tuple[str, ...]]:
    """student -> first name, last name and e-mail address, as far as they are known; nothing without a gradebook."""
    if not exists(course):
        return {}
    with gradebook(course) as book:
        return {str(one.id): tuple(filter(None, (one.first_name, one.last_name, one.email))) for one in book.students}


def known_students(course: Course) -> set[str]:
    """Who is in the gradebook, or has handed something in."""
    there = {name for homework in course.assignments() for name in course.students_of(homework)}
    if not exists(course):
        return there
    with gradebook(course) as book:
        return there | {str(student.id) for student in book.students}


def grant_extension(course: Course, homework: str, student: str, more: timedelta | datetime | None) -> datetime | None:
    """Let a student hand in later: by so much, or until a time (UTC); None takes the extension back.

    Gives the student's due date. It may be granted before anything was handed in.
    """
    from nbgrader import api

    with gradebook(course) as book:
        try:
            assignment = book.find_assignment(homework)
        except api.MissingEntry:
            assignment = None
        if assignment is None or assignment.duedate is None:
            raise Problem(
                f"{homework} has no due date, so nobody can be late. To set one: "
                f'nbgrader db assignment add {homework} --duedate "2026-11-20 23:59 UTC"'
            )
        due = assignment.duedate
        extension = more.astimezone(UTC).replace(tzinfo=None) - due if isinstance(more, datetime) else more
        if extension is not None and extension <= timedelta(0):
            raise Problem(f"{more} is not after the due date of {homework}, {due:%Y-%m-%d %H:%M} UTC")
        row = _row(book, assignment, student)
        row.extension = extension
        book.db.commit()
        return due_date(row)


def _row(book: Any, assignment: Any, student: str) -> Any:
    """The student's submission; one without a notebook if nothing was handed in yet."""
    from nbgrader import api

    try:
        return book.find_submission(assignment.name, student)
    except api.MissingEntry:
        row = api.SubmittedAssignment(assignment=assignment, student=book.update_or_create_student(student))
        book.db.add(row)
        return row
