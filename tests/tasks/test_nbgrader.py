"""The homeworks go through nbgrader's own commands: released, handed in untouched and solved, graded, given back.

The seed of grading is fixed here, so that the outcome is the same every time; chance would fail a right homework less
than once in a million times.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from dpcourse.tasks import HOMEWORKS, tasks_of
from tests.conftest import ROOT

SOURCE = ROOT / "exercises" / "source"
REGION = re.compile(r"### BEGIN SOLUTION\n(.*?)\s*### END SOLUTION", re.DOTALL)


def notebook(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def source_of(homework: str) -> Any:
    return notebook(SOURCE / homework / f"{homework}.ipynb")


def kind(cell: Any) -> dict[str, Any]:
    return cell.metadata.get("nbgrader", {})


def graded(book: Any) -> dict[str, Any]:
    """The graded cells by name."""
    return {kind(cell)["grade_id"]: cell for cell in book.cells if kind(cell).get("grade")}


#: nbgrader's commands one after the other in one process: its start alone takes four seconds.
RUN = """
import sys
from nbgrader.apps import NbGraderApp
from traitlets.config import Application
for words in sys.argv[1:]:
    try:
        NbGraderApp.launch_instance(words.split())
    except SystemExit as end:
        if end.code:
            raise
    Application.instance().clear_instance()  # the command's own, which has taken the place of NbGraderApp's
"""


def nbgrader(course: Path, *commands: str) -> None:
    """Run nbgrader's commands in the course's folder; a failure shows the log."""
    home = course.parent / "home"
    home.mkdir(exist_ok=True)
    places = {"JUPYTER_CONFIG_DIR": home, "JUPYTER_DATA_DIR": home, "JUPYTER_RUNTIME_DIR": home, "IPYTHONDIR": home}
    settings = {"DPCOURSE_GRADING_SEED": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUN, *commands], cwd=course, capture_output=True, text=True, check=False,
        env={**os.environ, **{name: str(place) for name, place in places.items()}, **settings},
    )  # fmt: skip
    assert done.returncode == 0, f"nbgrader {commands}\n{done.stdout}\n{done.stderr}"


def hand_in(course: Path, student: str, homework: str, book: Any) -> None:
    folder = course / "submitted" / student / homework
    folder.mkdir(parents=True)
    nbformat.write(book, folder / f"{homework}.ipynb")


def solved(release: Any, source: Any) -> Any:
    """The release with the solutions written into it, as a student would."""
    answers = {kind(cell)["grade_id"]: cell.source for cell in source.cells if kind(cell).get("solution")}
    for cell in release.cells:
        if kind(cell).get("solution"):
            cell.source = re.sub(r" *### (BEGIN|END) SOLUTION\n?", "", answers[kind(cell)["grade_id"]])
    return release


#: In a process of its own: nbgrader imports setuptools, which refuses to come after distutils.
SCORES = """
import json, sys
from nbgrader.api import Gradebook
with Gradebook(sys.argv[1]) as book:
    (submitted,) = book.find_submission(*sys.argv[2:]).notebooks
    found = {one.cell.name: (one.auto_score, one.max_score, one.needs_manual_grade) for one in submitted.grades}
print(json.dumps(found))
"""


def scores(root: Path, homework: str, student: str) -> dict[str, tuple[float | None, float, bool]]:
    """cell -> (points given by machine, points possible, does it wait for a person?)"""
    asked = [sys.executable, "-c", SCORES, f"sqlite:///{root / 'gradebook.db'}", homework, student]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    return {name: tuple(found) for name, found in json.loads(done.stdout.splitlines()[-1]).items()}


@pytest.mark.parametrize("homework", HOMEWORKS)
def test_a_homework_is_released_handed_in_graded_and_given_back(homework, tmp_path):
    root = tmp_path / "exercises"
    shutil.copytree(SOURCE / homework, root / "source" / homework)
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    nbgrader(root, f"generate_assignment {homework}")
    release = root / "release" / homework / f"{homework}.ipynb"
    gives_nothing_away(homework, notebook(release))
    hand_in(root, "untouched", homework, notebook(release))
    hand_in(root, "solved", homework, solved(notebook(release), source_of(homework)))
    nbgrader(root, f"autograde {homework}", f"generate_feedback {homework}")
    tasks = tasks_of(homework)

    nothing = scores(root, homework, "untouched")
    assert set(tasks) <= set(nothing)
    assert {name: auto for name, (auto, _, _) in nothing.items() if auto != 0} == {}

    everything = scores(root, homework, "solved")
    assert {name: everything[name] for name in tasks} == {
        name: (task.points, task.points, False) for name, task in tasks.items()
    }
    written = {name: waits for name, (_, _, waits) in everything.items() if name not in tasks}
    assert written
    assert all(written.values()), written  # a person reads the proofs

    for student, words in (("solved", "passed"), ("untouched", "still empty")):
        page = (root / "feedback" / student / homework / f"{homework}.html").read_text(encoding="utf-8")
        assert [name for name in tasks if f"{name}: {words}" not in page] == [], student


def gives_nothing_away(homework: str, release: Any) -> None:
    """No solution and no hidden test is left in the release."""
    text = "\n".join(cell.source for cell in release.cells)
    for word in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "grade(", "DPCOURSE_GRADING_SEED"):
        assert word not in text
    regions = [region for cell in source_of(homework).cells for region in REGION.findall(cell.source)]
    lines = {line.strip() for region in regions for line in region.splitlines()}
    assert len(lines) > 20
    assert [line for line in lines if len(line) > 12 and line in text] == []
    assert [cell.outputs for cell in release.cells if cell.cell_type == "code" and cell.outputs] == []


def test_a_homework_asks_all_its_tasks():
    for homework in HOMEWORKS:
        book = source_of(homework)
        cells = graded(book)
        for name, task in tasks_of(homework).items():
            assert cells[name].source.splitlines()[0] == f"check({name})", name
            assert cells[name].source.splitlines()[-2] == f"grade({name})", name
            assert (kind(cells[name])["points"], kind(cells[name])["locked"]) == (task.points, True), name
            assert any(kind(cell).get("grade_id") == f"{name}-solution" for cell in book.cells), name
        others = set(cells) - set(tasks_of(homework))
        assert others
        assert all(name.endswith("-written") and kind(cells[name])["solution"] for name in others), others
        assert "Habernal" in book.cells[0].source
        assert "CC BY-SA 4.0" in book.cells[0].source


def test_solutions_stand_in_solution_regions_only():
    for homework in HOMEWORKS:
        raw = json.loads((SOURCE / homework / f"{homework}.ipynb").read_text(encoding="utf-8"))
        for cell in raw["cells"]:
            text, nbgrader = "".join(cell["source"]), cell["metadata"].get("nbgrader", {})
            assert ("### BEGIN SOLUTION" in text) == bool(nbgrader.get("solution")), cell["id"]
