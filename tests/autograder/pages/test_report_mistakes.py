"""What the report says about mistakes: groups, and examples that show no name and do nothing."""

import html
import json
import re
import time

import pytest

from autograder.course.homework import Assignment
from autograder.pages.anonymity import LONGEST, SOMEONE, Anonymizer, list_names, remove_comments, tidy
from autograder.pages.mistakes import blank_numbers, shorten
from autograder.pages.report import make_page
from autograder.pages.results import Homework
from autograder.pages.statistics import describe_homework
from dpcourse.tasks import task_named
from testing.browser import driver
from tests.autograder.pages.test_feedback import EVIL, Tags
from tests.autograder.small_course import HW, make_course, record, task

UPSIDE = "def noisy_count(count, epsilon, rng):\n    return count + rng.laplace(0, epsilon)"


@pytest.fixture
def assignment(tmp_path):
    return Assignment.read(make_course(tmp_path) / "source" / HW / f"{HW}.ipynb")


def wrong(student, code, *, status="failed", feedback="", mistake=""):
    """Somebody whose count is wrong."""
    verdict = task("noisy_count", status, 0, 2, feedback=feedback, mistake=mistake)
    answers = {"noisy_count-solution": code}
    return record(student, ("", 0), ("", 0), tasks=(task("likelihood_ratio", "passed", 1, 1), verdict), answers=answers)


def describe(assignment, *records, **more):
    return describe_homework(Homework(assignment=assignment, records=records, **more))


def page_of(*sections):
    return make_page({"course": "c", "homeworks": sections, "progress": None}).decode()


def test_answers_that_no_known_mistake_explains_are_grouped_by_what_they_did(assignment):
    spread = (
        "I called you 300 times with count = {}, epsilon = 0.4. Your answers spread {} times too far. See lecture 1."
    )
    section = describe(
        assignment,
        wrong("student A", "x = 1", feedback=spread.format(51, "2.04")),
        wrong("student B", "x = 1  # mine", feedback=spread.format(51, "1.9e+3")),
        wrong("student C", "y = f(1)", feedback=spread.format(7, "-3")),
        wrong("student D", "x = 1", feedback="All your answers are equal."),
        wrong("student E", "x = 1", feedback=spread.format(7, "-3"), status="error"),
        wrong("student F", "x = 1", status="timeout", feedback="No answer."),
        wrong("student G", UPSIDE, mistake="scale upside down", feedback="It is upside down."),
        wrong("student H", "x = 1", status="missing", feedback="It is still empty."),
        tasks={"noisy_count": task_named("noisy_count")},
    )
    mistakes, groups = section["tasks"][1]["mistakes"], section["tasks"][1]["unexplained"]
    assert section["tasks"][1]["unnamed"] == 6
    assert [(one["status"], one["said"], one["count"]) for one in groups] == [
        ("failed", "Your answers spread # times too far.", 3),
        ("error", "Your answers spread # times too far.", 1),
        ("failed", "All your answers are equal.", 1),
        ("timeout", "No answer.", 1),
    ]
    assert [(one["code"], one["count"]) for one in groups[0]["examples"]] == [("x = 1", 2), ("y = f(1)", 1)]
    assert [(one["mistake"], one["count"]) for one in mistakes] == [("scale upside down", 1)]
    assert mistakes[0]["message"].startswith("It looks like the scale is epsilon, not 1/epsilon")
    page = page_of(section)
    assert "<strong>3 ×</strong> not yet right: Your answers spread # times too far." in page
    assert html.escape(UPSIDE, quote=False) in page


def test_numbers_are_blanked_and_words_are_not():
    assert (
        blank_numbers("It is -1.5e-07 or .5, not 1,000: [1.0, 2.0, 3.0], e^2.") == "It is # or #, not #: [#, ...], e^#."
    )
    assert blank_numbers("x12, step_2, k-1, inf. (A right answer fails this check once.)") == "x12, step_2, k-#, #."
    assert (
        shorten("It is 0.5 at `return x` (line 3). I called you with n = 3. See lecture 2, section 1.") == "It is 0.5."
    )
    assert shorten("I called you 3 times with n = 30. 48% are larger.") == "48% are larger."


def test_three_different_examples_and_what_most_wrote_first(assignment):
    codes = ["a = 1", "b = 1", "c=1", "a = [1]", "a = {1}", "a = {1}", "a = (1,)", ""]
    section = describe(assignment, *[wrong(f"s{number}", code, mistake="m") for number, code in enumerate(codes)])
    (mistake,) = section["tasks"][1]["mistakes"]
    assert [(one["code"], one["count"]) for one in mistake["examples"]] == [("c=1", 3), ("a = {1}", 2), ("a = [1]", 1)]
    assert mistake["count"] == 8


SIGNED = '''# Lovelace, Ada (s1234567)
def noisy_count(count, epsilon, rng):
    """By ADA and b-7."""
    ada_noise = rng.laplace(0, epsilon)  # ask b-7
    print("s1234567", 's1234567x', "b-7", "Ada Lovelace", "adalovelace", "the_s1234567_file", "ada@example.org")
    return count + ada_noise + max(1, 2)'''
STUDENTS = {"s1234567": ("Ada", "Lovelace", "ada@example.org"), "b-7": ("Max", "Li", "")}


def test_examples_and_messages_show_nobodys_name(assignment):
    records = [
        wrong("s1234567", SIGNED, mistake="m", feedback="ada lovelace wrote it."),
        wrong(
            "b-7", SIGNED.replace("s1234567", "'''"), feedback="NameError: name 'ada_noise' (s1234567) is not defined."
        ),
    ]
    section = describe(assignment, *records, names=STUDENTS)
    shown = json.dumps([section["tasks"][1][part] for part in ("mistakes", "unexplained")])
    for name in ("s1234567", "b-7", "ada", "lovelace"):
        assert not re.search(rf"(?<![a-z]){name}(?![a-z])", shown.casefold()), name
    for sign in ("s1234567", "adalovelace", "lovelace"):
        assert sign not in shown.casefold()
    code = section["tasks"][1]["mistakes"][0]["examples"][0]["code"]
    assert f"    return count + {SOMEONE}_noise + max(1, 2)" in code  # max is Python's, whoever is called Max
    assert "#" not in code
    page = page_of(section)
    wrote = page[page.index("What went wrong") :]
    assert "s1234567" not in wrote
    assert "b-7" not in wrote


def test_without_a_name_nothing_is_replaced(assignment):
    students = ["1", "count", "rng"]  # a number, and words that the homework uses
    assert Anonymizer(students, {}, assignment).hide_names(UPSIDE) == UPSIDE
    assert Anonymizer([], {}, assignment).hide_names("Ada") == "Ada"
    assert Anonymizer(["count"], {}, assignment).hide_names("Count, COUNT_1") == f"{SOMEONE}, {SOMEONE}_1"
    assert list_names("ada.love@uni.org", "Ada", "Love") == {"ada.love", "ada", "love", "adalove", "loveada"}


def test_comments_and_docstrings_go_and_texts_stay():
    code = 'def f():  # one\n    """two"""\n    return ["a",\n        "b"  # three\n    ], "#four"\n"five"\n'
    assert remove_comments(code).split() == ["def", "f():", "return", '["a",', '"b"', "],", '"#four"']
    assert remove_comments("def f(:\n  x = '# one'  # two").rstrip() == "def f(:\n  x = '# one'"
    assert tidy("\n\nx = 1   \n# one\n\n") == "x = 1"


def test_endless_code_is_cut_and_takes_no_time(assignment):
    start = time.process_time()
    for code in ("(" * 1_000_000, '"""' * 300_000, "x = 1\n" * 200_000, "s1" * 500_000):
        (example,) = Anonymizer(["s1"], {}, assignment).choose_examples([code])
        assert len(example["code"]) < LONGEST + 100
    assert time.process_time() - start < 2


def test_a_thousand_submissions_take_seconds(assignment):
    records = [
        wrong(f"student{i:04}", f"{UPSIDE} + {i % 200} * [{i % 7 * '1, '}]", feedback=f"It is {i}, {i % 40 * 'a'}.")
        for i in range(1_000)
    ]
    start = time.process_time()
    section = describe(
        assignment, *records, names={one.student: ("Ada", f"Lovelace{i}") for i, one in enumerate(records)}
    )
    page_of(section)
    assert time.process_time() - start < 20


def evil_section(assignment):
    records = [
        wrong("<b>ada", EVIL, feedback=EVIL, mistake=EVIL),
        wrong("<b>bob", f"x = '''{EVIL}'''", feedback=EVIL, status="error"),
        record("<b>cyd", ("", 0), ("", 0), tasks=(), status="rejected", notes=(EVIL,)),
        record("<b>dan", ("passed", 1), ("passed", 2), status="partial", notes=(EVIL,)),
    ]
    return describe(assignment, *records)


def test_nothing_that_a_student_wrote_acts_in_the_page(assignment):
    text = page_of(evil_section(assignment))
    tags = Tags(text).tags
    assert {tag for tag, _ in tags}.isdisjoint(
        {"script", "iframe", "object", "embed", "link", "form", "base", "svg", "a"}
    )
    assert [name for _, names in tags for name in names if name.startswith("on")] == []
    assert {names["src"][:22] for tag, names in tags if tag == "img"} == {"data:image/png;base64,"}
    policies = [names["content"] for tag, names in tags if names.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0].startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    assert "{{ 7*7 }}" in text  # shown as it was written
    assert not re.search("[\u202e\x00]", text)


def test_a_click_opens_an_example(assignment, chromium, tmp_path):
    place = tmp_path / "report.html"
    place.write_text(page_of(evil_section(assignment)), encoding="utf-8")
    events = []
    with driver() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 390, "height": 800})
        view.on("dialog", lambda dialog: events.append(dialog.message) or dialog.dismiss())
        view.on("request", lambda request: events.append(request.url))
        view.goto(place.as_uri())
        events = [event for event in events if event != place.as_uri() and not event.startswith("data:")]
        code = view.locator("details pre").first
        assert not code.is_visible()
        view.locator("details:has(pre) summary").first.click()
        assert code.is_visible()
        assert "<script>alert(1)</script>" in code.inner_text()
        view.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert view.evaluate("document.documentElement.scrollWidth") <= 390
        assert view.evaluate("document.scripts.length") == 0
        browser.close()
    assert events == []
