"""A release gives nothing away, and none is overwritten unasked."""

import nbformat
import pytest

from autograder.console import Problem
from autograder.course.course import Course
from autograder.gradebook.read import gradebook
from autograder.handout.leaks import secrets_of
from autograder.handout.release import try_release
from tests.autograder.small_course import HW, LIKELIHOOD, dpcourse, for_machines, source_notebook


@pytest.fixture
def course(small_course):
    return small_course


def test_released_unchanged_refused_and_forced(course, capsys):
    place = course / "release" / HW / f"{HW}.ipynb"
    code, found = for_machines(capsys, "release", "--course", course)
    assert (code, found[0]["outcome"]) == (0, "released")
    text = place.read_text()
    for secret in ("SOLUTION", "HIDDEN", "laplace(0", "math.exp", "moves the count", "grade(noisy"):
        assert secret not in text
    assert "YOUR CODE HERE" in text
    with gradebook(Course.find(course)) as book:
        assert {cell.name for cell in book.find_notebook(HW, HW).grade_cells} == {
            "likelihood_ratio",
            "noisy_count",
            "why-written",
        }

    assert for_machines(capsys, "release", HW, "--course", course)[1][0]["outcome"] == "unchanged"
    place.write_text(text.replace("Homework 1", "Homework One"))
    code, found = for_machines(capsys, "release", "--course", course)
    assert (code, found[0]["outcome"]) == (1, "refused")
    assert "--force" in found[0]["why"]
    assert "Homework One" in place.read_text()
    assert dpcourse(capsys, "release", "--force", "--course", course)[0] == 0
    assert place.read_text() == text


@pytest.mark.parametrize(
    ("cell", "source"),
    [
        (0, f"# Homework\n\nThe answer is `{LIKELIHOOD}`"),  # in the text
        (0, "# Homework\n\n### BEGIN SOLUTION"),  # a mark where there is no region
        (1, "import math\n    return  math.exp((abs(y - neighbour) - abs(y - count)) / b)"),  # other white space
        (1, "DPCOURSE_GRADING_SEED = 1234567"),
    ],
)
def test_a_leak_is_refused_and_nothing_is_written(course, capsys, cell, source):
    book = source_notebook()
    book.cells[cell].source = source
    nbformat.write(book, course / "source" / HW / f"{HW}.ipynb")
    code, out, err = dpcourse(capsys, "release", "--course", course)
    assert (code, out) == (1, "")
    assert "nothing was released" in err or "nbgrader could not" in err
    assert "Traceback" not in err
    assert not (course / "release").exists()


def test_a_line_may_be_shown(course, tmp_path):
    book = source_notebook()
    book.cells[0].source = f"# Homework\n\nThe answer is `{LIKELIHOOD}`"
    nbformat.write(book, course / "source" / HW / f"{HW}.ipynb")
    with pytest.raises(Problem, match="nothing was released"):
        try_release(Course.find(course), HW, tmp_path / "one")
    secrets = try_release(Course.find(course), HW, tmp_path / "other", [f"  {LIKELIHOOD}"])
    assert LIKELIHOOD not in secrets.lines


def test_secrets_are_the_lines_of_solutions_and_hidden_tests(course):
    secrets = secrets_of(course / "source" / HW / f"{HW}.ipynb")
    assert set(secrets.lines) == {
        LIKELIHOOD, "return count + rng.laplace(0, 1 / epsilon)", "One person moves the count by one.",
        "grade(likelihood_ratio)", "grade(noisy_count)",
    }  # fmt: skip
