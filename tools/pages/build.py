"""The lectures without Jupyter: pages (`make site`) and decks (`make slides`), with explorers alive in both.

    python -m tools.pages site [--out build/site] [lecture ...]
    python -m tools.pages slides [--out build/slides] [lecture ...]

Every notebook is run in a fresh kernel; then nbconvert writes it as HTML. Formulas, reveal.js and the explorers' script
are copied beside or into the pages: a browser needs no network, and a plain file server (or none) will do.
"""

from __future__ import annotations

import html
import os
import re
import shutil
from pathlib import Path
from typing import Any

import jupyter_server_mathjax
import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter, SlidesExporter
from nbconvert.filters import markdown2html

from dpcourse.scenes import page
from dpcourse.scenes.widget import PAGE_MODE

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
LECTURES = ROOT / "lectures"
MATHJAX = Path(jupyter_server_mathjax.__file__).parent / "static"

# The hidden MathML beside each formula is for screen readers; its style would ask for fonts that are not shipped.
HIDDEN = "without-source"
FORMULAS = """<style>.MJX_Assistive_MathML [mathvariant] { font-family: inherit !important }</style>
<script type="text/x-mathjax-config">
MathJax.Hub.Config({
  tex2jax: { inlineMath: [["$", "$"], ["\\\\(", "\\\\)"]], displayMath: [["$$", "$$"], ["\\\\[", "\\\\]"]],
             processEscapes: true, ignoreClass: "dpx|dpcourse-explorer|highlight" },
  "HTML-CSS": { availableFonts: [], preferredFont: null, imageFont: null, webFont: "STIX-Web",
                linebreaks: { automatic: true } },
  "fast-preview": { disabled: true },
  showMathMenu: false, messageStyle: "none"
});
</script>
<script src="mathjax/MathJax.js?config=TeX-AMS-MML_HTMLorMML-full"></script>"""


def lectures(names: list[str]) -> list[Path]:
    """The notebooks asked for by name (01_pure_dp, or 01), or all of them."""
    everything = sorted(LECTURES.glob("[0-9]*.ipynb"))
    if not names:
        return everything
    chosen = []
    for name in names:
        found = [path for path in everything if path.stem == name or path.stem.split("_")[0] == name]
        if not found:
            raise SystemExit(f"there is no lecture {name!r}; there are: {', '.join(path.stem for path in everything)}")
        chosen += found
    return chosen


def run(path: Path, kept: Path | None = None) -> nbformat.NotebookNode:
    """The notebook with its outputs, explorers as plain HTML; from the folder ``kept``, if it was put there before."""
    done = None if kept is None else kept / path.name
    if done is not None and done.exists():
        return nbformat.read(done, as_version=4)
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, resources=resources, store_widget_state=False).execute(
        env={**os.environ, PAGE_MODE: "1"}
    )
    notebook.metadata.pop("widgets", None)  # state for a widget manager, which would come from a network
    if done is not None:
        done.parent.mkdir(parents=True, exist_ok=True)
        unfinished = done.with_suffix(f".{os.getpid()}")
        nbformat.write(notebook, unfinished)
        unfinished.replace(done)
    return notebook


def title_of(path: Path) -> str:
    """The first heading of a lecture, without its marks."""
    first = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
    return str(first.lstrip("# ").strip())


def navigation(here: Path) -> str:
    """Links to all pages, the present one in bold."""
    links = ['<a href="index.html">dpcourse</a>']
    for path in lectures([]):
        words = html.escape(title_of(path))
        links.append(f"<b>{words}</b>" if path == here else f'<a href="{path.stem}.html">{words}</a>')
    return f'<nav class="course" aria-label="lectures">{" ".join(links)}</nav>'


def relink(text: str) -> str:
    """Links between notebooks become links between pages."""
    text = re.sub(r'href="(?:\./)?(\d\d_\w+)\.ipynb', r'href="\1.html', text)
    return re.sub(r'href="\.\./exercises/(?:README\.md)?(?=["#])', 'href="exercises.html', text)


def as_slides(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A slide for each passage: a heading starts a new column, other prose a new slide below, code stays with it."""
    for cell in notebook.cells:
        opens = "slide" if re.match(r"##? ", cell.source) else "subslide"
        kind = opens if cell.cell_type == "markdown" else "-"
        cell.metadata["slideshow"] = {"slide_type": kind}
        if cell.cell_type == "code" and re.fullmatch(r"explore\.\w+\([^\n]*\)", cell.source.strip()):
            cell.metadata["tags"] = [*cell.metadata.get("tags", []), HIDDEN]  # the room is the picture's
    notebook.cells[0].metadata["slideshow"] = {"slide_type": "slide"}
    return notebook


def exporter(kind: str) -> Any:
    """nbconvert's exporter with our template."""
    return (HTMLExporter if kind == "site" else SlidesExporter)(
        template_name="course" if kind == "site" else "deck",
        extra_template_basedirs=[str(HERE / "templates")],
        config={"TagRemovePreprocessor": {"enabled": True, "remove_input_tags": [HIDDEN]}},
        **({} if kind == "site" else {"reveal_url_prefix": "reveal", "reveal_theme": "course"}),
    )


def copy_parts(kind: str, out: Path) -> None:
    """MathJax with its fonts, reveal.js and the style, beside the pages."""
    unused = shutil.ignore_patterns("localization", "a11y", "SVG", "*.eot", "*.otf")
    shutil.copytree(MATHJAX, out / "mathjax", dirs_exist_ok=True, ignore=unused)
    if kind == "slides":
        dist = out / "reveal" / "dist"  # where nbconvert's template looks for reveal.js and its theme
        (dist / "theme").mkdir(parents=True, exist_ok=True)
        for name in ("reveal.js", "reveal.css", "LICENSE"):
            shutil.copy(HERE / "reveal" / name, dist / name)
        shutil.copy(HERE / "deck.css", dist / "theme" / "course.css")
    shutil.copy(HERE / "course.css", out / "course.css")


def plain_page(title: str, body: str) -> str:
    """A page of words."""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="course.css"></head>'
        f'<body class="jp-Notebook"><main class="jp-RenderedHTMLCommon">{body}</main></body></html>'
    )


def build(kind: str, out: Path, names: list[str], kept: Path | None = None) -> list[Path]:
    """Write the pages (kind "site") or decks (kind "slides") and return their paths.

    With a folder ``kept``, pages and decks made after one another are made from one run of each notebook.
    """
    out.mkdir(parents=True, exist_ok=True)
    copy_parts(kind, out)
    written = []
    for path in lectures(names):
        notebook = run(path, kept)
        course = {"formulas": FORMULAS, "explorers": page.head(), "navigation": navigation(path)}
        notebook.metadata["title"] = title_of(path)
        if kind == "slides":
            notebook = as_slides(notebook)
        body, _ = exporter(kind).from_notebook_node(
            notebook, resources={"course": course, "metadata": {"name": path.stem}}
        )
        target = out / f"{path.stem}.html"
        target.write_text(relink(body), encoding="utf-8")
        print(f"{target.name}: {target.stat().st_size / 1e6:.1f} MB", flush=True)
        written.append(target)
    listed = "".join(
        f'<li><a href="{path.stem}.html">{html.escape(title_of(path))}</a></li>' for path in lectures(names)
    )
    what = "Lectures" if kind == "site" else "Slides"
    (out / "index.html").write_text(
        plain_page("dpcourse", f"<h1>dpcourse</h1><h2>{what}</h2><ul>{listed}</ul>"), "utf-8"
    )
    exercises = ROOT / "exercises" / "README.md"
    if exercises.exists():
        body = markdown2html(exercises.read_text(encoding="utf-8"))
        (out / "exercises.html").write_text(plain_page("dpcourse: exercises", body), "utf-8")
    return written
