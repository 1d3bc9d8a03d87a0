"""The instructor's source notebook: which cells are given, which the student writes, which are graded and how.

It is read as JSON: nbformat and nbgrader take seconds to load, and a worker that grades needs neither.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from autograder.course.programs import read_program

Kind = Literal["code", "markdown"]
Role = Literal["given", "solution", "task", "written"]
HIDDEN = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?", re.DOTALL | re.MULTILINE)
#: What stock nbgrader gives a part of (see ``dpcourse.tasks.grade``).
STATED_POINTS = re.compile(r"^[ \t]*grade\(.*\bpoints=([0-9.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of the source.

    ``role``: given (run as the instructor wrote it), solution (the student's code counts), task (graded by machine;
    ``grade_id`` is the task's name, nothing of its source is run) or written (markdown that a person reads).
    ``manual`` says that a person gives its points. Given cells need no ``grade_id``; ``cell_id`` is Jupyter's own.
    """

    grade_id: str
    kind: Kind
    role: Role
    source: str
    points: float = 0
    manual: bool = False
    cell_id: str = ""

    @property
    def visible(self) -> str:
        """What students see of a cell that is not theirs to write."""
        return HIDDEN.sub("", self.source)


@dataclass(frozen=True)
class Assignment:
    """A homework: its cells in order."""

    name: str
    cells: tuple[Cell, ...]

    @property
    def task_names(self) -> tuple[str, ...]:
        """The tasks that the machine grades, in order."""
        return tuple(cell.grade_id for cell in self.cells if cell.role == "task")

    @property
    def graded(self) -> tuple[Cell, ...]:
        """The cells with points, by machine or by people."""
        return tuple(cell for cell in self.cells if cell.role == "task" or cell.manual)

    @property
    def written(self) -> tuple[Cell, ...]:
        """The texts that a person reads."""
        return tuple(cell for cell in self.cells if cell.role == "written")

    @property
    def solutions(self) -> tuple[str, ...]:
        """The grade_ids of the code cells that a student fills in."""
        return tuple(cell.grade_id for cell in self.cells if cell.role == "solution")

    @property
    def given_code(self) -> tuple[str, ...]:
        """What runs in every submission before the student's own code: the sources of the given code cells."""
        return tuple(cell.source for cell in self.cells if cell.role == "given" and cell.kind == "code")

    @property
    def machine_points(self) -> float:
        """The points that the machine can give."""
        return sum(cell.points for cell in self.cells if cell.role == "task")

    @property
    def manual_points(self) -> float:
        """The points that a person can give."""
        return sum(cell.points for cell in self.cells if cell.manual)

    @cached_property
    def by_grade_id(self) -> dict[str, Cell]:
        """The cells that have a grade_id."""
        return {cell.grade_id: cell for cell in self.cells if cell.grade_id}

    @cached_property
    def functions(self) -> dict[str, frozenset[str]]:
        """grade_id of a solution -> the names by which its answer is known: those of tasks, if it defines any."""
        tasks, names = frozenset(self.task_names), dict[str, frozenset[str]]()
        for cell in self.cells:
            if cell.role == "solution":
                program = read_program(cell.source)
                every = program.functions | program.variables
                names[cell.grade_id] = tasks & every or program.functions or every
        return names

    def solution_of(self, task: str) -> str:
        """The grade_id of the cell in which the answer to a task stands."""
        defining = (grade_id for grade_id, names in self.functions.items() if task in names)
        return next(defining, f"{task}-solution")

    @cached_property
    def _release(self) -> list[Any]:
        """The cells with a grade_id as they are handed out: without solutions and hidden tests, by nbgrader's rules."""
        import nbformat
        from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, ClearSolutions, ComputeChecksums

        cells = [as_jupyter(cell) for cell in self.cells if cell.grade_id]
        book = nbformat.from_dict({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
        for step in (ClearSolutions, ClearHiddenTests, ClearMarkScheme, ComputeChecksums):
            book, _ = step().preprocess(book, {})
        return list(book.cells)

    @cached_property
    def released(self) -> dict[str, str]:
        """grade_id -> what the student was handed out there."""
        return {cell.metadata.nbgrader.grade_id: cell.source for cell in self._release}

    @cached_property
    def checksums(self) -> dict[str, str]:
        """grade_id -> nbgrader's checksum of what was handed out there."""
        return {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.checksum for cell in self._release}

    @classmethod
    def read(cls, path: Path) -> Assignment:
        """Read a source notebook; the homework has the name of the file. ValueError says what is wrong with it."""
        try:
            book = json.loads(path.read_text(encoding="utf-8"))
            if book["nbformat"] != 4:
                raise ValueError(f"its format is {book['nbformat']}, not 4: open and save it in JupyterLab")
            cells = tuple(_cell(raw) for raw in book["cells"])
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise ValueError(f"{path} is not a source notebook: {error}") from None
        counts = Counter(cell.grade_id for cell in cells if cell.grade_id)
        twice = [name for name, number in counts.items() if number > 1]
        if twice:
            raise ValueError(f"{path} has {counts[twice[0]]} cells with the grade_id {twice[0]!r}; each must be unique")
        return cls(path.stem, cells)


def read_homeworks(sources: Iterable[Path]) -> dict[str, Assignment]:
    """The homeworks of these source notebooks; one that cannot be read is left out: ``doctor`` tells it."""
    homeworks = {}
    for path in sources:
        with contextlib.suppress(ValueError, OSError):
            homeworks[path.stem] = Assignment.read(path)
    return homeworks


def states_other_points(cell: Cell) -> str:
    """Where the cell's text names other points than nbgrader's mark, which is the one that counts; "" if nowhere."""
    stated = STATED_POINTS.search(cell.source) if cell.role == "task" else None
    if stated is None or float(stated[1]) == cell.points:
        return ""
    return f"{cell.grade_id} is worth {cell.points:g} points, but its cell says points={stated[1]}"


def _cell(raw: dict[str, Any]) -> Cell:
    """One cell of the file. nbgrader's marks decide its role."""
    marks = raw["metadata"].get("nbgrader") or {}
    grade, solution, by_hand = (bool(marks.get(key)) for key in ("grade", "solution", "task"))
    name, source = str(marks.get("grade_id", "")), "".join(raw["source"])
    kind: Kind = "code" if raw["cell_type"] == "code" else "markdown"
    role: Role = "given"
    if solution:
        role = "solution" if kind == "code" else "written"
    elif grade:
        role = "task"
    if role != "given" and not name:
        raise ValueError(f"a {role} cell has no grade_id: {source[:60]!r}")
    if role == "task" and kind == "markdown":
        raise ValueError(f"the graded cell {name!r} is markdown, but not marked as a solution: nobody could answer it")
    points = marks.get("points", 0) if grade or by_hand else 0
    if isinstance(points, bool) or not isinstance(points, int | float) or not 0 <= points < float("inf"):
        raise ValueError(f"the cell {name!r} has {points!r} points; they must be a number >= 0")
    points = float(points)
    return Cell(name, kind, role, source, points, by_hand or (grade and solution), str(raw.get("id", "")))


def as_jupyter(cell: Cell, source: str | None = None) -> dict[str, Any]:
    """The cell in Jupyter's format (4.5) with nbgrader's marks, with its own source or another one."""
    metadata: dict[str, Any] = {}
    if cell.grade_id:
        by_hand = cell.role == "given" and cell.manual
        graded = cell.role in ("task", "written") or (cell.role == "solution" and cell.manual)
        metadata["nbgrader"] = {
            "grade": graded, "grade_id": cell.grade_id, "locked": cell.role in ("given", "task"), "schema_version": 3,
            "solution": cell.role in ("solution", "written"), "task": by_hand, "cell_type": cell.kind,
            **({"points": cell.points} if graded or by_hand else {}),
        }  # fmt: skip
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if cell.kind == "code" else {}
    text = cell.source if source is None else source
    return {"cell_type": cell.kind, "id": cell.cell_id, "metadata": metadata, "source": text, **code}
