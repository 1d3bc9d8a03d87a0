"""How long a page takes to make does not depend on what a student wrote: nobody's text hangs formgrader or feedback.

Computing time is measured, so other work on the machine does not count. An honest page takes 0.1 s; without care 10,000
brackets take 0.4 s, and 190,000 take 400 times as long.
"""

import random
import time

import pytest

from autograder.course.homework import Assignment, Cell
from autograder.gradebook.graded_notebook import MOST_EXTRA, autograded_notebook
from autograder.pages.sanitizing import LONGEST, harmless, short_code
from testing.attacks.by_page import LONG, RUNS
from tests.autograder.pages.test_sanitizing import page_of
from tests.autograder.small_course import HW, make_course
from tests.autograder.verdicts import decided, handed_in

SECONDS = 2.0
ESSAY = "essay-written"


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    small = Assignment.read(make_course(tmp_path_factory.mktemp("time")) / "source" / HW / f"{HW}.ipynb")
    return Assignment(HW, (*small.cells, Cell(ESSAY, "markdown", "written", "answer", 1, True, ESSAY)))


def seconds_for(assignment, template="formgrade", *, text="x", code="x = 1", extra=(), said=""):
    """Computing time of the page with these words in every place that a student can reach."""
    submission = handed_in({ESSAY: text, "noisy_count-solution": code}, extra=extra)
    book = autograded_notebook(assignment, submission, decided(feedback=said, notes=(said,) if said else ()))
    start = time.process_time()
    page = page_of(book, template)
    assert len(page) < 5_000_000
    return time.process_time() - start


@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_one_sign_takes_no_time(assignment, name):
    text = (RUNS[name] * LONG)[:LONG]
    assert seconds_for(assignment, text=text, said=text[:1_500]) < SECONDS


def test_random_runs_take_no_time(assignment):
    """Twenty texts of two or three signs in turn, from all that mean something to Markdown, HTML or TeX."""
    dice = random.Random(3)
    signs = [*RUNS.values(), " ", "\n", "a", "\t", "!", "'", '"', "{", "}", "$$", "```", "~~~"]
    for _ in range(20):
        text = ("".join(dice.choices(signs, k=dice.randint(2, 3))) * LONG)[:LONG]
        assert seconds_for(assignment, text=text) < SECONDS, text[:20]


@pytest.mark.parametrize("template", ["formgrade", "feedback"])
def test_long_programs_and_thousands_of_cells_take_no_time(assignment, template):
    code = ("((((" * LONG)[:LONG]
    extra = ("x = 1\n" * 30_000, *["y = 2"] * 4_999)
    assert seconds_for(assignment, template, text="[" * LONG, code=code, extra=extra) < SECONDS


def test_what_is_not_shown_is_told_and_what_is_short_is_shown_whole():
    essay = "For all $y$: $\\Pr[M(D) = y] \\le e^\\varepsilon \\Pr[M(D') = y]$, as the lecture says. " * 100
    assert harmless(essay) == essay
    assert short_code("x = 1\n" * 3_000) == "x = 1\n" * 3_000
    for long in (harmless("[" * LONG), short_code("x" * LONG)):
        assert "The whole is in the file that was handed in." in long
        assert f"{LONG:,}" in long
        assert len(long) < LONGEST + 1_000


def test_texts_that_differ_only_in_what_is_not_shown_are_told_apart():
    assert harmless("[" * LONG) != harmless("[" * (LONG - 1) + "x")
    assert short_code("x" * LONG) != short_code("x" * (LONG - 1) + "y")


def test_added_cells_are_shown_as_far_as_there_is_room(assignment):
    shown = autograded_notebook(assignment, handed_in({}, extra=["x = 1"] * 3), decided())
    assert [cell.source for cell in shown.cells[-3:]] == ["x = 1"] * 3
    many = autograded_notebook(assignment, handed_in({}, extra=["x = 1"] * (MOST_EXTRA + 50)), decided())
    assert sum(cell.id.startswith("not-graded-") for cell in many.cells) == MOST_EXTRA
    (title,) = (cell for cell in many.cells if cell.id == "not-graded")
    assert f"Only {MOST_EXTRA} of {MOST_EXTRA + 50}" in title.source
