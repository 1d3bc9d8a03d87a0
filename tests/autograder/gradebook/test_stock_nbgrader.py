"""nbgrader as it comes, with none of our settings: the hidden test of each graded cell calls ``grade(f)``.

Right work gets the cell's points, wrong work none, a part of them where the task gives parts; also after the points of
a cell were changed, which stand in its mark and nowhere else.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from testing.classroom import SOURCE, answering, grade_id, hand_in, released, solved
from tests.autograder.stock import quick_folder, tried

HW = "hw1_pure_dp"
CONFIG = """
c = get_config()
c.CourseDirectory.root = {0!r}
c.CourseDirectory.db_url = "sqlite:///" + {0!r} + "/gradebook.db"
c.ExecutePreprocessor.timeout = 300
"""
#: Private, but wasteful: a third of the budget is spent.
WASTEFUL = """

best = private_median


def private_median(data, low, high, epsilon, rng):
    return best(data, low, high, epsilon / 3, rng)
"""
WRONG = "def {0}(*values, **named):\n    return 0.125"


@pytest.fixture(scope="module")
def scores():
    """student -> task -> points, and task -> what its cell is worth."""
    with quick_folder() as folder:
        root = folder / "course"
        place = root / "source" / HW / f"{HW}.ipynb"
        place.parent.mkdir(parents=True)
        book = json.loads((SOURCE / HW / f"{HW}.ipynb").read_text(encoding="utf-8"))
        worth = {}
        for cell in book["cells"]:
            marks = cell["metadata"].get("nbgrader", {})
            if marks.get("grade") and not marks.get("solution"):
                if marks["grade_id"] == "noisy_count":
                    marks["points"] = 7  # it was 2
                worth[marks["grade_id"]] = marks["points"]
        place.write_text(json.dumps(book), encoding="utf-8")
        (root / "nbgrader_config.py").write_text(CONFIG.format(str(root)))
        wrong = {f"{name}-solution": WRONG.format(name) for name in worth}
        right = solved(place)
        (median,) = [cell for cell in right["cells"] if grade_id(cell) == "private_median-solution"]
        median["source"] += WASTEFUL
        hand_in(root, "right", HW, right)
        hand_in(root, "wrong", HW, answering(solved(place), wrong))
        hand_in(root, "untouched", HW, released(place))
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic
        done = tried(root, f"generate_assignment {HW}", f"autograde {HW}", PATH=path)
        assert done.returncode == 0, done.stderr
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
            points = {
                one.student.id: {grade.cell.name: grade.auto_score for grade in one.notebooks[0].grades}
                for one in gradebook.assignment_submissions(HW)
            }
    return points, worth


def test_right_work_gets_what_its_cells_are_worth(scores):
    points, worth = scores
    parts = {"private_median"}
    right = {name: points["right"][name] for name in worth if name not in parts}
    assert right == {name: value for name, value in worth.items() if name not in parts}
    assert right["noisy_count"] == 7
    assert 0 < points["right"]["private_median"] < worth["private_median"]


@pytest.mark.parametrize("student", ["wrong", "untouched"])
def test_other_work_gets_nothing(scores, student):
    points, worth = scores
    assert {name: points[student][name] for name in worth if points[student][name] != 0} == {}
