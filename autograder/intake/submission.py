"""What a student handed in, by grade_id. Whatever the folder holds, reading it ends with a Submission."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from autograder.course.homework import Assignment
from autograder.intake.answers import known_sources, likeliest_homeworks, match_answers
from autograder.intake.notebook import RawCell, Unreadable, cells_of, quoted, read_file

MOST_ENTRIES = 1_000  # of a folder, looked through for a notebook
DEEPEST = 3  # folders in the folder: a zip in a zip
MOST_NOTEBOOKS = 5
MOST_NOTES = 30


@dataclass(frozen=True)
class Submission:
    """One student's answers to one homework.

    ``answers``: grade_id -> source, of the solution and written cells that were found. ``extra``: the sources of cells
    that the student added or changed although they were given; nothing of it is run. ``rejected``: "", or the sentence
    why nothing can be graded. ``fingerprint``: SHA-256 of the file, "" if there is none. ``pictures``: grade_id -> type
    and base64 of the pictures in a written answer. ``doubts``: grade_id -> why it is not sure which answer was meant; a
    person decides if it turns out to be wrong. ``is_odd``: something of the student's stands where no answer is looked
    for, or was left out, so that an empty answer may not be all.
    """

    student: str
    assignment: str
    answers: Mapping[str, str] = field(default_factory=dict)
    extra: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    rejected: str = ""
    fingerprint: str = ""
    pictures: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    doubts: Mapping[str, str] = field(default_factory=dict)
    is_odd: bool = False


def read_submission(folder: Path, assignment: Assignment, student: str) -> Submission:
    """Read what ``student`` handed in. Never raises: what went wrong is in ``rejected`` and ``notes``."""
    try:
        return _read(folder, assignment, student)
    except Unreadable as reason:
        return Submission(student, assignment.name, rejected=str(reason))
    except Exception as error:  # whatever a file system can do to a program
        return Submission(student, assignment.name, rejected=f"It could not be read: {type(error).__name__}: {error}.")


def homeworks_in(folder: Path, homeworks: Sequence[Assignment]) -> list[str]:
    """The homeworks whose cells are in a folder that somebody handed in; none if nothing there can be read."""
    for path in _notebooks(folder, []):
        try:
            return likeliest_homeworks(cells_of(read_file(path))[0], homeworks)
        except (Unreadable, OSError):
            continue
    return []


def look_through(content: bytes, homeworks: Sequence[Assignment]) -> tuple[list[str], str]:
    """The homeworks whose cells are in a file, and why it cannot be read, if that is so."""
    try:
        return likeliest_homeworks(cells_of(content)[0], homeworks), ""
    except Unreadable as error:
        return [], str(error)


def submitted_at(folder: Path) -> datetime | None:
    """When it was handed in: what nbgrader reads from ``timestamp.txt``. None if that says nothing."""
    from nbgrader.utils import parse_utc

    try:
        found = parse_utc(read_file(folder / "timestamp.txt").decode("utf-8").strip())
    except (OSError, Unreadable, ValueError, OverflowError):
        return None
    return found if isinstance(found, datetime) else None


def _read(folder: Path, assignment: Assignment, student: str) -> Submission:
    for place in (folder.parent, folder):
        if place.is_symlink():
            raise Unreadable(f"The folder {quoted(place.name)} is a link, and links are not followed.")
    if not folder.is_dir():
        raise Unreadable(f"There is no folder {quoted(folder.name)}: nothing was handed in.")
    notes: list[str] = []
    wanted = folder / f"{assignment.name}.ipynb"
    paths = sorted(_notebooks(folder, notes), key=lambda path: path != wanted)
    best, taken = None, wanted
    for path in paths:  # the right name comes first; if nothing of it can be graded, the one with the most answers
        read = _sorted_out(path, assignment, student)
        if best is None or len(read.answers) > len(best.answers):
            best, taken = read, path
        if path == wanted and not read.rejected:
            break
    if best is None:
        raise Unreadable(" ".join([f"There is no notebook {quoted(wanted.name)} in what was handed in.", *notes]))
    if taken != wanted:
        notes.append(f"Not {quoted(wanted.name)} but {quoted(str(taken.relative_to(folder)))} was read.")
    elif len(paths) > 1:
        notes.append(f"There are {len(paths)} notebooks; {quoted(wanted.name)} was read.")
    notes += best.notes
    if len(notes) > MOST_NOTES:
        notes[MOST_NOTES:] = [f"(And {len(notes) - MOST_NOTES} more of this kind.)"]
    return replace(best, notes=tuple(notes))


def _notebooks(folder: Path, notes: list[str]) -> list[Path]:
    """The files in the folder that could be the notebook, plain files first of all; links get a note."""
    found = []
    for entry, depth in _entries(folder):
        if entry.is_symlink():
            notes.append(f"{quoted(entry.name)} is a link; links are not followed.")
        elif ".ipynb" in entry.name.lower() and not entry.is_dir(follow_symlinks=False):
            exact = entry.name.lower().endswith(".ipynb")
            found.append((not exact, depth, entry.name, Path(entry.path)))
        elif depth == 0 and entry.is_dir(follow_symlinks=False) and entry.name.endswith(".ipynb"):
            notes.append(f"{quoted(entry.name)} is a folder, not a file.")
    return [path for *_, path in sorted(found)[:MOST_NOTEBOOKS]]


def _entries(folder: Path) -> Iterator[tuple[os.DirEntry[str], int]]:
    """Files and folders in a folder, and how deep they lie. Jupyter's checkpoints are nobody's answer."""
    waiting, seen = [(folder, 0)], 0
    while waiting:
        place, depth = waiting.pop(0)
        with os.scandir(place) as entries:
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES:
                    return
                yield entry, depth
                inside = entry.is_dir(follow_symlinks=False) and entry.name != ".ipynb_checkpoints"
                if inside and depth < DEEPEST:
                    waiting.append((Path(entry.path), depth + 1))


def _sorted_out(path: Path, assignment: Assignment, student: str) -> Submission:
    """One file read, and its cells put where they belong."""
    try:
        data = read_file(path)
    except Unreadable as reason:
        return Submission(student, assignment.name, rejected=str(reason))
    fingerprint = hashlib.sha256(data).hexdigest()
    try:
        cells, notes = cells_of(data)
        matching = match_answers(cells, assignment)
        chosen = matching.cells
        if not chosen:
            raise Unreadable(f"No cell in it belongs to {assignment.name}: is it the notebook of another homework?")
    except Unreadable as reason:
        return Submission(student, assignment.name, rejected=str(reason), fingerprint=fingerprint)
    answers = {name: cell.source for name, cell in chosen.items()}
    texts = [cell.grade_id for cell in assignment.written if cell.grade_id in chosen]
    pictures = {name: chosen[name].pictures for name in texts if chosen[name].pictures}
    is_odd = bool(notes)
    notes += matching.notes
    rest = [raw for i, raw in enumerate(cells) if i not in matching.used]
    extra = _extra(rest, assignment, notes)
    known = known_sources(assignment)
    loose = [raw for raw in rest if not raw.grade_id or raw.grade_id in assignment.by_grade_id]  # not of a dropped task
    is_odd = is_odd or any(raw.source.strip() not in known for raw in loose)
    return Submission(
        student,
        assignment.name,
        answers,
        extra,
        tuple(notes),
        "",
        fingerprint,
        pictures,
        matching.doubts,
        is_odd,
    )


def _extra(cells: list[RawCell], assignment: Assignment, notes: list[str]) -> tuple[str, ...]:
    """The cells that are not the homework's own: added by the student, or given and changed."""
    given = [cell for cell in assignment.cells if cell.role == "given"]
    sources = known_sources(assignment)
    marks = {mark for cell in given for mark in (cell.cell_id, cell.grade_id)} - {""}
    tasks = set(assignment.task_names)
    extra = [raw for raw in cells if raw.grade_id not in tasks and raw.source.strip() not in sources]
    code = [raw for raw in extra if raw.kind == "code"]
    changed = [raw.grade_id or raw.cell_id for raw in code if marks & {raw.cell_id, raw.grade_id}]
    if changed:
        shown = ", ".join(map(quoted, changed[:5]))
        notes.append(f"Given cells were changed ({shown}); grading runs them as they were given.")
    number = sum(not raw.grade_id for raw in code if not marks & {raw.cell_id})
    if number:
        were = "1 code cell was" if number == 1 else f"{number} code cells were"
        notes.append(f"{were} added; only the cells for solutions are run.")
    return tuple(raw.source for raw in extra)
