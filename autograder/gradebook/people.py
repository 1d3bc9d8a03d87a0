"""What the people of the gradebook are called."""

from __future__ import annotations

from autograder.course.course import Course
from autograder.gradebook.read import exists, gradebook


def read_names(course: Course) -> dict[str, tuple[str, ...]]:
    """student -> first name, last name and e-mail address, as far as they are known; nothing without a gradebook."""
    if not exists(course):
        return {}
    with gradebook(course) as book:
        return {str(one.id): tuple(filter(None, (one.first_name, one.last_name, one.email))) for one in book.students}
