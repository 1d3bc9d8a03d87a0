"""What a homework's text says of each task: where it is taught, the limits, which answers count, and an example.

Each reference is followed into the lecture's notebook, and agrees with the one that a verdict gives (``see``).
"""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

from dpcourse.tasks import HOMEWORKS, tasks_of

ROOT = Path(__file__).parents[2]
EVERY_TASK = [(homework, name) for homework in HOMEWORKS for name in tasks_of(homework)]
USUAL_SECONDS = 10


@cache
def cells(homework):
    return nbformat.read(ROOT / "exercises" / "source" / homework / f"{homework}.ipynb", 4).cells


@cache
def titles(lecture):
    """The headings of a lecture, and the first words of its boxes, in small letters."""
    (path,) = (ROOT / "lectures").glob(f"0{lecture}_*.ipynb")
    texts = [cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown"]
    headings = [line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("#")]
    boxes = [box.rstrip(".") for text in texts for box in re.findall(r"\*\*([^*]+)\*\*", text)]
    return [re.sub(r"^\d\. ", "", title).lower() for title in headings + boxes], headings


def text_of(homework, name):
    """The text before a task's cell, and those of the notebook's beginning."""
    everything = cells(homework)
    place = next(i for i, cell in enumerate(everything) if cell.cell_type == "code" and f"check({name})" in cell.source)
    texts = [cell.source for cell in everything[:place] if cell.cell_type == "markdown"]
    return texts[-1], "\n".join(texts[:3])


def places(reference):
    """The lecture, and the numbers of sections or the titles that a reference names."""
    lecture, where = re.search(r"[Ll]ecture (\d), (.+)", reference).groups()
    if where.startswith("section"):
        return int(lecture), {int(one) for one in re.findall(r"\d+", where.split("(")[0].split(", the ")[0])}, set()
    named = re.findall(r'"([^"]+)"', where) or [where.removesuffix("."), *where.split(", and ")]
    return int(lecture), set(), {title.lower() for title in named}


def is_a_title(lecture, title):
    return any(one.startswith(title) for one in titles(lecture)[0])


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_the_text_says_where_the_task_is_taught_as_a_verdict_does(homework, name):
    task = tasks_of(homework)[name]
    references = re.findall(r"Lecture \d, [^\n]+", text_of(homework, name)[0])
    assert references, "no reference to the lecture"
    lecture, sections, named = places(references[-1])
    assert lecture == int(homework[2])
    for section in sections:
        assert any(heading.startswith(f"{section}. ") for heading in titles(lecture)[1]), section
    for title in named:
        assert is_a_title(lecture, title), title
    assert sections or named
    seen = places(task.see)
    assert seen[0] == lecture
    assert seen[1] == sections
    for section in seen[1]:
        assert any(heading.startswith(f"{section}. ") for heading in titles(lecture)[1]), section
    if seen[2]:
        there = {title for title in seen[2] if is_a_title(lecture, title.strip('"'))}
        assert there, task.see
        assert any(one.startswith(title) or title.startswith(one) for one in there for title in named), (
            task.see,
            named,
        )


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_the_text_has_a_numeric_example(homework, name):
    text = re.sub(r"\(?(→ )?Lecture \d.*", "", text_of(homework, name)[0], flags=re.S)
    assert re.search(r"(xpect:?\*|For|for instance|Try)[^\n]*\d", text.split("points", 1)[-1]), text


@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_the_text_says_how_long_a_call_may_take_and_which_answers_count(homework, name):
    task = tasks_of(homework)[name]
    text, beginning = text_of(homework, name)
    assert f"A call may take {USUAL_SECONDS} seconds of computing" in beginning
    if task.seconds != USUAL_SECONDS:
        assert f"A call may take {task.seconds:g} seconds of computing" in text
    assert "Where noise is asked for, the noisy number itself counts" in beginning
    assert "is as private (it is post-processing), but not accepted here" in beginning
