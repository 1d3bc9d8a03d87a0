"""The bank of attacks against the real grader, all in one class with honest students: none gains, reads or outlives."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.examine.records import Record
from testing.attacks import ATTACKS, SECRET, VICTIM
from testing.classroom import hand_in
from testing.five_tasks import HOMEWORK, POINTS, all_right, all_wrong, five_course, notebook
from tests.conftest import require_program

HONEST = 3
SEED = 11


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Record], float]:
    """The course after a run over everything: (its folder, student -> record, seconds)."""
    require_program("bwrap", package="bubblewrap")
    root = five_course(tmp_path_factory.mktemp("attacked"))
    (root / "secret.txt").write_text(SECRET, encoding="utf-8")
    book = notebook({**all_right(), "double": f"# {SECRET}\n" + all_right()["double"]})
    hand_in(root, VICTIM, HOMEWORK, book)
    for number in range(HONEST):  # before, between and after the attacks
        hand_in(root, f"{'amz'[number]}_honest", HOMEWORK, notebook(all_right()))
        hand_in(root, f"{'amz'[number]}_wrong", HOMEWORK, notebook(all_wrong()))
    for attack in ATTACKS:
        attack.hand_in(root)
    os.environ["DPCOURSE_ATTACK_SECRET"] = SECRET
    start = time.monotonic()
    try:
        records = grade(Course.find(root), [HOMEWORK], jobs=2, seed=SEED)
    finally:
        del os.environ["DPCOURSE_ATTACK_SECRET"]
    return root, {record.student: record for record in records}, time.monotonic() - start


def test_the_bank_is_large():
    assert len(ATTACKS) >= 150
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_no_attack_gains_a_point_or_a_secret(attack, attacked):
    _, records, _ = attacked
    record = records[attack.name]
    assert record.score == 0, [(task.task, task.points, task.message) for task in record.tasks if task.points]
    told = [*record.notes, *(f"{task.message} {task.feedback}" for task in record.tasks)]
    assert not [text for text in told if SECRET in text]
    assert len(record.tasks) == 5
    assert all(task.message for task in record.tasks)


def test_honest_students_are_not_touched(attacked):
    _, records, _ = attacked
    assert records[VICTIM].score == POINTS
    for number in range(HONEST):
        honest, wrong = records[f"{'amz'[number]}_honest"], records[f"{'amz'[number]}_wrong"]
        assert (honest.score, honest.status) == (POINTS, "graded")
        assert (wrong.score, wrong.status) == (0, "graded")


def test_the_gradebook_says_the_same(attacked):
    root, records, _ = attacked
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        kept = {one.student.id: one.score for one in book.assignment_submissions(HOMEWORK)}
    assert kept == {student: record.score for student, record in records.items()}


def test_nothing_outlives_the_run(attacked):
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    mine = {str(os.getpid())}
    left = [line for line in listed.splitlines() if "first.py" in line and line.split()[1] in mine]
    assert left == []
    assert "sleep 1000" not in listed


def test_one_attack_does_not_stop_the_others(attacked):
    """All of them, those that hang included, within a few of their own time limits."""
    _, records, seconds = attacked
    assert len(records) == len(ATTACKS) + 2 * HONEST + 1
    assert not [note for record in records.values() for note in record.notes if "The grader was lost" in note]
    assert seconds < 240


def test_a_probe_that_feedback_gave_away_is_not_asked_again(handed_in):
    root = handed_in(0)
    tells = "SEEN = []\ndef double(x):\n    SEEN.append(x)\n    raise ValueError(f'it was {SEEN[0]!r}')"
    hand_in(root, "first", HOMEWORK, notebook({**all_wrong(), "double": tells}))
    (first,) = grade(Course.find(root), [HOMEWORK], jobs=1)
    assert main(["feedback", HOMEWORK, "--course", str(root)]) == 0
    probe = re.search(r"it was ([\d.]+)", first.tasks[0].message)[1]
    answer = f"def double(x):\n    return 2 * x if x == {probe} else 0.0"
    hand_in(root, "second", HOMEWORK, notebook({**all_wrong(), "double": answer}))
    again, second = grade(Course.find(root), [HOMEWORK], jobs=1)
    assert again == first
    assert second.seed != first.seed
    assert probe not in second.tasks[0].message
