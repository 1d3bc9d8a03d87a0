"""The class on one page: copies are found, a run without a sandbox is loud, and the page fits every screen."""

import random
import re
import time

import pytest

from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.pages.similarity import similar, tokens
from autograder.pages.statistics import TASK_STATUSES
from testing.browser import driver
from tests.autograder.small_course import HW, dpcourse, for_machines, make_course, record

LINES = [
    "    scale = {} / epsilon", "    noise = rng.laplace(0, scale) + {}", "    for step in range({}):",
    "        noise = noise * {}",
    "    if noise > {}:", "        return count + {}", "    total = sum([noise, {}])", "    return count + noise / {}",
]  # fmt: skip


def program(seed: int) -> str:
    """A long answer that nobody else writes by chance."""
    dice = random.Random(seed)
    chosen = dice.sample(LINES, 6)
    return "\n".join(
        ["def noisy_count(count, epsilon, rng):", *(line.format(dice.randrange(10_000)) for line in chosen)]
    )


def renamed(code: str) -> str:
    """The same program by somebody who hides where it is from."""
    code = re.sub(r"\b(scale|noise|total|step|count)\b", r"my_\1", code).replace("    ", "  ")
    return "\n".join(f"{line}  # my own idea" for line in code.splitlines())


@pytest.fixture
def course(tmp_path):
    return Course.find(make_course(tmp_path))


def assignment(course: Course) -> Assignment:
    return Assignment.read(course.source(HW))


def class_of(number: int, **more):
    return [
        record(f"s{i:03}", ("passed", 1), ("passed", 2), answers={"noisy_count-solution": program(i)}, **more)
        for i in range(number)
    ]


def test_copies_are_found_whatever_the_names_and_comments(course):
    records = class_of(30)
    for copy, answer in (("twin", program(3)), ("masked", renamed(program(3)))):
        records.append(record(copy, ("passed", 1), ("passed", 2), answers={"noisy_count-solution": answer}))
    found = similar(records, assignment(course))
    assert {(pair.one, pair.other) for pair in found} == {("s003", "twin"), ("s003", "masked"), ("twin", "masked")}
    assert all(pair.similarity == pytest.approx(1) for pair in found)
    verbatim = {(pair.one, pair.other): pair.verbatim for pair in found}
    assert verbatim["s003", "twin"] == 1
    assert verbatim["s003", "masked"] == 0


def test_what_everybody_writes_is_no_copy(course):
    one_line = {
        "noisy_count-solution": "def noisy_count(count, epsilon, rng):\n    return count + rng.laplace(0, 1/epsilon)"
    }
    records = [record(f"s{i}", ("passed", 1), ("passed", 2), answers=one_line) for i in range(30)]
    assert similar(records, assignment(course)) == []
    untouched = assignment(course).released
    records = [record(name, ("missing", 0), ("missing", 0), answers=dict(untouched)) for name in ("ada", "bob")]
    assert similar(records, assignment(course)) == []


def test_a_thousand_submissions_take_seconds(course):
    records = class_of(1_000)
    start = time.process_time()
    assert similar(records, assignment(course)) == []
    assert time.process_time() - start < 10


def test_tokens_leave_out_names_comments_and_layout():
    assert tokens("a = rng.laplace(0, b)  # noise") == tokens("x=dice . laplace( 0,scale )")
    assert tokens("a.laplace(0)") != tokens("a.normal(0)")
    assert tokens("for x in y: pass") != tokens("while x in y: pass")


def test_quotes_without_an_end_take_no_time():
    start = time.monotonic()
    assert tokens('\\"' * 100_000)  # \"\"\"..., a string that begins again and again
    assert time.monotonic() - start < 2
    assert tokens("'exp(x)'") == tokens('"exp( x )"')
    assert tokens("def broken(:\n '''") != []


def test_the_page_and_the_warning(course, capsys, tmp_path):
    evil = "<script>alert(1)<"  # a name of a file has no slash
    for one in [*class_of(11), record(evil, ("passed", 1), ("failed", 0), status="partial", notes=(evil,))]:
        one.save(course.records(HW))
    place = tmp_path / "report.html"
    code, out, _ = dpcourse(capsys, "report", "--html", place, "--course", course.root)
    assert (code, "12 submissions" in out, "SANDBOX" in out) == (0, True, False)
    page = place.read_text()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;" in page
    assert "SANDBOX" not in page
    assert page.count("data:image/png;base64,") == 2  # one picture, for wide screens and for narrow ones
    class_of(1, sandbox="none")[0].save(course.records(HW))
    code, out, err = dpcourse(capsys, "report", "--html", place, "--course", course.root)
    assert (code, "--force" in err, place.read_text() == page) == (1, True, True)
    code, out, _ = dpcourse(capsys, "report", "--html", place, "--force", "--course", course.root)
    assert (code, "WITHOUT A SANDBOX" in out, "WITHOUT A SANDBOX" in place.read_text()) == (0, True, True)


def test_on_a_narrow_screen_tables_show_that_they_go_on(course, capsys, tmp_path, chromium):
    record("ada", ("error", 0), ("timeout", 0)).save(course.records(HW))
    place = tmp_path / "report.html"
    assert dpcourse(capsys, "report", "--html", place, "--course", course.root)[0] == 0
    with driver() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], ignore_default_args=["--hide-scrollbars"]
        )
        view = browser.new_page(viewport={"width": 400, "height": 800})
        view.goto(place.as_uri())
        assert view.evaluate("document.documentElement.scrollWidth") <= 400
        wide = "document.querySelector('.wide')"
        assert view.evaluate(f"{wide}.scrollWidth > {wide}.clientWidth")
        assert view.evaluate(f"{wide}.offsetHeight - {wide}.clientHeight") >= 8  # the room of a bar that is there
        colours = view.evaluate("[...document.querySelectorAll('.key .status')].map(one => one.style.cssText)")
        browser.close()
    assert len(set(colours)) == len(TASK_STATUSES)


def test_one_of_something_is_no_plural(course, capsys, tmp_path):
    answers = {"noisy_count-solution": program(1)}
    record("ada", ("passed", 1), ("failed", 0), answers=answers).save(course.records(HW))
    place = tmp_path / "report.html"
    _, out, _ = dpcourse(capsys, "report", "--html", place, "--course", course.root)
    assert ": 1 submission, 0 could not be read" in out
    assert re.findall(r"\b1 [a-z ]*s\b", place.read_text()) == []
    for one in [*class_of(30), record("s001-twin", ("passed", 1), ("failed", 0), answers=answers)]:
        one.save(course.records(HW))
    (course.records(HW) / "ada.json").unlink()
    _, out, _ = dpcourse(capsys, "report", "--html", place, "--force", "--course", course.root)
    assert "  1 pair of similar submissions" in out
    assert "<p>1 pair.</p>" in place.read_text()


def test_for_machines(course, capsys):
    for one in class_of(3):
        one.save(course.records(HW))
    code, report = for_machines(capsys, "report", HW, "--course", course.root)
    (section,) = report["homeworks"]
    assert (code, section["submissions"], section["scores"], report["progress"]) == (0, 3, [3, 3, 3], None)
    assert dpcourse(capsys, "report", "--similar", "2", "--course", course.root)[0] == 2
