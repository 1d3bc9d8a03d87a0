"""Make the students' notebooks by nbgrader's generate_assignment, and make sure that they give nothing away.

A release that is there and differs (the source was changed, or somebody edited it) is left alone, unless --force.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from autograder.console import Problem, tell, watched, write_json
from autograder.course.course import Course, settings_of
from autograder.handout.leaks import Secrets, secrets_of

EXAMPLE = "dpcourse release hw1_pure_dp"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse release``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all)")
    parser.add_argument("--force", action="store_true", help="overwrite a release that differs")
    may_show(parser)


def may_show(parser: argparse.ArgumentParser) -> None:
    """The option to publish a line although it stands in a solution."""
    words = "this line of a solution may be seen (may be repeated)"
    parser.add_argument("--may-show", action="append", default=[], metavar="LINE", help=words)


def run(options: argparse.Namespace) -> int:
    """Release; 1 if one of them was refused."""
    course = Course.find(Path(options.course))
    outcomes = []
    for homework in watched(course.chosen(options.homework), "releasing"):
        outcome, why = released(course, homework, force=options.force, may_show=options.may_show)
        outcomes.append({"homework": homework, "outcome": outcome, "why": why})
        tell(options, f"{homework}: {outcome}{': ' if why else ''}{why}")
    write_json(options.json, outcomes)
    return int(any(one["outcome"] == "refused" for one in outcomes))


def released(course: Course, homework: str, *, force: bool = False, may_show: Collection[str] = ()) -> tuple[str, str]:
    """Make one release. Gives the outcome (released, unchanged, refused), and why."""
    place = course.release(homework).parent
    with tempfile.TemporaryDirectory(dir=course.root, prefix=".release-") as name:
        folder = Path(name)
        secrets_of_release(course, homework, folder / "trial", may_show)
        changes = differences(place, folder / "trial" / homework) if place.exists() else ""
        if place.exists() and not changes:
            return "unchanged", ""
        if changes and not force:
            return "refused", f"{place} differs from what the source gives ({changes}); --force overwrites it"
        generate(course, homework, folder / "made", database=True)  # may be refused by nbgrader: then all stays
        if changes:
            place.rename(folder / "old")
        place.parent.mkdir(exist_ok=True)
        (folder / "made" / homework).rename(place)
    return "released", f"{place}{f', over one that differed ({changes})' if changes else ''}"


def secrets_of_release(course: Course, homework: str, folder: Path, may_show: Collection[str] = ()) -> Secrets:
    """Make the release in a folder of its own, leaving the course untouched; a leak is a :class:`Problem`."""
    generate(course, homework, folder, database=False)
    place = folder / homework / f"{homework}.ipynb"
    secrets = secrets_of(course.source(homework), may_show)
    for path in sorted(file for file in place.parent.rglob("*") if file.is_file()):
        found = list(secrets.in_file(path, f"release/{path.relative_to(folder)}"))
        if found:
            hint = "do the solutions stand between their marks only? --may-show lets a line pass"
            raise Problem(f"nothing was released: {found[0]}; {hint}")
    return secrets


def differences(old: Path, new: Path) -> str:
    """In what two folders differ, in a few words; "" if in nothing."""
    files = {path.relative_to(base) for base in (old, new) for path in base.rglob("*") if path.is_file()}
    files = {name for name in files if ".ipynb_checkpoints" not in name.parts}
    for name in sorted(files):
        one, other = old / name, new / name
        if not (one.is_file() and other.is_file()):
            return f"{name} is only in the {'old' if one.is_file() else 'new'} one"
        if one.read_bytes() != other.read_bytes():
            return f"{name} is not the same"
    return ""


def generate(course: Course, homework: str, folder: Path, *, database: bool) -> None:
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
