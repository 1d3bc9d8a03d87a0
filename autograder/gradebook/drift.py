"""Where the source, the records and the gradebook of a homework say different things, and what brings them together.

Points stand once, in the source notebook. ``dpcourse grade`` makes the rest follow; whatever reads grades asks here
first whether that has happened.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from shlex import quote
from typing import Any

from autograder.console import counted, one_line
from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.examine.records import Record, records_in
from autograder.gradebook.cells import differences_of_cells
from autograder.gradebook.read import agrees, exists, gradebook, marks_of
from autograder.intake.notebook import Unreadable, read_file

NAMED = 3  # students that a sentence names


def differences_of(course: Course, homeworks: Iterable[str]) -> list[str]:
    """The same for several homeworks, from the gradebook that the course has; nothing if it has none yet."""
    if not exists(course):
        return []
    with gradebook(course) as book:
        return [sentence for name in homeworks for sentence in differences(course, name, book)]


def differences(course: Course, name: str, book: Any) -> list[str]:
    """A sentence for each difference, with the command that ends it; ``book`` is nbgrader's gradebook."""
    homework = Assignment.read(course.source(name))
    records = {record.student: record for record in records_in(course.records(name))}
    marks = marks_of(book, name)
    if not records and not marks:
        return []
    there = set(course.students_of(name))
    return [f"{name}: {sentence}" for sentence in _sentences(course, name, homework, records, marks, there, book)]


def _sentences(
    course: Course, name: str, homework: Assignment, records: dict[str, Record], marks: dict[str, Any],
    there: set[str], book: Any,
) -> Iterator[str]:  # fmt: skip
    again = f"run: dpcourse grade {name}"
    cells = differences_of_cells(book, homework)
    yield from (f"{sentence}; {again}" for sentence in cells)
    old = [who for who, record in records.items() if record.in_points_of(homework) != record]
    if old and not cells:
        yield f"{people(old)} graded by other points or tasks than the source has now; {again}"
    missing = [who for who in records if who in there and who not in marks]
    if missing:
        yield f"{people(missing)} graded, but not in the gradebook; {again} (or: dpcourse forget {quote(missing[0])})"
    other = [who for who, record in records.items() if who in marks and not agrees(marks[who], record)]
    if other and not (cells or old):
        yield f"the gradebook has other points by machine than the record of {names(other)}; {again}"
    new = [who for who in sorted(there & records.keys()) if _is_newer(course.submitted(who, name), records[who])]
    if new:
        yield f"{people(new)} graded by an earlier file than the one that is handed in now; {again}"
    waiting = sorted(there - records.keys())
    if waiting:
        yield f"{people(waiting)} not graded yet; {again}"
    gone = sorted((records.keys() | marks.keys()) - there)
    if gone:
        yield (
            f"{people(gone)} graded, but what they handed in is no longer in {course.root / 'submitted'}; put it back, "
            f"or delete the rest: dpcourse forget {quote(gone[0])} --homework {name}"
        )


def _is_newer(folder: Path, record: Record) -> bool:
    """Does the folder hold other notebooks than the one that was graded?"""
    prints = set()
    for path in folder.glob("*.ipynb"):
        with contextlib.suppress(OSError, Unreadable):
            prints.add(sha256(read_file(path)).hexdigest())
    return (
        bool(prints) and record.fingerprint not in prints and (record.fingerprint != "" or record.status == "rejected")
    )


def people(students: Collection[str]) -> str:
    """1 student (ada) is, 5 students (ada, bob, cleo, ...) are."""
    return f"{counted(len(students), 'student')} ({names(students)}) {'is' if len(students) == 1 else 'are'}"


def names(students: Collection[str]) -> str:
    """A few names."""
    first = sorted(students)[:NAMED]
    return one_line(", ".join(first)) + (", ..." if len(students) > NAMED else "")
