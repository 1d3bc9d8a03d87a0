"""Make the students' repository: released homeworks, the course's own tasks, the environment, Binder's files.

A course in this repository adds its lectures and the package. A bundle is refused if any solution, hidden test or
grading secret would be in it. One that is there is brought up to date: files that it did not make are left alone, and
files that were edited are not overwritten, unless --force.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from autograder.commands.release import may_show, secrets_of_release
from autograder.console import Problem, tell, watched, write_json
from autograder.course.course import Course
from autograder.examine.records import write_whole
from autograder.handout.leaks import Secrets, together
from autograder.handout.repository import fill, folders_of
from dpcourse.tasks.own import BUNDLE as MADE

EXAMPLE = "dpcourse bundle ../dpcourse-students --homework hw1_pure_dp"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse bundle``."""
    parser.add_argument("folder", metavar="DIR", help="a new folder, an empty one, or an earlier bundle")
    parser.add_argument("--homework", action="append", metavar="HW", help="put in only this one (may be repeated)")
    parser.add_argument("--binder", metavar="OWNER/NAME", default="", help="the bundle's place on GitHub, for Binder")
    parser.add_argument("--force", action="store_true", help="overwrite files of the bundle that were edited")
    may_show(parser)


def run(options: argparse.Namespace) -> int:
    """Make it, look it through, and only then put it in place."""
    course = Course.find(Path(options.course))
    homeworks = course.chosen(options.homework)
    if options.binder and not re.fullmatch(r"[\w.-]+/[\w.-]+", options.binder):
        raise Problem(f"--binder needs OWNER/NAME, as on GitHub, not {options.binder!r}")
    place = Path(options.folder).expanduser().resolve()
    before = made_before(place)
    if course.root.is_relative_to(place) or place.is_relative_to(course.root):
        raise Problem(f"{place} holds the course, or lies in it; choose a folder outside of it")
    if any(place.is_relative_to(folder) for folder in folders_of(course)):
        raise Problem(f"{place} lies in a folder that is bundled itself; choose a folder outside of it")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".dpcourse-bundle-") as folder:
        releases, built = Path(folder, "releases"), Path(folder, "built")
        built.mkdir()
        # The secrets of all homeworks, also of those that are not handed out yet.
        everything = watched(course.assignments(), "releasing")
        secrets = [secrets_of_release(course, one, releases, options.may_show) for one in everything]
        fill(built, course, homeworks, releases, options.binder)
        refuse_leaks(built, together(secrets), urlsplit(course.db_url).password or "")
        files = {path.relative_to(built).as_posix(): sha256(path) for path in built.rglob("*") if path.is_file()}
        edited = [name for name, made in before.items() if (place / name).is_file() and sha256(place / name) != made]
        foreign = [name for name in files if name not in before and (place / name).exists()]
        if (edited or foreign) and not options.force:
            raise Problem(f"{place / (edited + foreign)[0]} was edited; --force overwrites it (and whatever else was)")
        put(built, place, files, before)
    write_json(options.json, {"folder": str(place), "homeworks": homeworks, "files": sorted(files)})
    tell(options, f"{place}: {len(files)} files, with {', '.join(homeworks)}; no solution, no hidden test, no secret")
    return 0


def made_before(place: Path) -> dict[str, str]:
    """The files of an earlier bundle; a folder that is not one must be empty."""
    if place.exists() and not place.is_dir():
        raise Problem(f"{place} is a file; a bundle needs a folder")
    if not place.exists() or not any(place.iterdir()):
        return {}
    try:
        return dict(json.loads((place / MADE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise Problem(f"{place} is not empty, and no earlier bundle: choose a new folder") from None


def refuse_leaks(built: Path, secrets: Secrets, password: str) -> None:
    """Look through every file, for secrets of the homeworks and the gradebook's password."""
    files = sorted(path for path in built.rglob("*") if path.is_file())
    found = [fault for path in files for fault in secrets.in_file(path, path.relative_to(built).as_posix())]
    known = [path for path in files if password and password.encode() in path.read_bytes()]
    found += [f"{path.relative_to(built)} holds the gradebook's password" for path in known]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Problem(f"no bundle was written: {found[0]}{more}; students would see it")


def put(built: Path, place: Path, files: dict[str, str], before: dict[str, str]) -> None:
    """Move the files to their place; what an earlier bundle had and this one has not goes away."""
    write_whole(built / MADE, json.dumps(files, indent=1, sort_keys=True).encode("utf-8"))
    if not place.exists():
        built.rename(place)
        return
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).replace(place / name)
    (built / MADE).replace(place / MADE)
    for name in before.keys() - files.keys():
        target = place / name
        if not target.resolve().is_relative_to(place.resolve()):
            continue  # a forged list may not reach outside
        target.unlink(missing_ok=True)
        for folder in target.parents[: len(Path(name).parents) - 1]:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()


def sha256(path: Path) -> str:
    """The fingerprint of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
