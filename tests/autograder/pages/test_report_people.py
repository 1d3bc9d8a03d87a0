"""The report on people: the points that a person gave, who was late, who dropped, and who needs help with what."""

from dataclasses import replace
from datetime import timedelta

import pytest

from autograder.console import in_words
from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.examine.records import Record, TaskRecord
from autograder.pages.progress import describe_progress, name_briefly
from autograder.pages.report import draw_progress, find_tasks, make_page
from testing import ROOT
from tests.autograder.gradebook.test_late import due
from tests.autograder.gradebook.test_write import DUE, by_hand, handed_in_at
from tests.autograder.pages.test_report_numbers import rejected, section_of
from tests.autograder.small_course import HW, by_name, dpcourse, for_machines, make_course, record, write_grades


@pytest.fixture
def assignment(tmp_path):
    return Assignment.read(make_course(tmp_path) / "source" / HW / f"{HW}.ipynb")


def test_points_by_people(graded_course, capsys):
    course = Course.find(graded_course)
    words = ("report", "--course", course.root)
    code, report = for_machines(capsys, *words)
    (section,) = report["homeworks"]
    assert (code, section["points_by_people"], section["max_score"]) == (0, True, 6)
    assert [(one["score"], one["share"], one["waits"]) for one in section["students"]] == [
        (0, 0, ["why-written"]), (3, 1, ["why-written"]), (1, pytest.approx(1 / 3), ["why-written"])
    ]  # fmt: skip
    by_hand(course, "ada", why=(2.5, None))
    by_hand(course, "bob", why=(1, None), noisy_count=(1.5, None))
    (section,) = for_machines(capsys, *words)[1]["homeworks"]
    students = by_name(section["students"], "student")
    (miss,) = by_name(section["needs_help"], "student")["ada"]["misses"]
    assert (miss["question"], miss["words"], miss["message"]) == ("why-written", "2.5 of 3 points", "Well argued.")
    assert (students["ada"]["score"], students["bob"]["score"], students["bob"]["waits"]) == (5.5, 3.5, [])
    assert (section["mean"], section["by_machine"]["mean"]) == (3, pytest.approx(4 / 3, abs=1e-4))
    assert section["tasks"][1]["share"] == pytest.approx(3.5 / 6, abs=1e-4)
    assert [(one["name"], one["waits"]) for one in section["texts"]] == [("why-written", 1)]
    out = dpcourse(capsys, *words)[1]
    assert "mean 3, median 3.5 of 6 points (by machine 1.333 of 3)" in out
    assert "a person has still to read: why-written (1)" in out


def test_without_a_gradebook_texts_wait_if_they_were_written(assignment):
    section = section_of(
        assignment,
        record("ada", ("passed", 1), ("passed", 2), answers={"why-written": "Because."}),
        record("bob", ("passed", 1), ("passed", 2), answers={"why-written": assignment.released["why-written"]}),
    )
    assert [one["waits"] for one in section["students"]] == [["why-written"], []]
    assert (section["points_by_people"], section["max_score"], section["mean"]) == (False, 3, 3)


def test_who_was_late_and_by_how_much(graded_course, capsys):
    course = Course.find(graded_course)
    write_grades(course.root, [rejected("dan")])
    due(course, DUE)
    for student, hours in (("ada", -1), ("bob", 26), ("dan", 0.05)):
        handed_in_at(course, student, DUE + timedelta(hours=hours))
    report = for_machines(capsys, "report", "--course", course.root)[1]
    (section,) = report["homeworks"]
    assert [(one["student"], one["seconds"]) for one in section["late"]] == [("bob", 26 * 3600), ("dan", 180)]
    assert by_name(section["students"], "student")["ada"]["seconds_late"] == 0
    assert "  late: bob (1 day 2 h), dan (3 min)" in dpcourse(capsys, "report", "--course", course.root)[1]
    assert "bob</bdi>: 1 day 2 h" in make_page(report).decode()
    assert [in_words(timedelta(seconds=seconds)) for seconds in (5, 3_600, 3 * 3_600 + 300, 50 * 3_600 + 300)] == [
        "1 min", "1 h", "3 h 5 min", "2 days 2 h",
    ]  # fmt: skip


def test_from_homework_to_homework(assignment):
    """Ada drops from 100% to 33%, Bob rises, Cyd stops, and nobody knows about Dan's second."""
    first = [
        record("ada", ("passed", 1), ("passed", 2)), record("bob", ("passed", 1), ("failed", 0)),
        record("cyd", ("passed", 1), ("passed", 2)), record("dan", ("passed", 1), ("passed", 2)),
    ]  # fmt: skip
    second = [record("ada", ("passed", 1), ("failed", 0)), record("bob", ("passed", 1), ("passed", 2)), rejected("dan")]
    sections = [section_of(replace(assignment, name="hw2_b"), *second), section_of(assignment, *first)]
    progress = describe_progress(sections)
    assert [(one["brief"], one["share"]) for one in progress["homeworks"]] == [("hw1", 0.8333), ("hw2", 0.6667)]
    students = by_name(progress["students"], "student")
    assert [students[name]["shares"] for name in ("ada", "cyd", "dan")] == [[1, 0.333333], [1, None], [1, None]]
    assert [name for name, one in students.items() if one["dropped"]] == ["ada"]
    assert [name for name, one in students.items() if one["stopped"]] == ["cyd"]
    assert (students["ada"]["change"], students["bob"]["change"]) == (-0.6667, 0.6667)
    assert [one["student"] for one in progress["students"]][:2] == ["ada", "cyd"]
    assert draw_progress(progress).says == "Mean of the class: hw1 83%, hw2 67%."
    page = make_page({"course": "c", "homeworks": sections, "progress": progress}).decode()
    assert "unread</span>" in page
    assert describe_progress(sections[:1]) is None
    assert name_briefly(["hw1_a", "hw1_b", "hw2"]) == ["hw1_a", "hw1_b", "hw2"]


def test_help_is_told_in_the_words_that_students_know():
    """The heading of the question and the message about the mistake, for those with few points or no usable answer."""
    place = ROOT / "exercises"
    course, homework = Course.find(place), Assignment.read(place / "source" / "hw1_pure_dp" / "hw1_pure_dp.ipynb")
    points = {cell.grade_id: cell.points for cell in homework.cells if cell.role == "task"}

    def submission(student, **verdicts):
        tasks = tuple(
            TaskRecord(task=name, max_points=most, **{"status": "passed", "points": most, **verdicts.get(name, {})})
            for name, most in points.items()
        )
        return Record(student=student, assignment="hw1_pure_dp", status="graded", tasks=tasks, seed=1)

    wrong = {"status": "failed", "points": 0, "mistake": "not cut"}
    crash = {"status": "error", "points": 0, "feedback": "It stopped in line 3. See lecture 1, section 2."}
    records = [submission(f"s{number}") for number in range(5)]
    records += [
        submission("ada", total_debt=wrong, noisy_count=crash),
        submission("bob", **dict.fromkeys(points, crash)),
    ]
    section = section_of(homework, *records, rejected("dan", "hw1_pure_dp"), tasks=find_tasks(course, homework))
    helped = by_name(section["needs_help"], "student")
    assert list(helped) == ["bob", "ada"]
    assert (helped["bob"]["has_usable_answer"], helped["ada"]["has_usable_answer"]) == (False, True)
    noisy, debt = helped["ada"]["misses"]
    assert (noisy["question"], noisy["message"]) == ("3. A noisy count", "It stopped in line 3.")
    assert debt["question"] == "8. The total debt"
    assert debt["message"].startswith("An entry outside the public range moves the total")
    page = make_page({"course": "c", "homeworks": [section], "progress": None}).decode()
    assert "8. The total debt" in page
    assert "cut every entry to [0, maximum]" in page
