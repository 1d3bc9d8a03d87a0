"""A student's folder becomes answers by grade_id, with a note on everything that was odd. Nothing raises."""

import json
import os
import time

import nbformat
import pytest

from autograder.intake.notebook import LONGEST_SOURCE, MOST_CELLS
from autograder.intake.submission import submitted_at
from tests.autograder.desk import RIGHT, Desk
from tests.autograder.small_course import HW, make_course


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
    assert set(found.answers) == {"noisy_count-solution", "why-written"}
    assert found.answers["noisy_count-solution"] == RIGHT  # its function tells
    assert found.notes == (
        "The cell 'likelihood_ratio-solution' is missing: it was deleted or renamed.",
        "nbgrader's mark is missing at 1 answer ('noisy_count-solution'); it was recognised by its function or its "
        "question, and counts.",
    )
    assert found.extra == ()
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
    assert (found.notes, found.extra, found.doubts) == ((), (), {})


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
    assert found.extra == (book.cells[1].source, "helper = 1")
    assert found.answers["why-written"] == "My proof is here."  # below its empty cell
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
