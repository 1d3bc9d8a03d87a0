"""The tables of grades that Moodle, Canvas and nbgrader read, with no formula in any field."""

from __future__ import annotations

import csv
import io
import re
import tempfile
import unicodedata
from dataclasses import astuple, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from autograder.console import in_words
from autograder.course.names import same
from autograder.course.roster import NUMBERS, Roster
from autograder.gradebook.read import Mark

FORMATS = ("moodle", "canvas", "nbgrader")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
#: Where a formula may begin, in the field as a program may read it.
FORMULA = re.compile(r"""^\s*[=+\-@|%\t\r]|(?<=[;|\t\r\n"])\s*[=+\-@|%]""")

Table = list[list[str]]
Marks = dict[str, dict[str, Mark]]


@dataclass(frozen=True)
class Person:
    """A student. ``number``: the one in the system's own column of the list of the class."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    number: str = ""


def make_table(book: Any, marks: Marks, roster: Roster, system: str) -> str:
    """The grades of these homeworks (name -> student -> mark) as the CSV that a system reads."""
    people = [person(student, roster, system) for student in book.students]
    if system == "nbgrader":
        return without_unread(run_nbgrader(book, list(marks), people), marks)
    known = {same(one.id) for one in people}
    absent = [Person(name) for name in roster.rows if same(name) not in known]  # who handed in nothing at all
    people = sorted([*people, *(person(one, roster, system) for one in absent)], key=lambda one: one.id)
    return as_csv((moodle if system == "moodle" else canvas)(people, marks))


def person(student: Any, roster: Roster, system: str) -> Person:
    """A student of the gradebook, with the names of the list where the gradebook has none.

    Only for who is in no list with numbers of such systems, an id of digits is the number: `dpcourse collect` without a
    list takes the number as the id.
    """
    first, last = roster.name(student.id)
    row = roster.rows.get(student.id, {})
    listed = any(column in row for columns in NUMBERS.values() for column in columns)
    words = [row.get(column, "") for column in NUMBERS.get(system, ())] if listed else [student.id]
    return Person(
        id=student.id, first_name=student.first_name or first, last_name=student.last_name or last,
        email=student.email or row.get("email") or row.get("email_address") or "",
        number=next((word for word in words if re.fullmatch(r"[0-9]+", word)), ""),
    )  # fmt: skip


def moodle(people: list[Person], marks: Marks) -> Table:
    """For one homework the grading worksheet (Moodle knows a participant by the number); else a column for each."""
    single = next(iter(marks)) if len(marks) == 1 else None
    head = ["Identifier", "Full name", "Email address", "ID number"]
    table = [[*head, *(["Grade", "Maximum Grade", "Late"] if single else list(marks))]]
    for one in people:
        name = " ".join(part for part in (one.first_name, one.last_name) if part)
        row = [f"Participant {one.number}" if one.number else "", name, one.email, one.id]
        if single:
            mark, most = marks[single].get(one.id), max(mark.max_score for mark in marks[single].values())
            row += [points(mark), text(most), in_words(mark.late) if mark else ""]
        else:
            row += [points(some.get(one.id)) for some in marks.values()]
        table.append(row)
    return table


def canvas(people: list[Person], marks: Marks) -> Table:
    """Canvas's gradebook: a row with the points possible, then one for each student."""
    possible = [text(max(mark.max_score for mark in some.values())) for some in marks.values()]
    table = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *marks],
        ["Points Possible", "", "", "", "", *possible],
    ]
    for one in people:
        name = ", ".join(part for part in (one.last_name, one.first_name) if part) or one.id
        login = "" if one.number == one.id else one.id
        table.append([name, one.number, login, login, "", *(points(some.get(one.id)) for some in marks.values())])
    return table


def run_nbgrader(book: Any, homeworks: list[str], people: list[Person]) -> str:
    """What nbgrader's export plugin writes. It does not quote names, so it gets quoted ones."""
    from nbgrader.plugins.export import CsvExportPlugin

    real = {quote(one.id): one.id for one in people}
    view = SimpleNamespace(
        assignments=book.assignments,
        students=[Person(*map(quote, astuple(one))) for one in people],
        find_submission=lambda assignment, student: book.find_submission(assignment, real[student]),
    )
    with tempfile.TemporaryDirectory(prefix="dpcourse-export-") as folder:
        plugin = CsvExportPlugin()
        plugin.to, plugin.assignment = str(Path(folder, "grades.csv")), homeworks
        plugin.export(view)
        return Path(plugin.to).read_text(encoding="utf-8")


def without_unread(table: str, marks: Marks) -> str:
    """nbgrader's table with empty points where nobody could read what was handed in; nbgrader knows only 0."""
    unread = {(name, quote(mark.student)) for name, some in marks.items() for mark in some.values() if mark.unread}
    if not unread:
        return table
    rows = list(csv.DictReader(io.StringIO(table)))
    for row in rows:
        if (row["assignment"], quote(row["student_id"])) in unread:
            row |= dict.fromkeys(("raw_score", "late_submission_penalty", "score"), "")
    lines = io.StringIO()
    writer = csv.DictWriter(lines, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return lines.getvalue()


def points(mark: Mark | None) -> str:
    """What counts; nothing for who handed in nothing, or what nobody could read."""
    return "" if mark is None or mark.unread else text(mark.final)


def text(value: float) -> str:
    """A number without needless zeros."""
    return f"{round(value, 4):g}"


def neutral(field: str) -> str:
    """A field in which no spreadsheet finds a formula, whatever it takes for the separator of columns.

    An apostrophe goes before what could begin one: at the start of the field, and behind a separator, at which a
    spreadsheet of another language breaks the line. A full-width sign counts as the plain one: some read it so.
    """
    if NUMBER.fullmatch(field):
        return field
    safe, copied = "", 0
    for begin in FORMULA.finditer("".join(map(_plain, field))):
        safe, copied = f"{safe}{field[copied : begin.start()]}'", begin.start()
    return safe + field[copied:]


def _plain(letter: str) -> str:
    """The one letter that a program may read in its place; a space for what is not seen."""
    if unicodedata.category(letter)[0] in "ZC" and letter not in "\t\r\n":
        return " "
    return unicodedata.normalize("NFKC", letter)[0]


def as_csv(table: Table) -> str:
    """Lines that Excel, Moodle and Canvas read alike."""
    lines = io.StringIO()
    csv.writer(lines).writerows([neutral(field) for field in row] for row in table)
    return lines.getvalue()


def quote(field: str) -> str:
    """One field, as it stands in a CSV file."""
    return as_csv([[field, ""]])[: -len(",\r\n")]
