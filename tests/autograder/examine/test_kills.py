"""Kill -9 of anything, at any time: nobody's grade changes, and nobody can pretend to have been killed."""

import os
import signal
import sqlite3
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
import psutil
import pytest

from autograder.box import sandbox as box
from autograder.box.process import KilledFromOutside, Lost, Remote
from autograder.box.sandbox import Sandbox
from autograder.course.course import Course
from autograder.examine.batch import grade
from autograder.examine.examination import AGAIN, Examination
from autograder.examine.within_limits import OverLimit, within_limits
from autograder.intake.submission import Submission
from testing.five_tasks import CELLS, HOMEWORK, all_right, five_course
from tests.autograder.outcome import bare

pytestmark = pytest.mark.usefixtures("bubblewrap")

#: Everything that the gradebook says about a class, without the keys of its rows, which are drawn by chance.
EVERYTHING = """
select student.id, base_cell.name, grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade,
       submitted_notebook.late_submission_penalty
from grade join base_cell on grade.cell_id = base_cell.id
           join submitted_notebook on grade.notebook_id = submitted_notebook.id
           join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
           join student on submitted_assignment.student_id = student.id
union all
select student.id, base_cell.name, comment.auto_comment, comment.manual_comment, null, null, null
from comment join base_cell on comment.cell_id = base_cell.id
             join submitted_notebook on comment.notebook_id = submitted_notebook.id
             join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
             join student on submitted_assignment.student_id = student.id
"""


def everything(root: Path) -> list[str]:
    with sqlite3.connect(root / "gradebook.db") as book:
        return sorted(repr(row) for row in book.execute(EVERYTHING))


class Killer(threading.Thread):
    """Kills a process below this one every so often: any kind as likely as any other."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds, self.stop, self.kinds = seconds, threading.Event(), Counter[str]()
        self.rng = np.random.default_rng(1)
        self.others = {child.pid for child in psutil.Process().children(recursive=True)}

    def run(self) -> None:
        while not self.stop.wait(self.seconds):
            kinds: dict[str, list[int]] = {}
            for child in psutil.Process().children(recursive=True):
                if child.pid not in self.others:
                    try:
                        kinds.setdefault(self.kind_of(child), []).append(child.pid)
                    except psutil.Error:
                        continue
            if kinds:
                kind = str(self.rng.choice(sorted(kinds)))
                os.kill(int(self.rng.choice(kinds[kind])), signal.SIGKILL)
                self.kinds[kind] += 1

    @staticmethod
    def kind_of(child: psutil.Process) -> str:
        """A fork of the grader, bubblewrap, the sandbox's first process, or a submission's."""
        if child.name() == "bwrap":
            return "wall"
        if "first.py" in " ".join(child.cmdline()):
            return "first" if child.parent().name() == "bwrap" else "submission"
        return "grader"


def test_whatever_is_killed_the_grades_are_those_of_a_calm_run(handed_in):
    """Every second and a half, during 200 submissions; records and gradebook are compared to the last byte.

    Times and the names of the runs are left out: they differ between any two runs.
    """
    slow = "\nimport time\ntime.sleep(0.05)"
    calm, stormy = (handed_in(200, slow, name) for name in ("calm", "stormy"))
    expected = [bare(record) for record in grade(Course.find(calm), [HOMEWORK], jobs=2, seed=2)]
    killer = Killer(1.5)
    killer.start()
    try:
        records = grade(Course.find(stormy), [HOMEWORK], jobs=2, seed=2)
    finally:
        killer.stop.set()
        killer.join()
    assert sum(killer.kinds.values()) >= 6
    assert len(killer.kinds) >= 3, killer.kinds
    assert [bare(record) for record in records] == expected
    assert everything(stormy) == everything(calm)
    assert len(everything(calm)) > 200 * len(CELLS)


def examination(source: str, sandbox: Sandbox, tmp_path: Path) -> Examination:
    course = Course.find(five_course(tmp_path))
    from autograder.course.homework import Assignment

    homework = Assignment.read(course.source(HOMEWORK))
    answers = {f"{name}-solution": text for name, text in {**all_right(), "double": source}.items()}
    tasks = {name: course.task(name) for name in homework.task_names}
    return Examination(Submission("ada", HOMEWORK, answers=answers), homework, tasks, sandbox)


WAITS = "import time\ndef double(x):\n    time.sleep(0.4)\n    return 2 * x"


@pytest.mark.parametrize(("kills", "status"), [(AGAIN, "passed"), (AGAIN + 1, "error")])
def test_a_kill_from_outside_is_asked_again_twice_before_a_cell_is_blamed(tmp_path, kills, status):
    with Sandbox() as sandbox:
        examined = examination(WAITS, sandbox, tmp_path)
        left = [kills]

        def kill() -> None:
            end = time.monotonic() + 30
            while left[0] and time.monotonic() < end:
                time.sleep(0.2)
                (first,) = psutil.Process(sandbox._process.pid).children()
                for child in first.children():
                    if time.time() - child.create_time() > 0.3:
                        left[0] -= 1
                        child.kill()
                        child.wait(5)
                        break

        thread = threading.Thread(target=kill)
        thread.start()
        verdicts = [verdict for verdict, _ in examined.verdicts(3)]
        thread.join()
    assert left == [0]
    assert verdicts[0].status == status
    assert [verdict.status for verdict in verdicts[1:]] == ["passed"] * 4
    assert bool(examined.notes) == (status == "error")


@pytest.mark.parametrize(
    "own",
    [
        "os.kill(os.getpid(), 9)",
        "os.kill(-1, 9)",
        "os.kill(0, 9)",
        "ctypes.CDLL(None)['raise'](9)",
        "ctypes.CDLL(None).syscall(200, os.getpid(), 9)",
        "ctypes.CDLL(None).syscall(234, os.getpid(), os.getpid(), 9)",
    ],
)
def test_nobody_can_pretend_to_have_been_killed(own):
    """Or a program could ask for another try. In its own namespace the first process is shielded from its SIGKILL."""
    with Sandbox() as sandbox:
        process = Remote(sandbox, 20.0)
        process.run("own", f"import os, ctypes\n{own}")  # it may say that there is nobody to kill
        assert process.run("alive", "x = 1") == ""
        process.close()


def test_too_much_computing_time_is_no_kill_from_outside():
    """The kernel ends it by the same signal; its time tells the difference."""
    from autograder.box.limits import Limits

    with Sandbox(limits=Limits(cpu_seconds=2)) as sandbox:
        process = Remote(sandbox, 20.0)
        with pytest.raises(Lost, match="too much computing time"):
            process.run("long", "while True:\n    try:\n        while True: pass\n    except BaseException: pass")


def test_a_closed_channel_is_no_kill_from_outside():
    with Sandbox() as sandbox:
        process = Remote(sandbox, 20.0)
        with pytest.raises(Lost, match="closed its channel"):
            process.run("close", "import os, time\nos.closerange(3, 1000)\ntime.sleep(100)")
        again = Remote(sandbox, 20.0)
        assert again.run("works", "x = 1") == ""


@pytest.mark.parametrize("seconds", [0.01, 100])
def test_a_closed_channel_never_breaks_the_sandbox(monkeypatch, seconds):
    """The grader says "stop" while the process may end by itself: whoever is first, how it ended is told."""
    monkeypatch.setattr(box, "ENDS_WITHIN", 0.01)
    with Sandbox() as sandbox:
        for _ in range(20):  # without care about three of four said nothing
            with pytest.raises(Lost):
                Remote(sandbox, 20.0).run("close", f"import os, time\nos.closerange(3, 1000)\ntime.sleep({seconds})")


def test_a_kill_from_outside_is_told_as_that():
    with Sandbox() as sandbox:
        process = Remote(sandbox, 20.0)
        (first,) = psutil.Process(sandbox._process.pid).children()
        first.children()[0].kill()
        with pytest.raises(KilledFromOutside):
            process.run("gone", "x = 1")


def _takes_memory() -> int:
    return len(bytearray(10**9))


def _takes_time() -> None:
    time.sleep(60)


def _leaves() -> None:
    os._exit(3)


def test_what_reads_a_submission_has_a_limit_and_the_next_one_does_not_notice():
    with pytest.raises(OverLimit, match="more than 100 MB"):
        within_limits(_takes_memory, memory=100 * 2**20)
    with pytest.raises(OverLimit, match=r"longer than 0\.5 seconds"):
        within_limits(_takes_time, seconds=0.5)
    with pytest.raises(OverLimit, match="was lost"):
        within_limits(_leaves)
    assert within_limits(os.getpid) != os.getpid()
    with pytest.raises(FileNotFoundError, match="nowhere"):
        within_limits(os.stat, "/nowhere")
    assert within_limits(sorted, [2, 1]) == [1, 2]
