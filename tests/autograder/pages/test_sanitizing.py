"""Nothing that a student wrote acts by itself in nbgrader's pages, which are opened here in a browser."""

import random
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import jupyter_server_mathjax
import nbgrader
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.course.homework import Assignment, Cell
from autograder.gradebook import graded_notebook
from autograder.gradebook.graded_notebook import autograded_notebook
from autograder.pages.sanitizing import harmless
from testing import browser
from tests.autograder.small_course import HW, make_course
from tests.autograder.verdicts import PNG, decided, handed_in

TEMPLATES = Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"
MATHJAX = Path(jupyter_server_mathjax.__file__).parent / "static"


@pytest.fixture
def assignment(tmp_path):
    return Assignment.read(make_course(tmp_path) / "source" / HW / f"{HW}.ipynb")


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


# Random texts: pieces that mean something to markdown, HTML or TeX, in any order.
PIECES = [
    "<", ">", "</", "<!--", "-->", "<?", "!", "[", "]", "(", ")", ":", "]:", "|", "---", "`", "```", "~~~", "mermaid",
    "python", "\\", "\\<", "\\[", "\\]", "$", "$$", "*", "**", "_", "#", "~~", "^", "x", '"', "'", "{", "}", "&",
    "&#106;", "&lt;", "script>", "<a href=x>", "img src=x onerror=1>", "javascript:1", "data:text/html,",
    "attachment:x", "http://e.test/", "<http://e>", "[x]", "[x]:", "[^1]:", "1. ", "- ", "\\href{javascript:1}{x}",
    "\\begin{a}", "\\end{a}", "\n", "\n\n", "    ", "  \n", "\t", "\r", "\x0b", "\x0c", "\u2028", "\u00a0", "\ufeff",
]  # fmt: skip
FINE = {
    "p", "em", "strong", "code", "pre", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "br",
    "table", "thead", "tbody", "tr", "th", "td", "del", "a", "div", "span", "dl", "dt", "dd",
}  # fmt: skip


class Acting(HTMLParser):
    """Collects what could act in a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        address = values.get("href", "#").startswith(("http://", "https://", "#"))
        task = tag == "input" and values.get("type") == "checkbox"
        if not (tag in FINE or task) or not address or any(name.startswith("on") for name in values):
            self.found.append((tag, values))
        if "jp-Mermaid" in values.get("class", ""):
            self.found.append((tag, values))

    def handle_comment(self, data):
        self.found.append(("comment", data))

    handle_decl = handle_pi = unknown_decl = handle_comment


def acting(text):
    page = markdown2html_mistune(text)
    parser = Acting()
    parser.feed(page)
    formulas = re.sub(r"(?s)<(pre|code)[^>]*>.*?</\1>", "", page)
    return parser.found + re.findall(r"\\href", formulas)


def test_no_mixture_of_pieces_becomes_anything_that_acts():
    dice = random.Random(7)
    texts = ["".join(dice.choices(PIECES, k=dice.randint(2, 14))) for _ in range(3_000)]
    assert [text for text in texts if acting(harmless(text))] == []
    wild = [text for text in texts if "attachment:" not in text and acting(text)]
    assert len(wild) > 300  # without care many of them do


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
    submission = handed_in(
        {**texts, "noisy_count-solution": "\n".join(CODE)},
        extra=(*payloads, *CODE),
        pictures={"text-0": (("image/png", PNG),)},
    )
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
    fine = page.evaluate("['.MathJax', 'img[alt=\"a picture\"]'].map(one => document.querySelectorAll(one).length)")
    found = {
        "title": page.title(), "hosts": hosts, "dialogs": dialogs, "acting": acting,
        "links": [link for link in links if link and urlsplit(link).scheme not in ("http", "https")],
    }  # fmt: skip
    page.close()
    return found, fine


@pytest.fixture(scope="module")
def context(chromium):
    with browser.chromium(offline=False) as opened:
        yield opened


@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_nothing_that_a_student_wrote_acts_in_the_page(assignment, context, template):
    found, (formulas, pictures) = seen_by(context, page_of(hostile(assignment, MARKDOWN), template))
    assert found == {"title": HW, "hosts": [], "dialogs": [], "acting": [], "links": []}
    assert formulas > 0  # MathJax was at work
    assert pictures == 1  # and a picture that is one is shown


def test_the_same_page_would_be_taken_without_that_care(assignment, context, monkeypatch):
    """So the test above can fail: the payloads do work."""
    monkeypatch.setattr(graded_notebook, "harmless", lambda text: text.replace("attachment:", ""))
    staying = [text for text in MARKDOWN if "refresh" not in text]  # which would leave the page
    found, _ = seen_by(context, page_of(hostile(assignment, staying), "feedback"))
    assert found["title"] == "taken"
    assert found["hosts"]
    assert found["acting"]
    assert any(link.startswith("javascript:") for link in found["links"])
