"""The same grades on a real Dask cluster, also when a worker of it dies."""

import os
import signal

import pytest

from autograder.console import Problem
from autograder.course.course import Course
from autograder.examine.batch import grade
from testing.five_tasks import HOMEWORK, score_of
from tests.autograder.outcome import bare, in_gradebook

pytestmark = pytest.mark.usefixtures("bubblewrap")


def test_a_dask_cluster_grades_the_same_and_a_lost_worker_loses_nothing(handed_in):
    from distributed import LocalCluster

    slow = "\nimport time\ntime.sleep(0.2)"
    here, there = (handed_in(20, slow, name) for name in ("here", "there"))
    expected = [bare(record) for record in grade(Course.find(here), [HOMEWORK], jobs=2, seed=4)]
    killed: list[int] = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:

        def kill_one(_: object) -> None:
            if not killed:
                pids = [worker.process.process.pid for worker in cluster.workers.values()]
                os.kill(pids[0], signal.SIGKILL)
                killed.append(pids[0])

        records = grade(
            Course.find(there), [HOMEWORK], cluster=cluster.scheduler_address, seed=4, progress=kill_one
        )  # fmt: skip
    assert killed
    assert [bare(record) for record in records] == expected
    assert in_gradebook(there) == {f"s{number:03}": score_of(number) for number in range(20)}


def test_a_scheduler_that_is_not_there_is_told(handed_in, monkeypatch):
    monkeypatch.setattr("autograder.examine.cluster.ANSWERS_WITHIN", 1.0)
    root = handed_in(1)
    with pytest.raises(Problem, match="no Dask scheduler answers at 'tcp:"):
        grade(Course.find(root), [HOMEWORK], cluster="tcp://127.0.0.1:9")
