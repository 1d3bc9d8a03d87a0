"""A student's own notebook: ``check`` runs what grading runs."""

import json

import pytest

from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.examine.own_notebook import check_notebook
from testing import ROOT
from testing.classroom import answering, grade_id, hand_in, released, solved
from testing.five_tasks import HOMEWORK, POINTS, all_right, notebook

pytestmark = pytest.mark.usefixtures("bubblewrap")


def test_students_check_their_own_notebook(tmp_path):
    source = ROOT / "exercises" / "source" / "hw2_local_dp" / "hw2_local_dp.ipynb"
    book = answering(solved(source), {"theta-solution": "def theta(epsilon, attempt):\n    return 0.5"})
    place = tmp_path / "mine.ipynb"
    place.write_text(json.dumps(book), encoding="utf-8")
    verdicts = {verdict.task: verdict for verdict in check_notebook(place)}
    assert not verdicts["theta"].passed
    assert all(verdict.passed for name, verdict in verdicts.items() if name != "theta")
    assert all(verdict.public for verdict in verdicts.values())
    place.write_text(json.dumps(released(source)), encoding="utf-8")
    assert {verdict.status for verdict in check_notebook(place)} == {"missing"}


def test_the_students_check_runs_what_grading_runs(tmp_path, handed_in):
    """A helper in a cell of one's own is not there when it is graded, and a deleted test cell is asked all the same."""
    source = ROOT / "exercises" / "source" / "hw2_local_dp" / "hw2_local_dp.ipynb"
    book = answering(solved(source), {"spent_epsilon-solution": "def spent_epsilon(theta):\n    return mine(theta)"})
    helper = {"cell_type": "code", "id": "mine", "metadata": {}, "outputs": [], "execution_count": None}
    book["cells"].insert(
        1, {**helper, "source": "import math\ndef mine(theta):\n    return math.log(theta / (1 - theta))"}
    )
    book["cells"] = [cell for cell in book["cells"] if grade_id(cell) != "theta"]
    place = tmp_path / "mine.ipynb"
    place.write_text(json.dumps(book), encoding="utf-8")
    verdicts = {verdict.task: verdict for verdict in check_notebook(place)}
    assert "Cells that you added are not graded" in verdicts["spent_epsilon"].message
    assert verdicts["theta"].passed
    assert "missing in your notebook" in verdicts["theta"].message
    assert sum(verdict.passed for verdict in verdicts.values()) == len(verdicts) - 1

    root = handed_in(0)
    hand_in(root, "five", HOMEWORK, notebook({**all_right(), "double": "def double(x):\n    return mine(x)"}))
    place = root / "submitted" / "five" / HOMEWORK / f"{HOMEWORK}.ipynb"
    book = json.loads(place.read_text(encoding="utf-8"))
    book["cells"].insert(1, {**helper, "source": "def mine(x):\n    return 2 * x"})
    place.write_text(json.dumps(book), encoding="utf-8")
    (record,) = grade(Course.find(root), [HOMEWORK], jobs=1, seed=1)
    assert record.score == POINTS - 1
    assert "Cells that you added are not graded" in record.tasks[0].feedback


def test_a_file_that_is_no_homework_is_told(tmp_path):
    place = tmp_path / "x.ipynb"
    place.write_text("{", encoding="utf-8")
    with pytest.raises(Problem, match=r"'x.ipynb' cannot be read"):
        check_notebook(place)
    place.write_text(json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    with pytest.raises(Problem, match="no cell of a homework"):
        check_notebook(place)


def test_a_solution_cell_that_has_a_tasks_name_asks_for_nothing(tmp_path):
    """Only ``theta-solution`` answers ``theta``; a cell with the bare name of a task of dpcourse is no question."""
    source = ROOT / "exercises" / "source" / "hw2_local_dp" / "hw2_local_dp.ipynb"
    book = solved(source)
    book["cells"] = [cell for cell in book["cells"] if grade_id(cell) in ("theta-solution", "theta")]
    extra = json.loads(json.dumps(book["cells"][0]))
    extra["metadata"]["nbgrader"]["grade_id"] = "likelihood_ratio"
    book["cells"].append({**extra, "id": "extra", "source": "import math"})
    place = tmp_path / "mine.ipynb"
    place.write_text(json.dumps(book), encoding="utf-8")
    assert [verdict.task for verdict in check_notebook(place)] == ["theta"]
