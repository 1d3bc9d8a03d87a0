"""Several submissions at a time: who rests between two boxes leaves the processor to another."""

import itertools
import time

import pytest

from autograder.course.course import Course
from autograder.examine import examination
from autograder.examine.batch import grade
from testing.five_tasks import HOMEWORK

REST = 1.0


def test_while_one_rests_another_is_examined(handed_in, bubblewrap, monkeypatch, tmp_path):
    """One at a time: the rests of two submissions can only overlap if the second began while the first was resting."""

    def rest_and_note(spent, rest):
        began = time.time()
        rest(REST)
        (tmp_path / f"{began}.rest").write_text(f"{began} {time.time()}")

    monkeypatch.setattr(examination, "wait_by_chance", rest_and_note)
    records = grade(Course.find(handed_in(6)), [HOMEWORK], jobs=1, seed=2**62)
    assert len(records) == 6
    rests = sorted(tuple(map(float, path.read_text().split())) for path in tmp_path.glob("*.rest"))
    assert len(rests) == sum(any(task.status == "failed" for task in record.tasks) for record in records) >= 3
    assert any(following[0] < first[1] for first, following in itertools.pairwise(rests))


#: The answer to `double` is an error that tells from when to when its box was there.
TELLS_ITS_TIME = """
import time
began = time.time()
def double(x):
    time.sleep(0.3)
    raise ValueError(f"<{began} {time.time()}>")
"""


@pytest.mark.parametrize(("jobs", "together"), [(1, False), (2, True)])
def test_with_one_job_two_boxes_are_never_open(handed_in, bubblewrap, jobs, together):
    """So no program of another student can hold what a program was told until its next box comes."""
    records = grade(Course.find(handed_in(6, TELLS_ITS_TIME)), [HOMEWORK], jobs=jobs, seed=2**62)
    said = [text for record in records for text in (record.tasks[0].message, record.tasks[0].feedback)]
    times = sorted(tuple(map(float, text.partition("<")[2].partition(">")[0].split())) for text in said)
    assert len(times) == 2 * 6  # by fresh probes and by public ones
    assert any(following[0] < first[1] for first, following in itertools.pairwise(times)) == together
