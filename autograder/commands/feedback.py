"""``dpcourse feedback``."""

from __future__ import annotations

from autograder.commands.options import command, homeworks_argument, in_course, students_option
from autograder.console import Output, counted
from autograder.course.course import Course
from autograder.pages.feedback import read_records, write_pages


@command(example="dpcourse feedback hw1_pure_dp --student ada")
@homeworks_argument
@students_option
@in_course
def feedback(course: Course, homeworks: list[str], students: tuple[str, ...], output: Output) -> int:
    """Make a page for each student (default: of all homeworks): verdicts, what to do about them, pictures, and what
    people wrote in the gradebook.

    The pages tell nothing about the fresh probes, and are safe to open whatever the student wrote.
    """
    pages = write_pages(course, read_records(course, homeworks, students))
    output.write_json(
        [{"student": page.record.student, "assignment": page.record.assignment, "file": str(page.place)}
         for page in pages]
    )  # fmt: skip
    output.tell(f"{counted(len(pages), 'page')} under {course.root / 'feedback'}")
    return 0
