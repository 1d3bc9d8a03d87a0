"""Whatever is in a zip or a folder: the submissions are taken in, tricks are refused one by one, nothing is lost."""

import shutil
import stat
import zipfile

import nbformat
import pytest

from autograder.course.names import BadName, safe_name, safe_parts
from tests.autograder.small_course import (
    FILE,
    HW,
    answered,
    by_name,
    dpcourse,
    for_machines,
    make_course,
    moodle,
    zipped,
)


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


def test_a_zip_of_moodle(course, tmp_path, capsys):
    entries = {
        moodle("Ada Lovelace", 101): answered(),
        moodle("Zoë Müller", 102, "Homework.ipynb"): answered("return 1"),  # known by its cells
        moodle("Flat Name", 103, slash="_"): answered("return 2"),
        moodle("Short Slash", 104, slash="/"): answered("return 3"),
        moodle("No Notebook", 105, "essay.pdf"): b"%PDF",
        moodle("Empty File", 106): b"",
    }
    code, found = for_machines(capsys, "collect", zipped(tmp_path / "m.zip", entries), "--course", course)
    assert code == 1  # the PDF
    assert found["counts"] == {"collected": 5, "replaced": 0, "unchanged": 0, "kept": 0, "refused": 1}
    for student, content in zip(("101", "102", "103", "104"), entries.values(), strict=False):
        assert (course / "submitted" / student / HW / FILE).read_bytes() == content
    assert (course / "submitted" / "106" / HW / FILE).read_bytes() == b""

    from datetime import UTC, datetime

    from nbgrader.utils import parse_utc

    stamp = (course / "submitted" / "101" / HW / "timestamp.txt").read_text()
    here = datetime(2026, 11, 1, 12, 30).astimezone(UTC).replace(tzinfo=None)
    assert parse_utc(stamp.strip()) == here


def test_moodle_names_become_the_ids_of_the_list(course, tmp_path, capsys):
    students = tmp_path / "class.csv"
    students.write_text(
        "student_id;first_name;last_name;moodle\nada;Ada;Lovelace;\nzoe;Zoë;Müller;102\nx1;Jo;Doe;\nx2;Jo;Doe;\n",
        "utf-8",
    )
    entries = {
        moodle("Ada Lovelace", 101): answered(),
        moodle("Somebody Else", 102): answered("return 1"),
        moodle("Jo Doe", 103): answered("return 2"),
        moodle("Stranger", 104): answered("return 3"),
    }
    zipped(tmp_path / "m.zip", entries)
    _, found = for_machines(capsys, "collect", tmp_path / "m.zip", "--students", students, "--course", course)
    outcomes = {one["where"].split("_")[0]: (one["student"], one["why"]) for one in found["files"]}
    assert outcomes["Ada Lovelace"] == ("ada", "")
    assert outcomes["Somebody Else"] == ("zoe", "")  # the number is surer than the name
    assert "may be any of x1, x2" in outcomes["Jo Doe"][1]
    assert "not in the list" in outcomes["Stranger"][1]


def test_a_zip_of_canvas(course, tmp_path, capsys):
    entries = {
        f"lovelaceada_123_4567_{HW}.ipynb": answered("return 1"),
        f"lovelaceada_123_4568_{HW}-2.ipynb": answered("return 2"),
        f"hopperg_LATE_124_4569_{HW}-3.ipynb": answered("return 3"),
    }
    code, found = for_machines(capsys, "collect", zipped(tmp_path / "c.zip", entries), "--course", course)
    assert (code, found["counts"]["collected"], found["counts"]["replaced"]) == (0, 2, 1)
    assert (course / "submitted/123" / HW / FILE).read_bytes() == answered("return 2")
    assert [path.read_bytes() for path in (course / "earlier/123" / HW).iterdir()] == [answered("return 1")]
    assert by_name(found["files"], "student")["124"]["why"] == "came late, says Canvas"
    assert not (course / "submitted/124" / HW / "timestamp.txt").exists()  # Canvas's zip does not tell


def test_a_folder_and_the_homework_by_name_cells_or_option(course, tmp_path, capsys):
    source = tmp_path / "box"
    for name, content in {
        f"ada/{HW}.ipynb": answered(),
        f"ada/draft_{HW}.ipynb": answered("return 0"),
        f"bob/{HW}/{HW}.ipynb": answered("return 1"),
        "cyd.ipynb": answered("return 2"),
        "dan/unknown.ipynb": b"not a notebook",
    }.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    code, found = for_machines(capsys, "collect", source, "--course", course)
    assert code == 1
    assert "say which by --assignment" in by_name(found["files"], "where")["dan/unknown.ipynb"]["why"]
    assert (course / "submitted/ada" / HW / FILE).read_bytes() == answered()  # not the draft, which is kept
    assert [path.read_bytes() for path in (course / "earlier/ada" / HW).iterdir()] == [answered("return 0")]
    assert sorted(path.name for path in (course / "submitted").iterdir()) == ["ada", "bob", "cyd"]
    _, found = for_machines(capsys, "collect", source, "--assignment", HW, "--course", course)
    assert found["counts"]["collected"] == 1
    assert (course / "submitted/dan" / HW / FILE).read_bytes() == b"not a notebook"


def test_one_student_only(course, tmp_path, capsys):
    path = zipped(tmp_path / "m.zip", {moodle("Ada", 1): answered(), moodle("Bob", 2): answered(), "x.pdf": b"%PDF"})
    words = ("collect", path, "--course", course, "--student")
    code, found = for_machines(capsys, *words, "2")
    assert (code, [one["student"] for one in found["files"]]) == (0, ["2"])
    assert [one.name for one in (course / "submitted").iterdir()] == ["2"]
    code, out, _ = dpcourse(capsys, *words, "eve")
    assert (code, "refused: eve is a student of whom nothing was found in" in out) == (1, True)
    code, _, err = dpcourse(capsys, "collect", "exchange", "--course", course, "--student", "ada")
    assert (code, "'ada'" in err) == (1, True)


@pytest.mark.parametrize("file", [FILE, f"ada {HW}.ipynb", "Untitled.ipynb", "hw1.ipynb"])
def test_a_notebook_of_nobody_is_refused(course, tmp_path, capsys, file):
    path = zipped(tmp_path / "c.zip", {file: answered(), "cyd.ipynb": answered()})
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / file).write_bytes(answered())
    (tmp_path / "box" / "cyd.ipynb").write_bytes(answered())
    for source in (path, tmp_path / "box"):
        code, found = for_machines(capsys, "collect", source, "--course", course)
        assert (code, found["counts"]["refused"]) == (1, 1)
        assert "whose is it?" in by_name(found["files"], "where")[file]["why"]
    assert [one.name for one in (course / "submitted").iterdir()] == ["cyd"]


def test_what_cannot_be_read_is_collected_with_a_warning(course, tmp_path, capsys):
    path = zipped(tmp_path / "m.zip", {moodle("Ada", 1): b"{", moodle("Bob", 2): answered()})
    code, out, _ = dpcourse(capsys, "collect", path, "--course", course)
    assert (code, (course / "submitted" / "1" / HW / FILE).read_bytes()) == (0, b"{")
    assert "WARNING: what '1' handed in cannot be read as a notebook: The file is not a notebook" in out
    assert out.count("WARNING") == 1


def test_empty_folders_and_an_empty_zip_are_told(course, tmp_path, capsys):
    (tmp_path / "box" / "ada" / HW).mkdir(parents=True)
    (tmp_path / "box" / "bob").mkdir()
    (tmp_path / "box" / "bob" / FILE).write_bytes(answered())
    path = zipped(tmp_path / "m.zip", {"ada/": b"", "bob/": b"", f"bob/{FILE}": answered()})
    for source, where in ((tmp_path / "box", "'ada'"), (path, "'ada/'")):
        code, out, _ = dpcourse(capsys, "collect", source, "--course", course)
        assert (code, f"refused: {where} is an empty folder: nothing was handed in" in out) == (1, True)
        assert out.count("empty folder") == 1
    code, _, err = dpcourse(capsys, "collect", zipped(tmp_path / "none.zip", {}), "--course", course)
    assert (code, "none.zip' holds nothing that could be collected" in err) == (1, True)


TRICKS = [
    "../../../evil.ipynb", "/tmp/evil.ipynb", "C:\\evil.ipynb", "a\\..\\evil.ipynb", "..\\evil/x.ipynb",
    "ada/\x1b[2J.ipynb",
    "con/x.ipynb", "NUL.ipynb", "~root/x.ipynb", ".ssh/x.ipynb", f"{'x' * 300}/x.ipynb", "-rf/x.ipynb", "a:b/x.ipynb",
    "x\u202eipynb.exe/a.ipynb", "./../x.ipynb",
]  # fmt: skip


def test_tricks_are_refused_and_the_others_are_collected(course, tmp_path, capsys):
    path = zipped(tmp_path / "m.zip", {**dict.fromkeys(TRICKS, answered()), f"good/{HW}.ipynb": answered()})
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo(f"link/{HW}.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    before = {file for file in tmp_path.rglob("*") if "submitted" not in file.parts}
    code, found = for_machines(capsys, "collect", path, "--assignment", HW, "--course", course)
    assert code == 1
    assert [one["student"] for one in found["files"] if one["outcome"] != "refused"] == ["good"]
    assert len([one for one in found["files"] if one["outcome"] == "refused"]) == len(TRICKS) + 1
    assert all(one["why"] for one in found["files"] if one["outcome"] == "refused")
    assert {file for file in tmp_path.rglob("*") if "submitted" not in file.parts} == before
    assert [one.name for one in (course / "submitted").iterdir()] == ["good"]


def test_a_zip_bomb_costs_its_student_the_submission_and_nobody_else(course, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("autograder.intake.archives.LARGEST_FILE", 1_000_000)
    path = zipped(tmp_path / "m.zip", {moodle("Bomb", 1): bytes(3_000_000), moodle("Ada", 2): answered()})
    raw = path.read_bytes()
    size = (3_000_000).to_bytes(4, "little")
    assert raw.count(size) == 2
    path.write_bytes(raw.replace(size, (500).to_bytes(4, "little")))  # the headers lie about the size
    _, found = for_machines(capsys, "collect", path, "--course", course)
    outcomes = {one["where"].split("_")[0]: one["outcome"] for one in found["files"]}
    assert outcomes["Ada"] == "collected"
    place = course / "submitted" / "1" / HW / FILE
    assert not place.exists() or place.stat().st_size <= 1_000_000

    zipped(path, {moodle("Bomb", 3): bytes(3_000_000), moodle("Bob", 4): answered()})
    _, found = for_machines(capsys, "collect", path, "--course", course)
    assert {one["where"].split("_")[0]: one["outcome"] for one in found["files"]} == {
        "Bomb": "refused",
        "Bob": "collected",
    }


def test_links_in_a_folder_are_not_followed(course, tmp_path, capsys):
    (tmp_path / "secret.ipynb").write_bytes(answered())
    (tmp_path / "box" / "ada").mkdir(parents=True)
    (tmp_path / "box" / "ada" / FILE).symlink_to(tmp_path / "secret.ipynb")
    (tmp_path / "box" / "bob").symlink_to(tmp_path)
    _, found = for_machines(capsys, "collect", tmp_path / "box", "--course", course)
    assert {one["outcome"] for one in found["files"]} == {"refused"}
    assert not (course / "submitted").exists()


def test_nbgraders_exchange(small_course, tmp_path, capsys):
    course = small_course
    exchange = tmp_path / "exchange"
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Exchange.root = {str(exchange)!r}\nc.ExchangeCollect.check_owner = False\n")
    inbound = exchange / "dpcourse" / "inbound"
    for i, stamp in enumerate(("2026-11-01 12:00:00.000000 UTC", "2026-11-02 12:00:00.000000 UTC")):
        folder = inbound / f"ada+{HW}+{stamp}"
        folder.mkdir(parents=True)
        (folder / FILE).write_bytes(answered(f"return {i}"))
        (folder / "timestamp.txt").write_text(stamp)
        exchange.chmod(0o777)
        code, found = for_machines(capsys, "collect", "exchange", "--course", course)
        assert (code, [one["outcome"] for one in found["files"]]) == (0, ["collected", "replaced"][i : i + 1])
    assert (course / "submitted/ada" / HW / FILE).read_bytes() == answered("return 1")
    assert [path.read_bytes() for path in (course / "earlier/ada" / HW).iterdir()] == [answered("return 0")]
    shutil.rmtree(exchange)
    code, _, err = dpcourse(capsys, "collect", "exchange", "--course", course)
    assert (code, HW in err, "Traceback" in err) == (1, True, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [(("nowhere.zip",), "nowhere.zip"), (("{broken}",), "broken zip file"), (("{file}",), "neither a folder nor a zip"),
     (("{file}", "--assignment", "hw7"), "hw7"), (("{cut}",), "cut.zip' is a broken zip file"),
     (("{folder}", "--students", "nobody.csv"), "'nobody.csv' cannot be used: no such file"),
     (("{folder}", "--students", "{folder}"), "is a directory"),
     (("{folder}", "--students", "{file}"), "student_id")],
)  # fmt: skip
def test_what_cannot_be_collected_is_said(course, tmp_path, capsys, words, said):
    file = tmp_path / "file.csv"
    file.write_text("name\nAda\n")
    broken = zipped(tmp_path / "broken.zip", {"a/b.ipynb": b"x"})
    broken.write_bytes(broken.read_bytes().replace(b"PK\x01\x02", b"PK\x01\x03"))
    cut = tmp_path / "cut.zip"
    cut.write_bytes(zipped(cut, {"a/b.ipynb": answered()}).read_bytes()[:-40])
    filled = [word.format(file=file, folder=tmp_path, broken=broken, cut=cut) for word in words]
    code, out, err = dpcourse(capsys, "collect", *filled, "--course", course)
    assert (code, out) == (1, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["ada", "Zoë Müller", "a.b@c.de", "12345", "O'Brien", "李"])
def test_real_names_are_safe(name):
    assert safe_name(name) == name
    assert safe_parts(f"{name}/x.ipynb") == [name, "x.ipynb"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\nb", "a\0b", "aux", "x" * 101, ".a", "-a", "a."])
def test_other_names_are_not(name):
    with pytest.raises(BadName):
        safe_name(name)


def test_what_was_collected_is_a_notebook_that_nbformat_reads(course, tmp_path, capsys):
    zipped(tmp_path / "m.zip", {moodle("Ada", 1): answered()})
    assert dpcourse(capsys, "collect", tmp_path / "m.zip", "--course", course)[0] == 0
    assert nbformat.read(course / "submitted" / "1" / HW / FILE, 4).cells[2].source.endswith("/ b)")


@pytest.mark.parametrize("packed", [False, True])
def test_nobody_hands_in_as_somebody_else(course, tmp_path, capsys, packed):
    """What lies in a student's folder is named by the student."""
    entries = {
        f"jm/{HW}/{FILE}": answered("return 1"),
        f"mallory/jm/{HW}/{FILE}": answered("return 2"),
        f"mallory/{moodle('J M', 1001)}": answered("return 3"),
        f"{moodle('Eve', 77, '')}{moodle('J M', 1001)}": answered("return 4"),
        f"mal2/m\u00fcller_1001_999999_{FILE}": answered("return 5"),
        f"m\u00fcller_1001_5_{FILE}": answered("return 6"),
        f"{moodle('Ann', 78, '')}{moodle('Ann', 78, slash='_')}": answered("return 7"),  # twice, but the same one
    }
    source = tmp_path / "box"
    for name, content in entries.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    source = zipped(tmp_path / "box.zip", entries) if packed else source
    code, found = for_machines(capsys, "collect", source, "--course", course)
    assert (code, found["counts"]["collected"], found["counts"]["refused"]) == (1, 4, 3)
    refused = [one for one in found["files"] if one["outcome"] == "refused"]
    assert all("cannot hand in for another" in one["why"] for one in refused)
    there = {one.parts[-3]: one.read_bytes() for one in (course / "submitted").rglob("*.ipynb")}
    assert there == {name: answered(f"return {i}") for name, i in (("jm", 1), ("mal2", 5), ("1001", 6), ("78", 7))}


def test_another_homework_that_is_broken_stops_nobody(course, capsys, tmp_path):
    place = course / "source" / "hw2_broken" / "hw2_broken.ipynb"
    place.parent.mkdir()
    place.write_text("{")
    source = tmp_path / "class"
    (source / "ada").mkdir(parents=True)
    (source / "ada" / FILE).write_bytes(answered())
    assert dpcourse(capsys, "collect", source, "--course", course)[0] == 0
