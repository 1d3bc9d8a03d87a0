"""Delete what a course keeps about a student: files, records, rows of the gradebook."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.course.course import Course, settings_of
from autograder.examine.records import write_whole
from autograder.gradebook.penalties import NOTES
from autograder.gradebook.read import DROPPED, exists, gradebook

#: Below each of these stands a folder for each student. nbgrader may call them otherwise in its settings.
WRITTEN = (".csv", ".html", ".json", ".txt")
FOLDERS = ("submitted", "autograded", "feedback", "earlier")


def places_of(course: Course, student: str, homeworks: Sequence[str] | None) -> list[Path]:
    """The files and folders that are the student's, of these homeworks or of all."""
    settings = settings_of(course.root).get("CourseDirectory", {})
    folders = {course.root / str(settings.get(f"{name}_directory", name)) for name in FOLDERS}
    folders |= {course.root / name for name in FOLDERS}
    places = []
    for folder in sorted(folders):
        own = folder / student
        places += [own] if homeworks is None else [own / name for name in homeworks]
    names = course.record_folders() if homeworks is None else homeworks
    places += [course.records(name) / f"{student}.json" for name in names]
    return [place for place in places if place.exists() or place.is_symlink()]


def forget_student(course: Course, student: str, homeworks: Sequence[str] | None = None) -> list[str]:
    """Delete all of it, the gradebook first; what was deleted, in words. Nothing is deleted if the gradebook fails."""
    deleted = _forget_rows(course, student, homeworks) if exists(course) else []
    for place in places_of(course, student, homeworks):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()
        deleted.append(place.relative_to(course.root).as_posix() if place.is_relative_to(course.root) else str(place))
    for name in course.record_folders() if homeworks is None else homeworks:
        _forget_penalty(course.records(name) / NOTES, student)
        _forget_dropped(course.records(name) / DROPPED, student)
    return deleted


def mentions(course: Course, student: str) -> list[Path]:
    """Files in the course's own folder that name the student: exports and reports that somebody wrote there."""
    files = (path for path in sorted(course.root.iterdir()) if path.suffix in WRITTEN and path.is_file())
    return [path for path in files if student.encode() in path.read_bytes()]


def _forget_rows(course: Course, student: str, homeworks: Sequence[str] | None) -> list[str]:
    from nbgrader.api import MissingEntry

    deleted = []
    with gradebook(course) as book:
        try:
            row = book.find_student(student)
        except MissingEntry:
            return []
        handed_in = [one.assignment.name for one in row.submissions]
        for name in handed_in:
            if homeworks is None or name in homeworks:
                book.remove_submission(name, student)
                deleted.append(f"the gradebook's submission of {name}")
        if homeworks is None:
            book.remove_student(student)
            deleted.append(f"the gradebook's student {student!r}")
        _overwrite(book)
    return deleted


def _overwrite(book: Any) -> None:
    """SQLite keeps deleted rows in its file until it is written anew."""
    engine = book.engine
    if engine.dialect.name == "sqlite":
        from sqlalchemy import text

        book.db.commit()
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("VACUUM"))


def _forget_dropped(place: Path, student: str) -> None:
    if place.is_file():
        lines = place.read_text(encoding="utf-8").splitlines(keepends=True)
        write_whole(place, "".join(line for line in lines if json.loads(line)["student"] != student).encode())


def _forget_penalty(place: Path, student: str) -> None:
    if place.is_file():
        notes: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
        if notes.pop(student, None) is not None:
            write_whole(place, json.dumps(notes, indent=1).encode())
