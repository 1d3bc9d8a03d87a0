"""The grades that leave the course: whole, with people's points and penalties, and no formula among them."""

import csv
from datetime import datetime
from pathlib import Path

import pytest

from autograder.gradebook.export import neutral, quote
from tests.autograder.small_course import HW, dpcourse, for_machines


@pytest.fixture
def course(graded_course):
    """Bob's text has been read, and he was late; ada's text waits."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{graded_course / 'gradebook.db'}", "dpcourse") as book:
        grade = book.find_grade("why-written", HW, HW, "bob")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        book.find_submission_notebook(HW, HW, "bob").late_submission_penalty = 0.75
        book.update_or_create_student("ada", first_name="Ada, Countess", last_name='of "Lovelace"', email="ada@x.org")
        book.update_or_create_student("bob", first_name="=HYPERLINK(1)", last_name="+1")
        book.update_or_create_student("77", first_name="Nobody", last_name="Home")
        book.db.commit()
    return graded_course


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_moodle(course, capsys, tmp_path):
    place = tmp_path / "m.csv"
    code, out, err = dpcourse(capsys, "export", "--format", "moodle", "--to", place, "--course", course)
    assert (code, "3 submissions" in out) == (0, True)
    assert "WARNING: 2 submissions not final" in err
    found = {row["ID number"]: row for row in rows(place)}
    assert found["ada"]["Grade"] == "3"
    assert found["ada"]["Full name"] == 'Ada, Countess of "Lovelace"'
    assert found["bob"]["Grade"] == "2.75"  # 1 + 2.5 - 0.75
    assert found["bob"]["Maximum Grade"] == "6"
    assert found["bob"]["Full name"] == "'=HYPERLINK(1) +1"
    assert found["77"] == {"Identifier": "Participant 77", "Full name": "Nobody Home", "Email address": "",
                           "ID number": "77", "Grade": "", "Maximum Grade": "6", "Late": ""}  # fmt: skip
    assert "'=cmd()" in found


def test_canvas_with_the_names_of_a_list(course, capsys, tmp_path):
    students = tmp_path / "class.csv"
    students.write_text("student_id,name,canvas\nada,Ada L,501\nbob,Robert B,502\n=cmd(),Eve Il,503\n")
    place = tmp_path / "c.csv"
    words = ("--format", "canvas", "--to", place, "--students", students)
    code, found = for_machines(capsys, "export", HW, *words, "--course", course)
    assert (code, found["waiting"], len(found["submissions"])) == (0, 2, 3)
    first, *people = rows(place)
    assert (first["Student"], first[HW]) == ("Points Possible", "6")
    grades = {row["ID"]: (row["Student"], row["SIS User ID"], row[HW]) for row in people}
    assert grades["502"] == ("'+1, =HYPERLINK(1)", "bob", "2.75")
    assert grades["503"] == ("Il, Eve", "'=cmd()", "0")
    assert grades["77"] == ("Home, Nobody", "", "")


def test_each_system_gets_its_own_number_or_none(course, capsys, tmp_path):
    students = tmp_path / "class.csv"
    students.write_text("student_id,moodle,canvas\nada,101,501\nbob,102,\n=cmd(),,503\n77,,504\n")
    found = {}
    for system, column, own in (("moodle", "Identifier", "ID number"), ("canvas", "ID", "SIS User ID")):
        place = tmp_path / f"{system}.csv"
        words = ("--format", system, "--to", place, "--students", students, "--course", course)
        assert dpcourse(capsys, "export", *words)[0] == 0
        found[system] = {row[own]: row[column] for row in rows(place) if row.get("Student") != "Points Possible"}
    assert found["moodle"] == {"ada": "Participant 101", "bob": "Participant 102", "'=cmd()": "", "77": ""}
    assert found["canvas"] == {"ada": "501", "bob": "", "'=cmd()": "503", "77": "504"}


def test_who_is_only_in_the_list_has_a_row_with_an_empty_field(course, capsys, tmp_path):
    students = tmp_path / "class.csv"
    students.write_text("student_id,name,email,moodle,canvas\nada,Ada L,,101,501\nzoe,Zoe Idle,zoe@x.org,109,509\n")
    words = ("--students", students, "--course", course, "--to")
    assert dpcourse(capsys, "export", "--format", "moodle", *words, tmp_path / "m.csv")[0] == 0
    found = {row["ID number"]: row for row in rows(tmp_path / "m.csv")}
    assert found["zoe"] == {"Identifier": "Participant 109", "Full name": "Zoe Idle", "Email address": "zoe@x.org",
                            "ID number": "zoe", "Grade": "", "Maximum Grade": "6", "Late": ""}  # fmt: skip
    assert len(found) == 5
    assert dpcourse(capsys, "export", "--format", "canvas", *words, tmp_path / "c.csv")[0] == 0
    zoe = next(row for row in rows(tmp_path / "c.csv") if row["ID"] == "509")
    assert (zoe["Student"], zoe["SIS User ID"], zoe[HW]) == ("Idle, Zoe", "zoe", "")


def test_to_stdout(course, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("export", "--format", "moodle", "--to", "-", "--course", course)
    code, out, err = dpcourse(capsys, *words)
    found = list(csv.DictReader(out.splitlines()))
    assert (code, len(found), "3 submissions" in err) == (0, 4, True)
    assert all(row["Maximum Grade"] == "6" for row in found)  # and no other line
    assert not (tmp_path / "-").exists()
    code, out, err = dpcourse(capsys, *words, "--json", "-")
    assert (code, out, "cannot both go to stdout" in err) == (1, "", True)


def test_a_late_penalty_from_before_the_points_is_told(course, capsys, tmp_path):
    """Nothing of a late one counts; but the points of a text, given after grading, would."""
    from nbgrader.api import Gradebook

    words = ("export", "--format", "moodle", "--force", "--to", tmp_path / "m.csv", "--course", course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "dpcourse") as book:
        book.update_or_create_assignment(HW, duedate="2026-11-01 12:00:00 UTC")
        for student, penalty in (("ada", 3), ("bob", 1)):
            book.find_submission(HW, student).timestamp = datetime(2026, 11, 2)
            book.find_submission_notebook(HW, HW, student).late_submission_penalty = penalty
        book.db.commit()
    assert "late penalty" not in dpcourse(capsys, *words)[2]  # without a plugin people decide
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    code, _, err = dpcourse(capsys, *words)
    assert (code, f"WARNING: {HW}: the late penalty of bob does not fit" in err) == (0, True)
    assert f"dpcourse grade {HW}\n" in err
    found = for_machines(capsys, *words)[1]["submissions"]
    assert {one["student"]: one["penalty_outdated"] for one in found} == {"ada": False, "bob": True, "=cmd()": False}
    with (course / "nbgrader_config.py").open("a") as config:
        config.write("\nc.AssignLatePenalties.plugin_class = 'no_such_module.Plugin'\n")
    code, _, err = dpcourse(capsys, *words)
    assert (code, "late penalties were not looked at: " in err) == (0, True)


def test_nbgraders_own(course, capsys, tmp_path):
    place = tmp_path / "n.csv"
    assert dpcourse(capsys, "export", "--to", place, "--course", course)[0] == 0
    found = {row["student_id"]: row for row in rows(place)}
    assert (found["ada"]["first_name"], found["ada"]["email"]) == ("Ada, Countess", "ada@x.org")
    assert found["bob"]["first_name"] == "'=HYPERLINK(1)"
    assert [float(found["bob"][name]) for name in ("raw_score", "late_submission_penalty", "score")] == [
        3.5,
        0.75,
        2.75,
    ]
    assert float(found["77"]["score"]) == 0
    assert set(found) == {"ada", "bob", "77", "'=cmd()"}


def test_a_file_that_is_there_stays(course, capsys, tmp_path):
    place = tmp_path / "mine.csv"
    place.write_text("precious")
    code, out, err = dpcourse(capsys, "export", "--to", place, "--course", course)
    assert (code, out, "--force" in err, place.read_text()) == (1, "", True, "precious")
    assert dpcourse(capsys, "export", "--to", place, "--force", "--course", course)[0] == 0
    assert "ada" in place.read_text()


@pytest.mark.parametrize(
    ("field", "made"),
    [("=1+1", "'=1+1"), ("+49 30", "'+49 30"), ("-x", "'-x"), ("@SUM", "'@SUM"), (" =1", "' =1"), ("\t=1", "'\t=1"),
     ("|calc", "'|calc"), ("-2.5", "-2.5"), ("Ada", "Ada"), ("", ""), ("a=b", "a=b"),
     ("\uff1d1+1", "'\uff1d1+1"), ("\uff0b1", "'\uff0b1"), ("\ufe66A1", "'\ufe66A1"), ("\u200b=1", "'\u200b=1"),
     ("\ufeff\uff20SUM", "'\ufeff\uff20SUM"), ("x;=1+1;y", "x;'=1+1;y"), ("x\t=1", "x\t'=1"), ("a;b;+c", "a;b;'+c"),
     ("x; \uff1d1", "x;' \uff1d1"), ('x"=1', "x\"'=1"), ("x\n=1", "x\n'=1"), ("x|-1", "x|'-1"),
     ("\u0661", "\u0661"), ("Anna-Lena M\u00fcller; Ada", "Anna-Lena M\u00fcller; Ada")],
)  # fmt: skip
def test_formulas_are_neutralised(field, made):
    assert neutral(field) == made
    assert next(csv.reader([quote(field) + ",x"]))[0] == made
