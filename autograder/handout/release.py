"""The students' notebooks: made by nbgrader's generate_assignment, and looked through for what they would give away."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from autograder.console import Problem
from autograder.course.course import Course, settings_of
from autograder.course.homework import Assignment
from autograder.handout.leaks import Secrets, secrets_of


def make_release(course: Course, homework: str, *, force: bool, may_show: Collection[str] = ()) -> tuple[str, str]:
    """Make one release. Gives the outcome (released, unchanged, refused), and why."""
    place = course.release(homework).parent
    Assignment.read(course.source(homework))  # what is wrong there is told by its cell
    with tempfile.TemporaryDirectory(dir=course.root, prefix=".release-") as name:
        folder = Path(name)
        try_release(course, homework, folder / "trial", may_show)
        changes = compare_folders(place, folder / "trial" / homework) if place.exists() else ""
        if place.exists() and not changes:
            return "unchanged", ""
        if changes and not force:
            return "refused", f"{place} differs from what the source gives ({changes}); --force overwrites it"
        run_nbgrader(course, homework, folder / "new", database=True)  # may be refused by nbgrader: then all stays
        if changes:
            place.rename(folder / "old")
        place.parent.mkdir(exist_ok=True)
        (folder / "new" / homework).rename(place)
    return "released", f"{place}{f', over one that differed ({changes})' if changes else ''}"


def try_release(course: Course, homework: str, folder: Path, may_show: Collection[str] = ()) -> Secrets:
    """Make the release in a folder of its own, leaving the course untouched; a leak is a :class:`Problem`."""
    run_nbgrader(course, homework, folder, database=False)
    place = folder / homework / f"{homework}.ipynb"
    secrets = secrets_of(course.source(homework), may_show)
    for path in sorted(file for file in place.parent.rglob("*") if file.is_file()):
        for leak in secrets.in_file(path, f"release/{path.relative_to(folder)}"):
            hint = "do the solutions stand between their marks only? --may-show lets a line pass"
            raise Problem(f"nothing was released: {leak}; {hint}")
    return secrets


def compare_folders(old: Path, new: Path) -> str:
    """In what two folders differ, in a few words; "" if in nothing."""
    files = {path.relative_to(base) for base in (old, new) for path in base.rglob("*") if path.is_file()}
    for name in sorted(name for name in files if ".ipynb_checkpoints" not in name.parts):
        if not ((old / name).is_file() and (new / name).is_file()):
            return f"{name} is only in the {'old' if (old / name).is_file() else 'new'} one"
        if (old / name).read_bytes() != (new / name).read_bytes():
            return f"{name} is not the same"
    return ""


def run_nbgrader(course: Course, homework: str, folder: Path, *, database: bool) -> None:
    """nbgrader's own conversion, into ``folder/<homework>``; with or without a note in the gradebook."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory

    config: Any = settings_of(course.root)
    config.CourseDirectory.root = str(course.root)
    config.CourseDirectory.assignment_id = homework
    config.CourseDirectory.release_directory = str(folder)
    config.GenerateAssignment.force = True
    config.GenerateAssignment.no_database = not database
    config.SaveCells.enabled = database
    try:
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()
    except (NbGraderException, SystemExit) as error:
        raise Problem(f"nbgrader could not make the release of {homework!r}: {error}") from None
