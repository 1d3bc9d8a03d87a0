"""The same examinations on a Dask cluster: SLURM, Kubernetes, or a few machines of a lab.

A job carries all that it needs, so the machines share no file system; only the process that started the run writes
records and gradebook, so every submission is recorded once, whatever happens to a worker. Each worker needs dpcourse,
bubblewrap, and one thread (``dask worker ... --nthreads 1``).
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

from autograder.box.sandbox import Sandbox
from autograder.console import Problem
from autograder.examine.examination import given_up
from autograder.examine.records import Record
from autograder.examine.workers import MOST_LOSSES, Job, Setting, examine_job
from dpcourse.tasks import task_named
from dpcourse.tasks.own_course import FILE, read_tasks

ANSWERS_WITHIN = 15.0  # seconds, the scheduler
AHEAD = 4  # jobs for each worker that the cluster knows of

_one_at_a_time = threading.Lock()


_sandboxes = dict[tuple[object, ...], Sandbox]()  # one for each process of the cluster and kind of homework


def _sandbox(setting: Setting) -> Sandbox:
    key = (setting.preload, setting.packages, setting.libraries, setting.unsafe)
    if key not in _sandboxes:
        _sandboxes[key] = setting.sandbox()
    return _sandboxes[key]


@cache
def _tasks(names: tuple[str, ...], own: bytes) -> dict[str, Any]:
    """Tasks do not travel, their names do; the course's own ones travel as the instructor's file."""
    mine = read_tasks(own, FILE) if own else {}
    return {name: task_named(name, mine) for name in names}


def examined_there(job: Job, setting: Setting) -> Record:
    """What a worker of the cluster does."""
    name = job.submission.assignment
    tasks = _tasks(setting.assignments[name].task_names, setting.own_tasks)
    with _one_at_a_time:
        return examine_job(job, replace(setting, tasks={name: tasks}), _sandbox(setting))


def on_cluster(jobs: Iterable[Job], setting: Setting, address: str) -> Generator[Record, None, None]:
    """The records of the jobs, as they come. A lost worker's jobs are done by others."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise Problem("--cluster needs Dask: pip install 'dpcourse[instructor]'") from None
    try:
        client = Client(address, timeout=ANSWERS_WITHIN)
    except (OSError, ValueError) as error:
        raise Problem(f"no Dask scheduler answers at {address!r}: {error}") from None
    bare = replace(setting, tasks={})
    waiting, running = iter(jobs), {}

    def send(job: Job) -> Any:
        future = client.submit(examined_there, job, bare, pure=False, retries=2)
        running[future.key] = job
        return future

    with client:
        futures = as_completed([send(job) for job in islice(waiting, AHEAD * max(1, len(client.ncores())))])
        for future in futures:
            job = running.pop(future.key)
            failure = future.exception()
            if failure is None:
                yield future.result()
            elif isinstance(failure, KilledWorker) and job.losses + 1 < MOST_LOSSES:
                futures.add(send(replace(job, losses=job.losses + 1)))
                continue
            else:
                text = f"The grader stopped on this submission: {type(failure).__name__}: {failure}"[:300]
                yield given_up(job.submission, setting.assignments[job.submission.assignment], job.seed, "error", text)
            following = next(waiting, None)
            if following is not None:
                futures.add(send(following))
