"""The graded notebook: what formgrader and nbgrader's feedback show, and that nothing in it acts by itself."""

import base64
import json
from pathlib import Path
from urllib.parse import urlsplit

import jupyter_server_mathjax
import nbformat
import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.utils import compute_checksum, determine_grade

from autograder import autograded
from autograder.assignment import Assignment, Cell
from autograder.autograded import answers_shown, autograded_notebook, write_autograded
from autograder.harmless import harmless
from autograder.records import Record, TaskRecord
from autograder.submission import Submission
from tests.autograder.small_course import HW, make_course
from tools import browser

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(20)).decode()
TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
MATHJAX = Path(jupyter_server_mathjax.__file__).parent / "static"


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


@pytest.fixture
def assignment(course):
    return Assignment.read(course / "source" / HW / f"{HW}.ipynb")


def handed_in(answers=None, **more):
    right = {
        "likelihood_ratio-solution": "def likelihood_ratio(): ...",
        "noisy_count-solution": "x = 1 < 2",
        "why-written": "Because $a<b$.",
    }
    return Submission("ada", HW, {**right, **(answers or {})}, **more)


def decided(feedback="Look at the scale.", status="failed", points=0.5, **more):
    tasks = (
        TaskRecord(task="likelihood_ratio", points=1, max_points=1, status="passed", feedback="Fine."),
        TaskRecord(
            task="noisy_count", points=points, max_points=2, status=status, feedback=feedback,
            message="HIDDEN PROBE 0.123", picture=PNG, misconception="upside down",
        ),
    )  # fmt: skip
    return Record(student="ada", assignment=HW, status="graded", tasks=tasks, **more)


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


@pytest.mark.parametrize(
    "text",
    [
        r"For all $y$: $\Pr[M(D) = y] \le e^\varepsilon \Pr[M(D') = y]$, so $a < b$ and $x \leq y$.",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n**bold**, *slanted*, `x[0]`",
        "```python\nprint(1)\n```\n\n~~~\nplain\n~~~\n\n```\nx\n```",
        r"$$\begin{aligned} p &= 1 \\ q &\le 2 \end{aligned}$$",
        "Übung: e^ε ≤ 1 + ε, 3 <= 4, a <- b",
    ],
)
def test_an_honest_text_stays_as_it_is(text):
    assert harmless(text) == text


# What a page would do. Each of these changes the title, opens a dialog or calls another machine, if it can.
ACT = "document.title='taken'"
AWAY = "http://evil.test/x"
MARKDOWN = [
    f"<script>{ACT}</script>",
    f"<img src=x onerror={ACT}>",
    f"<svg onload={ACT}>",
    f"<details open ontoggle={ACT}>",
    f"<body onload={ACT}><style>@import '{AWAY}.css';</style>",
    f"<iframe srcdoc='<script>parent.{ACT}</script>'></iframe>",
    f"<iframe src='{AWAY}'></iframe>",
    f"<img src='{AWAY}.png'>",
    f"<link rel=stylesheet href='{AWAY}.css'>",
    "<meta http-equiv=refresh content='0;url=http://evil.test/'>",
    f"<!--><script>{ACT}</script-->",
    f"<?php ?><script>{ACT}</script>",
    f"<![CDATA[<script>{ACT}</script>]]>",
    f"text\n\n<div>\n<script>{ACT}</script>\n</div>",
    f"![x]({AWAY}-picture.png)",
    f"![x][p]\n\n[p]: {AWAY}-reference.png",
    f"[click](javascript:{ACT})",
    f"[click][j]\n\n[j]: javascript:{ACT}",
    f"[click](&#106;avascript:{ACT})",
    f"[click]( <javascript:{ACT}> )",
    f"<javascript:{ACT}>",
    "[click](data:text/html,<script>alert(1)</script>)",
    "![missing](attachment:nothing.png)",
    f"```mermaid\ngraph TD\nA[<img src='{AWAY}-mermaid.png' onerror={ACT}>]\n```",
    f"> ~~~ mermaid\n> <img src=x onerror={ACT}>\n> ~~~",
    f'```"><img src=x onerror={ACT}>\ncode\n```',
    rf"$\href{{javascript:{ACT}}}{{click}}$",
    rf"$\style{{background:url({AWAY}-style.png)}}{{x}}$",
    r"$\class{navbar}{x}$ $\cssId{top}{x}$ $\require{action}$",
    rf"\$\\href{{javascript:{ACT}}}{{click}}\$",
    rf"&#36;&#92;href{{javascript:{ACT}}}{{click}}&#36;",
    rf"&dollar;&bsol;href{{javascript:{ACT}}}{{click}}&dollar;",
    rf"\begin{{equation}}\href{{javascript:{ACT}}}{{click}}\end{{equation}}",
    f"$$<img src=x onerror={ACT}>$$",
    f'# heading <img src=x onerror={ACT}> " onclick="{ACT}',
    f"| <img src=x onerror={ACT}> |\n|---|\n| <svg/onload={ACT}> |",
    f"`<img src=x onerror={ACT}>",
    f"\\<img src=x onerror={ACT}>",
    f"&lt;img src=x onerror={ACT}&gt;",
    f"<\nimg src=x onerror={ACT}>",
    f"</div></div></div><form action='{AWAY}'><input autofocus onfocus={ACT}></form>",
    f'<math><mtext></form><form><mglyph><style></math><img src onerror="{ACT}">',
    f"<a href='{AWAY}' ping='{AWAY}'>x</a>",
]
CODE = [f"</pre></div><script>{ACT}</script>", f"# <img src=x onerror={ACT}>", f"'{{{{ {ACT} }}}}'"]


def hostile(assignment, payloads):
    """The graded notebook with every payload, everywhere that a student's words may come to stand."""
    texts = {f"text-{number}": text for number, text in enumerate([*payloads, "\n\n".join(payloads)])}
    written = tuple(Cell(name, "markdown", "written", "answer", 1, True, name) for name in texts)
    asked = Assignment(HW, assignment.cells + written)
    submission = handed_in({**texts, "noisy_count-solution": "\n".join(CODE)}, extra=(*payloads, *CODE))
    return autograded_notebook(asked, submission, decided(feedback="\n".join(payloads), notes=tuple(payloads)))


def page_of(book, template):
    """The page as nbgrader makes it. MathJax is our own copy, without the Safe extension that nbgrader asks for."""
    styles = str(TEMPLATES.parent / "static/node_modules/bootstrap/dist/css")
    exporter = HTMLExporter(
        template_name=template, extra_template_basedirs=[str(TEMPLATES)], extra_template_paths=[styles]
    )
    for one in book.cells:
        if one.metadata.get("nbgrader", {}).get("grade"):
            one.metadata.nbgrader.score = 1  # as nbgrader's GetGrades does
    about = {"notebook": HW, "score": 1, "max_score": 6, "late_penalty": 0}
    names = ("assignment_id", "notebook_id", "submission_id", "student", "last_name", "first_name", "notebook_path")
    resources = {"nbgrader": about, "index": 0, "total": 1, "base_url": "", **dict.fromkeys(names, HW)}
    html, _ = exporter.from_notebook_node(book, resources=resources)
    start = html.index('src="https://cdnjs') + 5
    end = html.index('"', start)
    return html[:start] + "/mathjax/MathJax.js?config=TeX-AMS-MML_HTMLorMML-full" + html[end:]


#: Elements that no notebook of ours has. The onclick of formgrader's own buttons is there.
ODD = "[onerror], [onload], [onclick]:not(.glyphicon), [ontoggle], [onfocus], iframe, object, embed, form, [http-equiv]"


def seen_by(context, html):
    """What a page does when it is opened: its title, the hosts it calls, its dialogs, and what a click could start."""
    page, hosts, dialogs = context.new_page(), [], []

    def answer(route):
        address = urlsplit(route.request.url)
        local = MATHJAX / address.path.removeprefix("/mathjax/")
        if address.netloc != "grader.test":
            hosts.append(route.request.url)
            route.abort()
        elif address.path == "/":
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        elif address.path.startswith("/mathjax/") and local.is_file():
            route.fulfill(path=local)
        else:
            route.abort()  # formgrader's own scripts

    page.route("**/*", answer)
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto("http://grader.test/", wait_until="load")
    page.wait_for_function("window.MathJax && MathJax.isReady")
    page.evaluate("new Promise(done => MathJax.Hub.Queue(['Typeset', MathJax.Hub], done))")
    page.wait_for_timeout(300)
    links = page.evaluate("[...document.querySelectorAll('a')].map(a => a.href.baseVal ?? a.href)")
    acting = page.evaluate("odd => [...document.querySelectorAll(odd)].map(one => one.outerHTML)", ODD)
    formulas = page.evaluate("document.querySelectorAll('.MathJax').length")
    found = {
        "title": page.title(), "hosts": hosts, "dialogs": dialogs, "acting": acting,
        "links": [link for link in links if link and urlsplit(link).scheme not in ("http", "https")],
    }  # fmt: skip
    page.close()
    return found, formulas


@pytest.fixture(scope="module")
def context(chromium):
    with browser.chromium(offline=False) as opened:
        yield opened


@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_nothing_that_a_student_wrote_acts_in_the_page(assignment, context, template):
    found, formulas = seen_by(context, page_of(hostile(assignment, MARKDOWN), template))
    assert found == {"title": HW, "hosts": [], "dialogs": [], "acting": [], "links": []}
    assert formulas > 0  # MathJax was at work


def test_the_same_page_would_be_taken_without_that_care(assignment, context, monkeypatch):
    """So the test above can fail: the payloads do work."""
    monkeypatch.setattr(autograded, "harmless", lambda text: text.replace("attachment:", ""))
    staying = [text for text in MARKDOWN if "refresh" not in text]  # which would leave the page
    found, _ = seen_by(context, page_of(hostile(assignment, staying), "feedback"))
    assert found["title"] == "taken"
    assert found["hosts"]
    assert found["acting"]
    assert any(link.startswith("javascript:") for link in found["links"])
