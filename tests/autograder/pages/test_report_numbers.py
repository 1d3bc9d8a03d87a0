"""The numbers of the report: what could not be read apart, difficulty, discrimination."""

import json

import pytest
from scipy.stats import pearsonr, pointbiserialr

from autograder.course.homework import Assignment
from autograder.examine.records import Record
from autograder.gradebook.read import CellMark, Mark
from autograder.pages.report import draw_scores, make_page
from autograder.pages.results import Homework
from autograder.pages.statistics import correlate, describe_homework
from tests.autograder.small_course import HW, by_name, make_course, record, task


@pytest.fixture
def assignment(tmp_path):
    return Assignment.read(make_course(tmp_path) / "source" / HW / f"{HW}.ipynb")


def rejected(student, name=HW):
    """As grading leaves what it could not read: a reason, and no points in any task."""
    tasks = (task("likelihood_ratio", "missing", 0, 1), task("noisy_count", "missing", 0, 2))
    return Record(student=student, assignment=name, status="rejected", tasks=tasks, notes=("It is empty.",), seed=1)


def section_of(assignment, *records, **more):
    section = describe_homework(Homework(assignment=assignment, records=records, **more))
    json.dumps(section, allow_nan=False)
    return section


def test_what_could_not_be_read_is_listed_and_counts_nowhere_else(assignment):
    slow_tasks = (
        task("likelihood_ratio", "timeout", 0, 1),
        task("noisy_count", "failed", 0, 2, mistake="upside down", feedback="It is upside down."),
    )
    readable = (
        record("ada", ("passed", 1), ("passed", 2), seconds=1.0),
        record("bob", ("passed", 1), ("failed", 0), seconds=1.0),
        record("cyd", ("x", 0), ("x", 0), tasks=slow_tasks, seconds=30.0),
    )
    unread = (rejected("dan"), rejected("eve"))
    section, alone = section_of(assignment, *readable, *unread), section_of(assignment, *readable)
    assert (section["submissions"], section["graded"], section["partial"], section["rejected"]) == (5, 3, 0, 2)
    assert section["unread"] == [{"student": name, "reason": "It is empty."} for name in ("dan", "eve")]
    assert (section["mean"], section["median"], section["max_score"]) == (1.3333, 1, 3)
    assert section["by_machine"] == {"max_score": 3, "mean": 1.3333, "median": 1}
    ratio, count = section["tasks"]
    counts = {"passed": 2, "failed": 0, "error": 0, "timeout": 1, "missing": 0, "share": 0.6667, "with_points": 3}
    assert {name: ratio[name] for name in counts} == counts
    assert (count["failed"], count["missing"], count["share"]) == (2, 0, 0.3333)
    assert [one["mistake"] for one in count["mistakes"]] == ["upside down"]
    assert [one["status"] for one in count["unexplained"]] == ["failed"]
    assert [one["student"] for one in section["slow"]] == ["cyd"]
    assert section["broken"] == []
    about_unread = {"submissions", "rejected", "unread", "students", "trials"}
    assert {name: section[name] for name in section if name not in about_unread} == {
        name: alone[name] for name in alone if name not in about_unread
    }
    assert [one["score"] for one in section["students"]] == [3, 1, 0, None, None]
    assert draw_scores(section).says.startswith("3 submissions; mean 1.33")


def test_a_class_of_which_nothing_could_be_read_has_a_page(assignment):
    section = section_of(assignment, rejected("dan"))
    assert (section["mean"], section["median"], section["scores"], section["tasks"][0]["share"]) == (
        None,
        None,
        [],
        None,
    )
    page = make_page({"course": "c", "homeworks": [section], "progress": None}).decode()
    assert "It is empty." in page
    assert "data:image" not in page


def test_the_discrimination_of_a_question_leaves_itself_out(assignment):
    """By hand: points 1 1 1 0 0, mean 0.6; the rest 2 2 1 1 0, mean 1.2. Less the means, the products sum to
    1.4, and the squares to 1.2 and 2.8.
    """
    right, rest = [1, 1, 1, 0, 0], [2, 2, 1, 1, 0]
    records = [
        record(f"s{number}", ("passed", points), ("failed", others))
        for number, (points, others) in enumerate(zip(right, rest, strict=True))
    ]
    ratio, count = section_of(assignment, *records)["tasks"]
    assert ratio["discrimination"] == pytest.approx(1.4 / (1.2 * 2.8) ** 0.5, abs=1e-4)
    assert ratio["discrimination"] == pytest.approx(pointbiserialr(right, rest).statistic, abs=1e-4)
    assert count["discrimination"] == ratio["discrimination"]  # there are two: each is the other's rest
    total = [one + other for one, other in zip(right, rest, strict=True)]
    assert ratio["discrimination"] < pearsonr(right, total).statistic - 0.1  # with itself in it, it would look better
    assert correlate([0, 0, 0, 1, 1], rest) == pytest.approx(-ratio["discrimination"], abs=1e-4)


def test_too_few_have_no_discrimination(assignment):
    assert correlate([1, 0, 1, 0], [1, 0, 1, 1]) is None
    assert correlate([1, 1, 1, 1, 1], [1, 0, 1, 1, 0]) is None
    assert correlate([1, 0, 1, 1, 0], [2, 2, 2, 2, 2]) is None
    section = section_of(assignment, *[record(name, ("passed", 1), ("failed", 0)) for name in "abcd"])
    page = make_page({"course": "c", "homeworks": [section], "progress": None}).decode()
    assert page.count("too few</span>") == 3  # two tasks and a text


def mark(student, ratio, count, why):
    """``why`` None: a person has still to read it."""
    cells = {
        "likelihood_ratio": CellMark(score=ratio, max_score=1, waits=False, by_hand=False),
        "noisy_count": CellMark(score=count, max_score=2, waits=False, by_hand=False),
        "why-written": CellMark(score=why or 0, max_score=3, waits=why is None, by_hand=why is not None),
    }
    score = ratio + count + (why or 0)
    return Mark(student=student, assignment=HW, score=score, max_score=6, penalty=0, waits=why is None, cells=cells)


def test_students_are_compared_by_what_all_have_points_for(assignment):
    """One text is unread: it is in nobody's rest. Its author has not lost points by it."""
    points = [(1, 2, 3), (1, 2, 0), (1, 1, 3), (0, 1, None), (0, 0, 1), (0, 0, 0)]
    records = [record(f"s{i}", ("passed", one), ("failed", two)) for i, (one, two, _) in enumerate(points)]
    marks = {f"s{i}": mark(f"s{i}", *three) for i, three in enumerate(points)}
    section = section_of(assignment, *records, marks=marks)
    ratio, _ = section["tasks"]
    (text,) = section["texts"]
    expected = pearsonr([1, 1, 1, 0, 0, 0], [2, 2, 1, 1, 0, 0]).statistic
    assert ratio["discrimination"] == pytest.approx(expected, abs=1e-4)
    assert text["discrimination"] == pytest.approx(pearsonr([3, 0, 3, 1, 0], [3, 3, 2, 0, 0]).statistic, abs=1e-4)
    assert (text["with_points"], text["waits"], text["share"]) == (5, 1, pytest.approx(7 / 15, abs=1e-4))
    assert by_name(section["students"], "student")["s3"]["share"] == pytest.approx(1 / 3)
    assert (section["max_score"], section["by_machine"]["max_score"], section["mean"]) == (
        6,
        3,
        pytest.approx(16 / 6, abs=1e-4),
    )
