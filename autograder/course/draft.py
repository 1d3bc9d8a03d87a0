"""The first notebook of a homework, written from a few lines of Python. Afterwards it is edited in JupyterLab."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.console import Problem
from autograder.course.course import Course
from autograder.course.homework import Cell, as_jupyter

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
GRADED = "check({0})\n### BEGIN HIDDEN TESTS\ngrade({0})\n### END HIDDEN TESTS"


@dataclass(frozen=True)
class Question:
    """A question: the name of its task and of the function, the text, and the function with its solution.

    What students do not get stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION``.
    """

    task: str
    text: str
    solution: str
    points: float = 1


def write_homework(
    name: str, *, title: str, first_cell: str, questions: Sequence[Question], course: str | Path = "."
) -> Path:
    """Write ``source/NAME/NAME.ipynb`` of the course in this folder; ``first_cell`` is the code that it starts with.

    A notebook that is there is left alone: it may hold work.
    """
    home = Course.find(Path(course))
    place = home.source(name)
    if place.exists():
        raise Problem(f"{place} exists: edit it in JupyterLab, or move it away first")
    cells = [
        Cell("title", "markdown", "given", f"# {title}"),
        Cell("first", "code", "given", first_cell.strip()),
        *(cell for question in questions for cell in _cells(home, question)),
    ]
    ids = [cell.grade_id for cell in cells]
    twice = [one for one in ids if ids.count(one) > 1]
    if twice:
        raise Problem(f"there are two questions about {twice[0].removesuffix('-question')!r}")
    raw = [{**as_jupyter(cell), "id": f"cell-{number}"} for number, cell in enumerate(cells)]
    book = {"cells": raw, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return place


def _cells(course: Course, question: Question) -> Iterator[Cell]:
    """The question, the place for the answer, and the cell that is graded, with its points."""
    task = course.task(question.task)
    yield Cell(f"{task.name}-question", "markdown", "given", question.text.strip())
    yield Cell(f"{task.name}-solution", "code", "solution", question.solution.strip())
    yield Cell(task.name, "code", "task", GRADED.format(task.name), question.points)
