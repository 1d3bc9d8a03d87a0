"""Who is who: a CSV file of the class, so that names and numbers of Moodle or Canvas become nbgrader's student ids.

The column ``student_id`` (or ``id``) is nbgrader's. In every other column stands something that the student is also
known by: a name, a number, an e-mail address. ``first_name`` and ``last_name`` are also read together.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from autograder.names import BadName, safe_name, same
from autograder.terminal import Problem, refused_by_system

MOST = 10_000_000  # bytes


@dataclass(frozen=True)
class Roster:
    """``rows``: id -> its row of the file. ``ids``: what somebody is known by -> the ids that it could be."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)
    ids: dict[str, set[str]] = field(default_factory=dict)

    def find(self, *known_by: str) -> str | None:
        """The id of somebody known by these words, the surest first; None if nobody is, BadName if several are."""
        for words in known_by:
            found = self.ids.get(key(words), set()) if key(words) else set()
            if len(found) == 1:
                return next(iter(found))
            if found:
                raise BadName(f"{words!r:.60} may be any of {', '.join(sorted(found))}")
        return None

    def name(self, student: str) -> tuple[str, str]:
        """First and last name, as far as they are known."""
        row = self.rows.get(student, {})
        first, last = row.get("first_name", ""), row.get("last_name", "")
        if not (first or last):
            first, _, last = (row.get("full_name") or row.get("name") or row.get("student") or "").rpartition(" ")
        return first.strip(), last.strip()


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
        first, last = row.get("first_name", ""), row.get("last_name", "")
        for words in {*row.values(), f"{first} {last}", f"{last} {first}", student}:
            if key(words):
                roster.ids.setdefault(key(words), set()).add(student)
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
