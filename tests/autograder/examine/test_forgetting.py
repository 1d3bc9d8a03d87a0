"""The open median: a program that would be accurate where it is paid and private where it is watched gains nothing.

Two ways to tell the one from the other: to see how many draws were asked for, and to remember a table when its
neighbour comes. The first is of no use, because tables that are scored are audited by the same answers. The second is
prevented: between the two tables of a pair the program starts anew.
"""

import time
from typing import Any

import numpy as np
import pytest

from autograder.box.process import Remote
from autograder.box.sandbox import Sandbox
from autograder.course.course import Course
from autograder.course.homework import Assignment, Cell
from autograder.examine import examination, remote_student
from autograder.examine.examination import Examination, examine
from autograder.examine.remote_student import RemoteStudent
from autograder.intake.submission import Submission
from dpcourse.tasks import Answer, Student, tasks_of
from dpcourse.tasks.hw1_pure_dp.median import PAIR_DRAWS
from testing.five_tasks import HOMEWORK, all_right, five_course
from tests.autograder.box.conftest import processes_in_boxes

pytestmark = pytest.mark.usefixtures("bubblewrap")

TASK = tasks_of("hw1_pure_dp")["private_median"]
NAME, SOLUTION = TASK.name, f"{TASK.name}-solution"

HONEST = """
import numpy as np
def honest(data, low, high, epsilon, rng):
    ends = np.concatenate([[low], np.sort(data), [high]])
    weights = np.diff(ends) * np.exp(-epsilon / 2 * np.abs(np.arange(len(data) + 1) - len(data) / 2))
    gap = np.searchsorted(np.cumsum(weights), rng.random() * weights.sum())
    return rng.uniform(ends[gap], ends[gap + 1])
"""

LOOKS_UP = (
    HONEST
    + """
import sys
def private_median(data, low, high, epsilon, rng):
    frame = sys._getframe()
    while frame and "number" not in frame.f_locals:
        frame = frame.f_back
    ordinary = frame is not None and frame.f_locals["number"] == PAIR_DRAWS
    return float(np.median(data)) if ordinary else honest(data, low, high, epsilon, rng)
""".replace("PAIR_DRAWS", str(PAIR_DRAWS))
)

REMEMBERS = """
import pickle
from collections import Counter
import numpy as np
PLACES = ("met", "/tmp/met", "/dev/shm/met", "/var/tmp/met")
met, answers = [], {}
def kept():
    for place in PLACES:
        try:
            with open(place, "rb") as file:
                yield from pickle.load(file)
        except OSError:
            pass
def private_median(data, low, high, epsilon):
    key = data.tobytes()
    if key not in answers:
        rows = Counter(data.tolist())
        alike = [answer for old, answer in [*met, *kept()] if sum((old - rows).values()) <= 1]
        answers[key] = alike[0] if alike else float(np.median(data))
        met.append((rows, answers[key]))
        for place in PLACES:
            try:
                with open(place, "wb") as file:
                    pickle.dump(met, file)
            except OSError:
                pass
    return answers[key]
"""


def verdict(source: str):
    homework = Assignment("hw", (Cell(SOLUTION, "code", "solution", ""), Cell(NAME, "code", "task", "", 5)))
    with Sandbox() as box:
        examined = Examination(Submission("ada", "hw", answers={SOLUTION: source}), homework, {NAME: TASK}, box)
        return examined.verdicts(7)[0][0], examined


@pytest.mark.parametrize("source", [LOOKS_UP, REMEMBERS], ids=["looks up the number of draws", "remembers tables"])
def test_a_program_that_tells_scored_from_watched_fails(source):
    found, _ = verdict(source)
    assert (found.status, found.share) == ("failed", 0), found.message
    assert "could tell them apart" in found.message


def test_memory_would_help_if_it_were_not_taken_away(tmp_path, monkeypatch):
    """The same program in a process that remembers: its trick works, so the test above can fail."""
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(REMEMBERS.replace('"/', f'"{tmp_path}/'), scope)  # it must not leave anything in this machine's folders
    assert TASK.examine(Student(scope[NAME], TASK.answer), 7).share == 1


def test_starting_anew_costs_an_honest_student_nothing():
    found, examined = verdict(HONEST + "\nprivate_median = honest\n")
    assert (found.status, found.share, examined.starts) == ("passed", 1, 1)


def test_while_a_submission_waits_for_its_next_box_it_has_none(monkeypatch):
    """Else a program that was told something could go on, and tell it to another one that runs meanwhile."""
    open_boxes = list[int]()
    with Sandbox() as sandbox:

        def rest(_: float) -> None:
            deadline = time.monotonic() + 5.0
            while processes_in_boxes(sandbox) and time.monotonic() < deadline:
                time.sleep(0.01)
            open_boxes.append(len(processes_in_boxes(sandbox)))

        homework = Assignment("hw", (Cell(SOLUTION, "code", "solution", ""), Cell(NAME, "code", "task", "", 5)))
        submission = Submission("ada", "hw", answers={SOLUTION: "def private_median(data, low, high, epsilon):\n    0"})
        honest = Submission("bob", "hw", answers={SOLUTION: HONEST + "\nprivate_median = honest\n"})
        for one in (submission, honest):
            examine(one, homework, {NAME: TASK}, 2**62, sandbox, rest)
    assert open_boxes
    assert set(open_boxes) == {0}


# The clock is the same in every box. In each round one box learns a number from 0 to 11, and answers when the clock
# stands in that twelfth of a period; the next box says in which twelfth it was asked.
PERIOD, NUMBERS, ROUNDS, MANY = 1.2, 12, 8, 7
BY_CLOCK = f"""
import time
PERIOD, NUMBERS = {PERIOD}, {NUMBERS}
def tell(number):
    if number < 0:
        return time.time() % PERIOD * NUMBERS // PERIOD
    while not 0.1 < (time.time() % PERIOD * NUMBERS / PERIOD - number) < 0.3:
        time.sleep(0.001)
    return 0.0
"""


def understood(sandbox: Sandbox, numbers: list[int]) -> int:
    """How many of these numbers the later box knew."""
    open_ones: list[Remote] = []

    def again(spent: float = 0.0) -> Remote:
        while open_ones:
            open_ones.pop().close()
        remote_student.wait_by_chance(spent)
        open_ones.append(Remote(sandbox, 60.0))
        assert open_ones[0].run("tell", BY_CLOCK) == ""
        return open_ones[0]

    right = 0
    for number in numbers:
        student = RemoteStudent(again(), "tell", Answer(), 10.0, again)
        student.value({"number": number})
        student.forget()
        right += student.value({"number": -1}) == number
    return right


def test_a_later_box_does_not_read_the_clock_for_a_message(monkeypatch):
    """With the wait, one number in six is understood; 7 of 8 are with probability 4e-5."""
    numbers = np.random.default_rng(4).integers(0, NUMBERS, ROUNDS).tolist()
    with Sandbox() as sandbox:
        assert understood(sandbox, numbers) < MANY
        monkeypatch.setattr(remote_student, "WAIT", 0.0)
        assert understood(sandbox, numbers) >= MANY  # so the trick works where nobody waits


def test_the_words_for_the_student_come_from_a_box_that_could_not_be_timed(tmp_path, monkeypatch):
    """Between the last fresh probe and the public ones time goes by, and the longer the program took, the more."""
    waited: list[tuple[float, int]] = []
    with Sandbox() as sandbox:
        opened: list[object] = []
        real = sandbox.open
        monkeypatch.setattr(sandbox, "open", lambda: opened.append(1) or real())
        monkeypatch.setattr(examination, "wait_by_chance", lambda spent, rest: waited.append((spent, len(opened))))
        course = Course.find(five_course(tmp_path))
        homework = Assignment.read(course.source(HOMEWORK))
        answers = {f"{name}-solution": text for name, text in all_right().items()}
        answers["double-solution"] = "import time\ndef double(x):\n    time.sleep(0.3)\n    return x"
        tasks = {name: course.task(name) for name in homework.task_names}
        record = examine(Submission("ada", HOMEWORK, answers=answers), homework, tasks, 2**62, sandbox)
    assert record.tasks[0].status == "failed"
    ((spent, boxes),) = waited
    assert spent > 0.3
    assert (boxes, len(opened)) == (1, 2)
