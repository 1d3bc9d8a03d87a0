"""Make the students' repository, look it through, and only then put it in place.

It is refused if any solution, hidden test or grading secret would be in it. A bundle that is there is brought up to
date: files that it did not make are left alone, and files that were edited are not overwritten, unless one insists.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Collection
from pathlib import Path
from urllib.parse import urlsplit

from autograder.console import Problem, watched
from autograder.course.course import Course
from autograder.examine.records import write_whole
from autograder.handout.leaks import Secrets, together
from autograder.handout.release import try_release
from autograder.handout.repository import fill, folders_of
from dpcourse.tasks.own_course import BUNDLE as LIST


def make_bundle(
    course: Course, homeworks: list[str], place: Path, *, address: str, force: bool, may_show: Collection[str]
) -> list[str]:
    """Make it with these homeworks; gives its files. ``address``: its place on GitHub, for Binder."""
    before = read_list(place)
    if course.root.is_relative_to(place) or place.is_relative_to(course.root):
        raise Problem(f"{place} holds the course, or lies in it; choose a folder outside of it")
    if any(place.is_relative_to(folder) for folder in folders_of(course)):
        raise Problem(f"{place} lies in a folder that is bundled itself; choose a folder outside of it")
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".dpcourse-bundle-") as folder:
        releases, new = Path(folder, "releases"), Path(folder, "new")
        new.mkdir()
        # The secrets of all homeworks, also of those that are not handed out yet.
        secrets = [try_release(course, one, releases, may_show) for one in watched(course.assignments(), "releasing")]
        fill(new, course, homeworks, releases, address)
        refuse_leaks(new, together(secrets), urlsplit(course.db_url).password or "")
        files = {path.relative_to(new).as_posix(): sha256(path) for path in new.rglob("*") if path.is_file()}
        edited = [name for name, own in before.items() if (place / name).is_file() and sha256(place / name) != own]
        foreign = [name for name in files if name not in before and (place / name).exists()]
        if (edited or foreign) and not force:
            raise Problem(f"{place / (edited + foreign)[0]} was edited; --force overwrites it (and whatever else was)")
        update_folder(place, new, files, before)
    return sorted(files)


def read_list(place: Path) -> dict[str, str]:
    """The files of an earlier bundle; a folder that is not one must be empty."""
    if place.exists() and not place.is_dir():
        raise Problem(f"{place} is a file; a bundle needs a folder")
    if not place.exists() or not any(place.iterdir()):
        return {}
    try:
        return dict(json.loads((place / LIST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        raise Problem(f"{place} is not empty, and no earlier bundle: choose a new folder") from None


def refuse_leaks(folder: Path, secrets: Secrets, password: str) -> None:
    """Look through every file, for secrets of the homeworks and the gradebook's password."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    leaks = [leak for path in files for leak in secrets.in_file(path, path.relative_to(folder).as_posix())]
    telling = [path for path in files if password and password.encode() in path.read_bytes()]
    leaks += [f"{path.relative_to(folder)} holds the gradebook's password" for path in telling]
    if leaks:
        more = f" (and {len(leaks) - 1} more)" if len(leaks) > 1 else ""
        raise Problem(f"no bundle was written: {leaks[0]}{more}; students would see it")


def update_folder(place: Path, new: Path, files: dict[str, str], before: dict[str, str]) -> None:
    """Move the files to their place; what an earlier bundle had and this one has not goes away."""
    write_whole(new / LIST, json.dumps(files, indent=1, sort_keys=True).encode("utf-8"))
    if not place.exists():
        new.rename(place)
        return
    for name in files:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).replace(place / name)
    (new / LIST).replace(place / LIST)
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
