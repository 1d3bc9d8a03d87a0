"""Whatever a student hands in, reading it ends with a Submission that says what happened, soon and within memory."""

import json
import os
import random
import subprocess
import sys
import time

import nbformat
import pytest

from autograder.assignment import Assignment
from autograder.notebook_file import LARGEST_FILE, LONGEST_SOURCE, MOST_CELLS, cells_of, without_outputs
from autograder.submission import read_submission, submitted_at
from tests.autograder.small_course import HW, make_course
from tests.conftest import ROOT

RIGHT = "def noisy_count(count, epsilon, rng):\n    return count + rng.laplace(0, 1 / epsilon)"


class Desk:
    """A student's folder, and the homework."""

    def __init__(self, root):
        self.assignment = Assignment.read(root / "source" / HW / f"{HW}.ipynb")
        self.folder = root / "submitted" / "ada" / HW
        self.folder.mkdir(parents=True)
        self.file = self.folder / f"{HW}.ipynb"

    def book(self):
        """What Ada hands in if nothing is odd: one function is written."""
        source = (self.folder.parents[2] / "source" / HW / f"{HW}.ipynb").read_text(encoding="utf-8")
        book = nbformat.reads(source, as_version=4)
        for cell in book.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in self.assignment.released:
                cell.source = self.assignment.released[name]
        self.cell(book, "noisy_count-solution").source = RIGHT
        return book

    @staticmethod
    def cell(book, name):
        return next(cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)

    def write(self, book, path=None):
        (path or self.file).write_text(nbformat.writes(book), encoding="utf-8")

    def read(self):
        return read_submission(self.folder, self.assignment, "ada")


@pytest.fixture
def desk(tmp_path):
    return Desk(make_course(tmp_path))


def test_a_notebook_as_it_should_be(desk):
    desk.write(desk.book())
    found = desk.read()
    assert (found.student, found.assignment, found.rejected, found.notes, found.extra) == ("ada", HW, "", (), ())
    assert set(found.answers) == {"likelihood_ratio-solution", "noisy_count-solution", "why-written"}
    assert found.answers["noisy_count-solution"] == RIGHT
    assert len(found.fingerprint) == 64


# Cells


def test_a_missing_and_a_renamed_cell_are_told(desk):
    book = desk.book()
    book.cells.remove(desk.cell(book, "likelihood_ratio-solution"))
    desk.cell(book, "noisy_count-solution").metadata.nbgrader.grade_id = "my_count"
    desk.write(book)
    found = desk.read()
    assert set(found.answers) == {"why-written"}
    assert [note for note in found.notes if "missing" in note] == [
        "The cell 'likelihood_ratio-solution' is missing: it was deleted or renamed.",
        "The cell 'noisy_count-solution' is missing: it was deleted or renamed.",
    ]
    assert found.extra == (RIGHT,)
    assert not found.rejected


@pytest.mark.parametrize("order", ["stub first", "stub last"])
def test_of_two_cells_with_one_name_the_one_that_was_written_counts(desk, order):
    book = desk.book()
    place = book.cells.index(desk.cell(book, "noisy_count-solution"))
    stub = nbformat.from_dict(json.loads(json.dumps(book.cells[place])))
    stub.source, stub.id = desk.assignment.released["noisy_count-solution"], "copy"
    book.cells.insert(place + (order == "stub last"), stub)
    desk.write(book)
    found = desk.read()
    assert found.answers["noisy_count-solution"] == RIGHT
    assert len(found.notes) == 1
    assert "2 cells 'noisy_count-solution'" in found.notes[0]


def test_a_copied_test_cell_does_no_harm(desk):
    book = desk.book()
    copy = nbformat.from_dict(json.loads(json.dumps(desk.cell(book, "noisy_count"))))
    copy.id = "copy"
    book.cells.append(copy)
    desk.write(book)
    assert (desk.read().notes, desk.read().extra, len(desk.read().answers)) == ((), (), 3)


def test_added_and_changed_given_cells_are_kept_apart(desk):
    book = desk.book()
    book.cells[1].source += "\nimport scipy"
    book.cells.append(nbformat.v4.new_code_cell("helper = 1"))
    book.cells.append(nbformat.v4.new_markdown_cell("My proof is here."))
    desk.write(book)
    found = desk.read()
    assert found.extra == (book.cells[1].source, "helper = 1", "My proof is here.")
    assert found.notes == (
        "Given cells were changed ('imports'); grading runs them as they were given.",
        "1 code cell was added; only the cells for solutions are run.",
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (5, "is not text"),
        (["x", 5], "is not text"),
        (None, "is not text"),
        ({"a": 1}, "is not text"),
        ("x" * (LONGEST_SOURCE + 1), "has 200,001 characters"),
    ],
)
def test_a_cell_without_a_readable_source_costs_only_itself(desk, source, words):
    book = json.loads(nbformat.writes(desk.book()))
    book["cells"][2]["source"] = source
    desk.file.write_text(json.dumps(book), encoding="utf-8")
    found = desk.read()
    assert set(found.answers) == {"noisy_count-solution", "why-written"}
    assert any(words in note for note in found.notes), found.notes


def test_characters_that_no_file_can_hold_are_replaced(desk):
    book = json.loads(nbformat.writes(desk.book()))
    book["cells"][2]["source"] = ["a = 1\x00\n", "b = '\ud800'"]
    desk.file.write_text(json.dumps(book), encoding="utf-8")
    found = desk.read()
    assert found.answers["likelihood_ratio-solution"] == "a = 1\ufffd\nb = '\ufffd'"
    assert any("no file can hold" in note for note in found.notes)


@pytest.mark.parametrize("odd", [7, None, [], "x", {"metadata": 3}, {"metadata": {"nbgrader": {"grade_id": ["x"]}}}])
def test_things_that_are_no_cells_are_left_out(desk, odd):
    book = json.loads(nbformat.writes(desk.book()))
    book["cells"].insert(0, odd)
    desk.file.write_text(json.dumps(book), encoding="utf-8")
    assert len(desk.read().answers) == 3


def test_too_many_cells_are_cut_off(desk):
    book = json.loads(nbformat.writes(desk.book()))
    book["cells"] += [{"cell_type": "code", "metadata": {}, "source": f"x{number}"} for number in range(MOST_CELLS)]
    desk.file.write_text(json.dumps(book), encoding="utf-8")
    found = desk.read()
    assert len(found.answers) == 3
    assert any("only the first 5,000" in note for note in found.notes)


# Files


@pytest.mark.parametrize("version", [3, 2])
def test_an_older_format_is_converted(desk, version):
    old = nbformat.convert(desk.book(), 3)
    if version == 2:  # nbformat cannot go back that far; it differs in nothing that matters here
        old.nbformat = 2
    desk.file.write_text(json.dumps(old), encoding="utf-8")
    found = desk.read()
    assert found.answers["noisy_count-solution"] == RIGHT
    assert len(found.answers) == 3
    assert any("older format" in note for note in found.notes)


@pytest.mark.parametrize(
    ("encoding", "words"),
    [("utf-8-sig", ""), ("utf-16", "UTF-16"), ("utf-32", "UTF-32"), ("latin-1", "not UTF-8; it was read as Latin-1")],
)
def test_other_encodings_are_read(desk, encoding, words):
    book = desk.book()
    desk.cell(book, "why-written").source = "Übermäßig"
    desk.file.write_bytes(nbformat.writes(book).encode(encoding))
    found = desk.read()
    assert found.answers["why-written"] == "Übermäßig"
    assert (len(found.notes) == 1 and words in found.notes[0]) if words else found.notes == ()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"{", "not valid JSON"),
        (b"\x00\xff\x00\xfe\x80", "not valid JSON"),
        (b"PK\x03\x04zip", "not valid JSON"),
        (b"[1, 2]", "no cells"),
        (b"{}", "no cells"),
        (b'{"cells": 5}', "no cells"),
        (b'{"cells": [], "nbformat": 4}', "is it the notebook of another homework?"),
        (b'{"worksheets": [1, {"cells": 2}]}', "is it the notebook of another homework?"),
        (b"[" * 200_000, "nested too deeply"),
        (b'{"cells":' * 100_000, "nested too deeply"),
        (b'{"cells": [' + b"9" * 100_000 + b"]}", "is it the notebook of another homework?"),
    ],
)
def test_what_is_no_notebook_is_rejected_in_a_sentence(desk, content, words):
    desk.file.write_bytes(content)
    found = desk.read()
    assert words in found.rejected
    assert found.rejected.endswith((".", "?"))
    assert found.answers == {}
    assert found.fingerprint


def test_a_cut_off_notebook_is_rejected_wherever_it_is_cut(desk):
    text = nbformat.writes(desk.book())
    for place in random.Random(1).sample(range(len(text) - 2), 50):
        desk.file.write_text(text[:place], encoding="utf-8")
        assert desk.read().rejected, place


def test_flipped_bytes_never_raise(desk):
    data = nbformat.writes(desk.book()).encode()
    dice = random.Random(2)
    for _ in range(200):
        broken = bytearray(data)
        for _ in range(dice.randint(1, 8)):
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        desk.file.write_bytes(broken)
        found = desk.read()
        assert bool(found.rejected) != bool(found.answers)


def large(desk, outputs):
    """Ada's notebook with these bytes in the place of a cell's outputs."""
    book = json.loads(nbformat.writes(desk.book()))
    book["cells"][1]["outputs"] = "OUTPUTS"
    head, tail = json.dumps(book).encode().split(b'"OUTPUTS"')
    with desk.file.open("wb") as file:
        file.writelines((head, outputs, tail))


#: In a process of its own, which may not have more memory than half a gigabyte.
WITHIN_MEMORY = """
import resource, sys
from pathlib import Path
from autograder.assignment import Assignment
from autograder.submission import read_submission
resource.setrlimit(resource.RLIMIT_AS, (512 * 2**20, 512 * 2**20))
found = read_submission(Path(sys.argv[1]), Assignment.read(Path(sys.argv[2])), "ada")
print(len(found.answers), *found.notes, found.rejected)
"""


def test_a_notebook_of_200_megabytes_is_read_without_its_outputs(desk):
    line = b'"' + b"x" * 60 + b'\\n",'
    large(desk, b'[{"output_type": "stream", "text": [' + line * (200 * 2**20 // len(line)) + b'""]}]')
    assert desk.file.stat().st_size > 199 * 2**20
    start = time.monotonic()
    source = desk.folder.parents[2] / "source" / HW / f"{HW}.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", WITHIN_MEMORY, desk.folder, source],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "3 The file has 200 MB; its outputs were left out."
    assert time.monotonic() - start < 30


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (b"[" * (20 * 2**20), "too many to be read"),
        (b"[" * 100 + b" " * (20 * 2**20), "ends in the middle of an output"),
        (b"[" * 3_000_000 + b"]" * 3_000_000 + b" " * (4 * 2**20), "too many to be read"),
        (b'"' + b"x" * (20 * 2**20) + b'"', "still more than 8 MB"),
        (b'["' + b"x" * (20 * 2**20), "ends in the middle of an output"),
    ],
)
def test_large_and_hostile_outputs_end_soon(desk, outputs, words):
    large(desk, outputs)
    start = time.process_time()
    found = desk.read()
    assert words in found.rejected
    assert time.process_time() - start < 8


def test_a_file_that_is_too_large_is_not_read(desk):
    with desk.file.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    start = time.process_time()
    found = desk.read()
    assert "more than 256 MB are not read" in found.rejected
    assert time.process_time() - start < 0.5


def test_leaving_out_outputs_changes_nothing_else(desk):
    book = desk.book()
    book.cells[1].outputs = [nbformat.v4.new_output("stream", text='a "quoted" \\ [bracket')]
    book.cells[2].source = 'x = {"outputs": [1, 2]}  # "outputs": [\\"'
    data = nbformat.writes(book).encode()
    kept = json.loads(without_outputs(data))
    whole = json.loads(data)
    whole["cells"][1]["outputs"] = []
    assert kept == whole
    assert cells_of(without_outputs(data))[0] == cells_of(data)[0]


# Folders


def test_another_file_name_is_taken(desk):
    desk.write(desk.book(), desk.folder / "Homework one (1).ipynb")
    found = desk.read()
    assert len(found.answers) == 3
    assert found.notes == (f"Not '{HW}.ipynb' but 'Homework one (1).ipynb' was read.",)


def test_of_several_files_the_one_that_matches_best_is_taken(desk):
    book = desk.book()
    desk.write(book, desk.folder / "b.ipynb")
    book.cells = book.cells[:4]
    desk.write(book, desk.folder / "a.ipynb")
    (desk.folder / "c.ipynb").write_text("broken")
    found = desk.read()
    assert len(found.answers) == 3
    assert found.notes == (f"Not '{HW}.ipynb' but 'b.ipynb' was read.",)


def test_the_right_name_goes_before_a_better_match(desk):
    book = desk.book()
    desk.write(book, desk.folder / "a.ipynb")
    book.cells = book.cells[:4]
    desk.write(book)
    found = desk.read()
    assert len(found.answers) == 1
    assert found.notes[0] == f"There are 2 notebooks; '{HW}.ipynb' was read."


def test_an_empty_file_of_the_right_name_does_not_hide_the_real_one(desk):
    desk.file.touch()
    desk.write(desk.book(), desk.folder / "copy.ipynb")
    assert len(desk.read().answers) == 3


def test_a_notebook_in_a_folder_in_the_folder_is_found(desk):
    inner = desk.folder / "my homework" / HW
    inner.mkdir(parents=True)
    desk.write(desk.book(), inner / f"{HW}.ipynb")
    found = desk.read()
    assert len(found.answers) == 3
    assert "my homework" in found.notes[0]


def test_a_checkpoint_is_nobodys_answer(desk):
    hidden = desk.folder / ".ipynb_checkpoints"
    hidden.mkdir()
    desk.write(desk.book(), hidden / f"{HW}-checkpoint.ipynb")
    assert "There is no notebook" in desk.read().rejected


def test_links_are_not_followed(desk, tmp_path):
    secret = tmp_path / "secret.ipynb"
    desk.write(desk.book(), secret)
    desk.file.symlink_to(secret)
    found = desk.read()
    assert "is a link; links are not followed" in found.rejected
    assert (found.answers, found.fingerprint) == ({}, "")


@pytest.mark.parametrize("depth", [0, 1])
def test_a_folder_that_is_a_link_is_not_followed(desk, tmp_path, depth):
    desk.write(desk.book())
    place = desk.folder if depth == 0 else desk.folder.parent
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert "is a link" in desk.read().rejected


def test_devices_pipes_and_folders_are_not_opened(desk):
    os.mkfifo(desk.file)
    assert "is not a plain file" in desk.read().rejected
    desk.file.unlink()
    desk.file.mkdir()
    assert "is a folder, not a file" in desk.read().rejected


def test_an_empty_and_a_missing_folder(desk):
    assert f"There is no notebook '{HW}.ipynb'" in desk.read().rejected
    desk.folder.rmdir()
    assert "nothing was handed in" in desk.read().rejected


def test_a_folder_with_thousands_of_files_is_looked_through_quickly(desk):
    for number in range(3_000):
        (desk.folder / f"{number}.txt").touch()
    start = time.process_time()
    assert desk.read().rejected
    assert time.process_time() - start < 1


def test_a_name_in_a_note_is_one_short_line(desk):
    desk.write(desk.book(), desk.folder / ("<b>\n" + "x" * 200 + ".ipynb"))
    (note,) = desk.read().notes
    assert "\n" not in note
    assert len(note) < 160


@pytest.mark.parametrize(
    ("content", "when"),
    [
        (b"2026-02-02 09:58:23.484975 UTC\n", "2026-02-02T09:58:23.484975"),
        (b"2026-02-02T09:58:23+01:00", "2026-02-02T08:58:23"),
        (b"", None),
        (b"yesterday, honestly", None),
        (b"\xff\xfe", None),
    ],
)
def test_the_time_is_read_as_nbgrader_reads_it(desk, content, when):
    (desk.folder / "timestamp.txt").write_bytes(content)
    found = submitted_at(desk.folder)
    assert (found and found.isoformat()) == when


def test_a_time_that_is_a_link_is_not_read(desk, tmp_path):
    (tmp_path / "time").write_text("2026-02-02 09:58:23 UTC")
    (desk.folder / "timestamp.txt").symlink_to(tmp_path / "time")
    assert submitted_at(desk.folder) is None
