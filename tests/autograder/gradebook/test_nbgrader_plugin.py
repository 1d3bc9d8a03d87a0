"""Stock ``nbgrader autograde`` with the course's config: every submission is examined in the sandbox, none stops it."""

import json
import os

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.examine.records import Record
from autograder.gradebook.write import Writer
from autograder.intake.submission import read_submission
from testing import browser
from tests.autograder.small_course import HW, make_course
from tests.autograder.stock import SEED, nbgrader, quick_folder, tried

RIGHT = {
    "likelihood_ratio-solution": """
def likelihood_ratio(y, count, neighbour, b):
    return math.exp((abs(y - neighbour) - abs(y - count)) / b)
""",
    "noisy_count-solution": """
import warnings
def noisy_count(count, epsilon, rng):
    return count + rng.laplace(0, 1 / epsilon)
warnings.warn("this costs nothing")
""",
    "why-written": "One person moves the count by one.",
}
CHEAT = """
def likelihood_ratio(y, count, neighbour, b):
    return 0
grade = check = lambda *anything: 1.0
for place in {places!r}:
    try:
        open(place, "a").write("mine")
    except OSError:
        pass
"""


class Class:
    """The students' folders."""

    def __init__(self, root):
        self.root, self.source = root, root / "source" / HW / f"{HW}.ipynb"
        self.assignment = Assignment.read(self.source)

    def folder(self, student):
        folder = self.root / "submitted" / student / HW
        folder.mkdir(parents=True)
        return folder

    def book(self, answers):
        book = nbformat.read(self.source, as_version=4)
        for cell in book.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            cell.source = answers.get(name, self.assignment.released.get(name, cell.source))
        return book

    def hands_in(self, student, answers, name=f"{HW}.ipynb", change=lambda book: None):
        book = self.book(answers)
        change(book)
        (self.folder(student) / name).write_text(json.dumps(book), encoding="utf-8")


def copies_a_test_cell(book):
    copy = json.loads(json.dumps(book.cells[3]))
    book.cells.append(nbformat.from_dict({**copy, "id": "copy"}))


@pytest.fixture(scope="module")
def graded(bubblewrap):
    """The course after release, grading and feedback, all by nbgrader; and what it logged."""
    with quick_folder() as folder:
        yield handed_in_and_graded(make_course(folder))


def handed_in_and_graded(root):
    people, secret = Class(root), root.parent / "secret.txt"
    secret.write_text("the instructor's")
    places = [str(root / "gradebook.db"), str(root / "taken.txt")]
    cheat = CHEAT.format(places=places)
    people.hands_in("solved", RIGHT)
    people.hands_in("untouched", {})
    people.hands_in("copied", RIGHT, change=copies_a_test_cell)
    people.hands_in("renamed", RIGHT, name="my homework.ipynb")
    people.hands_in("cheating", {"likelihood_ratio-solution": cheat, "why-written": "<script>alert(1)</script>"})
    people.hands_in("linking", RIGHT)
    (people.root / "submitted" / "linking" / HW / "data.csv").symlink_to(secret)
    (people.folder("broken") / f"{HW}.ipynb").write_text("{")
    (people.folder("linked") / f"{HW}.ipynb").symlink_to(secret)
    os.mkfifo(people.folder("piped") / f"{HW}.ipynb")
    os.mkfifo(root / "submitted" / "piped" / HW / "timestamp.txt")
    (root / "submitted" / "linking" / HW / "timestamp.txt").write_text("yesterday, honestly")
    people.folder("empty")
    people.hands_in("<img src=x onerror=alert(1)>", RIGHT)
    people.hands_in(os.fsdecode(b"M\xfcller"), RIGHT)
    feedback = [f"generate_feedback {HW} --student={student}" for student in ("solved", "cheating", "broken")]
    log = nbgrader(root, f"generate_assignment {HW}", f"autograde {HW}", *feedback)
    return root, log


STUDENTS = {
    "solved": 3, "copied": 3, "renamed": 3, "linking": 3,
    "untouched": 0, "cheating": 0, "broken": 0, "linked": 0, "piped": 0, "empty": 0,
}  # fmt: skip


def scores(root):
    with Gradebook(Course.find(root).db_url) as book:
        return {
            one.student.id: {
                grade.cell.name: (grade.auto_score, grade.needs_manual_grade) for grade in one.notebooks[0].grades
            }
            for one in book.assignment_submissions(HW)
        }


def test_everybody_gets_the_points_that_were_earned(graded):
    root, _ = graded
    found = scores(root)
    machine = {who: sum(points or 0 for points, _ in grades.values()) for who, grades in found.items()}
    assert machine == STUDENTS
    waiting = {who for who, grades in found.items() if grades["why-written"][1]}
    assert waiting == {"solved", "copied", "renamed", "linking", "cheating", "broken", "linked", "piped", "empty"}
    unread = {who for who, grades in found.items() if all(points is None for points, _ in grades.values())}
    assert unread == {"broken", "linked", "piped", "empty"}  # nobody has seen what they did: that is no 0


def test_it_was_the_trusted_path(graded):
    root, log = graded
    records = {path.stem: Record.load(path) for path in (root / "grading" / HW).glob("*.json")}
    assert {who: record.score for who, record in records.items()} == STUDENTS
    assert {record.sandbox for record in records.values()} == {"bubblewrap"}
    assert {record.seed for record in records.values()} == {SEED}
    assert {who for who, record in records.items() if record.status == "rejected"} == {
        "broken",
        "linked",
        "piped",
        "empty",
    }
    assert "not valid JSON" in log  # the instructor is told
    assert not (root / "taken.txt").exists()


def test_a_name_that_pages_would_act_on_is_left_out_and_told(graded):
    root, log = graded
    assert "left out: '<img src=x onerror=alert(1)>' has a '<' in it" in log
    assert "left out: 'M\\udcfcller' has control characters in it" in log
    assert set(scores(root)) == set(STUDENTS)


def test_nothing_of_a_submission_is_copied_but_what_was_read(graded):
    root, _ = graded
    files = {path.relative_to(root / "autograded") for path in (root / "autograded").rglob("*") if path.is_file()}
    assert {path.name for path in files} == {f"{HW}.ipynb"}
    assert not any(b"the instructor's" in path.read_bytes() for path in (root / "autograded").rglob("*.ipynb"))


def test_the_feedback_shows_verdicts_and_no_hidden_test(graded):
    root, _ = graded
    for student in ("solved", "cheating", "broken"):
        page = (root / "feedback" / student / HW / f"{HW}.html").read_text(encoding="utf-8")
        assert "noisy_count: " in page, student
        assert "HIDDEN TESTS" not in page
        assert "grade(" not in page.replace("check, grade", "")
        assert "<script>alert" not in page


def test_our_own_batches_write_the_same_numbers(graded):
    root, _ = graded
    course, before = Course.find(root), scores(root)
    assignment = Assignment.read(course.source(HW))
    pairs = [
        (
            Record.load(root / "grading" / HW / f"{who}.json"),
            read_submission(course.submitted(who, HW), assignment, who),
        )
        for who in STUDENTS
    ]
    with Writer(course) as writer:
        writer.write(pairs)
    assert scores(root) == before


def test_without_bubblewrap_nothing_is_graded(graded, tmp_path):
    root, _ = graded
    before = {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")}
    done = tried(root, f"autograde {HW} --force", PATH=str(tmp_path))
    assert done.returncode == 1
    assert "apt-get install bubblewrap" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path: path.read_bytes() for path in (root / "autograded").rglob("*.ipynb")} == before


def test_formgrader_shows_our_results(graded, chromium):
    root, _ = graded
    with Gradebook(Course.find(root).db_url) as book:
        name = book.find_submission_notebook(HW, HW, "cheating").id
    with browser.jupyter(root, "notebook") as server, browser.chromium(offline=True) as window:
        page = window.new_page()
        page.goto(f"{server.base}/tree?token={server.token}")  # signs in
        page.goto(f"{server.base}/formgrader/submissions/{name}/")
        page.wait_for_function("document.querySelector('#likelihood_ratio')?.placeholder === '0'")
        assert page.locator("#why-written").input_value() == ""  # a person's
        assert page.locator(".output_html", has_text="likelihood_ratio: not yet").count() == 1
        assert page.locator(".rendered_html", has_text="< script>alert(1)").count() > 0
        assert page.title() == HW
