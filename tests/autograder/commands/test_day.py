"""An instructor's day: release, thirty submissions in Moodle's zip, grades, a proof read by hand, all given back."""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.examine.records import Record, records_in
from testing import ROOT, browser
from testing.classroom import course_in, grade_id, mixed

HOMEWORK, CLASS = "hw2_local_dp", 30
PROOF = "The ratio of the two probabilities is largest where the report is the true bit."


def command(root: Path, *words: str) -> None:
    """The command succeeds."""
    assert main([*words, "--course", str(root)]) == 0, words


def moodle_zip(folder: Path, release: Path) -> Path:
    """What Moodle gives: a folder for each participant. Everybody worked on the release."""
    cells = json.loads(release.read_text(encoding="utf-8"))["cells"]
    written = {grade_id(cell): cell["source"] for cell in cells if grade_id(cell).endswith("-written")}
    place = folder / "submissions.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for number in range(CLASS):
            book = mixed(ROOT / "exercises" / "source" / HOMEWORK / f"{HOMEWORK}.ipynb", number)
            for cell in book["cells"]:
                if grade_id(cell) in written:
                    cell["source"] = PROOF if number % 2 else written[grade_id(cell)]
            name = f"Student {number:02}_{7000 + number}_assignsubmission_file_/{HOMEWORK}.ipynb"
            archive.writestr(name, json.dumps(book))
    return place


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory, bubblewrap: str) -> Path:
    """The course's folder in the evening."""
    folder = tmp_path_factory.mktemp("day")
    root = course_in(folder, HOMEWORK)
    command(root, "release", HOMEWORK)
    command(root, "collect", str(moodle_zip(folder, root / "release" / HOMEWORK / f"{HOMEWORK}.ipynb")))
    command(root, "grade", HOMEWORK, "--jobs", "2", "--seed-for-tests", "21", "--json", str(folder / "grades.json"))
    give_by_hand(root, "student")
    command(root, "grade", HOMEWORK, "--regrade", "--seed-for-tests", "22", "--jobs", "2")
    command(root, "feedback", HOMEWORK)
    command(root, "export", HOMEWORK, "--format", "moodle", "--to", str(folder / "moodle.csv"))
    command(root, "report", HOMEWORK, "--html", str(folder / "report.html"))
    return root


def give_by_hand(root: Path, _: str) -> None:
    """A person reads one proof: 1.5 points and a comment, as formgrader writes them."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        submission = next(one for one in book.assignment_submissions(HOMEWORK) if one.student.id.endswith("01"))
        (notebook,) = submission.notebooks
        grade = next(one for one in notebook.grades if one.cell.name.endswith("-written"))
        assert grade.needs_manual_grade
        grade.manual_score, grade.needs_manual_grade = 1.5, False
        comment = next(one for one in notebook.comments if one.cell.name == grade.cell.name)
        comment.manual_comment = "Say why it is the largest."
        book.db.commit()


def records(root: Path) -> dict[str, Record]:
    return {record.student: record for record in records_in(root / "grading" / HOMEWORK)}


def test_everybody_has_a_grade(day):
    told = json.loads((day.parent / "grades.json").read_text(encoding="utf-8"))
    assert told["summary"]["submissions"] == told["summary"]["graded"] == len(told["submissions"]) == CLASS
    assert told["summary"]["seed"] == 21
    found = records(day)
    assert len(found) == CLASS
    assert all(record.score == record.max_score for name, record in found.items() if int(name[-2:]) % 5 == 0)
    assert {record.seed for record in found.values()} == {22}


def test_both_seeds_gave_the_same_points(day):
    told = json.loads((day.parent / "grades.json").read_text(encoding="utf-8"))
    before = {one["student"]: [task["points"] for task in one["tasks"]] for one in told["submissions"]}
    assert {name: [task.points for task in record.tasks] for name, record in records(day).items()} == before


def test_the_regrade_kept_what_a_person_gave(day):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{day / 'gradebook.db'}") as book:
        submission = next(one for one in book.assignment_submissions(HOMEWORK) if one.student.id.endswith("01"))
        assert submission.score == records(day)[submission.student.id].score + 1.5
        waiting = sum(one.needs_manual_grade for one in book.assignment_submissions(HOMEWORK))
    assert 0 < waiting <= CLASS // 2


def test_the_table_for_moodle_holds_every_grade(day):
    rows = list(csv.reader((day.parent / "moodle.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert len(rows) == CLASS + 1


@pytest.fixture(scope="module")
def window(chromium: str):
    with browser.chromium(offline=True) as context:
        yield context.new_page()


@pytest.fixture(scope="module")
def screenshots() -> Path:
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def test_a_students_page_in_the_browser(day, window, screenshots):
    student = next(name for name in records(day) if name.endswith("01"))
    with browser.file_server(day.parent) as address:
        window.goto(f"{address}/exercises/feedback/{student}/{HOMEWORK}/{HOMEWORK}.html")
    text = window.inner_text("body")
    assert "Say why it is the largest." in text
    for task in records(day)[student].tasks:
        assert task.task in text
    assert window.evaluate("document.scripts.length") == 0
    assert window.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 50)")
    window.screenshot(path=str(screenshots / "feedback.png"), full_page=True)


def test_the_report_in_the_browser(day, window, screenshots):
    with browser.file_server(day.parent) as address:
        window.goto(f"{address}/report.html")
    text = window.inner_text("body")
    assert HOMEWORK in text
    for task in next(iter(records(day).values())).tasks:
        assert task.task in text
    window.screenshot(path=str(screenshots / "report.png"), full_page=True)


def test_formgrader_shows_the_results(day, window, screenshots):
    """nbgrader's own formgrader, served from the course's folder: the list of submissions, and one of them."""
    student = next(name for name in records(day) if name.endswith("01"))
    with browser.jupyter(day) as server:
        window.goto(f"{server.base}/api?token={server.token}")  # a cookie, for what formgrader asks for by itself
        window.goto(f"{server.base}/formgrader/gradebook/{HOMEWORK}/{HOMEWORK}")
        window.wait_for_selector("tbody tr td a", timeout=30_000)
        assert window.locator("tbody tr").count() == CLASS
        window.screenshot(path=str(screenshots / "formgrader_list.png"))
        with_book = submission_id(day, student)
        window.goto(f"{server.base}/formgrader/submissions/{with_book}/")
        said = "() => [...document.querySelectorAll('textarea')].some(one => one.value.includes('Say why'))"
        window.wait_for_function(said, timeout=30_000)
        score = window.locator("input.score").first
        score.wait_for(timeout=30_000)
        assert HOMEWORK in window.title() or HOMEWORK in window.inner_text("body")
        typeset = "() => window.MathJax && MathJax.Hub && MathJax.Hub.getAllJax && MathJax.Hub.getAllJax().length > 3"
        window.wait_for_function(typeset, timeout=30_000)  # without a network: this browser reaches this machine only
        assert window.evaluate("Boolean(MathJax.Extension.Safe)")
        assert window.locator(".MathJax_Error, merror").count() == 0
        window.screenshot(path=str(screenshots / "formgrader.png"), full_page=True)


def test_formgrader_opens_from_the_menu_of_jupyterlab(day, window, screenshots):
    """As the guide says: JupyterLab, started in the course's folder, its menu Nbgrader, and there Formgrader."""
    with browser.jupyter(day) as server:
        window.goto(f"{server.base}/lab?token={server.token}")
        window.locator("#jp-MainMenu >> text=Nbgrader").click(timeout=60_000)
        window.locator(".lm-Menu-item >> text=Formgrader").first.click(timeout=30_000)
        frame = window.frame_locator("iframe[src*=formgrader]")
        frame.locator(f"text={HOMEWORK}").first.wait_for(timeout=60_000)
        assert "Manage Assignments" in frame.locator("body").inner_text()
        window.screenshot(path=str(screenshots / "formgrader_in_lab.png"))


def submission_id(root: Path, student: str) -> str:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        (notebook,) = book.find_submission(HOMEWORK, student).notebooks
        return str(notebook.id)
