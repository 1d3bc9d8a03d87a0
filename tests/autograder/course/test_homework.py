"""The instructor's source notebooks are read as nbgrader means them."""

import json
import re

import pytest

from autograder.course.homework import Assignment, as_jupyter, states_other_points
from dpcourse.tasks import HOMEWORKS, tasks_of
from testing import ROOT
from tests.autograder.small_course import HW, make_course


def changed(path, change):
    """The same file after ``change`` was done to its cells."""
    book = json.loads(path.read_text(encoding="utf-8"))
    change(book)
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


@pytest.fixture
def source(tmp_path):
    return make_course(tmp_path) / "source" / HW / f"{HW}.ipynb"


@pytest.mark.parametrize("homework", HOMEWORKS)
def test_every_homework_is_read(homework):
    found = Assignment.read(ROOT / "exercises" / "source" / homework / f"{homework}.ipynb")
    tasks = tasks_of(homework)
    assert found.name == homework
    assert set(found.task_names) == set(tasks)
    assert all(cell.points > 0 for cell in found.cells if cell.role == "task")
    assert all(states_other_points(cell) == "" for cell in found.cells)
    assert found.solutions == tuple(f"{name}-solution" for name in found.task_names)
    assert [cell.grade_id for cell in found.written]
    assert found.manual_points == sum(cell.points for cell in found.written) > 0
    assert any("import check" in cell.source for cell in found.cells if cell.role == "given" and cell.kind == "code")


def test_the_release_has_neither_solutions_nor_hidden_tests(source):
    found = Assignment.read(source)
    assert found.released["noisy_count-solution"].endswith("# YOUR CODE HERE\n    raise NotImplementedError()")
    assert found.released["noisy_count"] == "check(noisy_count)"
    assert found.released["why-written"] == "YOUR ANSWER HERE"
    assert set(found.checksums) == set(found.released) == set(found.by_grade_id)
    assert all(re.fullmatch("[0-9a-f]{32}", checksum) for checksum in found.checksums.values())


def test_a_cell_goes_back_into_jupyters_format_with_its_marks(source):
    raw = {cell["id"]: cell for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]}
    for cell in Assignment.read(source).cells:
        made = as_jupyter(cell)
        assert "".join(raw[cell.cell_id]["source"]) == made["source"]
        assert raw[cell.cell_id]["metadata"].get("nbgrader") == made["metadata"].get("nbgrader")


def test_cells_that_a_person_grades_are_told_from_those_of_the_machine(source):
    def code_by_hand(book):
        book["cells"][2]["metadata"]["nbgrader"].update(grade=True, points=4)

    found = Assignment.read(changed(source, code_by_hand))
    cell = found.by_grade_id["likelihood_ratio-solution"]
    assert (cell.role, cell.manual, cell.points) == ("solution", True, 4)
    assert (found.machine_points, found.manual_points) == (3, 7)


def twice(book):
    book["cells"][4]["metadata"]["nbgrader"]["grade_id"] = "likelihood_ratio-solution"


def nameless(book):
    del book["cells"][3]["metadata"]["nbgrader"]["grade_id"]


def negative(book):
    book["cells"][3]["metadata"]["nbgrader"]["points"] = -1


def graded_text(book):
    book["cells"][6]["metadata"]["nbgrader"]["solution"] = False


def old(book):
    book["nbformat"] = 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (twice, "2 cells with the grade_id 'likelihood_ratio-solution'"),
        (nameless, "a task cell has no grade_id: 'check(likelihood_ratio)"),
        (negative, "'likelihood_ratio' has -1 points"),
        (graded_text, "'why-written' is markdown"),
        (old, "its format is 3"),
    ],
)
def test_what_is_wrong_with_a_source_is_said(source, change, words):
    with pytest.raises(ValueError, match=re.escape(words)) as told:
        Assignment.read(changed(source, change))
    assert str(source) in str(told.value)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"nbformat": 4, "cells": [1]}', "no JSON"])
def test_what_is_no_notebook_is_refused_by_name(source, content):
    source.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match="is not a source notebook"):
        Assignment.read(source)
