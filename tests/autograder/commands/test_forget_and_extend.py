"""A student leaves, and another gets more time."""

import json

import pytest

from autograder.course.course import Course
from autograder.gradebook.people import grant_extension
from autograder.gradebook.read import gradebook, marks_of
from tests.autograder.small_course import HW, answered, dpcourse, for_machines

DUE = "2026-11-02 12:00:00 UTC"


@pytest.fixture
def root(graded_course):
    """A course in which ada, bob and two others were graded; each has something everywhere."""
    for student in ("ada", "bob"):
        for folder in ("submitted", "earlier"):
            place = graded_course / folder / student / HW
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{HW}.ipynb").write_bytes(answered())
        page = graded_course / "feedback" / student / HW / f"{HW}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(student)
    (graded_course / "grading" / HW / ".penalties").write_text(json.dumps({"ada": [1.0], "bob": [2.0]}))
    lines = [json.dumps({"student": name, "cell": "gone", "manual_comment": "Fine."}) for name in ("ada", "bob")]
    (graded_course / "grading" / HW / "dropped.jsonl").write_text("\n".join([*lines, ""]))
    (graded_course / "grades.csv").write_text("ada,5\n")
    return graded_course


def files_of(root, student):
    return [path for path in root.rglob("*") if student in (path.stem, path.name)]


def students(root):
    with gradebook(Course.find(root)) as book:
        return {student.id for student in book.students}


def test_a_student_is_forgotten_everywhere(root, capsys):
    others = {"bob", *students(root)} - {"ada"}
    code, found = for_machines(capsys, "forget", "ada", "--yes", "--course", root)
    assert (code, files_of(root, "ada"), students(root)) == (0, [], others)
    assert "submitted/ada" in found["deleted"]
    assert f"grading/{HW}/ada.json" in found["deleted"]
    assert found["still_named_in"] == ["grades.csv"]  # the instructor's own file
    assert json.loads((root / "grading" / HW / ".penalties").read_text()) == {"bob": [2.0]}
    assert json.loads((root / "grading" / HW / "dropped.jsonl").read_text())["student"] == "bob"
    assert files_of(root, "bob")
    code, _, err = dpcourse(capsys, "forget", "ada", "--yes", "--course", root)
    assert (code, "nothing is known of 'ada'" in err) == (1, True)


def test_the_database_does_not_keep_what_was_deleted(root, capsys):
    with gradebook(Course.find(root)) as book:
        book.update_or_create_student("ada", first_name="Augusta-Unmistakable", last_name="King")
    assert b"Augusta-Unmistakable" in (root / "gradebook.db").read_bytes()
    assert dpcourse(capsys, "forget", "ada", "--yes", "--course", root)[0] == 0
    assert b"Augusta-Unmistakable" not in (root / "gradebook.db").read_bytes()


def test_one_homework_only(root, capsys):
    (root / "submitted" / "ada" / "hw2").mkdir()
    assert dpcourse(capsys, "forget", "ada", "--homework", HW, "--yes", "--course", root)[0] == 0
    assert [path.name for path in (root / "submitted" / "ada").iterdir()] == ["hw2"]
    assert "ada" in students(root)
    with gradebook(Course.find(root)) as book:
        assert "ada" not in marks_of(book, HW)


def test_without_a_yes_nothing_is_deleted(root, capsys):
    code, _, err = dpcourse(capsys, "forget", "ada", "--course", root)
    assert (code, "everything about 'ada'" in err, "--yes" in err) == (1, True, True)
    assert "ada" in students(root)


@pytest.mark.parametrize("name", ["..", ".", "", "../bob", "ada/hw1", "nobody"])
def test_a_name_that_is_none_deletes_nothing(root, capsys, name):
    before = sorted(root.rglob("*"))
    assert dpcourse(capsys, "forget", name, "--yes", "--course", root)[0] == 1
    assert sorted(root.rglob("*")) == before


def test_while_grading_is_at_work_nobody_is_forgotten(root, capsys):
    with Course.find(root).alone():
        code, _, err = dpcourse(capsys, "forget", "ada", "--yes", "--course", root)
    assert (code, "another grading is at work" in err) == (1, True)
    assert "ada" in students(root)


def test_more_time_for_one_student(root, capsys):
    course = Course.find(root)
    with gradebook(course) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
    code, found = for_machines(capsys, "extend", "ada", HW, "--days", "3", "--course", root)
    assert (code, found["due"]) == (0, "2026-11-05 12:00:00 UTC")
    code, found = for_machines(capsys, "extend", "ada", HW, "--until", "2026-11-03 08:00 UTC", "--course", root)
    assert (code, found["due"]) == (0, "2026-11-03 08:00:00 UTC")  # the last one counts
    with gradebook(course) as book:
        marks = marks_of(book, HW)
    assert (f"{marks['ada'].due:%d %H}", f"{marks['bob'].due:%d %H}") == ("03 08", "02 12")
    code, found = for_machines(capsys, "extend", "ada", HW, "--none", "--course", root)
    assert (code, found["due"]) == (0, "2026-11-02 12:00:00 UTC")


@pytest.mark.parametrize(
    ("words", "said"),
    [(("ada", "--until", "tomorrow"), "'tomorrow' is no time"), (("ada",), "either --until TIME"),
     (("ada", "--until", "2026-11-01 12:00 UTC"), "is not after the due date"),
     (("adda", "--days", "1"), "did you mean 'ada'"), (("zoe", "--days", "1"), "no student 'zoe'"),
     (("a/b", "--days", "1", "--new"), "'a/b'")],
)  # fmt: skip
def test_what_makes_no_sense_is_told(root, capsys, words, said):
    with gradebook(Course.find(root)) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
    student, *options = words
    code, _, err = dpcourse(capsys, "extend", student, HW, *options, "--course", root)
    assert (code, said in err) == (1, True), err


def test_without_a_due_date_there_is_nothing_to_extend(root, capsys):
    code, _, err = dpcourse(capsys, "extend", "ada", HW, "--days", "1", "--course", root)
    assert (code, f"{HW} has no due date" in err, "nbgrader db assignment add" in err) == (1, True, True)


def test_time_for_somebody_who_has_handed_in_nothing_yet_is_no_submission(root, capsys, tmp_path):
    from datetime import timedelta

    course = Course.find(root)
    with gradebook(course) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
        book.update_or_create_student("zoe")
    assert grant_extension(course, HW, "zoe", timedelta(days=2)) is not None
    with gradebook(course) as book:
        assert "zoe" not in marks_of(book, HW)
    place = tmp_path / "m.csv"
    assert dpcourse(capsys, "export", HW, "--format", "moodle", "--to", place, "--course", root)[0] == 0
    (line,) = [line for line in place.read_text().splitlines() if ",zoe," in line]
    assert line.split(",")[4] == ""
