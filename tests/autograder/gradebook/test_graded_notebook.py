"""The graded notebook, as formgrader and nbgrader's feedback show it."""

import json

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import compute_checksum, determine_grade

from autograder.course.homework import Assignment
from autograder.examine.records import Record
from autograder.gradebook.graded_notebook import answers_shown, autograded_notebook, write_autograded
from autograder.intake.submission import Submission
from tests.autograder.small_course import HW, make_course
from tests.autograder.verdicts import PNG, decided, handed_in


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


@pytest.fixture
def assignment(course):
    return Assignment.read(course / "source" / HW / f"{HW}.ipynb")


def cell(book, name):
    return next(one for one in book.cells if one.metadata.get("nbgrader", {}).get("grade_id") == name)


def test_the_homework_stands_in_order_with_the_students_answers_in_place(assignment):
    book = autograded_notebook(assignment, handed_in(), decided())
    assert [one.id for one in book.cells] == [one.cell_id for one in assignment.cells]
    assert cell(book, "noisy_count-solution").source == "x = 1 < 2"  # code is shown as it is
    assert cell(book, "why-written").source == "Because $a< b$."
    assert cell(book, "noisy_count").source == "check(noisy_count)"
    nbformat.validate(book)
    MetadataValidator().validate_nb(book)


@pytest.mark.parametrize("points", [0.0, 0.5, 1.3333, 2.0])
def test_nbgrader_finds_the_points(assignment, points):
    book = autograded_notebook(assignment, handed_in(), decided(points=points))
    assert determine_grade(cell(book, "noisy_count")) == (points, 2)
    assert determine_grade(cell(book, "likelihood_ratio")) == (1, 1)
    assert determine_grade(cell(book, "why-written")) == (None, 3)  # waits for a person


def test_a_task_without_a_verdict_gets_nothing(assignment):
    book = autograded_notebook(assignment, handed_in(), Record(student="ada", assignment=HW, status="partial"))
    assert determine_grade(cell(book, "noisy_count")) == (0, 2)


def test_untouched_and_missing_texts_get_nothing(assignment):
    untouched = handed_in({"why-written": assignment.released["why-written"]})
    missing = Submission("ada", HW, {})
    for submission in (untouched, missing):
        shown = cell(autograded_notebook(assignment, submission, decided()), "why-written")
        assert determine_grade(shown) == (0, 3)
        assert compute_checksum(shown) == shown.metadata.nbgrader.checksum


def test_no_hidden_test_and_no_hidden_probe_is_shown(assignment):
    text = json.dumps(autograded_notebook(assignment, handed_in(), decided()))
    assert "Look at the scale." in text
    for hidden in ("HIDDEN", "0.123", "grade(", "### BEGIN", "One person moves"):
        assert hidden not in text


def test_pictures_are_painted_only_where_there_is_time(assignment):
    def shown(**how):
        (output,) = cell(autograded_notebook(assignment, handed_in(), decided(), **how), "noisy_count").outputs
        return output.data["text/html"]

    assert "<img" not in shown()
    assert f'src="data:image/png;base64,{PNG}"' in shown(painted=True)


def test_notes_and_added_cells_are_shown_and_not_graded(assignment):
    submission = handed_in(extra=("helper = 1", "<b>mine</b>"))
    book = autograded_notebook(assignment, submission, decided(notes=("A cell was added.",)))
    assert "A cell was added." in book.cells[0].source
    assert [one.source for one in book.cells[-2:]] == ["helper = 1", "<b>mine</b>"]
    assert {one.cell_type for one in book.cells[-2:]} == {"code"}  # never as HTML
    assert "Not graded" in book.cells[-3].source
    nbformat.validate(book)


def test_a_rejected_submission_says_why(assignment):
    submission = Submission("ada", HW, rejected="The file is empty.")
    record = Record(student="ada", assignment=HW, status="rejected", notes=("The file is empty.",))
    book = autograded_notebook(assignment, submission, record)
    assert book.cells[0].source.count("The file is empty.") == 1
    assert determine_grade(cell(book, "why-written")) == (0, 3)


def test_it_is_written_where_nbgrader_looks_with_its_time(course, assignment):
    folder = course / "submitted" / "ada" / HW
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text("2026-02-02 09:58:23 UTC\n")
    place = write_autograded(course, assignment, handed_in(), decided())
    assert place == course / "autograded" / "ada" / HW / f"{HW}.ipynb"
    assert nbformat.read(place, as_version=4) == autograded_notebook(assignment, handed_in(), decided())
    assert (place.parent / "timestamp.txt").read_text() == "2026-02-02 09:58:23.000000 UTC"
    assert answers_shown(place)["noisy_count-solution"] == "x = 1 < 2"
    assert answers_shown(place.parent / "nothing.ipynb") == {}


def test_pictures_in_a_text_stand_below_it(assignment):
    pictures = (("image/png", PNG), ("image/jpeg", "/9j/"))
    text = "See ![photo](attachment:IMG_1.png)"
    book = autograded_notebook(
        assignment, handed_in({"why-written": text}, pictures={"why-written": pictures}), decided()
    )
    shown = cell(book, "why-written")
    first, second = shown.attachments
    assert shown.attachments == {first: {"image/png": PNG}, second: {"image/jpeg": "/9j/"}}
    assert shown.source.splitlines() == [
        "See ![photo] (attachment:IMG_1.png)", "",
        f"![a picture](attachment:{first})", "",
        f"![a picture](attachment:{second})",
    ]  # fmt: skip
    nbformat.validate(book)
