"""Who is who: a CSV file of the class, so that names and numbers of Moodle or Canvas become nbgrader's student ids.

The column ``student_id`` (or ``id``) is nbgrader's. In every other column stands something that the student is also
known by: a name, a number, an e-mail address. ``first_name`` and ``last_name`` are also read together.

A student chooses the name that a platform shows. So that name is looked for among names only, never among ids, numbers
and addresses; and a platform's number is never looked for among names.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.console import Problem, refused_by_system
from autograder.course.names import BadName, safe_name, same
from autograder.course.names import shown as short

MOST = 10_000_000  # bytes
#: platform -> the columns with its own numbers. One platform's number is no other's.
NUMBERS = {"moodle": ("moodle", "moodle_id"), "canvas": ("canvas", "canvas_id")}
#: The columns with names. Of each other column a student could not choose what stands there.
FULL_NAMES = ("full_name", "name", "student", "student_name", "display_name", "sortable_name")
NAMES = (*FULL_NAMES, "first_name", "last_name")


@dataclass(frozen=True)
class Identity:
    """Who handed something in, as the source says. A student may choose the name, but not the number.

    ``platform``: "moodle", "canvas" or "folder". ``number``: the platform's number, or the name of the folder.
    """

    platform: str
    number: str
    name: str = ""

    @property
    def label(self) -> str:
        """What is compared, and written down beside a submission."""
        return f"{self.platform} {self.number}"

    def __str__(self) -> str:
        if self.platform == "folder":
            return f"the folder {short(self.number)}"
        return f"{self.platform.capitalize()}'s number {self.number} ({short(self.name)})"


@dataclass(frozen=True)
class Roster:
    """``rows``: id -> its row of the file. ``words``: column -> what stands there -> ids. ``names``: name -> ids."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    words: dict[str, dict[str, set[str]]] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)

    def student(self, identity: Identity) -> tuple[str, bool]:
        """Whose it is, and whether the list says so by the number itself (and not only by a name).

        BadName if it is nobody's, or could be several students', or if the list has another number for that name.
        """
        own = NUMBERS.get(identity.platform, ())
        columns = [column for column in own if column in self.words]
        if not columns:  # a folder's name may be an e-mail address or any number, a platform's may not
            others = {column for columns in NUMBERS.values() for column in columns} if own else set[str]()
            columns = [column for column in self.words if column not in others]
        student = _only(identity.number, [self.words[column].get(same(identity.number), set()) for column in columns])
        if student is not None:
            row = self.rows[student]
            return student, identity.number in {student, *(row[column] for column in columns)}  # letter by letter
        name = identity.name if own else identity.number
        student = _only(name, [self.names.get(key(name), set())]) if key(name) else None
        if student is None:
            raise BadName(f"is of {identity}, who is not in the list of students")
        numbers = [self.rows[student][column] for column in own if self.rows[student].get(column)]
        if numbers:
            raise BadName(
                f"is of {identity}, but the list of students names {' and '.join(numbers)} for {student!r}. Anybody "
                f"can call themselves so. If the list has the numbers of another homework, use one without them"
            )
        return student, False

    def name(self, student: str) -> tuple[str, str]:
        """First and last name, as far as they are known."""
        row = self.rows.get(student, {})
        first, last = row.get("first_name", ""), row.get("last_name", "")
        if not (first or last):
            first, _, last = (row.get("full_name") or row.get("name") or row.get("student") or "").rpartition(" ")
        return first.strip(), last.strip()


def _only(word: str, students: list[set[str]]) -> str | None:
    """The only student among these, None if there is none; BadName if it could be several."""
    everybody = set[str]().union(*students)
    if len(everybody) > 1:
        raise BadName(f"{word!r:.60} may be any of {', '.join(sorted(everybody))}")
    return next(iter(everybody), None)


def read_roster(path: Path) -> Roster:
    """Read the file. A row that cannot be used is a :class:`Problem` that says which one."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Problem(f"the list of students cannot be read: {refused_by_system(error)}") from None
    if len(raw) > MOST:
        raise Problem(f"{path} has {len(raw):,} bytes; a list of students has at most {MOST:,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem(f"{path} is not a UTF-8 text; save it as CSV in UTF-8") from None
    lines = text.splitlines()
    separator = max(",;\t", key=lines[0].count) if lines else ","
    reader = csv.DictReader(io.StringIO(text), delimiter=separator, restkey="", restval="")
    columns = [re.sub(r"\W+", "_", (column or "").strip().casefold()) for column in reader.fieldnames or ()]
    own = next((column for column in ("student_id", "id") if column in columns), None)
    if own is None:
        raise Problem(f"{path} needs a column student_id, but it has: {', '.join(columns) or 'nothing'}")
    reader.fieldnames = columns
    roster, seen = Roster(), set[str]()
    for number, entry in enumerate(rows_of(reader, path), start=2):
        row = {column: (entry[column] or "").strip() for column in columns if column}
        if not any(row.values()):
            continue
        try:
            student = safe_name(row[own])
        except BadName as error:
            raise Problem(f"{path}, line {number}: the student id {error}") from None
        if same(student) in seen:
            raise Problem(f"{path}, line {number}: the student id {student!r} is there already")
        seen.add(same(student))
        roster.rows[student] = row
        for column, word in row.items():
            if column not in NAMES:
                words = roster.words.setdefault(column, {})
                words.setdefault(same(student if column == own else word), set()).add(student)
        first, last = row.get("first_name", ""), row.get("last_name", "")
        for name in {*(row.get(column, "") for column in FULL_NAMES), f"{first} {last}", f"{last} {first}"}:
            if key(name):
                roster.names.setdefault(key(name), set()).add(student)
    return roster


def rows_of(reader: csv.DictReader[str], path: Path) -> Iterator[dict[str, str]]:
    """The rows; what is no CSV is a :class:`Problem`."""
    try:
        yield from reader
    except csv.Error as error:
        raise Problem(f"{path}, line {reader.line_num}: {error}") from None


def key(words: str) -> str:
    """Letters and digits only: "O'Brien, Zoe" and "obrienzoe" are the same person."""
    return re.sub(r"[\W_]+", "", same(words))
