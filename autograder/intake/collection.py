"""Taking in what lies in a folder or a zip: whose each notebook is, of which homework, and what it takes the place of.

What is refused or kept back gets an outcome, the others are taken in. The one that gives way goes to ``earlier/``.
"""

from __future__ import annotations

import re
from collections.abc import Collection as Some
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.console import bar
from autograder.course.course import Course
from autograder.course.homework import read_homeworks
from autograder.course.names import BadName, safe_name, same, shown
from autograder.course.roster import NAMES, Roster
from autograder.examine.records import write_whole
from autograder.examine.within_limits import OverLimit, within_limits
from autograder.intake.archives import Handed, handed_in
from autograder.intake.claims import Claims
from autograder.intake.precedence import before, compared, identity_of, remember
from autograder.intake.submission import look_through

#: Names of files that say nothing about who wrote them.
ANYBODYS = re.compile(r"(untitled|homework|notebook|assignment|solution|submission|hw_?\d|copy_of)")
OUTCOMES = ("collected", "replaced", "unchanged", "kept", "refused")


class Collection:
    """One run: what came from where, and what became of it.

    ``only``: the students of whom something is taken, all if there are none. ``replace``: what is there gives way.
    ``trust``: no student could write into the folder, so that a ``timestamp.txt`` tells the time of handing in.
    """

    def __init__(
        self, course: Course, assignment: str | None, roster: Roster | None, *, only: Some[str] = (),
        replace: bool = False, trust: bool = False,
    ) -> None:  # fmt: skip
        self.course, self.assignment, self.roster = course, assignment, roster
        self.only, self.replace, self.trust = only, replace, trust
        self.claims = Claims()
        self.outcomes: list[dict[str, Any]] = []
        self.came: set[tuple[str, str]] = set()  # student, homework: what is there came in this run
        submitted = course.root / "submitted"
        self.students = {same(path.name): path.name for path in submitted.glob("*") if path.is_dir()}
        self.homeworks = read_homeworks(map(course.source, course.assignments()))
        self.by_content: dict[bytes, tuple[list[str], str]] = {}  # fingerprint -> what look_through says

    def take(self, source: Path) -> list[dict[str, Any]]:
        """Go through the source; each file ends with an outcome.

        First all of it is looked over for who claims to be whom: the order of the files must decide nothing.
        """
        for handed in handed_in(source, self.homeworks, lambda where, why: None, self.trust):
            with suppress(BadName):
                student, listed = self.find_owner(handed)
                self.claims.add(student, self.find_homework(handed)[0], handed.identity, listed)
        with bar("collecting") as advance:
            for handed in handed_in(source, self.homeworks, partial(self.add_outcome, "refused"), self.trust):
                student = ""
                try:
                    student, listed = self.find_owner(handed)
                    if not self.only or student in self.only:
                        homework, misnamed = self.find_homework(handed)
                        self.claims.check(student, homework, handed.identity)
                        self.refuse_other_spelling(student)
                        self.put(handed, student, homework, listed, misnamed)
                except BadName as error:
                    self.add_outcome("refused", handed.where, str(error), student)
                advance()
        missing = [name for name in self.only if name not in {one["student"] for one in self.outcomes}]
        if self.only and not missing:  # what is nobody's is nothing to them
            return [one for one in self.outcomes if one["student"]]
        for name in missing:
            self.add_outcome("refused", name, f"is a student of whom nothing was found in {str(source)!r}", name)
        return self.outcomes

    def add_outcome(self, outcome: str, where: str, why: str = "", student: str = "", homework: str = "") -> None:
        """Write down what became of a file."""
        self.outcomes.append(
            {"where": where, "outcome": outcome, "why": why, "student": student, "assignment": homework}
        )

    def find_owner(self, handed: Handed) -> tuple[str, bool]:
        """nbgrader's id of who handed it in, and whether the list of students names the number or folder itself."""
        if self.roster is not None:
            student, listed = self.roster.student(handed.identity)
            return safe_name(student), listed
        number = handed.identity.number
        if handed.where == f"{number}.ipynb" and self.is_nobody(number):
            raise BadName("lies in no student's folder: whose is it? Put it into a folder with the student's id")
        return safe_name(number), False

    def is_nobody(self, stem: str) -> bool:
        """Is a file's name that of a homework, or of any notebook, rather than a student's?"""
        name = same(stem).replace(" ", "_")
        return any(same(homework) in name for homework in self.homeworks) or ANYBODYS.match(name) is not None

    def refuse_other_spelling(self, student: str) -> None:
        """BadName if a student is there whose id is the same up to spelling."""
        there = self.students.setdefault(same(student), student)
        if there != student:
            raise BadName(f"is of {student!r}, but {there!r} is there: the two are the same up to spelling")

    def find_homework(self, handed: Handed) -> tuple[str, str]:
        """Which homework it is: by its cells, else by the file's name, else the one that was asked for.

        Also a sentence if the name of the file tells another one than its cells.
        """
        by_cells, by_name = self.compare_cells(handed.content), self.read_name(handed)
        possible = by_cells or [name for name in (by_name or self.assignment,) if name is not None]
        if not possible:
            raise BadName("is no homework that I know, neither by its cells nor by its name; say which by --assignment")
        if self.assignment is not None and self.assignment not in possible:
            raise BadName(f"is {possible[0]}, not {self.assignment}")
        homework = self.assignment or (by_name if by_name in possible else possible[0])
        if len(possible) > 1 and homework not in (self.assignment, by_name):
            raise BadName(f"may be {' or '.join(possible)}, by its cells; say which by --assignment")
        other = bool(by_cells) and by_name not in (None, homework)
        return homework, f"is called {shown(handed.file)}, but its cells are those of {homework}" if other else ""

    def read_name(self, handed: Handed) -> str | None:
        """The homework that the file's name tells."""
        stem = same(handed.file.rsplit(".", 1)[0]).replace(" ", "_")
        return max((homework for homework in self.homeworks if same(homework) in stem), key=len, default=None)

    def compare_cells(self, content: bytes) -> list[str]:
        """The homework to which most of the cells belong; several if they have these cells in common."""
        return self.look_through(content)[0]

    def look_through(self, content: bytes) -> tuple[list[str], str]:
        """The homeworks that the cells tell, and why the file cannot be read, if so. It takes so much time at most."""
        key = sha256(content).digest()
        if key not in self.by_content:
            try:
                self.by_content[key] = within_limits(look_through, content, list(self.homeworks.values()))
            except OverLimit as error:
                self.by_content[key] = [], f"{error}."
        return self.by_content[key]

    def put(self, handed: Handed, student: str, homework: str, listed: bool, misnamed: str) -> None:
        """Put it where nbgrader looks for it, and lose nothing that is there."""
        folder = self.course.submitted(student, homework)
        target = folder / f"{homework}.ipynb"
        if any(place.is_symlink() for place in (folder.parent, folder, target)):
            raise BadName(f"would go to {target}, which is a link")
        why = [sentence for sentence in (misnamed, "came late, says Canvas" if handed.late else "") if sentence]
        outcome = "collected"
        if target.is_file():
            old = target.read_bytes()
            owner = identity_of(folder)
            if owner in ("", handed.identity.label):
                first, reason = compared(handed, before(folder, old), target.name)
            else:
                first, reason = self.take_over(handed, student, owner, listed)
            replace = self.replace and (student, homework) not in self.came  # else the order in a zip would decide
            if old == handed.content:
                self.came.add((student, homework))
                if first or not owner:  # so that the next ones are compared with it; its timestamp.txt stays
                    remember(folder, handed)
                return self.add_outcome("unchanged", handed.where, "", student, homework)
            if not (replace or first):
                place = self.put_aside(student, homework, handed.content)
                return self.add_outcome(
                    "kept", handed.where, f"gives way to what is there ({reason}); it is now {place}. "
                    f"To take it instead: --replace --student {student}, from a source without the other",
                    student, homework,
                )  # fmt: skip
            place = self.put_aside(student, homework, old)
            outcome = "replaced"
            why.append(f"took the place of one that is now {place} ({reason if first else '--replace'})")
        problem = self.look_through(handed.content)[1]
        if problem:
            why.append(f"WARNING: what {student!r} handed in cannot be read as a notebook: {problem}")
        remember(folder, handed)  # first, so that nothing is ever there of which nobody knows whose it is
        write_whole(target, handed.content)
        self.came.add((student, homework))
        stamp = folder / "timestamp.txt"
        if handed.time is not None:
            write_whole(stamp, handed.time.strftime("%Y-%m-%d %H:%M:%S.%f UTC\n").encode())
        elif outcome == "replaced":
            stamp.unlink(missing_ok=True)  # it told the time of the other one
        return self.add_outcome(outcome, handed.where, "; ".join(why), student, homework)

    def take_over(self, handed: Handed, student: str, owner: str, listed: bool) -> tuple[bool, str]:
        """May this take the place of what another one (``owner``) handed in, and why? BadName if not."""
        platform, _, number = owner.partition(" ")
        row = self.roster.rows.get(student, {}) if self.roster else {}
        numbers = {word for column, word in row.items() if column not in NAMES}
        if listed and platform == handed.identity.platform and number not in numbers:
            return True, f"the list of students names {handed.identity.number!r} and not {number!r}"
        if self.replace and student in self.only:
            return True, f"--replace --student {student}"
        raise BadName(
            f"is of {handed.identity}, but what is there of {student!r} came from {platform} {number!r}. Is it the "
            f"same person? To take this one instead: --replace --student {student}"
        )

    def put_aside(self, student: str, homework: str, content: bytes) -> str:
        """Put a submission into ``earlier/``; gives where."""
        place = self.course.root / "earlier" / student / homework / f"{sha256(content).hexdigest()[:12]}.ipynb"
        write_whole(place, content)
        return place.relative_to(self.course.root).as_posix()
