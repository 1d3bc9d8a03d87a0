"""A small course to try the commands on: one homework of two tasks and a text, and people who hand it in."""

import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.cli import main
from autograder.course.course import Course
from autograder.examine.records import Record, TaskRecord
from autograder.intake.submission import Submission
from testing import ROOT

HW = "hw1_small"
FILE = f"{HW}.ipynb"

LIKELIHOOD = "return math.exp((abs(y - neighbour) - abs(y - count)) / b)"
NOISY = "return count + rng.laplace(0, 1 / epsilon)"


def nbgrader_cell(kind: str, grade_id: str, **settings: Any) -> dict[str, Any]:
    plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
    return {"id": grade_id, "metadata": {"nbgrader": {**plain, "grade_id": grade_id, **settings, "cell_type": kind}}}


def function(head: str, body: str) -> Any:
    name = head.partition("(")[0]
    source = f"def {head}:\n    ### BEGIN SOLUTION\n    {body}\n    ### END SOLUTION"
    return new_code_cell(source, **nbgrader_cell("code", f"{name}-solution", solution=True))


def graded(name: str, points: int) -> Any:
    source = f"check({name})\n### BEGIN HIDDEN TESTS\ngrade({name})\n### END HIDDEN TESTS"
    return new_code_cell(source, **nbgrader_cell("code", name, grade=True, locked=True, points=points))


def source_notebook() -> Any:
    cells = [
        new_markdown_cell("# Homework 1: small\n\nSee [lecture 1](../../../lectures/01_pure_dp.ipynb).", id="title"),
        new_code_cell("import math\n\nfrom dpcourse.tasks import check, grade", id="imports"),
        function("likelihood_ratio(y, count, neighbour, b)", LIKELIHOOD),
        graded("likelihood_ratio", 1),
        function("noisy_count(count, epsilon, rng)", NOISY),
        graded("noisy_count", 2),
        new_markdown_cell(
            "### BEGIN SOLUTION\nOne person moves the count by one.\n### END SOLUTION",
            **nbgrader_cell("markdown", "why-written", grade=True, solution=True, points=3),
        ),
    ]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


def make_course(folder: Path) -> Path:
    """A repository with a course in ``exercises/``; gives the course's folder."""
    root = folder / "exercises"
    (root / "source" / HW).mkdir(parents=True)
    nbformat.write(source_notebook(), root / "source" / HW / f"{HW}.ipynb")
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    return root


def answered(ratio: str = LIKELIHOOD, count: str = NOISY, why: str = "Because.") -> bytes:
    """A notebook that was handed in."""
    book = source_notebook()
    book.cells[2].source = f"def likelihood_ratio(y, count, neighbour, b):\n    {ratio}"
    book.cells[4].source = f"def noisy_count(count, epsilon, rng):\n    {count}"
    book.cells[6].source = why
    return nbformat.writes(book).encode()


def dpcourse(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Run a command; gives its exit code, stdout and stderr."""
    capsys.readouterr()
    try:
        code = main([str(word) for word in words])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out, said.err


def for_machines(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, Any]:
    """Run a command with ``--json -``; gives its exit code and the result."""
    code, out, err = dpcourse(capsys, *words, "--json", "-")
    assert out, err
    return code, json.loads(out)


def by_name(items: Sequence[dict[str, Any]], key: str) -> dict[str, dict[str, Any]]:
    return {item[key]: item for item in items}


def task(name: str, status: str, points: float, most: float, **more: Any) -> TaskRecord:
    return TaskRecord(task=name, points=points, max_points=most, status=status, **more)


def record(student: str, ratio: tuple[str, float], count: tuple[str, float], **more: Any) -> Record:
    """A record of the small homework: each task's status and points."""
    tasks = (task("likelihood_ratio", *ratio, 1), task("noisy_count", *count, 2))
    return Record(**{"student": student, "assignment": HW, "status": "graded", "tasks": tasks, "seed": 1, **more})


def write_grades(root: Path, records: Sequence[Record]) -> None:
    """Records on the disk and in the gradebook, as ``dpcourse grade`` leaves them."""
    from autograder.gradebook.write import Writer

    course = Course.find(root)
    with Writer(course) as writer:
        for one in records:
            one.save(course.records(HW))
        writer.write([(one, Submission(one.student, HW, answers=one.answers)) for one in records])


def moodle(name: str, number: int, file: str = FILE, slash: str = "_/") -> str:
    return f"{name}_{number}_assignsubmission_file{slash}{file}"


def zipped(path: Path, entries: dict[str, bytes], day: int = 1) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, day, 12, 30, 0)), content, zipfile.ZIP_DEFLATED)
    return path
