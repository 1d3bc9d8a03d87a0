"""The gradebook: our batches leave what nbgrader itself would, keep what a person decided, and change nothing twice."""

import json
import time
from datetime import datetime, timedelta

import pytest
from nbgrader.api import Gradebook
from sqlalchemy import event

from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.examine.records import Record, TaskRecord
from autograder.gradebook.graded_notebook import answers_shown, graded_path
from autograder.gradebook.write import Writer
from autograder.intake.submission import Submission
from tests.autograder.small_course import HW

DUE = datetime(2026, 2, 1)


@pytest.fixture
def course(small_course):
    return Course.find(small_course)


@pytest.fixture
def assignment(course):
    return Assignment.read(course.source(HW))


def pair(assignment, student, points=(1.0, 0.5), *, text="My proof.", name=HW):
    """A record and its submission. ``text`` None: the cell is missing."""
    tasks = tuple(
        TaskRecord(task=task, points=given, max_points=assignment.by_grade_id[task].points, status="failed")
        for task, given in zip(assignment.task_names, points, strict=True)
    )
    answers = {**assignment.released, "noisy_count-solution": "x = 1", "why-written": text}
    kept = {name: source for name, source in answers.items() if source is not None}
    return Record(student=student, assignment=name, status="graded", tasks=tasks), Submission(student, name, kept)


def write(course, *pairs):
    with Writer(course) as writer:
        writer.write(pairs)


def rows(course, student):
    """cell -> (auto, manual, extra credit, waits?), and cell -> comment"""
    with Gradebook(course.db_url, course.name) as book:
        (notebook,) = book.find_submission(HW, student).notebooks
        grades = {
            one.cell.name: (one.auto_score, one.manual_score, one.extra_credit, one.needs_manual_grade)
            for one in notebook.grades
        }
        return grades, {one.cell.name: one.comment for one in notebook.comments}


def everything(course):
    """The whole gradebook, but for the ids."""
    with Gradebook(course.db_url, course.name) as book:
        found = {}
        for submission in book.assignment_submissions(HW):
            plain = {key: value for key, value in submission.to_dict().items() if key != "id"}
            found[submission.student.id] = (plain, rows(course, submission.student.id))
        return found


def test_an_empty_gradebook_gets_the_homework_the_student_and_the_grades(course, assignment):
    write(course, pair(assignment, "ada"))
    grades, comments = rows(course, "ada")
    assert grades == {
        "likelihood_ratio": (1, None, None, False),
        "noisy_count": (0.5, None, None, False),
        "why-written": (None, None, None, True),
    }
    assert comments == {
        "likelihood_ratio-solution": "No response.",
        "noisy_count-solution": None,
        "why-written": None,
    }
    with Gradebook(course.db_url, course.name) as book:
        found = book.find_submission(HW, "ada")
        assert (found.score, found.max_score, found.needs_manual_grade) == (1.5, 6, True)
        assert book.find_notebook(HW, HW).kernelspec
    assert graded_path(course.root, "ada", HW).is_file()


@pytest.mark.parametrize("text", [None, "YOUR ANSWER HERE"])
def test_a_text_that_was_not_written_gets_nothing_and_waits_for_nobody(course, assignment, text):
    write(course, pair(assignment, "ada", text=text))
    grades, comments = rows(course, "ada")
    assert grades["why-written"] == (0, None, None, False)
    assert comments["why-written"] == "No response."


def test_a_rejected_submission_is_in_the_gradebook_too(course):
    record = Record(student="ada", assignment=HW, status="rejected", notes=("The file is empty.",))
    write(course, (record, Submission("ada", HW, rejected="The file is empty.")))
    assert {grade for grade in rows(course, "ada")[0].values()} == {(None, None, None, True)}  # a person decides


def test_the_same_again_changes_nothing(course, assignment):
    pairs = [pair(assignment, f"student{number}") for number in range(3)]
    write(course, *pairs)
    before = everything(course)
    write(course, *pairs)
    with Writer(course) as writer:
        writer.write(pairs[:1])
        writer.write([*pairs, pairs[0]])  # even one student twice at once
    assert everything(course) == before
    assert len(before) == 3


def by_hand(course, student, **cells):
    """A person grades in formgrader."""
    with Gradebook(course.db_url, course.name) as book:
        for name, (points, extra) in cells.items():
            grade = book.find_grade(name.replace("why", "why-written"), HW, HW, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
        book.find_comment("why-written", HW, HW, student).manual_comment = "Well argued."
        book.db.commit()


def test_a_regrade_keeps_what_a_person_decided(course, assignment):
    write(course, pair(assignment, "ada"))
    by_hand(course, "ada", why=(2.5, 0.5), noisy_count=(2, None))
    write(course, pair(assignment, "ada"))
    grades, comments = rows(course, "ada")
    assert grades["why-written"] == (None, 2.5, 0.5, False)  # the same text: nobody needs to look again
    assert grades["noisy_count"] == (0.5, 2, None, False)
    assert comments["why-written"] == "Well argued."
    write(course, pair(assignment, "ada", points=(1, 0)))
    assert rows(course, "ada")[0]["noisy_count"] == (0, 2, None, True)  # the machine thinks otherwise now
    assert rows(course, "ada")[0]["why-written"] == (None, 2.5, 0.5, False)


def test_a_new_text_is_to_be_read_again(course, assignment):
    write(course, pair(assignment, "ada"))
    by_hand(course, "ada", why=(2.5, None))
    write(course, pair(assignment, "ada", text="A better proof."))
    assert rows(course, "ada")[0]["why-written"] == (None, 2.5, None, True)
    assert answers_shown(graded_path(course.root, "ada", HW))["why-written"] == "A better proof."


def handed_in_at(course, student, when):
    folder = course.submitted(student, HW)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "timestamp.txt").write_text(f"{when:%Y-%m-%d %H:%M:%S.%f} UTC")


def penalty(course, student):
    with Gradebook(course.db_url, course.name) as book:
        return book.find_submission(HW, student).late_submission_penalty or 0


def test_late_submissions_get_the_penalty_of_the_courses_plugin(course, assignment):
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    write(course, pair(assignment, "ada"))
    with Gradebook(course.db_url, course.name) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
    assert penalty(course, "ada") == 0  # nobody knows when
    handed_in_at(course, "ada", DUE + timedelta(hours=1))
    write(course, pair(assignment, "ada"))
    assert penalty(course, "ada") == 1.5
    write(course, pair(assignment, "ada", points=(1, 2)))
    assert penalty(course, "ada") == 3
    handed_in_at(course, "ada", DUE - timedelta(hours=1))
    write(course, pair(assignment, "ada"))
    assert penalty(course, "ada") == 0


def test_a_penalty_that_a_person_gave_is_kept_where_there_is_no_plugin(course, assignment):
    write(course, pair(assignment, "ada"))
    handed_in_at(course, "ada", DUE + timedelta(hours=1))
    with Gradebook(course.db_url, course.name) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
        book.find_submission_notebook(HW, HW, "ada").late_submission_penalty = 0.75
        book.db.commit()
    write(course, pair(assignment, "ada"))
    assert penalty(course, "ada") == 0.75


def test_all_or_nothing(course, assignment, monkeypatch):
    write(course, pair(assignment, "ada"))
    before = everything(course)
    good, (record, submission) = pair(assignment, "ada", points=(0, 0)), pair(assignment, "bob")
    with pytest.raises(ValueError, match="'bob' does not belong to 'eve'"):
        write(course, good, (record, Submission("eve", HW, submission.answers)))
    monkeypatch.setattr("autograder.gradebook.penalties.LatePenalties.by_plugin", lambda *_: 1 / 0)
    handed_in_at(course, "bob", DUE)
    with Gradebook(course.db_url, course.name) as book:
        book.update_or_create_assignment(HW, duedate=DUE)
    with pytest.raises(ZeroDivisionError):
        write(course, good, (record, submission))
    assert everything(course) == before


def test_a_task_may_be_dropped_and_another_added(course, assignment):
    write(course, pair(assignment, "ada"), pair(assignment, "bob"))
    by_hand(course, "ada", noisy_count=(2, 0.5))
    text = course.source(HW).read_text(encoding="utf-8")
    course.source(HW).write_text(text.replace('"noisy_count"', '"another_count"'), encoding="utf-8")
    changed = Assignment.read(course.source(HW))
    write(course, pair(changed, "ada"))
    grades, _ = rows(course, "ada")
    assert set(grades) == {"likelihood_ratio", "another_count", "why-written"}
    assert grades["another_count"] == (0.5, None, None, False)
    with Gradebook(course.db_url, course.name) as book:
        assert book.find_assignment(HW).max_score == 6
        assert book.find_submission(HW, "bob").score == 1
    (line,) = (course.records(HW) / "dropped.jsonl").read_text(encoding="utf-8").splitlines()  # a person's work is kept
    assert json.loads(line) == {"student": "ada", "cell": "noisy_count", "manual_score": 2, "extra_credit": 0.5}


def test_points_may_be_changed_in_the_source(course, assignment):
    write(course, pair(assignment, "ada"))
    book = json.loads(course.source(HW).read_text(encoding="utf-8"))
    book["cells"][5]["metadata"]["nbgrader"]["points"] = 5
    course.source(HW).write_text(json.dumps(book), encoding="utf-8")
    write(course, pair(Assignment.read(course.source(HW)), "ada", points=(1, 4)))
    with Gradebook(course.db_url, course.name) as opened:
        assert (opened.find_submission(HW, "ada").score, opened.find_assignment(HW).max_score) == (5, 9)


def test_two_hundred_submissions_need_a_few_queries_and_one_commit(course, assignment):
    pairs = [pair(assignment, f"student{number:03}") for number in range(200)]
    with Writer(course) as writer:
        writer.write(pairs[:1])
        asked, commits = [], []
        event.listen(writer.gradebook.engine, "before_cursor_execute", lambda *told: asked.append(told[2]))
        event.listen(writer.gradebook.engine, "commit", commits.append)
        start = time.process_time()
        writer.write(pairs)
        writer.write(pairs)
        seconds = time.process_time() - start
    assert len(commits) == 2
    assert len(asked) < 80, asked[:20]
    assert seconds < 8
    with Gradebook(course.db_url, course.name) as book:
        assert [one.score for one in book.assignment_submissions(HW)] == [1.5] * 200
