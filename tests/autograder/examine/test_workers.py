"""Several submissions at a time: who rests between two boxes leaves the processor to another."""

import itertools
import time

from autograder.course.course import Course
from autograder.examine import examination
from autograder.examine.batch import grade
from tests.autograder.five import HOMEWORK

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
