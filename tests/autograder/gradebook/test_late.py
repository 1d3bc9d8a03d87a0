"""Late penalties: right after each run of ``dpcourse grade``, whatever has changed, and nobody is examined for it."""

from datetime import timedelta

import pytest
from nbgrader.api import Gradebook

from autograder.course.course import Course
from autograder.examine.records import records_in
from autograder.gradebook.read import gradebook, marks_of, outdated
from autograder.gradebook.write import Writer
from tests.autograder.gradebook.test_write import DUE, by_hand, handed_in_at, pair, penalty, write
from tests.autograder.small_course import HW, answered, dpcourse, for_machines

ZERO, NONE = (f"\nc.LateSubmissionPlugin.penalty_method = {method!r}\n" for method in ("zero", "none"))


def configured(course, text):
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + text)


def due(course, when):
    with Gradebook(course.db_url, course.name) as book:
        book.update_or_create_assignment(HW, duedate=when)


def set_penalty(course, student, points):
    with Gradebook(course.db_url, course.name) as book:
        book.find_submission_notebook(HW, HW, student).late_submission_penalty = points
        book.db.commit()


@pytest.fixture
def course(small_course):
    """Ada and Bob handed in, Ada an hour late; nothing of a late one counts."""
    course = Course.find(small_course)
    configured(course, ZERO)
    pairs = [pair(course_assignment(course), who) for who in ("ada", "bob")]
    write(course, *pairs)
    due(course, DUE)
    handed_in_at(course, "ada", DUE + timedelta(hours=1))
    handed_in_at(course, "bob", DUE - timedelta(hours=1))
    write(course, *pairs)
    assert (penalty(course, "ada"), penalty(course, "bob")) == (1.5, 0)
    return course


def course_assignment(course):
    from autograder.course.homework import Assignment

    return Assignment.read(course.source(HW))


def updated(course):
    """Whose penalty is changed now. What export warns of is the same, before and after."""
    with gradebook(course) as book:
        expected = [mark.student for mark in outdated(course, marks_of(book, HW).values())]
    with Writer(course) as writer:
        changed = writer.update_penalties(HW)
        assert writer.update_penalties(HW) == []
    assert changed == sorted(expected)
    with gradebook(course) as book:
        assert outdated(course, marks_of(book, HW).values()) == []
    return changed


def test_a_persons_points(course):
    by_hand(course, "ada", why=(2.5, 0.5))
    by_hand(course, "bob", why=(2.5, 0.5))
    assert updated(course) == ["ada"]
    assert (penalty(course, "ada"), penalty(course, "bob")) == (4.5, 0)


@pytest.mark.parametrize("when", [DUE + timedelta(days=1), None], ids=["later", "none"])
def test_another_due_date(course, when):
    due(course, when)
    assert updated(course) == ["ada"]
    assert penalty(course, "ada") == 0


def test_an_earlier_due_date_and_an_extension(course):
    due(course, DUE - timedelta(hours=2))
    with Gradebook(course.db_url, course.name) as book:
        book.grant_extension(HW, "ada", hours=9)
    assert updated(course) == ["ada", "bob"]
    assert (penalty(course, "ada"), penalty(course, "bob")) == (0, 1.5)
    due(course, None)  # an extension of nothing
    assert updated(course) == ["bob"]


def test_a_time_that_a_person_corrected(course):
    handed_in_at(course, "ada", DUE - timedelta(minutes=1))
    handed_in_at(course, "bob", DUE + timedelta(minutes=1))
    assert updated(course) == ["ada", "bob"]
    assert (penalty(course, "ada"), penalty(course, "bob")) == (0, 1.5)


def test_the_plugin_is_switched_off(course):
    configured(course, NONE)
    assert updated(course) == ["ada"]
    assert penalty(course, "ada") == 0


def test_another_plugin(course, monkeypatch):
    (course.root / "my_plugin.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Half(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score / 2\n"
    )
    monkeypatch.syspath_prepend(str(course.root))
    configured(course, "\nc.AssignLatePenalties.plugin_class = 'my_plugin.Half'\n")
    assert updated(course) == ["ada"]
    assert penalty(course, "ada") == 0.75
    (course.root / "my_other_plugin.py").write_text(
        (course.root / "my_plugin.py").read_text().replace("score / 2", "float('nan')")
    )
    configured(course, "\nc.AssignLatePenalties.plugin_class = 'my_other_plugin.Half'\n")
    with Writer(course) as writer, pytest.raises(ValueError, match="gives nan as the penalty of 'ada'"):
        writer.update_penalties(HW)
    assert penalty(course, "ada") == 0.75


def test_what_a_person_took_off_stays_where_no_plugin_says_anything(course):
    configured(course, NONE)
    set_penalty(course, "ada", 0.25)
    assert updated(course) == []
    due(course, None)
    assert updated(course) == []
    assert penalty(course, "ada") == 0.25


def test_a_crash_before_the_gradebook_is_written_forgets_no_penalty_of_the_plugin(course, monkeypatch):
    by_hand(course, "ada", why=(2.5, None))
    with Writer(course) as writer:
        monkeypatch.setattr(writer.gradebook.db, "commit", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            writer.update_penalties(HW)
    assert penalty(course, "ada") == 1.5
    configured(course, NONE)
    assert updated(course) == ["ada"]
    assert penalty(course, "ada") == 0


def test_the_day_of_an_instructor(small_course, capsys, bubblewrap):
    """Graded, read by a person, graded again: the penalty is right, and no record has changed."""
    course = Course.find(small_course)
    configured(course, ZERO)
    for student, hours in (("ada", 1), ("bob", -1)):
        handed_in_at(course, student, DUE + timedelta(hours=hours))
        (course.submitted(student, HW) / f"{HW}.ipynb").write_bytes(answered())
    words = ("grade", HW, "--jobs", "1", "--course", course.root)
    assert dpcourse(capsys, *words)[0] == 0
    due(course, DUE)
    code, out, _ = dpcourse(capsys, *words)
    assert (code, "late penalties: 1 brought up to date" in out, penalty(course, "ada")) == (0, True, 3)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in course.records(HW).glob("*.json")}
    for student in ("ada", "bob"):
        by_hand(course, student, why=(2, None))
    code, told = for_machines(capsys, *words)
    assert (code, told["summary"]["new"], told["summary"]["penalties_changed"]) == (0, 0, {HW: ["ada"]})
    assert (penalty(course, "ada"), penalty(course, "bob")) == (5, 0)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    assert len(list(records_in(course.records(HW)))) == len(before) == 2
    code, out, _ = dpcourse(capsys, *words)
    assert (code, "late penalties" in out) == (0, False)
    due(course, None)
    assert for_machines(capsys, *words, "--student", "bob")[1]["summary"]["penalties_changed"] == {}
    assert for_machines(capsys, *words, "--student", "ada")[1]["summary"]["penalties_changed"] == {HW: ["ada"]}
