"""Take in what was handed in: a folder (a folder or a file for each student), a zip of Moodle or Canvas, or, by the
word "exchange", nbgrader's exchange.

Each notebook goes to submitted/STUDENT/HW/HW.ipynb. The homework is known by the file's name, else by the cells in it.
Without --students, a student's id is the number that Moodle or Canvas gives, or the name of the folder or file.
A submission that is there and differs is replaced only by one that goes before it (or with --replace). The first of
these decides of which both tell and in which they differ: the time of handing in, Canvas's number, the right name of
the file, Canvas's version, the time of the file in a folder. The one that gives way is kept in earlier/. What is
refused or kept back is listed, the others are taken in.

Two numbers (or folders) that would be the same student are both refused, unless --students names one of them; also
what comes from another one than the submission that is there.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from autograder.console import Problem, bar, counted, note, one_line, tell, write_json
from autograder.course.course import Course
from autograder.course.names import BadName, safe_name, same
from autograder.course.roster import NAMES, Roster, read_roster
from autograder.examine.records import write_whole
from autograder.intake.archives import Handed, handed_in, named_in, timestamps_left_out
from autograder.intake.claims import Claims
from autograder.intake.exchange import from_exchange
from autograder.intake.notebook import Unreadable, cells_of
from autograder.intake.precedence import before, compared, identity_of, remember

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
    parser.add_argument(
        "--trust-timestamps", action="store_true",
        help="read each STUDENT/HW/timestamp.txt of a folder as the time of handing in. Only safe where no student "
        "could write: another course's submitted/, not a folder that was cloned or unpacked from students",
    )  # fmt: skip


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
        source = Path(options.source)
        if options.trust_timestamps and not source.is_dir():
            raise Problem(f"--trust-timestamps is for a folder, but {options.source!r} is none")
        collection = Collection(
            course, options.assignment, roster, options.replace, options.student, options.trust_timestamps
        )
        outcomes = collection.take(source)
        left_out = timestamps_left_out(source, options.trust_timestamps)
        if left_out:
            note(
                f"{counted(len(left_out), 'file')} timestamp.txt did not count as a time of handing in (first: "
                f"{one_line(left_out[0])}): a student could have written it. If nobody but you could, and it is "
                f"STUDENT/HW/timestamp.txt of a folder: --trust-timestamps"
            )
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
        wanted: list[str] | None = None, trusting: bool = False,
    ) -> None:  # fmt: skip
        self.course, self.assignment, self.roster, self.replacing = course, assignment, roster, replacing
        self.wanted, self.trusting = wanted or [], trusting
        self.claims = Claims()
        self.outcomes: list[dict[str, Any]] = []
        self.came: set[tuple[str, str]] = set()  # student, homework: what is there came in this run
        submitted = course.root / "submitted"
        self.students = {same(path.name): path.name for path in submitted.glob("*") if path.is_dir()}
        self.cells = {homework: grade_ids(course.source(homework).read_bytes()) for homework in course.assignments()}

    def take(self, source: Path) -> list[dict[str, Any]]:
        """Go through the source; each file ends with an outcome.

        First all of it is looked over for who claims to be whom: the order of the files must decide nothing.
        """
        for handed, _ in named_in(source, self.cells, lambda where, why: None):
            with suppress(BadName):
                student, listed = self.owner(handed)
                self.claims.add(student, self.named(handed) or self.assignment or "", handed.identity, listed)
        with bar("collecting") as shown:
            refused = partial(self.note, "refused")
            for handed in handed_in(source, self.cells, refused, self.trusting):
                student = ""
                try:
                    student, listed = self.owner(handed)
                    if not self.wanted or student in self.wanted:
                        homework = self.homework(handed)
                        self.claims.check(student, homework, handed.identity)
                        self.only_spelling(student)
                        self.place(handed, student, homework, listed)
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

    def owner(self, handed: Handed) -> tuple[str, bool]:
        """nbgrader's id of who handed it in, and whether the list of students names the number or folder itself."""
        if self.roster is not None:
            student, listed = self.roster.student(handed.identity)
            return safe_name(student), listed
        number = handed.identity.number
        if handed.where == f"{number}.ipynb" and self.is_nobody(number):
            raise BadName("lies in no student's folder: whose is it? Put it into a folder with the student's id")
        return safe_name(number), False

    def only_spelling(self, student: str) -> None:
        """BadName if a student is there whose id is the same up to spelling."""
        there = self.students.setdefault(same(student), student)
        if there != student:
            raise BadName(f"is of {student!r}, but {there!r} is there: the two are the same up to spelling")

    def is_nobody(self, stem: str) -> bool:
        """Is a file's name that of a homework, or of any notebook, rather than a student's?"""
        name = same(stem).replace(" ", "_")
        return any(same(homework) in name for homework in self.cells) or ANYBODYS.match(name) is not None

    def homework(self, handed: Handed) -> str:
        """Which homework it is: by the file's name, else by the cells in it, else the one that was asked for."""
        found = self.named(handed) or self.by_cells(handed.content)
        if found is None and self.assignment is None:
            raise BadName("is no homework that I know, neither by its name nor by its cells; say which by --assignment")
        if found is not None and self.assignment not in (None, found):
            raise BadName(f"is {found}, not {self.assignment}")
        return found or str(self.assignment)

    def named(self, handed: Handed) -> str | None:
        """The homework that the file's name tells."""
        stem = same(handed.file.rsplit(".", 1)[0]).replace(" ", "_")
        return max((homework for homework in self.cells if same(homework) in stem), key=len, default=None)

    def by_cells(self, content: bytes) -> str | None:
        """The homework with which a notebook shares the most cells."""
        ids = grade_ids(content)
        shared = {homework: len(ids & own) for homework, own in self.cells.items()}
        best = max(shared, key=lambda homework: shared[homework], default=None)
        return best if best is not None and shared[best] else None

    def place(self, handed: Handed, student: str, homework: str, listed: bool) -> None:
        """Put it where nbgrader looks for it, and lose nothing that is there."""
        folder = self.course.submitted(student, homework)
        target = folder / f"{homework}.ipynb"
        if any(place.is_symlink() for place in (folder.parent, folder, target)):
            raise BadName(f"would go to {target}, which is a link")
        why = ["came late, says Canvas"] if handed.late else []
        outcome = "collected"
        if target.is_file():
            old = target.read_bytes()
            owner = identity_of(folder)
            if owner in ("", handed.identity.label):
                first, reason = compared(handed, before(folder, old), target.name)
            else:
                first, reason = self.takes_over(handed, student, owner, listed)
            replacing = self.replacing and (student, homework) not in self.came  # else the order in a zip would decide
            if old == handed.content:
                self.came.add((student, homework))
                if first or not owner:  # so that the next ones are compared with it; its timestamp.txt stays
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
        remember(folder, handed)  # first, so that nothing is ever there of which nobody knows whose it is
        write_whole(target, handed.content)
        self.came.add((student, homework))
        stamp = folder / "timestamp.txt"
        if handed.time is not None:
            write_whole(stamp, handed.time.strftime("%Y-%m-%d %H:%M:%S.%f UTC\n").encode())
        elif outcome == "replaced":
            stamp.unlink(missing_ok=True)  # it told the time of the other one
        return self.note(outcome, handed.where, "; ".join(why), student, homework)

    def is_listed(self, student: str, number: str) -> bool:
        """Does the list of students name this number (or folder) for the student?"""
        row = self.roster.rows.get(student, {}) if self.roster else {}
        return number in {word for column, word in row.items() if column not in NAMES}

    def takes_over(self, handed: Handed, student: str, owner: str, listed: bool) -> tuple[bool, str]:
        """May this take the place of what another one (``owner``) handed in, and why? BadName if not."""
        platform, _, number = owner.partition(" ")
        if listed and platform == handed.identity.platform and not self.is_listed(student, number):
            return True, f"the list of students names {handed.identity.number!r} and not {number!r}"
        if self.replacing and student in self.wanted:
            return True, f"--replace --student {student}"
        raise BadName(
            f"is of {handed.identity}, but what is there of {student!r} came from {platform} {number!r}. Is it the "
            f"same person? To take this one instead: --replace --student {student}"
        )

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
