"""Of several notebooks of one student for one homework: which one counts, why, and where the others are kept."""

import os
import zipfile

import pytest

from tests.autograder.small_course import FILE, HW, answered, by_name, for_machines, make_course, moodle, zipped


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


def test_nothing_that_was_handed_in_is_lost(course, tmp_path, capsys):
    place = course / "submitted" / "101" / HW / FILE
    first, second, third = (answered(f"return {i}") for i in range(3))
    collect = ("collect", tmp_path / "m.zip", "--course", course)
    for content, day, option, outcome, there in [
        (first, 2, (), "collected", first),
        (first, 2, (), "unchanged", first),
        (second, 1, (), "kept", first),  # earlier than what is there
        (second, 3, (), "replaced", second),
        (third, 3, (), "kept", second),
        (third, 3, ("--replace",), "replaced", third),
    ]:
        zipped(tmp_path / "m.zip", {moodle("Ada", 101): content}, day)
        code, found = for_machines(capsys, *collect, *option)
        assert (code, found["files"][0]["outcome"], place.read_bytes()) == (int(outcome == "kept"), outcome, there)
        assert ("--replace --student 101" in found["files"][0]["why"]) == (outcome == "kept")
    kept = {path.read_bytes() for path in (course / "earlier" / "101" / HW).iterdir()}
    assert kept == {first, second, third}


def test_a_larger_number_of_canvas_is_later(course, tmp_path, capsys):
    place = course / "submitted" / "123" / HW / FILE
    for number, outcome, there in ((4570, "collected", 4570), (4569, "kept", 4570), (4601, "replaced", 4601)):
        path = zipped(tmp_path / "c.zip", {f"lovelaceada_123_{number}_{FILE}": answered(f"return {number}")})
        code, found = for_machines(capsys, "collect", path, "--course", course)
        assert (code, found["files"][0]["outcome"]) == (int(outcome == "kept"), outcome)
        assert place.read_bytes() == answered(f"return {there}")
    assert "Canvas's number is larger" in found["files"][0]["why"]
    place.write_bytes(answered("return 0"))  # by hand: what was known of the other one does not count for it
    path = zipped(tmp_path / "c.zip", {f"lovelaceada_123_9999_{FILE}": answered()})
    assert for_machines(capsys, "collect", path, "--course", course)[1]["counts"]["kept"] == 1


def test_the_time_of_a_file_in_a_folder_decides_and_is_told(course, tmp_path, capsys):
    source = tmp_path / "box" / "ada" / FILE
    source.parent.mkdir(parents=True)
    place = course / "submitted" / "ada" / HW / FILE
    day = 1_800_000_000
    for changed, outcome, there in ((day, "collected", 0), (day - 60, "kept", 0), (day + 60, "replaced", 60)):
        source.write_bytes(answered(f"return {changed - day}"))
        os.utime(source, (changed, changed))
        code, found = for_machines(capsys, "collect", tmp_path / "box", "--course", course)
        assert (code, found["files"][0]["outcome"]) == (int(outcome == "kept"), outcome)
        assert place.read_bytes() == answered(f"return {there}")
    assert "the file was changed later, 2027-01-15 08:01:00 UTC" in found["files"][0]["why"]
    assert not (place.parent / "timestamp.txt").exists()  # that is no time of handing in


def test_a_time_that_the_student_wrote_does_not_count(course, tmp_path, capsys):
    """An unzipped folder of Moodle, with a timestamp.txt among what was handed in."""
    place = tmp_path / "unzipped" / moodle("Eve", 4711)
    place.parent.mkdir(parents=True)
    place.write_bytes(answered())
    (place.parent / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    code, _ = for_machines(capsys, "collect", tmp_path / "unzipped", "--course", course)
    assert code == 0
    assert (course / "submitted" / "4711" / HW / FILE).exists()
    assert not (course / "submitted" / "4711" / HW / "timestamp.txt").exists()


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
def test_collecting_the_same_again_gives_the_same(course, tmp_path, capsys, order):
    """The time of handing in decides before the name does, in the first run as in the others; its reason is true."""
    names = (FILE, f"{HW} (1).ipynb", f"{HW} (2).ipynb")
    contents, days = (answered("return 0"), answered("return 1"), answered("return 0")), (18, 19, 17)
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for i in order:
            archive.writestr(zipfile.ZipInfo(moodle("Ada", 7, names[i]), (2026, 11, days[i], 9, 0, 0)), contents[i])
    folder = course / "submitted" / "7" / HW
    stamps = set()
    for _ in range(3):
        _, found = for_machines(capsys, "collect", tmp_path / "m.zip", "--course", course)
        assert (folder / FILE).read_bytes() == contents[1]
        stamps.add((folder / "timestamp.txt").read_text())
        assert all("handed in earlier" in one["why"] for one in found["files"] if one["outcome"] == "kept")
        assert all("handed in later" in one["why"] for one in found["files"] if one["outcome"] == "replaced")
    assert len(stamps) == 1
    assert found["counts"] == {"collected": 0, "replaced": 0, "unchanged": 1, "kept": 2, "refused": 0}


def test_a_file_handed_in_again_counts_as_of_then(course, tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for day, content in ((18, "return 0"), (20, "return 0"), (19, "return 1")):
            name = moodle("Ada", 7, f"{HW} ({day}).ipynb")
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, day, 9, 0, 0)), answered(content))
    for _ in range(2):
        assert for_machines(capsys, "collect", tmp_path / "m.zip", "--course", course)[1]["counts"]["kept"] == 1
        assert (course / "submitted" / "7" / HW / FILE).read_bytes() == answered("return 0")


def test_the_right_name_counts_in_a_later_run_too(course, tmp_path, capsys):
    box = tmp_path / "box" / "ada"
    box.mkdir(parents=True)
    for name, changed in ((FILE, 1_800_000_000), (f"{HW}_draft.ipynb", 1_800_000_060)):
        (box / name).write_bytes(answered(f"return {changed}"))
        os.utime(box / name, (changed, changed))
    for _ in range(2):
        code, found = for_machines(capsys, "collect", tmp_path / "box", "--course", course)
        why = by_name(found["files"], "where")[f"ada/{HW}_draft.ipynb"]["why"]
        assert (code, "the one that is there has the right name" in why) == (1, True)
        assert (course / "submitted" / "ada" / HW / FILE).read_bytes() == answered("return 1800000000")


@pytest.mark.parametrize("order", [(18, 19), (19, 18)])
def test_replace_does_not_let_the_order_in_a_zip_decide(course, tmp_path, capsys, order):
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as archive:
        for day in order:
            name = moodle("Ada", 7, f"{HW} ({day}).ipynb")
            archive.writestr(zipfile.ZipInfo(name, (2026, 11, day, 9, 0, 0)), answered(f"return {day}"))
    place = course / "submitted" / "7" / HW / FILE
    place.parent.mkdir(parents=True)
    place.write_bytes(answered("return 0"))
    for _ in range(2):
        for_machines(capsys, "collect", tmp_path / "m.zip", "--replace", "--course", course)
        assert place.read_bytes() == answered("return 19")
