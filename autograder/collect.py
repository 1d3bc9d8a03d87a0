"""Take in what was handed in: a folder (a folder or a file for each student), a zip of Moodle or Canvas, or, by the
word "exchange", nbgrader's exchange.

Each notebook goes to submitted/STUDENT/HW/HW.ipynb. The homework is known by the file's name, else by the cells in it.
Without --students, a student's id is the number that Moodle or Canvas gives, or the name of the folder or file.
A submission that is there and differs is replaced only by one that goes before it (or with --replace). The first of
these decides of which both tell and in which they differ: the time of handing in, Canvas's number, the right name of
the file, Canvas's version, the time of the file in a folder. The one that gives way is kept in earlier/. What is
refused or kept back is listed, the others are taken in.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path
from typing import Any

from autograder.course import Course
from autograder.examine.records import write_whole
from autograder.exchange import from_exchange
from autograder.handed import Handed, handed_in
from autograder.later import before, compared, remember
from autograder.names import BadName, safe_name, same
from autograder.notebook_file import Unreadable, cells_of
from autograder.roster import Roster, read_roster
from autograder.terminal import Problem, bar, note, tell, write_json

EXAMPLE = "dpcourse collect moodle.zip --assignment hw1_pure_dp --students class.csv"
#: Names of files that say nothing about who wrote them.
ANYBODYS = re.compile(r"(untitled|homework|notebook|assignment|solution|submission|hw_?\d|copy_of)")
OUTCOMES = ("collected", "replaced", "unchanged", "kept", "refused")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse collect``."""
    parser.add_argument("source", metavar="SOURCE", help="a folder, a zip file, or the word exchange")
    parser.add_argument("--assignment", metavar="HW", help="only this homework; also for files that do not tell")
    parser.add_argument("--students", metavar="FILE", help="a CSV file: student_id, and what else each is known by")
    parser.add_argument("--student", action="append", metavar="S", help="only this student (may be repeated)")
    parser.add_argument("--replace", action="store_true", help="let a submission that differs give way to the new one")


def run(options: argparse.Namespace) -> int:
    """Collect; 1 if something was refused or kept back."""
    course = Course.find(Path(options.course))
    homeworks = course.chosen([options.assignment] if options.assignment else None)
    roster = read_roster(Path(options.students)) if options.students else None
    if options.source == "exchange" and not Path("exchange").exists():
        if options.student:
            raise Problem(f"--student {options.student[0]!r} is for folders and zips, not for nbgrader's exchange")
        outcomes = from_exchange(course, homeworks)
    else:
        collection = Collection(course, options.assignment, roster, options.replace, options.student)
        outcomes = collection.take(Path(options.source))
    if not outcomes:
        note(f"{options.source!r} holds nothing that could be collected")
    counts = Counter(one["outcome"] for one in outcomes)
    for one in outcomes:
        if one["why"]:
            tell(options, f"{one['outcome']}: {one['where']} {one['why']}")
    tell(options, ", ".join(f"{counts[name]} {name}" for name in OUTCOMES))
    write_json(options.json, {"counts": {name: counts[name] for name in OUTCOMES}, "files": outcomes})
    return int(counts["refused"] + counts["kept"] > 0 or not outcomes)


class Collection:
    """One run: what came from where, and what became of it."""

    def __init__(
        self, course: Course, assignment: str | None, roster: Roster | None, replacing: bool,
        wanted: list[str] | None = None,
    ) -> None:  # fmt: skip
        self.course, self.assignment, self.roster, self.replacing = course, assignment, roster, replacing
        self.wanted = wanted or []
        self.outcomes: list[dict[str, Any]] = []
        self.came: set[tuple[str, str]] = set()  # student, homework: what is there came in this run
        submitted = course.root / "submitted"
        self.students = {same(path.name): path.name for path in submitted.glob("*") if path.is_dir()}
        self.cells = {homework: grade_ids(course.source(homework).read_bytes()) for homework in course.assignments()}

    def take(self, source: Path) -> list[dict[str, Any]]:
        """Go through the source; each file ends with an outcome."""
        with bar("collecting") as shown:
            for handed in handed_in(source, self.cells, lambda where, why: self.note("refused", where, why)):
                student = ""
                try:
                    student = self.student(handed)
                    if not self.wanted or student in self.wanted:
                        self.place(handed, student, self.homework(handed))
                except BadName as error:
                    self.note("refused", handed.where, str(error), student)
                shown.update(1)
        missing = [name for name in self.wanted if name not in {one["student"] for one in self.outcomes}]
        if self.wanted and not missing:  # what is nobody's is nothing to them
            return [one for one in self.outcomes if one["student"]]
        for name in missing:
            self.note("refused", name, f"is a student of whom nothing was found in {str(source)!r}", name)
        return self.outcomes

    def note(self, outcome: str, where: str, why: str = "", student: str = "", homework: str = "") -> None:
        """Keep what became of a file."""
        self.outcomes.append(
            {"where": where, "outcome": outcome, "why": why, "student": student, "assignment": homework}
        )

    def student(self, handed: Handed) -> str:
        """nbgrader's id of who handed it in."""
        found = self.roster.find(*handed.known_by) if self.roster else handed.known_by[0]
        if self.roster is None and handed.known_by == (handed.where[: -len(".ipynb")],) and self.is_nobody(str(found)):
            raise BadName("lies in no student's folder: whose is it? Put it into a folder with the student's id")
        if found is None:
            raise BadName(f"is of {' or '.join(map(repr, handed.known_by))}, who is not in the list of students")
        name = safe_name(found)
        there = self.students.setdefault(same(name), name)
        if there != name:
            raise BadName(f"is of {name!r}, but {there!r} is there: the two are the same up to spelling")
        return name

    def is_nobody(self, stem: str) -> bool:
        """Is a file's name that of a homework, or of any notebook, rather than a student's?"""
        name = same(stem).replace(" ", "_")
        return any(same(homework) in name for homework in self.cells) or ANYBODYS.match(name) is not None

    def homework(self, handed: Handed) -> str:
        """Which homework it is: by the file's name, else by the cells in it, else the one that was asked for."""
        stem = same(handed.file.rsplit(".", 1)[0]).replace(" ", "_")
        named = [homework for homework in self.cells if same(homework) in stem]
        found = max(named, key=len) if named else self.by_cells(handed.content)
        if found is None and self.assignment is None:
            raise BadName("is no homework that I know, neither by its name nor by its cells; say which by --assignment")
        if found is not None and self.assignment not in (None, found):
            raise BadName(f"is {found}, not {self.assignment}")
        return found or str(self.assignment)

    def by_cells(self, content: bytes) -> str | None:
        """The homework with which a notebook shares the most cells."""
        ids = grade_ids(content)
        shared = {homework: len(ids & own) for homework, own in self.cells.items()}
        best = max(shared, key=lambda homework: shared[homework], default=None)
        return best if best is not None and shared[best] else None

    def place(self, handed: Handed, student: str, homework: str) -> None:
        """Put it where nbgrader looks for it, and lose nothing that is there."""
        folder = self.course.submitted(student, homework)
        target = folder / f"{homework}.ipynb"
        if any(place.is_symlink() for place in (folder.parent, folder, target)):
            raise BadName(f"would go to {target}, which is a link")
        why = ["came late, says Canvas"] if handed.late else []
        outcome = "collected"
        if target.is_file():
            old = target.read_bytes()
            first, reason = compared(handed, before(folder, old), target.name)
            replacing = self.replacing and (student, homework) not in self.came  # else the order in a zip would decide
            if old == handed.content:
                self.came.add((student, homework))
                if first:  # so that the next ones are compared with it; its timestamp.txt stays
                    remember(folder, handed)
                return self.note("unchanged", handed.where, "", student, homework)
            if not (replacing or first):
                kept = self.keep(student, homework, handed.content)
                return self.note(
                    "kept", handed.where, f"gives way to what is there ({reason}); it is now {kept}. "
                    f"To take it instead: --replace --student {student}, from a source without the other",
                    student, homework,
                )  # fmt: skip
            kept = self.keep(student, homework, old)
            outcome = "replaced"
            why.append(f"took the place of one that is now {kept} ({reason if first else '--replace'})")
        try:
            cells_of(handed.content)
        except Unreadable as reason:
            why.append(f"WARNING: what {student!r} handed in cannot be read as a notebook: {reason}")
        write_whole(target, handed.content)
        remember(folder, handed)
        self.came.add((student, homework))
        stamp = folder / "timestamp.txt"
        if handed.time is not None:
            write_whole(stamp, handed.time.strftime("%Y-%m-%d %H:%M:%S.%f UTC\n").encode())
        elif outcome == "replaced":
            stamp.unlink(missing_ok=True)  # it told the time of the other one
        return self.note(outcome, handed.where, "; ".join(why), student, homework)

    def keep(self, student: str, homework: str, content: bytes) -> str:
        """Put a submission aside; gives where."""
        from hashlib import sha256

        place = self.course.root / "earlier" / student / homework / f"{sha256(content).hexdigest()[:12]}.ipynb"
        write_whole(place, content)
        return place.relative_to(self.course.root).as_posix()


def grade_ids(content: bytes) -> set[str]:
    """The names of nbgrader's cells; none for what is no notebook."""
    try:
        return {cell.grade_id for cell in cells_of(content)[0] if cell.grade_id}
    except Unreadable:
        return set()
