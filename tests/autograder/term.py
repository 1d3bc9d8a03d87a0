"""A term, played as an instructor would: every step is a command, and after each all books say the same."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.cli import main
from autograder.course.course import Course
from autograder.examine.records import records_in
from autograder.gradebook.drift import differences_of
from autograder.gradebook.read import Mark, gradebook, marks_of
from testing.five_tasks import CELLS, ESSAY, HOMEWORK, five_course, notebook, some_right

SECOND = "second"
#: student -> Moodle's number, and which tasks are right (by binary digits)
CLASS = {"ada": (101, 31), "bob": (102, 3), "cleo": (103, 30), "dan": (104, 0), "eve": (105, 31)}
IN_TIME, LATE, DUE = (2026, 11, 1, 10, 0, 0), (2026, 11, 3, 12, 0, 0), "2026-11-02 12:00 UTC"
TEXT = "Because one person counts once."


class Term:
    """A course's folder, and the commands on it."""

    def __init__(self, folder: Path, db_url: str = "") -> None:
        self.folder, self.root = folder, five_course(folder)
        config = self.root / "nbgrader_config.py"
        lines = [config.read_text(encoding="utf-8"), 'c.LateSubmissionPlugin.penalty_method = "zero"']
        config.write_text("\n".join([*lines, *([f"c.CourseDirectory.db_url = {db_url!r}"] if db_url else []), ""]))
        place = self.root / "source" / SECOND / f"{SECOND}.ipynb"
        place.parent.mkdir()
        place.write_text(json.dumps(shortened(notebook())), encoding="utf-8")
        self.course = Course.find(self.root)
        self.students = folder / "class.csv"
        rows = [f"{name},{name.title()},Example,{name}@example.org,{number}" for name, (number, _) in CLASS.items()]
        self.students.write_text("\n".join(["student_id,first_name,last_name,email,moodle", *rows, ""]))

    def __call__(self, *words: str | Path, code: int = 0) -> None:
        """A command of ours."""
        assert main([*map(str, words), "--course", str(self.root)]) == code, words

    def nbgrader(self, *words: str) -> None:
        """A command of nbgrader's, in the course's folder."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2])])}
        command = [sys.executable, "-m", "nbgrader", *words]
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def moodle(self, name: str, handed_in: Mapping[str, tuple[Any, tuple[int, ...]]], file: str = "") -> Path:
        """A zip of Moodle: student -> the notebook, and when it was handed in."""
        place = self.folder / f"{name}.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for student, (book, time) in handed_in.items():
                path = f"{student.title()} Example_{CLASS[student][0]}_assignsubmission_file_/{file or HOMEWORK}.ipynb"
                archive.writestr(zipfile.ZipInfo(path, time), json.dumps(book))
        return place

    def change_source(self, change: Any) -> None:
        """Edit the homework's source, as formgrader's *Create Assignment* does."""
        place = self.course.source(HOMEWORK)
        book = json.loads(place.read_text(encoding="utf-8"))
        change(book)
        place.write_text(json.dumps(book), encoding="utf-8")

    def marks(self, homework: str = HOMEWORK) -> dict[str, Mark]:
        """What the gradebook says."""
        with gradebook(self.course) as book:
            return marks_of(book, homework)

    def agree(self, homework: str = HOMEWORK) -> dict[str, float]:
        """Source, records, gradebook and every export say the same; student -> what counts."""
        assert differences_of(self.course, [homework]) == []
        marks = self.marks(homework)
        final = {name: mark.final for name, mark in marks.items() if not mark.unread}
        by_machine = {record.student: record.score for record in records_in(self.course.records(homework))}
        names = [name for name in CELLS if any(name in mark.cells for mark in marks.values())]
        in_gradebook = {name: sum(mark.cells[task].auto or 0 for task in names) for name, mark in marks.items()}
        assert by_machine == in_gradebook
        for system, column, key in (("moodle", "Grade", "ID number"), ("nbgrader", "score", "student_id")):
            rows = [row for row in self.export(homework, system) if row.get("assignment", homework) == homework]
            exported = {row[key]: float(row[column]) for row in rows if row[column] and row[key] in marks}
            assert exported == final, system
        rows = self.export(homework, "canvas")
        exported = {row["SIS User ID"] or row["ID"]: float(row[homework]) for row in rows[1:] if row[homework]}
        assert exported == final
        return final

    def export(self, homework: str, system: str) -> list[dict[str, str]]:
        """The rows of an exported table."""
        place = self.folder / f"{system}.csv"
        self("export", homework, "--format", system, "--students", self.students, "--to", place, "--force")
        return list(csv.DictReader(io.StringIO(place.read_text(encoding="utf-8"))))

    def read_text_of(self, student: str, points: float) -> None:
        """A person reads the essay in formgrader."""
        with gradebook(self.course) as book:
            grade = book.find_grade(ESSAY, HOMEWORK, HOMEWORK, student)
            grade.manual_score, grade.needs_manual_grade = points, False
            book.find_comment(ESSAY, HOMEWORK, HOMEWORK, student).manual_comment = "Well argued."
            book.db.commit()


def book_of(number: int, text: str = TEXT) -> Any:
    """A notebook with these tasks right, and the essay."""
    book = notebook(some_right(number))
    for cell in book["cells"]:
        if cell["metadata"]["nbgrader"]["grade_id"] == ESSAY:
            cell["source"] = text
    return book


def shortened(book: Any) -> Any:
    """The second homework: the first three tasks of the first."""
    gone = ("spread", "cumulate")
    book["cells"] = [cell for cell in book["cells"] if not cell["metadata"]["nbgrader"]["grade_id"].startswith(gone)]
    return book


def play(term: Term) -> None:
    """From the release to the archive."""
    term("release")
    term.nbgrader("db", "assignment", "add", HOMEWORK, "--duedate", DUE)

    # The first collection. Dan's file is broken; Eve hands in late, and Cleo something under another homework's name.
    books = {name: (book_of(number), LATE if name == "eve" else IN_TIME) for name, (_, number) in CLASS.items()}
    books["dan"] = ("no notebook", IN_TIME)
    cleo = books.pop("cleo")
    term("collect", term.moodle("first", books), "--students", term.students)
    term("collect", term.moodle("cleo", {"cleo": cleo}, file=SECOND), "--students", term.students)
    assert not term.course.submitted("cleo", SECOND).exists()
    with gradebook(term.course) as book:
        assert {one.id: (one.first_name, one.email) for one in book.students}["bob"] == ("Bob", "bob@example.org")
    term("grade", HOMEWORK)
    assert term.agree() == {"ada": 10, "bob": 3, "cleo": 9, "eve": 0}
    assert term.marks()["dan"].unread
    assert [row["Late"] for row in term.export(HOMEWORK, "moodle")] == ["", "", "", "", "1 day"]

    # The second collection: Bob has learnt, and Dan's notebook is one now.
    again = {"bob": (book_of(31), (*IN_TIME[:3], 20, 0, 0)), "dan": (book_of(1), (*IN_TIME[:3], 20, 0, 0))}
    term("collect", term.moodle("second", again), "--students", term.students)
    term("grade", HOMEWORK)
    assert term.agree() == {"ada": 10, "bob": 10, "cleo": 9, "dan": 1, "eve": 0}
    assert len(list((term.root / "earlier" / "bob").rglob("*.ipynb"))) == 1

    # Eve was ill. Then a task turns out to be worth more, and another is dropped.
    term("extend", "eve", HOMEWORK, "--until", "2026-11-05 12:00")
    term("grade", HOMEWORK)
    assert term.agree()["eve"] == 10
    term.change_source(lambda book: _cell(book, "double")["metadata"]["nbgrader"].update(points=4))
    term("grade", HOMEWORK)
    assert term.agree() == {"ada": 13, "bob": 13, "cleo": 9, "dan": 4, "eve": 13}
    term.change_source(lambda book: [book["cells"].remove(_cell(book, name)) for name in ("clip", "clip-solution")])
    term("grade", HOMEWORK)
    assert term.agree() == {"ada": 12, "bob": 12, "cleo": 8, "dan": 4, "eve": 12}

    # A person reads; everybody is graded again; the due date moves. Nothing of that is lost.
    for name, points in (("ada", 5), ("bob", 2.5), ("cleo", 0)):
        term.read_text_of(name, points)
    term("grade", HOMEWORK, "--regrade")
    expected = {"ada": 17, "bob": 14.5, "cleo": 8, "dan": 4, "eve": 12}
    assert term.agree() == expected
    assert {name for name, mark in term.marks().items() if mark.waits} == {"dan", "eve"}
    term("extend", "eve", HOMEWORK, "--none")
    term("grade", HOMEWORK)
    assert term.agree()["eve"] == 0
    term.nbgrader("db", "assignment", "add", HOMEWORK, "--duedate", "2026-11-04 12:00 UTC")
    term("grade", HOMEWORK)
    assert term.agree() == expected

    # Another homework beside it; then pages, the report, and a student who leaves.
    other = term.moodle("other", {"ada": (shortened(book_of(7)), IN_TIME)}, file=SECOND)
    term("collect", other, "--students", term.students)
    term("grade", SECOND)
    assert term.agree(SECOND) == {"ada": 4}
    term("feedback", HOMEWORK)
    page = term.course.feedback("ada", HOMEWORK).read_text(encoding="utf-8")
    assert "17 of" in page
    assert "Well argued." in page
    term("report", "--html", term.folder / "report.html")
    term("forget", "ada", "--yes")
    assert term.agree() == {name: points for name, points in expected.items() if name != "ada"}
    left = [path for path in term.root.rglob("*") if "ada" in path.parts or (path.is_file() and _names_ada(path))]
    assert left == []

    # The archive is a copy of the folder: it can be read wherever it lies.
    archive = shutil.make_archive(str(term.folder / "archive"), "zip", term.root)
    shutil.unpack_archive(archive, term.folder / "next year" / "exercises")
    with gradebook(Course.find(term.folder / "next year")) as book:
        assert {name: mark.final for name, mark in marks_of(book, HOMEWORK).items()} == term.agree()


def _cell(book: Any, name: str) -> Any:
    return next(cell for cell in book["cells"] if cell["metadata"]["nbgrader"]["grade_id"] == name)


def _names_ada(path: Path) -> bool:
    """A database may hold the three letters by chance."""
    content = path.read_bytes()
    return b"ada@example" in content or (path.suffix != ".db" and re.search(rb"\bada\b", content) is not None)
