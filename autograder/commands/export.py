"""Write the grades as CSV: points by machine and by people, less the penalty for handing in late.

moodle: for one homework, Moodle's grading worksheet; for several, a column each, for its grade import.
canvas: what Canvas's gradebook imports. nbgrader: what `nbgrader export` writes.
For moodle and canvas, who handed in nothing (also who is only in --students) has an empty field, which changes nothing
there.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import tempfile
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from autograder.console import Problem, counted, new_file, note, one_line, tell, watched, write_json
from autograder.course.course import Course
from autograder.course.names import same
from autograder.course.roster import Roster, read_roster
from autograder.examine.records import write_whole
from autograder.gradebook.read import Mark, exists, gradebook, marks_of, outdated

EXAMPLE = "dpcourse export hw1_pure_dp --format moodle --to grades.csv"
#: format -> the columns of the class list that hold that system's own number. One system's is no other's.
NUMBERS = {"moodle": ("moodle", "moodle_id"), "canvas": ("canvas", "canvas_id"), "nbgrader": ()}
FORMATS = tuple(NUMBERS)

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
#: Where a formula may begin, in the field as a program may read it.
FORMULA = re.compile(r"""^\s*[=+\-@|%\t\r]|(?<=[;|\t\r\n"])\s*[=+\-@|%]""")

Table = list[list[str]]
Marks = dict[str, dict[str, Mark]]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse export``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all)")
    parser.add_argument("--format", choices=FORMATS, default="nbgrader", help="(default: nbgrader)")
    parser.add_argument("--to", metavar="FILE", help="where to; - is stdout (default: grades-FORMAT.csv in the course)")
    parser.add_argument("--students", metavar="FILE", help="a CSV file of the class, for names and empty fields")
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")


def run(options: argparse.Namespace) -> int:
    """Write the file."""
    course = Course.find(Path(options.course))
    homeworks = course.chosen(options.homework)
    if options.to == options.json == "-":
        raise Problem("--to - and --json - cannot both go to stdout; give one of them a file")
    stdout = options.to == "-"
    place = (
        Path("-")
        if stdout
        else new_file(options.to or str(course.root / f"grades-{options.format}.csv"), options.force)
    )
    roster = read_roster(Path(options.students)) if options.students else Roster()
    if not exists(course):
        raise Problem(f"there is no gradebook at {course.db_url}; `dpcourse grade` makes it")
    with gradebook(course) as book:
        marks = {name: found for name in watched(homeworks, "reading") if (found := marks_of(book, name))}
        if not marks:
            raise Problem(f"the gradebook knows no submission of {', '.join(homeworks)}; `dpcourse grade` makes them")
        if options.format == "nbgrader":
            content = nbgraders_own(book, list(marks), roster)
        else:
            students = sorted([*book.students, *only_listed(book.students, roster)], key=lambda one: str(one.id))
            people = [person(student, roster, options.format) for student in students]
            table = (moodle if options.format == "moodle" else canvas)(people, marks)
            content = as_csv(table)
    if stdout:
        sys.stdout.buffer.write(content.encode("utf-8"))
        sys.stdout.flush()
    else:
        write_whole(place, content.encode("utf-8"))
    waiting = sum(mark.waits for found in marks.values() for mark in found.values())
    if waiting:
        note(f"WARNING: {counted(waiting, 'submission')} not final: a person has still to read a text (formgrader)")
    old = {name: old_penalties(course, name, found) for name, found in marks.items()}
    total = sum(len(found) for found in marks.values())
    rows = [
        {"student": mark.student, "assignment": name, "score": mark.final, "raw_score": mark.score,
         "penalty": mark.penalty, "penalty_outdated": mark.student in old[name], "max_score": mark.max_score,
         "waits": mark.waits}
        for name, found in marks.items() for mark in found.values()
    ]  # fmt: skip
    write_json(options.json, {"file": str(place), "format": options.format, "waiting": waiting, "submissions": rows})
    said = f"{'stdout' if stdout else place}: {counted(total, 'submission')} of {', '.join(marks)}"
    if stdout:
        note(said)
    else:
        tell(options, said)
    return 0


def old_penalties(course: Course, homework: str, found: dict[str, Mark]) -> list[str]:
    """Whose late penalty does not fit the points; says so."""
    try:
        students = [mark.student for mark in outdated(course, found.values())]
    except Exception as error:  # of the course's own plugin: the grades are there without it
        note(f"WARNING: {homework}: late penalties were not looked at: {one_line(f'{type(error).__name__}: {error}')}")
        return []
    if students:
        note(
            f"WARNING: {homework}: the late penalty of {one_line(', '.join(students))} does not fit the points now "
            f"(did a person give some after it was computed?). To compute it anew: dpcourse grade {homework}"
        )
    return students


def only_listed(students: list[Any], roster: Roster) -> list[SimpleNamespace]:
    """Who is in the list of the class, but not in the gradebook: nothing was handed in."""
    known = {same(str(student.id)) for student in students}
    names = [name for name in roster.rows if same(name) not in known]
    return [SimpleNamespace(id=name, first_name=None, last_name=None, email=None) for name in names]


def person(student: Any, roster: Roster, system: str) -> SimpleNamespace:
    """A student of the gradebook, with the names of the list where the gradebook has none.

    The number is the one in the system's own column. Only for who is in no list with such columns, it is an id of
    digits: `dpcourse collect` without a list takes the number as the id.
    """
    first, last = roster.name(student.id)
    row = roster.rows.get(student.id, {})
    listed = any(column in row for columns in NUMBERS.values() for column in columns)
    known = [row.get(column, "") for column in NUMBERS[system]] if listed else [student.id]
    numbers = [word for word in known if re.fullmatch(r"[0-9]+", word)]
    return SimpleNamespace(
        id=student.id, first_name=student.first_name or first, last_name=student.last_name or last,
        email=student.email or row.get("email") or row.get("email_address") or "", number=numbers[0] if numbers else "",
    )  # fmt: skip


def moodle(people: list[SimpleNamespace], marks: Marks) -> Table:
    """For one homework the grading worksheet (Moodle knows a participant by the number); else a column for each."""
    single = next(iter(marks)) if len(marks) == 1 else None
    head = ["Identifier", "Full name", "Email address", "ID number"]
    table = [[*head, *(["Grade", "Maximum Grade"] if single else list(marks))]]
    for one in people:
        row = [f"Participant {one.number}" if one.number else "", full_name(one), one.email, one.id]
        if single:
            row += [points(marks[single].get(one.id)), text(max(mark.max_score for mark in marks[single].values()))]
        else:
            row += [points(found.get(one.id)) for found in marks.values()]
        table.append(row)
    return table


def canvas(people: list[SimpleNamespace], marks: Marks) -> Table:
    """Canvas's gradebook: a row with the points possible, then one for each student."""
    possible = [text(max(mark.max_score for mark in found.values())) for found in marks.values()]
    table = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *marks],
        ["Points Possible", "", "", "", "", *possible],
    ]
    for one in people:
        name = ", ".join(part for part in (one.last_name, one.first_name) if part) or one.id
        login = "" if one.number == one.id else one.id
        table.append([name, one.number, login, login, "", *(points(found.get(one.id)) for found in marks.values())])
    return table


def nbgraders_own(book: Any, homeworks: list[str], roster: Roster) -> str:
    """What nbgrader's export plugin writes. It does not quote names, so it is given quoted ones."""
    from nbgrader.plugins.export import CsvExportPlugin

    people = [person(student, roster, "nbgrader") for student in book.students]
    real = {quoted(one.id): one.id for one in people}
    shown = [
        SimpleNamespace(**{name: quoted(getattr(one, name)) for name in ("id", "first_name", "last_name", "email")})
        for one in people
    ]
    view = SimpleNamespace(
        assignments=book.assignments,
        students=shown,
        find_submission=lambda assignment, student: book.find_submission(assignment, real[student]),
    )
    with tempfile.TemporaryDirectory(prefix="dpcourse-export-") as folder:
        plugin = CsvExportPlugin()
        plugin.to, plugin.assignment = str(Path(folder, "grades.csv")), homeworks
        plugin.export(view)
        return Path(plugin.to).read_text(encoding="utf-8")


def full_name(one: SimpleNamespace) -> str:
    """First name first."""
    return " ".join(part for part in (one.first_name, one.last_name) if part)


def points(mark: Mark | None) -> str:
    """What counts; nothing for who handed in nothing."""
    return "" if mark is None else text(mark.final)


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


def quoted(field: str | None) -> str:
    """One field, as it stands in a CSV file."""
    return as_csv([[field or "", ""]])[: -len(",\r\n")]
