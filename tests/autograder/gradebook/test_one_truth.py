"""Points stand once, in the source. Records and gradebook follow by `dpcourse grade`; until then, it is told."""

import json
import shutil

import pytest

from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.examine.records import Record
from autograder.gradebook.drift import differences
from autograder.gradebook.read import gradebook, marks_of
from testing.five_tasks import HOMEWORK, POINTS, score_of

SEED = 2**62


@pytest.fixture
def course(handed_in, bubblewrap):
    """Three students: one has nothing right, one `double`, one `add_up`."""
    found = Course.find(handed_in(3))
    grade(found, [HOMEWORK], seed=SEED, jobs=2)
    return found


def change_source(course, change):
    place = course.source(HOMEWORK)
    book = json.loads(place.read_text(encoding="utf-8"))
    change(book)
    place.write_text(json.dumps(book), encoding="utf-8")


def worth(name, points):
    """The task gets so many points."""

    def change(book):
        for cell in book["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
                cell["metadata"]["nbgrader"]["points"] = points

    return change


def without(name):
    """The task is dropped."""

    def change(book):
        names = (name, f"{name}-solution")
        book["cells"] = [c for c in book["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in names]

    return change


def scores(course):
    """By the records, and by the gradebook."""
    records = [Record.load(path) for path in sorted(course.records(HOMEWORK).glob("*.json"))]
    with gradebook(course) as book:
        marks = marks_of(book, HOMEWORK)
    return {record.student: record.score for record in records}, {name: mark.score for name, mark in marks.items()}


def what_differs(course):
    with gradebook(course) as book:
        return differences(course, HOMEWORK, book)


def test_after_grading_nothing_differs(course):
    assert what_differs(course) == []
    by_record, by_gradebook = scores(course)
    assert by_record == by_gradebook == {f"s00{number}": score_of(number) for number in range(3)}


def test_other_points_need_no_new_examination(course, monkeypatch):
    change_source(course, worth("add_up", 5))
    assert what_differs(course) == [
        f"{HOMEWORK}: add_up is worth 5 in the source and 2 in the gradebook; run: dpcourse grade {HOMEWORK}"
    ]
    monkeypatch.setattr("autograder.examine.workers.examine", lambda *_, **__: pytest.fail("examined again"))
    grade(course, [HOMEWORK])
    assert scores(course) == ({"s000": 0, "s001": 1, "s002": 5}, {"s000": 0, "s001": 1, "s002": 5})
    assert what_differs(course) == []
    with gradebook(course) as book:
        assert book.find_assignment(HOMEWORK).max_score == POINTS + 5 + 3


def test_identical_work_gets_the_same_points_before_and_after_a_change(course):
    """Once it was exported as 43.5 for who handed in before the change, and as 41.5 for who did so after it."""
    change_source(course, worth("add_up", 5))
    shutil.copytree(course.root / "submitted" / "s002", course.root / "submitted" / "s009")
    grade(course, [HOMEWORK], seed=SEED)
    by_record, by_gradebook = scores(course)
    assert by_record == by_gradebook
    assert by_record["s002"] == by_record["s009"] == 5


def test_a_dropped_task(course):
    change_source(course, without("add_up"))
    assert (
        f"add_up is in the gradebook, but no longer in the source; run: dpcourse grade {HOMEWORK}"
        in what_differs(course)[0]
    )
    grade(course, [HOMEWORK])
    assert scores(course) == ({"s000": 0, "s001": 1, "s002": 0}, {"s000": 0, "s001": 1, "s002": 0})
    assert what_differs(course) == []


def test_an_added_task_is_examined(course):
    whole = course.source(HOMEWORK).read_text(encoding="utf-8")
    change_source(course, without("add_up"))
    grade(course, [HOMEWORK])
    course.source(HOMEWORK).write_text(whole, encoding="utf-8")
    assert "add_up is in the source, but not yet in the gradebook" in what_differs(course)[0]
    grade(course, [HOMEWORK])
    assert scores(course)[0] == scores(course)[1] == {f"s00{number}": score_of(number) for number in range(3)}


def test_a_row_that_was_removed_is_told_and_comes_back(course):
    with gradebook(course) as book:
        book.remove_student("s002")
    assert what_differs(course) == [
        f"{HOMEWORK}: 1 student (s002) is graded, but not in the gradebook; run: dpcourse grade {HOMEWORK} "
        f"(or: dpcourse forget s002)"
    ]
    grade(course, [HOMEWORK])
    assert scores(course)[1]["s002"] == 2
    assert what_differs(course) == []


def test_what_was_handed_in_and_not_graded_or_removed_is_told(course):
    shutil.copytree(course.root / "submitted" / "s002", course.root / "submitted" / "s009")
    shutil.rmtree(course.root / "submitted" / "s001")
    waiting, gone = what_differs(course)
    assert "1 student (s009) is not graded yet" in waiting
    assert "1 student (s001) is graded, but what they handed in is no longer in" in gone
    assert f"dpcourse forget s001 --homework {HOMEWORK}" in gone


@pytest.mark.parametrize("where", ["gradebook", "records"])
def test_a_failed_write_leaves_records_and_gradebook_as_they_were(course, monkeypatch, where):
    before = scores(course)
    change_source(course, worth("add_up", 5))
    if where == "gradebook":
        monkeypatch.setattr("autograder.gradebook.write._Batch.write", lambda self: 1 / 0)
    else:
        monkeypatch.setattr("os.fsync", lambda handle: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises((Problem, OSError)):
        grade(course, [HOMEWORK])
    monkeypatch.undo()
    by_record, by_gradebook = scores(course)
    assert (by_record, by_gradebook) == before
    assert what_differs(course) != []
    grade(course, [HOMEWORK])
    assert scores(course)[0] == scores(course)[1]
    assert what_differs(course) == []


def test_a_regrade_that_was_stopped_goes_on(course, monkeypatch):
    """The same command again: who was graded again keeps that; the others follow, by the same seed."""
    seen = []

    def stop_after_one(record):
        seen.append(record.student)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], regrade=True, progress=stop_after_one, jobs=1)
    (first,) = seen
    once = Record.load(course.records(HOMEWORK) / f"{first}.json")
    grade(course, [HOMEWORK], regrade=True, jobs=1)
    records = [Record.load(path) for path in course.records(HOMEWORK).glob("*.json")]
    assert {record.seed for record in records} == {once.seed} != {SEED}
    assert Record.load(course.records(HOMEWORK) / f"{first}.json").run == once.run
    grade(course, [HOMEWORK], regrade=True, jobs=1)  # it was finished: now everybody is graded once more
    assert {Record.load(path).seed for path in course.records(HOMEWORK).glob("*.json")} != {once.seed}


def test_a_file_that_is_newer_than_its_grade_is_told(course):
    place = course.root / "submitted" / "s000" / HOMEWORK / f"{HOMEWORK}.ipynb"
    place.write_bytes((course.root / "submitted" / "s002" / HOMEWORK / f"{HOMEWORK}.ipynb").read_bytes())
    (sentence,) = what_differs(course)
    assert "1 student (s000) is graded by an earlier file than the one that is handed in now" in sentence
    grade(course, [HOMEWORK])
    assert what_differs(course) == []
    assert scores(course)[1]["s000"] == 2


def test_points_that_were_none_for_a_while_are_not_lost(course):
    """The share of no points is not known: so it is examined again."""
    change_source(course, worth("add_up", 0))
    grade(course, [HOMEWORK])
    assert scores(course)[0]["s002"] == 0
    change_source(course, worth("add_up", 3))
    grade(course, [HOMEWORK])
    assert scores(course)[0] == scores(course)[1] == {"s000": 0, "s001": 1, "s002": 3}
