"""Whatever a student hands in as a file, reading it ends soon, within memory, and with a sentence."""

import base64
import json
import random
import subprocess
import sys
import time

import nbformat
import pytest

from autograder.intake import notebook
from autograder.intake.notebook import LARGEST_FILE, Unreadable, cells_of, without_outputs
from testing import ROOT
from tests.autograder.desk import RIGHT, Desk
from tests.autograder.small_course import HW, make_course

PNG, JPEG = b"\x89PNG\r\n\x1a\n" + bytes(40), b"\xff\xd8\xff" + bytes(40)


@pytest.fixture
def desk(tmp_path):
    return Desk(make_course(tmp_path))


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
from autograder.course.homework import Assignment
from autograder.intake.submission import read_submission
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


def pasted(desk, **pictures):
    """Ada's notebook with pictures in her text: type and content by name."""
    book = json.loads(nbformat.writes(desk.book()))
    text = book["cells"][6]
    text["source"] = "\n".join(f"![photo](attachment:{name})" for name in pictures)
    encoded = {name: (kind, base64.b64encode(data).decode()) for name, (kind, data) in pictures.items()}
    text["attachments"] = {name: {kind: data} for name, (kind, data) in encoded.items()}
    desk.file.write_text(json.dumps(book), encoding="utf-8")


def test_pictures_of_a_proof_on_paper_are_kept(desk):
    pasted(desk, one=("image/png", PNG), two=("image/jpeg", JPEG))
    found = desk.read().pictures
    assert [(kind, base64.b64decode(data)) for kind, data in found["why-written"]] == [
        ("image/png", PNG),
        ("image/jpeg", JPEG),
    ]


def test_what_only_says_that_it_is_a_picture_is_not_kept(desk):
    pasted(desk, a=("image/png", b"<script>"), b=("image/svg+xml", b"<svg onload=x>"), c=("text/html", PNG))
    assert desk.read().pictures == {}
    for odd in (5, [1], {"x": 5}, {"x": {"image/png": 7}}, {"x": {"image/png": "\u00e9"}}):
        book = json.loads(desk.file.read_text(encoding="utf-8"))
        book["cells"][6]["attachments"] = odd
        desk.file.write_text(json.dumps(book), encoding="utf-8")
        assert (desk.read().pictures, len(desk.read().answers)) == ({}, 3)


def test_pictures_that_are_too_large_are_left_out_and_told(desk):
    pasted(desk, one=("image/png", PNG + bytes(9 * 2**20)))
    found = desk.read()
    assert len(found.answers) == 3
    assert any("outputs and pictures were left out" in note for note in found.notes)


def test_all_outputs_of_a_file_share_the_patience(monkeypatch):
    monkeypatch.setattr(notebook, "MOST_BRACKETS", 100)
    cell = b'{"outputs":[' + b"[]," * 20 + b"1]}"
    assert without_outputs(b"[" + b",".join([cell] * 2) + b"]")
    with pytest.raises(Unreadable, match="too many"):
        without_outputs(b"[" + b",".join([cell] * 3) + b"]")
