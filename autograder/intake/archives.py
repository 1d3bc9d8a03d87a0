"""What lies in a folder or in a zip of Moodle or Canvas: one notebook after the other, with who handed it in and when.

What a student could have written is no time of handing in: not a ``timestamp.txt`` (unless the instructor says that no
student could write there), not a time in a name, not the time of a file in a folder. Sizes are limited by what is
really read, never by what an archive says about itself. What is refused is reported, the rest is read.
"""

from __future__ import annotations

import os
import re
import stat
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from autograder.console import Problem
from autograder.course.names import BadName, safe_parts, shown
from autograder.course.roster import Identity
from autograder.intake.notebook import LARGEST_FILE

TOGETHER = 2 * LARGEST_FILE  # bytes of all notebooks of one student
MOST_FILES = 100_000
NBGRADERS = 3  # parts of a path in nbgrader's layout: student/homework/notebook
OTHERS = (
    "lies in the folder {} but would be {}'s: a student cannot hand in for another. "
    "If that folder holds the whole class, collect from the folder itself"
)
TIMESTAMP = "timestamp.txt"
EMPTY = "is an empty folder: nothing was handed in"

TWO_PLATFORMS = (
    "may be Moodle's or Canvas's by its name, and of different students: a student cannot hand in for another"
)
TWO_NUMBERS = "has two numbers of Moodle in its name, {} and {}: a student cannot hand in for another"

MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>[0-9]+)_assignsubmission_(?:file|onlinetext)_?(?P<file>.*)", re.DOTALL)
MOODLES_NUMBER = re.compile(r"_([0-9]+)_assignsubmission_(?:file|onlinetext)")
CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>[0-9]+)_(?P<number>[0-9]+)_(?P<file>.+)", re.DOTALL)
VERSION = re.compile(r"-([0-9]+)$")


#: Is told the path of what was left out, and why.
Refused = Callable[[str, str], None]
Opened = Callable[[], IO[bytes]]
#: Of each file: its path, how to open it, when it was handed in, when it was last written (as far as that is known).
Entries = Iterator[tuple[list[str], Opened, datetime | None, datetime | None]]


@dataclass(frozen=True)
class Handed:
    """A notebook. ``identity``: who handed it in, as the source says. ``time``: of handing it in."""

    where: str
    identity: Identity
    file: str
    time: datetime | None = None
    version: int = 0
    number: int = 0  # Canvas's, of the submission: a later one has a larger one
    changed: datetime | None = None  # of a file in a folder: when it was last written
    late: bool = False
    content: bytes = b""


def handed_in(source: Path, homeworks: Collection[str], refused: Refused, trusting: bool = False) -> Iterator[Handed]:
    """Every notebook of a folder or a zip. ``refused(where, why)`` is told what was left out.

    ``trusting``: no student could write into this folder, so that a ``timestamp.txt`` tells the time of handing in.
    """
    size = Counter[str]()
    for handed, opened in named_in(source, homeworks, refused, trusting):
        if size[handed.identity.label] > TOGETHER:
            refused(handed.where, f"comes after more than {TOGETHER // 2**20} MB of the same student")
            continue
        try:
            with opened() as file:
                content = file.read(LARGEST_FILE + 1)
        except Exception as error:  # whatever a forged archive does to the library
            refused(handed.where, f"cannot be read: {error}")
            continue
        size[handed.identity.label] += len(content)
        if len(content) > LARGEST_FILE:
            refused(handed.where, f"is larger than {LARGEST_FILE // 2**20} MB")
        else:
            yield replace(handed, content=content)


def named_in(
    source: Path, homeworks: Collection[str], refused: Refused, trusting: bool = False
) -> Iterator[tuple[Handed, Opened]]:
    """The same without the content, and how to open it: no notebook is read yet."""
    if source.is_dir():
        entries = in_folder(source, refused, trusting)
    elif zipfile.is_zipfile(source):
        entries = in_zip(opened_zip(source), refused)
    elif begins_like_a_zip(source):
        raise Problem(f"{str(source)!r} is a broken zip file (its end is missing); download it again")
    elif source.is_file():
        raise Problem(f"{str(source)!r} is neither a folder nor a zip file")
    else:
        raise Problem(f"there is no {str(source)!r}: give a folder, a zip of Moodle or Canvas, or the word exchange")
    for parts, opened, time, changed in entries:
        if not parts[-1].lower().endswith(".ipynb"):
            if parts[-1] != TIMESTAMP:
                refused("/".join(parts), "is not a notebook (.ipynb)")
            continue
        try:
            handed = whose(parts, time, homeworks)
        except BadName as error:
            refused("/".join(parts), str(error))
            continue
        yield replace(handed, changed=changed), opened


def timestamps_left_out(source: Path, trusting: bool = False) -> list[str]:
    """The files ``timestamp.txt`` of the source that are not read as times of handing in."""
    if source.is_dir():
        entries = in_folder(source, lambda where, why: None)
    elif zipfile.is_zipfile(source):
        entries = in_zip(opened_zip(source), lambda where, why: None)
    else:
        return []
    return ["/".join(parts) for parts, *_ in entries if parts[-1] == TIMESTAMP and not (trusting and nbgraders(parts))]


def nbgraders(parts: list[str]) -> bool:
    """Is it nbgrader's layout: student/homework/file? Deeper, a student's own folders begin."""
    return len(parts) == NBGRADERS and not MOODLE.fullmatch(parts[0])


def whose(parts: list[str], time: datetime | None, homeworks: Collection[str]) -> Handed:
    """Read a path as Moodle, as Canvas, as nbgrader (student/homework/file) or as a plain folder writes it.

    The outermost part says whose it is: what lies inside is the student's own to name. BadName if that claims another.
    """
    where = "/".join(parts)
    moodle = MOODLE.fullmatch(parts[0])
    if moodle and len(parts) == 1 and CANVAS.fullmatch(parts[0]):  # of one of them a student chose the name
        raise BadName(TWO_PLATFORMS)
    numbers = sorted(set(MOODLES_NUMBER.findall(parts[0])))
    if len(numbers) > 1:  # one of them stands in the student's name, or in the name of the file
        raise BadName(TWO_NUMBERS.format(*numbers))
    for other in filter(None, map(MOODLE.fullmatch, parts[1:])):
        if not moodle or other["id"] != moodle["id"]:
            raise BadName(OTHERS.format(shown(parts[0]), shown(other["name"])))
    if moodle:
        return Handed(
            where,
            Identity("moodle", moodle["id"], moodle["name"]),
            parts[-1] if len(parts) > 1 else moodle["file"],
            time,
        )
    canvas = CANVAS.fullmatch(parts[0]) if len(parts) == 1 else None
    if canvas:
        stem = canvas["file"][: -len(".ipynb")]
        version = VERSION.search(stem)
        number = int(version[1][:9]) if version else 0
        file = f"{VERSION.sub('', stem)}.ipynb"
        return Handed(
            where, Identity("canvas", canvas["id"], canvas["name"]), file, version=number,
            number=int(canvas["number"][:18]), late=bool(canvas["late"]),
        )  # fmt: skip
    if len(parts) > NBGRADERS and parts[-2] in homeworks and parts[-3] != parts[0]:
        raise BadName(OTHERS.format(shown(parts[0]), shown(parts[-3])))
    who = parts[0] if len(parts) > 1 else parts[0][: -len(".ipynb")]
    return Handed(where, Identity("folder", who), parts[-1], time)


def begins_like_a_zip(source: Path) -> bool:
    """Was it meant to be one? A download that was cut off has no table of contents."""
    if not source.is_file():
        return False
    with source.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def opened_zip(source: Path) -> zipfile.ZipFile:
    """The archive, if its table of contents can be read."""
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Problem(f"{str(source)!r} is a broken zip file ({error}); download it again") from None
    if len(archive.infolist()) > MOST_FILES:
        raise Problem(f"{str(source)!r} has more than {MOST_FILES:,} entries; give the zip with the submissions")
    return archive


def in_zip(archive: zipfile.ZipFile, refused: Refused) -> Entries:
    """The files of an archive. Moodle's times are those of the files; others tell when the archive was made."""
    with archive:
        infos = archive.infolist()
        filled = {info.orig_filename.split("/")[0] for info in infos if not info.is_dir()}
        for info in infos:
            kind = stat.S_IFMT(info.external_attr >> 16)
            where = shown(info.orig_filename)
            if info.is_dir():
                if info.orig_filename.count("/") == 1 and info.orig_filename[:-1] not in filled:
                    refused(where, EMPTY)
                continue
            if kind not in (0, stat.S_IFREG):
                refused(where, "is a link or a device, not a file")
                continue
            if info.flag_bits & 0x1:
                refused(where, "is encrypted")
                continue
            try:
                parts = safe_parts(info.orig_filename)
            except BadName as error:
                refused(where, f"the name {error}")
                continue
            if not parts or parts[0] == "__MACOSX":
                continue
            time = zip_time(info) if MOODLE.fullmatch(parts[0]) else None
            yield parts, lambda info=info: archive.open(info), time, None  # type: ignore[misc]


def zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """When the file was handed in, as UTC. A zip tells the time of the place where it was made: taken to be here."""
    if info.date_time[0] <= 1980:
        return None
    try:
        return datetime(*info.date_time).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def in_folder(source: Path, refused: Refused, trusting: bool = False) -> Entries:
    """The files of a folder. Links are not followed."""
    number = 0
    for folder, folders, files in os.walk(source):
        folders[:] = sorted(name for name in folders if name != ".ipynb_checkpoints")
        for name in [one for one in folders if Path(folder, one).is_symlink()]:
            refused(shown(name), "is a link, not a folder")
        if folder == str(source):
            for below in (Path(folder, name) for name in folders):
                if not below.is_symlink() and not any(inside for *_, inside in os.walk(below)):
                    refused(shown(below.name), EMPTY)
        for name in sorted(files):
            number += 1
            if number > MOST_FILES:
                raise Problem(f"{source} has more than {MOST_FILES:,} files; give the folder with the submissions")
            path = Path(folder, name)
            where = path.relative_to(source).as_posix()
            if name.startswith("."):
                continue
            if path.is_symlink() or not path.is_file():
                refused(shown(where), "is a link or a device, not a file")
                continue
            try:
                parts = safe_parts(where)
            except BadName as error:
                refused(shown(where), f"the name {error}")
                continue
            changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
            time = time_of(path.parent) if trusting and nbgraders(parts) else None
            yield parts, lambda path=path: path.open("rb"), time, changed  # type: ignore[misc]


def time_of(folder: Path) -> datetime | None:
    """What nbgrader's ``timestamp.txt`` says; None without one that can be read."""
    from nbgrader.utils import parse_utc

    place = folder / TIMESTAMP
    try:
        if place.is_symlink() or place.stat().st_size > 200:
            return None
        return parse_utc(place.read_text(encoding="utf-8").strip()).replace(tzinfo=UTC)
    except (OSError, ValueError, OverflowError, AttributeError):
        return None
