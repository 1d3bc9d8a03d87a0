"""``dpcourse forget``."""

from __future__ import annotations

import sys

import click

from autograder.commands.options import command, in_course
from autograder.console import Output, Problem, counted, note, one_line
from autograder.course.course import Course
from autograder.course.names import is_one_folder
from autograder.gradebook.forget import forget_student, mentions, places_of
from autograder.gradebook.people import known_students


@command(example="dpcourse forget ada")
@click.argument("student")
@click.option("--homework", "only", multiple=True, metavar="HW", help="only this homework (may be repeated)")
@click.option("--yes", is_flag=True, help="do not ask")
@in_course
def forget(course: Course, student: str, only: tuple[str, ...], yes: bool, output: Output) -> int:
    """Delete what the course keeps about a student, and say what it was: submitted, autograded, feedback, grading,
    earlier, and the rows of the gradebook.

    Files that you wrote yourself (exports, reports, lists of the class), backups and nbgrader's exchange are not
    touched; those of them that lie in the course's folder and name the student are listed.
    """
    if not is_one_folder(student):
        raise Problem(f"{student!r} cannot be a student's id")
    homeworks = course.chosen(list(only)) if only else None
    if not places_of(course, student, homeworks) and student not in known_students(course):
        raise Problem(f"nothing is known of {student!r} in {course.root}")
    what = f"everything about {student!r}" if homeworks is None else f"{', '.join(only)} of {student!r}"
    if not yes:
        if not sys.stdin.isatty():
            raise Problem(f"this deletes {what}, and cannot be undone; --yes says that you mean it")
        if not click.confirm(f"Delete {what}? This cannot be undone.", err=True):
            note("nothing was deleted")
            return 1
    with course.alone():
        deleted = forget_student(course, student, homeworks)
    for one in deleted:
        output.tell(f"deleted: {one_line(one)}")
    left = [path.name for path in mentions(course, student)]
    if left:
        note(f"{student!r} is still named in {counted(len(left), 'file')} of yours: {', '.join(left)}")
    output.write_json({"student": student, "deleted": deleted, "still_named_in": left})
    return 0
