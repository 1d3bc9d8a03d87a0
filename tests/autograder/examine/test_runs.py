"""A run that was stopped goes on: nothing is graded twice, nothing is lost, whoever is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.examine.records import Record, records_in
from testing import ROOT
from testing.five_tasks import HOMEWORK, POINTS, all_right, notebook, score_of
from tests.autograder.outcome import bare, in_gradebook

LONG = 2**62 + 77

pytestmark = pytest.mark.usefixtures("bubblewrap")


def test_what_was_graded_is_not_graded_again_unless_it_changed(handed_in):
    root = handed_in(4)
    course = Course.find(root)
    first = grade(course, [HOMEWORK], jobs=1)
    again = grade(course, [HOMEWORK], jobs=1)
    assert again == [record for record in records_in(course.records(HOMEWORK))]
    assert [record.run for record in again] == [again[0].run] * 4
    place = root / "submitted" / "s000" / HOMEWORK / f"{HOMEWORK}.ipynb"
    place.write_text(json.dumps(notebook(all_right())), encoding="utf-8")
    changed = grade(course, [HOMEWORK], jobs=1)
    assert [record.score for record in changed] == [POINTS, *(record.score for record in first[1:])]
    assert [one.run == other.run for one, other in zip(again, changed, strict=True)] == [False, True, True, True]
    assert [one.seed == other.seed for one, other in zip(again, changed, strict=True)] == [False, True, True, True]
    anew = grade(course, [HOMEWORK], jobs=1, regrade=True)
    assert len({record.seed for record in anew}) == 1
    assert anew[0].seed not in {record.seed for record in changed}
    assert [record.score for record in anew] == [record.score for record in changed]
    one = grade(course, [HOMEWORK], jobs=1, students=["s001"], regrade=True)
    assert [record.student for record in one] == ["s001"]
    assert grade(course, [HOMEWORK], jobs=1)[0].run == anew[0].run  # and nobody else was


def test_a_run_killed_at_any_time_goes_on(handed_in):
    """SIGKILL of everything, three times; then the grades are those of an undisturbed run, each recorded once."""
    slow = "\nimport time\ntime.sleep(0.15)"
    quiet, disturbed = (handed_in(24, slow, name) for name in ("quiet", "disturbed"))
    expected = [bare(record) for record in grade(Course.find(quiet), [HOMEWORK], jobs=2, seed=5)]
    command = [
        sys.executable,
        "-m",
        "autograder",
        "grade",
        HOMEWORK,
        "--course",
        str(disturbed),
        "--seed-for-tests",
        "5",
        "--jobs",
        "2",
    ]
    folder = disturbed / "grading" / HOMEWORK
    before = 0
    for _ in range(3):
        process = subprocess.Popen(
            command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        end = time.monotonic() + 60
        while len(list(folder.glob("*.json"))) < before + 4 and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        before = len(list(folder.glob("*.json")))
    assert 12 <= before < 24, "the run was to be killed in between"
    kept = {path.name: path.read_bytes() for path in folder.glob("*.json")}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {name: (folder / name).read_bytes() for name in kept} == kept  # graded once
    found = [bare(record) for record in records_in(folder)]
    assert found == expected
    assert in_gradebook(disturbed) == in_gradebook(quiet)
    assert not (folder / ".run").exists()


def test_an_interrupted_regrade_goes_on_too(handed_in):
    root = handed_in(6)
    course = Course.find(root)
    grade(course, [HOMEWORK], jobs=1)

    def stop_after_two(record: Record, seen: list[Record] = []) -> None:  # noqa: B006
        seen.append(record)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grade(course, [HOMEWORK], jobs=1, seed=LONG, regrade=True, progress=stop_after_two)
    partly = [record.seed == LONG for record in records_in(course.records(HOMEWORK))]
    assert 2 <= sum(partly) < 6
    finished = grade(course, [HOMEWORK], jobs=1)
    assert [record.seed for record in finished] == [LONG] * 6
    assert in_gradebook(root) == {f"s{number:03}": score_of(number) for number in range(6)}


def test_two_graders_do_not_work_in_one_course(handed_in):
    root = handed_in(3)
    errors = []

    def second(record: Record) -> None:
        try:
            grade(Course.find(root), [HOMEWORK], jobs=1)
        except Problem as problem:
            errors.append(str(problem))

    grade(Course.find(root), [HOMEWORK], jobs=1, progress=second)
    assert len(errors) == 3
    assert "another grading is at work" in errors[0]
