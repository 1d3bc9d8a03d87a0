"""Who handed it in: nobody takes another student's place by a name, a spelling, or the order of the files."""

import os
from datetime import UTC, datetime

import pytest

from autograder.course.roster import Identity, read_roster
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

VICTIMS, IMPOSTORS = answered("return 1"), answered("return 666")
CLASS = "student_id,first_name,last_name,email\nada,Ada,Lovelace,ada@x.org\nzoe,Zoë,Müller,zoe@x.org\n"
WITH_NUMBERS = "student_id,name,moodle,canvas\nada,Ada Lovelace,101,501\nzoe,Zoë Müller,102,502\n"


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path)


@pytest.fixture
def collect(course, tmp_path, capsys):
    """Collect these entries as a zip (or as a folder); gives the exit code and the outcomes by path."""

    def run(entries, students="", *options, folder=False):
        words = ["collect", unpacked(tmp_path / "box", entries) if folder else zipped(tmp_path / "m.zip", entries)]
        if students:
            (tmp_path / "class.csv").write_text(students, "utf-8")
            words += ["--students", tmp_path / "class.csv"]
        code, found = for_machines(capsys, *words, "--course", course, *options)
        return code, by_name(found["files"], "where")

    return run


def unpacked(folder, entries):
    folder.mkdir(exist_ok=True)
    for name, content in entries.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def what_is_there(course, student="ada"):
    place = course / "submitted" / student / HW / FILE
    return place.read_bytes() if place.exists() else None


def canvas(name, number):
    return f"{name}_{number}_{number * 7}_{FILE}"


#: How two come to be one student in the key of names: letters and digits in NFKC, without case.
NAMES = [
    "Ada Lovelace",
    "ADA LOVELACE",
    "Lovelace, Ada",
    "Ada-Lovelace",
    "Ａｄａ Ｌｏｖｅｌａｃｅ",
    "Ada\u00a0Lovelace",
    "𝐀da Lovelace",
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_two_numbers_for_one_student_are_both_refused_in_either_order(course, collect, name, turned):
    entries = {moodle("Ada Lovelace", 101): VICTIMS, moodle(name, 999): IMPOSTORS, moodle("Zoë Müller", 102): VICTIMS}
    entries = dict(reversed(entries.items())) if turned else entries
    code, found = collect(entries, CLASS)
    assert (code, what_is_there(course), what_is_there(course, "zoe")) == (1, None, VICTIMS)
    assert [found[one]["outcome"] for one in entries if "Müller" not in one] == ["refused", "refused"]
    assert "Moodle's number 999" in found[moodle("Ada Lovelace", 101)]["why"]
    assert "Moodle's number 101" in found[moodle(name, 999)]["why"]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("column", "number", "named"), [("moodle", 101, moodle), ("canvas", 501, canvas)])
def test_the_list_says_which_number_is_right(course, collect, column, number, named, turned):
    entries = {named("lovelaceada", number): VICTIMS, named("lovelaceada", 999): IMPOSTORS}
    students = WITH_NUMBERS.replace("Ada Lovelace", "lovelace ada")
    code, found = collect(dict(reversed(entries.items())) if turned else entries, students)
    assert (code, what_is_there(course)) == (1, VICTIMS)
    assert f"names {number} for 'ada'" in found[named("lovelaceada", 999)]["why"]
    code, _ = collect({named("lovelaceada", 999): IMPOSTORS}, students)  # and also when nobody else is there
    assert (code, what_is_there(course)) == (1, VICTIMS)


def test_without_a_column_of_the_platform_any_other_column_names_the_number(course, collect):
    students = "student_id,name,number\nada,Ada Lovelace,101\n"
    entries = {moodle("Ada Lovelace", 999): IMPOSTORS, moodle("Ada Lovelace", 101): VICTIMS}
    code, found = collect(entries, students)
    assert (code, what_is_there(course)) == (1, VICTIMS)
    assert "the list of students says that 'ada' is Moodle's number 101" in found[moodle("Ada Lovelace", 999)]["why"]


def test_another_number_in_a_later_run_takes_nothing(course, collect):
    assert collect({moodle("Ada Lovelace", 101): VICTIMS}, CLASS)[0] == 0
    later = {moodle("Ada Lovelace", 999): IMPOSTORS}
    for options in ((), ("--replace",)):
        code, found = collect(later, CLASS, *options)
        assert (code, what_is_there(course)) == (1, VICTIMS)
        assert "came from moodle '101'" in found[moodle("Ada Lovelace", 999)]["why"]
    mended = answered("return 2")
    (course / "submitted" / "ada" / HW / FILE).write_bytes(mended)  # by hand: it is still who handed it in
    assert (collect(later, CLASS)[0], what_is_there(course)) == (1, mended)
    assert (collect(later, CLASS, "--replace", "--student", "ada")[0], what_is_there(course)) == (0, IMPOSTORS)
    assert mended in [path.read_bytes() for path in (course / "earlier" / "ada" / HW).iterdir()]


def test_who_came_first_gives_way_to_the_number_of_the_list(course, collect):
    assert collect({moodle("Ada Lovelace", 999): IMPOSTORS}, CLASS)[0] == 0
    code, found = collect({moodle("Ada Lovelace", 101): VICTIMS}, WITH_NUMBERS)
    assert (code, what_is_there(course)) == (0, VICTIMS)
    (outcome,) = found.values()
    assert (outcome["outcome"], "names '101' and not '999'" in outcome["why"]) == ("replaced", True)
    assert [path.read_bytes() for path in (course / "earlier" / "ada" / HW).iterdir()] == [IMPOSTORS]


def test_the_same_number_hands_in_as_often_as_it_likes(course, collect):
    names = [moodle("Ada Lovelace", 101), moodle("Ada L. (married)", 101, f"{HW} (2).ipynb")]
    code, found = collect(dict(zip(names, (VICTIMS, answered("return 2")), strict=True)), WITH_NUMBERS)
    assert (code, [one["outcome"] for one in found.values()]) == (1, ["collected", "kept"])
    code, found = collect({moodle("Ada Lovelace", 101): answered("return 3")}, CLASS, "--replace")
    assert (code, what_is_there(course)) == (0, answered("return 3"))


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_two_folders_of_one_student_are_both_refused(course, collect, folder, turned):
    entries = {f"Ada Lovelace/{FILE}": VICTIMS, f"lovelace ada/{FILE}": IMPOSTORS}
    code, found = collect(dict(reversed(entries.items())) if turned else entries, CLASS, folder=folder)
    assert (code, what_is_there(course), {one["outcome"] for one in found.values()}) == (1, None, {"refused"})
    code, _ = collect({f"ada/{FILE}": VICTIMS, **entries}, CLASS, folder=folder)  # the id itself is there
    assert (code, what_is_there(course)) == (1, VICTIMS)


@pytest.mark.parametrize("turned", [False, True])
def test_two_spellings_without_a_list_are_both_refused(course, collect, turned):
    entries = {
        f"good/{FILE}": VICTIMS,
        f"GOOD/{FILE}": IMPOSTORS,
        f"ｇｏｏｄ/{FILE}": IMPOSTORS,
        f"bob/{FILE}": VICTIMS,
    }
    code, found = collect(dict(reversed(entries.items())) if turned else entries)
    assert (code, [path.name for path in (course / "submitted").iterdir()]) == (1, ["bob"])
    assert [one["outcome"] for one in found.values()].count("refused") == 3


def test_a_folder_and_a_number_are_two_even_if_they_are_spelt_alike(course, collect):
    assert collect({moodle("Ada", 101): VICTIMS})[0] == 0
    for entry in (f"101/{FILE}", canvas("eve", 101)):
        assert (collect({entry: IMPOSTORS})[0], what_is_there(course, "101")) == (1, VICTIMS)


CLAIMED = [
    "ada",
    "ada@x.org",
    "101",
    "501",
    "7-42",
    "ADA",
    "Participant 101",
    "Ada",
    "Lovelace",
    "аda Lovelace",
    "1.0.1",
]


@pytest.mark.parametrize("claimed", CLAIMED)
@pytest.mark.parametrize("named", [moodle, canvas])
def test_a_name_is_never_taken_for_an_id_a_number_or_an_address(course, collect, named, claimed):
    students = "student_id,first_name,last_name,email,moodle,canvas,matriculation\nada,Ada,Lovelace,ada@x.org,,,7-42\n"
    code, found = collect({named(claimed, 999): IMPOSTORS}, students)
    assert (code, what_is_there(course)) == (1, None)
    assert "not in the list of students" in found[named(claimed, 999)]["why"]


def test_a_number_is_never_taken_for_a_name_or_another_platforms_number(course, collect):
    students = "student_id,name,canvas\nada,101,101\n"
    code, found = collect({moodle("Somebody", 101): IMPOSTORS}, students)
    assert (code, what_is_there(course)) == (1, None)
    assert "not in the list of students" in found[moodle("Somebody", 101)]["why"]


@pytest.mark.parametrize(
    "entry",
    [moodle("Ada_101_assignsubmission_file_", 999), moodle("Ada", 101, moodle("Ada", 999), slash="_"),
     moodle("Ada Lovelace", 999).replace("999", "１０１")],
)  # fmt: skip
def test_a_number_that_the_student_wrote_is_none(course, collect, entry):
    """A name that looks like Moodle's own folder; digits that only look like digits."""
    code, _ = collect({entry: IMPOSTORS}, WITH_NUMBERS)
    assert (code, what_is_there(course)) == (1, None)


def test_whoever_is_found_is_found_in_the_right_column(tmp_path):
    (tmp_path / "class.csv").write_text("student_id,name,email,moodle\n1,Ada L,a@x,\n2,1,b@x,7\n7,Zoe,c@x,8\n", "utf-8")
    roster = read_roster(tmp_path / "class.csv")
    assert roster.student(Identity("moodle", "7", "Zoe")) == ("2", True)
    assert roster.student(Identity("moodle", "9", "ada  l.")) == ("1", False)
    assert roster.student(Identity("folder", "c@x")) == ("7", True)
    assert roster.student(Identity("folder", "ADA L")) == ("1", False)


@pytest.mark.parametrize("layout", ["{}/{}/{}", "{}/deeper/my_{}/{}", "{}_7_assignsubmission_file_/{}/{}"])
def test_a_students_own_timestamp_is_told_and_does_not_count(course, tmp_path, capsys, layout):
    place = tmp_path / "cloned" / layout.format("eve", HW, FILE)
    place.parent.mkdir(parents=True)
    place.write_bytes(answered())
    os.utime(place, (0, 0))
    (place.parent / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    code, _, err = dpcourse(capsys, "collect", tmp_path / "cloned", "--course", course)
    assert (code, list((course / "submitted").rglob("timestamp.txt"))) == (0, [])
    assert "1 file timestamp.txt did not count" in err
    assert "--trust-timestamps" in err
    code, _, err = dpcourse(capsys, "collect", tmp_path / "cloned", "--trust-timestamps", "--course", course)
    stamps = [path.read_text() for path in (course / "submitted").rglob("timestamp.txt")]
    trusted = layout == "{}/{}/{}"  # deeper, a student's own folders begin
    assert (code, stamps, "did not count" in err) == (0, [], not trusted)  # what is there already keeps its time


def test_an_instructor_may_trust_the_times_of_a_folder(course, tmp_path, capsys):
    source = unpacked(tmp_path / "other", {f"ada/{HW}/{FILE}": answered()})
    (source / "ada" / HW / "timestamp.txt").write_text("2026-11-20 10:00:00 UTC")
    code, _, err = dpcourse(capsys, "collect", source, "--trust-timestamps", "--course", course)
    assert (code, "timestamp" in err) == (0, False)
    from nbgrader.utils import parse_utc

    stamp = (course / "submitted" / "ada" / HW / "timestamp.txt").read_text()
    assert parse_utc(stamp.strip()).replace(tzinfo=UTC) == datetime(2026, 11, 20, 10, tzinfo=UTC)
    code, _, err = dpcourse(capsys, "collect", tmp_path / "x.zip", "--trust-timestamps", "--course", course)
    assert (code, "--trust-timestamps is for a folder" in err) == (1, True)


@pytest.mark.parametrize("students", ["", "student_id,canvas,matriculation\nvic,1111,4711\nzoe,6666,\n"])
@pytest.mark.parametrize("number", ["1111", "4711", "vic"])
def test_the_name_of_an_uploaded_file_makes_nobody_another_student(course, collect, students, number):
    """Canvas puts the student's own name for a file at the end: there it may look like a name of Moodle's."""
    forged = f"zoe_6666_9001_x_{number}_assignsubmission_file_{FILE}"
    honest = f"vic_1111_9000_{FILE}"
    code, outcomes = collect({forged: IMPOSTORS, honest: VICTIMS}, students)
    there = what_is_there(course, "vic" if students else "1111")
    assert there == VICTIMS
    assert IMPOSTORS not in {what_is_there(course, name) for name in ("vic", "1111", "4711")}
    if number.isdecimal():
        assert outcomes[forged]["outcome"] == "refused"
        assert "cannot hand in for another" in outcomes[forged]["why"]
        assert code == 1
