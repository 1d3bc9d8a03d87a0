"""The form of a lecture: short cells, questions before answers, every Careful, links that lead somewhere."""

from __future__ import annotations

import ast
import re
import statistics
from pathlib import Path

import nbformat
import pytest

from testing import ROOT

LECTURES = sorted((ROOT / "lectures").glob("0[1-9]*.ipynb"))
MOST_LINES, MEDIAN_LINES = 20, 5

#: What the Careful boxes must speak of: a number or a word that only the correct statement has.
CAREFUL = {
    "01_pure_dp": [r"1/e|0?\.368", r"38\.75", r"11\.10", r"all pairs", r"1/0", r"1 against 2", r"8\d%"],
    "02_local_dp": [r"\(1-\\theta\)/\\theta", r"\\ln\(1\+\\varepsilon\)"],
    "03_approximate_dp": [r"\.1269|0\.127", r"0\.562", r"8\.42", r"k\\varepsilon", r"\.632", r"cryptograph"],
    "04_dp_sgd": [
        r"once, to the sum",
        r"expected\* size",
        r"replacing",
        r"32\.4",
        r"3,475",
        r"0?\.947",
        r"4\.634",
        r"i\.i\.d\.",
    ],
    "05_adaptive_ldp": [
        r"true ε is infinite",
        r"n = 1",
        r"\*integer\* arrays",
        r"1\.713",
        r"0, \\dots, K-1",
        r"minus the \*minimum\*",
        r"opposite sign",
        r"\\sqrt\{\\gamma\}",
        r"equal \*true\* ε",
    ],
}


def cells_of(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == kind]


@pytest.fixture(params=LECTURES, ids=lambda path: path.stem)
def lecture(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_cells_are_short(lecture: Path) -> None:
    lengths = [len(source.splitlines()) for kind in ("code", "markdown") for source in cells_of(lecture, kind)]
    assert max(lengths) <= MOST_LINES
    assert statistics.median(lengths) <= MEDIAN_LINES
    assert max(len(source.splitlines()) for source in cells_of(lecture, "code")) <= 8


def test_it_opens_and_closes_as_a_lecture_does(lecture: Path) -> None:
    prose = cells_of(lecture, "markdown")
    opening = "\n".join(prose[:3])
    assert opening.startswith("# Lecture")
    assert "you can" in opening
    assert "Habernal" in opening
    assert "CC BY-SA 4.0" in opening
    headings = [line for source in prose for line in source.splitlines() if line.startswith("#")]
    for wanted in ("Summary", "Self-test", "Homework", "References"):
        assert any(wanted.lower() in heading.lower() for heading in headings), f"no section {wanted}"
    text = "\n".join(prose)
    assert text.count("<details>") == text.count("</details>") >= 4
    assert "../exercises/README.md" in text


def test_it_asks_before_it_shows(lecture: Path) -> None:
    """Before each explorer, within the two cells above it, stands a question."""
    cells = nbformat.read(lecture, as_version=4).cells
    for i, cell in enumerate(cells):
        if cell.cell_type == "code" and cell.source.strip().splitlines()[-1].startswith("explore."):
            above = "\n".join(one.source for one in cells[max(0, i - 2) : i] if one.cell_type == "markdown")
            assert "?" in above, f"nothing is asked before {cell.source!r}"


def test_every_careful_has_its_box(lecture: Path) -> None:
    boxes = [source for source in cells_of(lecture, "markdown") if "> **Careful" in source]
    for pattern in CAREFUL.get(lecture.stem, []):
        assert any(re.search(pattern, box) for box in boxes), f"no Careful box that speaks of {pattern}"


def test_no_mathematics_lives_in_the_notebook(lecture: Path) -> None:
    """Cells call the package: they define no function or class, run no loop of their own, and plot nothing."""
    for source in cells_of(lecture, "code"):
        tree = ast.parse(source)
        kinds = (ast.FunctionDef, ast.ClassDef, ast.While, ast.Lambda)
        assert not [node for node in ast.walk(tree) if isinstance(node, kinds)], source
        names = {
            alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        assert not names & {"matplotlib", "torch"}, source


def test_links_and_names_lead_somewhere(lecture: Path) -> None:
    for source in cells_of(lecture, "markdown"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", source):
            if not target.startswith("http"):
                assert (lecture.parent / target).exists(), f"{lecture.stem} links to {target}"
