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


def command(course: Path, *words: str) -> str:
    """Run an nbgrader command in the course's folder; a failure shows its log."""
    home = course.parent / "home"
    home.mkdir(exist_ok=True)
    places = {"JUPYTER_CONFIG_DIR": home, "JUPYTER_DATA_DIR": home, "JUPYTER_RUNTIME_DIR": home, "IPYTHONDIR": home}
    settings = {"DPCOURSE_GRADING_SEED": "1", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words], cwd=course, capture_output=True, text=True, check=False,
        env={**os.environ, **{name: str(place) for name, place in places.items()}, **settings},
    )  # fmt: skip
    assert done.returncode == 0, f"nbgrader {' '.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


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


@pytest.fixture(scope="module", params=HOMEWORKS)
def course(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """One homework, released, handed in by two students, graded and given back."""
    homework = request.param
    root = tmp_path_factory.mktemp(homework) / "exercises"
    shutil.copytree(SOURCE / homework, root / "source" / homework)
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    command(root, "generate_assignment", homework)
    release = root / "release" / homework / f"{homework}.ipynb"
    hand_in(root, "untouched", homework, notebook(release))
    hand_in(root, "solved", homework, solved(notebook(release), source_of(homework)))
    command(root, "autograde", homework)
    command(root, "generate_feedback", homework)
    return homework, root


def scores(root: Path, homework: str, student: str) -> dict[str, tuple[float | None, float, bool]]:
    """cell -> (points given by machine, points possible, does it wait for a person?)"""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        (submitted,) = book.find_submission(homework, student).notebooks
        return {one.cell.name: (one.auto_score, one.max_score, one.needs_manual_grade) for one in submitted.grades}


def test_the_untouched_release_scores_nothing(course):
    homework, root = course
    found = scores(root, homework, "untouched")
    assert set(tasks_of(homework)) <= set(found)
    assert {name: auto for name, (auto, _, _) in found.items() if auto != 0} == {}


def test_the_solution_scores_everything(course):
    homework, root = course
    found = scores(root, homework, "solved")
    for name, task in tasks_of(homework).items():
        assert found[name] == (task.points, task.points, False), name
    written = {name: waits for name, (_, _, waits) in found.items() if name not in tasks_of(homework)}
    assert written
    assert all(written.values()), written  # a person reads the proofs


def test_the_feedback_says_why(course):
    homework, root = course
    for student, words in (("solved", "passed"), ("untouched", "write your function first")):
        page = (root / "feedback" / student / homework / f"{homework}.html").read_text(encoding="utf-8")
        for name in tasks_of(homework):
            assert f"{name}: {'still empty' if student == 'untouched' else words}" in page, (student, name)


def test_the_release_gives_nothing_away(course):
    homework, root = course
    release = notebook(root / "release" / homework / f"{homework}.ipynb")
    text = "\n".join(cell.source for cell in release.cells)
    for word in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "grade(", "DPCOURSE_GRADING_SEED"):
        assert word not in text
    lines = {
        line.strip()
        for cell in source_of(homework).cells
        for region in REGION.findall(cell.source)
        for line in region.splitlines()
    }
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
