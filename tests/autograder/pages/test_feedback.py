"""A student's page: what was decided, by machine and by people; no fresh probe in it, and nothing that acts."""

import base64
import re
from html.parser import HTMLParser

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell

from autograder.course.homework import Assignment
from autograder.pages.feedback import make_page
from autograder.pages.page import PNG, data_uri, plain
from autograder.pages.pictures import kept
from testing.browser import driver
from tests.autograder.small_course import HW, dpcourse, for_machines, make_course, record, task

EVIL = (
    "\"'><script>alert(1)</script><img src=x onerror=alert(2)>"
    '<a href="javascript:alert(3)">x</a>{{ 7*7 }}\u202e\x00</pre>'
)


@pytest.fixture
def homework(tmp_path):
    return Assignment.read(make_course(tmp_path) / "source" / HW / f"{HW}.ipynb")


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def evil_record():
    tasks = (
        task("likelihood_ratio", "failed", 0.5, 1, message="SECRET probe epsilon = 0.123", feedback=f"Not yet: {EVIL}"),
        task(EVIL, "error", 0, 2, message="SECRET", feedback="", picture=EVIL, mistake=EVIL),
    )
    answers = {"likelihood_ratio-solution": EVIL, f"{EVIL}-solution": EVIL, "why-written": EVIL}
    return record(EVIL, ("passed", 1), ("passed", 2), tasks=tasks, answers=answers, notes=(EVIL,), status="partial")


def test_nothing_a_student_wrote_acts_on_the_page(homework):
    text = make_page(evil_record(), homework, "Homework").decode()
    tags = Tags(text).tags
    assert {tag for tag, _ in tags}.isdisjoint(
        {"script", "a", "iframe", "object", "embed", "link", "form", "base", "svg"}
    )
    assert [tag for tag, _ in tags if tag == "img"] == []
    assert [name for _, names in tags for name in names if name.startswith("on")] == []
    policies = [names["content"] for tag, names in tags if names.get("http-equiv") == "Content-Security-Policy"]
    assert policies[0].startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")
    assert "SECRET" not in text
    assert "{{ 7*7 }}" in text  # shown as it was written
    assert not re.search("[\u202e\x00]", text)


def test_the_page_in_a_browser(homework, chromium, tmp_path):
    from dpcourse.tasks import check

    def noisy_count(count, epsilon, rng):
        return count + rng.laplace(0, epsilon)

    seen = evil_record()
    picture = kept(check(noisy_count).picture)
    shown = task("noisy_count", "failed", 0, 2, feedback="Too little noise.", picture=picture)
    seen = record(
        EVIL, ("passed", 1), ("passed", 2), tasks=(*seen.tasks, shown), answers=seen.answers, notes=seen.notes
    )
    place = tmp_path / "page.html"
    place.write_bytes(make_page(seen, homework, "Homework"))
    said = []
    with driver() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            view = browser.new_page(viewport={"width": 400, "height": 800}, color_scheme=scheme)
            view.on("dialog", lambda dialog: said.append(dialog.message) or dialog.dismiss())
            view.on("request", lambda request: said.append(request.url) if request.url[:4] == "http" else None)
            view.goto(place.as_uri())
            view.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            assert view.evaluate("document.documentElement.scrollWidth") <= 400
            assert view.evaluate("[...document.images].map(one => one.naturalWidth > 100)") == [True]
            assert view.evaluate("document.scripts.length") == 0
            colour, behind = view.evaluate("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
            assert contrast(colour, behind) > 7
        browser.close()
    assert said == []


def contrast(one: str, other: str) -> float:
    """Of two colours, as WCAG counts it."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_pages_for_the_class_with_what_people_gave(graded_course, capsys):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded_course / 'gradebook.db'}", "dpcourse") as book:
        grade = book.find_grade("why-written", HW, HW, "bob")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 2.5, 0.25, False
        book.find_comment("why-written", HW, HW, "bob").manual_comment = "Nearly <there>."
        book.find_submission_notebook(HW, HW, "bob").late_submission_penalty = 0.5
        book.db.commit()
    code, found = for_machines(capsys, "feedback", "--course", graded_course)
    assert (code, [one["student"] for one in found]) == (0, ["=cmd()", "ada", "bob"])
    text = (graded_course / "feedback" / "bob" / HW / f"{HW}.html").read_text()
    for words in ("3.25 of 6 points", "3.75 points, less 0.5", "Nearly &lt;there&gt;.", "2.75 of 3 points",
                  "not yet right", "Because &lt;b&gt;one&lt;/b&gt;", "Homework 1: small"):  # fmt: skip
        assert words in text
    assert "not final" not in text
    text = (graded_course / "feedback" / "ada" / HW / f"{HW}.html").read_text()
    assert "3 of 6 points" in text
    assert "not final" in text


def points_on(text: str) -> list[float]:
    """The points of the cards, one after the other."""
    return [float(number) for number in re.findall(r"([\d.]+) of [\d.]+ points", text.partition("<main>")[2])]


def test_a_text_that_changed_after_it_was_read_says_so(graded_course, capsys):
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded_course / 'gradebook.db'}", "dpcourse") as book:
        grade = book.find_grade("why-written", HW, HW, "bob")
        grade.manual_score, grade.needs_manual_grade = 2.5, True
        book.find_grade("noisy_count", HW, HW, "bob").manual_score = 1.5
        book.find_grade("noisy_count", HW, HW, "bob").needs_manual_grade = True
        book.db.commit()
    assert dpcourse(capsys, "feedback", "--course", graded_course)[0] == 0
    text = (graded_course / "feedback" / "bob" / HW / f"{HW}.html").read_text()
    assert "changed since it was read; 2.5 of 3 points until it is read again" in text
    assert "given by a person; it has changed since" in text
    assert "not final" in text
    assert "not read yet" not in text
    assert points_on(text) == [1, 1.5, 2.5]
    assert "5 of 6 points" in text
    assert "not read yet" in (graded_course / "feedback" / "ada" / HW / f"{HW}.html").read_text()


def test_a_text_has_the_title_of_its_question(tmp_path):
    root = make_course(tmp_path)
    place = root / "source" / HW / f"{HW}.ipynb"
    ask = "### 6. Why (one) person? (3 points, read by a person)\n\nSay it in a sentence."
    book = nbformat.read(place, 4)
    book.cells.insert(6, new_markdown_cell(ask, id="ask"))
    nbformat.write(book, place)
    text = make_page(record("ada", ("passed", 1), ("passed", 2)), Assignment.read(place), "Homework").decode()
    assert ">6. Why (one) person?</h3>" in text
    assert "why-written" not in text


def test_a_text_without_a_question_has_its_name(homework):
    assert ">why-written</h3>" in make_page(record("ada", ("passed", 1), ("passed", 2)), homework, "Homework").decode()


def test_why_nothing_was_graded_is_said_once_and_first(homework):
    reason = "The file is not a notebook: it holds no cells."
    tasks = tuple(task(name, "missing", 0, 1, feedback=reason) for name in ("likelihood_ratio", "noisy_count"))
    notes = ("There are 2 notebooks.", reason)
    seen = record("ada", ("x", 0), ("x", 0), tasks=tasks, notes=notes, status="rejected")
    text = make_page(seen, homework, "Homework").decode()
    assert text.count(reason) == 1
    assert reason in text.partition("</header>")[0]
    assert ("still empty" in text, text.count("not graded"), text.count("There are 2 notebooks.")) == (False, 2, 1)


def test_one_student_only_and_a_stranger(graded_course, capsys):
    assert dpcourse(capsys, "feedback", HW, "--student", "ada", "--course", graded_course)[0] == 0
    assert [path.name for path in (graded_course / "feedback").iterdir()] == ["ada"]
    code, out, err = dpcourse(capsys, "feedback", "--student", "eve", "--course", graded_course)
    assert (code, out, "'eve'" in err) == (1, "", True)


@pytest.mark.parametrize(
    "picture", ["", "x", "<svg>", "{}", '{"kind": "Picture"}', base64.b64encode(b"GIF89a").decode()]
)
def test_what_is_no_picture_is_not_shown(picture):
    assert data_uri(picture) == ""


def test_a_png_is_shown():
    assert data_uri(base64.b64encode(PNG + b"...").decode()).startswith("data:image/png;base64,iVBOR")


def test_an_endless_answer_is_cut():
    assert len(plain("x" * 10_000_000)) < 21_000
    assert "9,980,000 more" in plain("x" * 10_000_000)


def test_a_big_class_with_odd_names(tmp_path, capsys, monkeypatch):
    course = make_course(tmp_path)
    monkeypatch.setattr("autograder.pages.feedback.MANY", 3)  # several processes
    for student in ("ada", "<b>bob<b>", "..", "zoë"):
        record(student, ("passed", 1), ("missing", 0)).save(course / "grading" / HW)
    (course / "grading" / HW / "broken.json").write_text("{")
    code, found = for_machines(capsys, "feedback", "--course", course)
    assert (code, sorted(one["student"] for one in found)) == (0, ["<b>bob<b>", "ada", "zoë"])
    assert "&lt;b&gt;bob" in (course / "feedback" / "<b>bob<b>" / HW / f"{HW}.html").read_text()
    assert sorted(path.name for path in (course / "feedback").iterdir()) == ["<b>bob<b>", "ada", "zoë"]
