"""Thirty right submissions in the zips of two platforms, with everything that happens to notebooks on their way.

No right answer loses a point, or a person is asked.
"""

import copy
import json
import zipfile

import nbformat
import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.gradebook.drift import differences_of
from autograder.gradebook.read import gradebook, marks_of
from testing.five_tasks import CELLS, HOMEWORK, POINTS, all_right, five_course, notebook, right, stub, wrong
from tests.autograder.term import SECOND, shortened

NAME = f"{HOMEWORK}.ipynb"


def cell(book, name="double-solution"):
    return next(one for one in book["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == name)


def place(book, name="double-solution"):
    return book["cells"].index(cell(book, name))


def code(source, **metadata):
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None}


def strip_marks(book):
    for one in book["cells"]:
        one["metadata"] = {}


def strip_marks_and_ids(book):
    strip_marks(book)
    for one in book["cells"]:
        one.pop("id", None)


def renew_marks(book):
    for number, one in enumerate(book["cells"]):
        one["metadata"]["nbgrader"]["grade_id"] = f"cell-{number:016x}"
        one["id"] = f"id-{number}"


def strip_one_mark(book):
    cell(book)["metadata"] = {}


def list_lines(book):
    for one in book["cells"]:
        one["source"] = one["source"].splitlines(keepends=True)


def copy_answer(book):
    book["cells"].insert(place(book), copy.deepcopy(cell(book)))


def put_stub(above):
    def change(book):
        other = copy.deepcopy(cell(book))
        other["source"] = stub("double")
        book["cells"].insert(place(book) + (0 if above else 1), other)

    return change


def delete(*names):
    def change(book):
        for name in names:
            book["cells"].remove(cell(book, name))

    return change


def move_answer_to_end(book):
    book["cells"].append(code(cell(book)["source"]))
    book["cells"].remove(cell(book))


def leave_stub_and_answer_below(book):
    book["cells"].insert(place(book) + 1, code(cell(book)["source"]))
    cell(book)["source"] = stub("double")


def answer_all_in_one_cell(book):
    source = "\n\n".join(right(name) for name in CELLS)
    for name in CELLS:
        cell(book, f"{name}-solution")["source"] = stub(name)
    cell(book)["source"] = source


def make_markdown(book):
    one = cell(book)
    one["cell_type"] = "markdown"
    one.pop("outputs")
    one.pop("execution_count")


def turn_round(book):
    book["cells"].reverse()


def print_much(book):
    cell(book)["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 10_000_000}]


def use_colab(book):
    book["metadata"]["colab"] = {"provenance": []}
    for number, one in enumerate(book["cells"]):
        one["metadata"] = {"id": f"aB{number}", "colab": {"base_uri": "https://example.org"}}
        one.pop("id", None)


def unlock(book):
    for one in book["cells"]:
        one["metadata"]["nbgrader"]["locked"] = False


def change_given(book):
    book["cells"][0]["source"] += "\nimport antigravity_of_mine"


def add_texts(book):
    book["cells"].insert(1, {"cell_type": "markdown", "metadata": {}, "source": "My notes."})


def forget_kernel(book):
    book["metadata"] = {}


def answer_twice(first, second):
    def change(book):
        other = copy.deepcopy(cell(book))
        cell(book)["source"], other["source"] = first, second
        book["cells"].insert(place(book) + 1, other)

    return change


def help_oneself(book):
    book["cells"].insert(1, code("def twice(x):\n    return 2 * x"))
    cell(book)["source"] = "def double(x):\n    return twice(x)"


def older(book):
    for number, one in enumerate(book["cells"]):
        one.setdefault("id", f"i{number}")
    return nbformat.writes(nbformat.convert(nbformat.from_dict(book), 3), version=3).encode()


def bare(book):
    for one in book["cells"]:
        one.pop("id", None)
    return json.dumps({"cells": book["cells"], "metadata": {}, "nbformat": 4, "nbformat_minor": 0}).encode()


def text(encoding, comment="# naïve café"):
    def write(book):
        cell(book)["source"] += f"\n{comment}"
        return json.dumps(book, ensure_ascii=False).encode(encoding)

    return write


def windows(book):
    return json.dumps(book, indent=1).replace("\n", "\r\n").encode()


#: student -> what changed the notebook, what wrote it, and the name of the file
THIRTY = {
    "plain": (None, None, NAME),
    "marks": (strip_marks, None, NAME),
    "marks_ids": (strip_marks_and_ids, None, NAME),
    "new_marks": (renew_marks, None, NAME),
    "one_mark": (strip_one_mark, None, NAME),
    "lines": (list_lines, None, NAME),
    "copied": (copy_answer, None, NAME),
    "stub_above": (put_stub(True), None, NAME),
    "stub_below": (put_stub(False), None, NAME),
    "no_check": (delete(*CELLS), None, NAME),
    "no_imports": (delete("imports"), None, NAME),
    "no_questions": (delete(*(f"{name}-question" for name in CELLS)), None, NAME),
    "at_the_end": (move_answer_to_end, None, NAME),
    "below": (leave_stub_and_answer_below, None, NAME),
    "one_cell": (answer_all_in_one_cell, None, NAME),
    "markdown": (make_markdown, None, NAME),
    "reversed": (turn_round, None, NAME),
    "printed": (print_much, None, NAME),
    "colab": (use_colab, None, NAME),
    "unlocked": (unlock, None, NAME),
    "given": (change_given, None, NAME),
    "texts": (add_texts, None, NAME),
    "kernel": (forget_kernel, None, NAME),
    "format3": (None, older, NAME),
    "format3_bare": (strip_marks, older, NAME),
    "format40": (None, bare, NAME),
    "bom": (None, text("utf-8-sig"), NAME),
    "latin": (None, text("latin-1"), NAME),
    "utf16": (None, text("utf-16"), NAME),
    "windows": (None, windows, NAME),
    "untitled": (None, None, "Untitled3.ipynb"),
    "download": (None, None, f"{HOMEWORK} (1).ipynb"),
    "other_name": (None, None, f"{SECOND}.ipynb"),
    "other_bare": (strip_marks_and_ids, None, f"{SECOND}.ipynb"),
    "capitals": (None, None, f"{HOMEWORK.upper()}.IPYNB"),
    "right_last": (answer_twice(wrong("double"), right("double")), None, NAME),
}
#: Right in the student's own kernel, or perhaps meant to be: a person decides.
ASKED = {
    "wrong_last": (answer_twice(right("double"), wrong("double")), None, NAME),
    "helper": (help_oneself, None, NAME),
}


def handed_in(change, write):
    book = notebook(all_right())
    if change is not None:
        change(book)
    return (write or (lambda one: json.dumps(one).encode()))(book)


def zips(folder):
    """Every second one comes from Canvas."""
    moodle, canvas = folder / "moodle.zip", folder / "canvas.zip"
    everybody = {**THIRTY, **ASKED}
    with zipfile.ZipFile(moodle, "w") as one, zipfile.ZipFile(canvas, "w") as other:
        for number, (student, (change, write, name)) in enumerate(everybody.items(), start=100):
            content = handed_in(change, write)
            if number % 2:
                other.writestr(f"{student.replace('_', '')}_{number}_{number + 900}_{name}", content)
            else:
                one.writestr(f"{student} X_{number}_assignsubmission_file_/{name}", content)
    return {str(number): student for number, student in enumerate(everybody, start=100)}, moodle, canvas


@pytest.fixture(scope="module")
def marks(tmp_path_factory, bubblewrap):
    """What the gradebook says of each."""
    folder = tmp_path_factory.mktemp("thirty")
    root = five_course(folder)
    (root / "source" / SECOND).mkdir()
    (root / "source" / SECOND / f"{SECOND}.ipynb").write_text(json.dumps(shortened(notebook())), encoding="utf-8")
    names, *archives = zips(folder)
    for archive in archives:
        assert main(["collect", str(archive), "--course", str(root)]) == 0
    assert not any((root / "submitted").glob(f"*/{SECOND}"))
    assert main(["grade", HOMEWORK, "--course", str(root)]) == 0
    course = Course.find(root)
    assert differences_of(course, [HOMEWORK]) == []
    with gradebook(course) as book:
        return {names[number]: mark for number, mark in marks_of(book, HOMEWORK).items()}


@pytest.mark.parametrize("student", THIRTY)
def test_no_right_answer_loses_a_point(marks, student):
    machine = {name: marks[student].cells[name].auto for name in CELLS}
    assert machine == {name: points for name, (points, *_) in CELLS.items()}
    assert sum(machine.values()) == POINTS
    assert not any(marks[student].cells[name].waits for name in CELLS)


@pytest.mark.parametrize("student", ASKED)
def test_or_a_person_is_asked(marks, student):
    cells = marks[student].cells
    assert (
        {name for name in CELLS if cells[name].waits} == {name for name in CELLS if not cells[name].auto} == {"double"}
    )
