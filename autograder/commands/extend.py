"""``dpcourse extend``."""

from __future__ import annotations

from datetime import datetime, timedelta
from difflib import get_close_matches

import click

from autograder.commands.options import command, in_course
from autograder.console import Output, Problem
from autograder.course.course import Course
from autograder.course.names import BadName, safe_name
from autograder.gradebook.people import grant_extension, known_students


@command(example='dpcourse extend ada hw1_pure_dp --until "2026-11-27 23:59"')
@click.argument("student")
@click.argument("homework")
@click.option(
    "--until", metavar="TIME", help="until this time, such as 2026-11-27 23:59 (of this computer's time zone)"
)
@click.option("--days", type=click.IntRange(1, 365), metavar="N", help="so many days after the due date")
@click.option("--new", is_flag=True, help="a student of whom the course knows nothing yet")
@click.option("--none", "nothing", is_flag=True, help="take the extension back")
@in_course
def extend(
    course: Course,
    student: str,
    homework: str,
    until: str | None,
    days: int | None,
    new: bool,
    nothing: bool,
    output: Output,
) -> int:
    """Let one student hand in later: the due date of the homework stays for all others.

    It may be granted before anything was handed in, or after it was graded. The next `dpcourse grade` brings the late
    penalty up to date.
    """
    course.chosen([homework])
    try:
        student = safe_name(student)
    except BadName as error:
        raise Problem(f"the student id {error}") from None
    if sum((until is not None, days is not None, nothing)) != 1:
        raise Problem("say either --until TIME, or --days N, or --none")
    more = read_time(until) if until is not None else timedelta(days=days) if days else None
    known = known_students(course)
    if student not in known and not new:
        near = get_close_matches(student, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else "--new says that the name is right"
        raise Problem(f"the course knows no student {student!r}: {hint}")
    with course.alone():
        due = grant_extension(course, homework, student, more)
    output.tell(f"{student} may hand in {homework} until {due:%Y-%m-%d %H:%M} UTC; then run: dpcourse grade {homework}")
    output.write_json({"student": student, "assignment": homework, "due": f"{due:%Y-%m-%d %H:%M:%S} UTC"})
    return 0


def read_time(text: str) -> datetime:
    """A time; without a zone it is this computer's."""
    try:
        return datetime.fromisoformat(text.replace(" UTC", "+00:00")).astimezone()
    except ValueError:
        raise Problem(f"--until {text!r} is no time: write it as 2026-11-27 23:59") from None
