"""The homeworks go through nbgrader's own commands: released, handed in untouched and solved, graded, given back.

They go by the committed config: what a student hands in is examined in the sandbox (see tests/autograder). The seed
of grading is fixed here, so that the outcome is the same every time; chance would fail a right homework less
than once in a million times.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook

from dpcourse.tasks import HOMEWORKS, tasks_of
from testing import ROOT
from tests.autograder.stock import nbgrader, quick_folder

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


def scores(book: Gradebook, homework: str, student: str) -> dict[str, tuple[float | None, float, bool]]:
    """cell -> (points given by machine, points possible, does it wait for a person?)"""
    (submitted,) = book.find_submission(homework, student).notebooks
    return {one.cell.name: (one.auto_score, one.max_score, one.needs_manual_grade) for one in submitted.grades}


def test_the_homeworks_are_released_handed_in_graded_and_given_back(bubblewrap):
    with quick_folder() as folder:
        go_through(folder / "exercises")


def go_through(root: Path) -> None:
    """All homeworks in one course: nbgrader's start alone takes seconds."""
    root.mkdir()
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    for homework in HOMEWORKS:
        shutil.copytree(SOURCE / homework, root / "source" / homework)
    nbgrader(root, *(f"generate_assignment {homework}" for homework in HOMEWORKS))
    for homework in HOMEWORKS:
        release = root / "release" / homework / f"{homework}.ipynb"
        gives_nothing_away(homework, notebook(release))
        hand_in(root, "untouched", homework, notebook(release))
        hand_in(root, "solved", homework, solved(notebook(release), source_of(homework)))
    steps = [f"{step} {homework}" for homework in HOMEWORKS for step in ("autograde", "generate_feedback")]
    nbgrader(root, *steps)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for homework in HOMEWORKS:
            nothing_for_nothing(homework, scores(book, homework, "untouched"))
            everything_for_the_solution(homework, scores(book, homework, "solved"))
    for homework in HOMEWORKS:
        for student, words in (("solved", "passed"), ("untouched", "still empty")):
            page = (root / "feedback" / student / homework / f"{homework}.html").read_text(encoding="utf-8")
            assert [name for name in tasks_of(homework) if f"{name}: {words}" not in page] == [], student
            assert "HIDDEN TESTS" not in page


def nothing_for_nothing(homework: str, found: dict[str, tuple[float | None, float, bool]]) -> None:
    """The untouched release scores 0."""
    assert set(tasks_of(homework)) <= set(found)
    assert {name: auto for name, (auto, _, _) in found.items() if auto != 0} == {}


def everything_for_the_solution(homework: str, found: dict[str, tuple[float | None, float, bool]]) -> None:
    """The solution scores everything, and a person reads its texts."""
    tasks = tasks_of(homework)
    worth = {name: kind(cell)["points"] for name, cell in graded(source_of(homework)).items()}
    assert {name: found[name] for name in tasks} == {name: (worth[name], worth[name], False) for name in tasks}
    written = {name: waits for name, (_, _, waits) in found.items() if name not in tasks}
    assert written
    assert all(written.values()), written


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
        for name in tasks_of(homework):
            assert cells[name].source.splitlines()[0] == f"check({name})", name
            points = kind(cells[name])["points"]
            whole, parts = f"grade({name})", f"grade({name}, points={points:g})"
            assert cells[name].source.splitlines()[-2] in (whole, parts), name
            assert (points > 0, kind(cells[name])["locked"]) == (True, True), name
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
