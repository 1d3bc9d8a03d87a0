"""Several submissions at a time on this machine: processes that examine, and share one sandbox.

They are forked from one process that has everything loaded and in which no student code ever runs, so a lost one is
replaced within milliseconds, and its submission is examined again. If the sandbox is lost, each starts one of its own.
What a judge reads and computes is limited: what takes more memory or time costs that submission only.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING

from autograder.box.limits import boxes_that_fit
from autograder.box.sandbox import Broken, Sandbox
from autograder.box.walls import Bubblewrap, NoWall
from autograder.console import note
from autograder.course.homework import Assignment
from autograder.examine.examination import SECONDS, examine, given_up
from autograder.examine.forked import Forked
from autograder.examine.records import Record
from autograder.examine.remote_student import Rest
from autograder.examine.within_limits import limit_memory
from autograder.intake.submission import Submission

if TYPE_CHECKING:
    from dpcourse.tasks.task import Task

RESTS, RESTED = "rests", "rested"  # what a worker says beside its record
MOST_LOSSES = 20  # of workers by the same submission
LONGEST = 2 * SECONDS + 120.0  # the box has its own clock, for fresh and for public probes; this one is for the judge
TOO_MUCH = "Its answers took more memory than the judge has: nothing of it could be decided."
JUDGE_MEMORY = 2 * 2**30  # bytes beyond what a worker has when it starts


@dataclass(frozen=True)
class Setting:
    """What every worker knows from the start."""

    assignments: dict[str, Assignment]
    tasks: dict[str, dict[str, Task]]
    preload: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    unsafe: bool = False
    own_tasks: bytes = b""  # the course's tasks.py, for workers on other machines
    libraries: tuple[str, ...] = ()  # what students may import

    def sandbox(self) -> Sandbox:
        """A sandbox for these homeworks."""
        wall = NoWall() if self.unsafe else Bubblewrap()
        return Sandbox(preload=self.preload, packages=self.packages, libraries=self.libraries, wall=wall)


@dataclass(frozen=True)
class Job:
    """One submission to be examined."""

    submission: Submission
    seed: int
    losses: int = 0
    spent: float = 0.0  # seconds, by workers that were lost


def examine_job(job: Job, setting: Setting, sandbox: Sandbox, rest: Rest = time.sleep) -> Record:
    """The record of a job."""
    assignment = setting.assignments[job.submission.assignment]
    tasks = setting.tasks[assignment.name]
    try:
        return examine(job.submission, assignment, tasks, job.seed, sandbox, rest)
    except MemoryError:
        return given_up(job.submission, assignment, job.seed, "error", TOO_MUCH)


def _serve(connection: Connection, setting: Setting, sandbox: Sandbox) -> None:
    def rest(seconds: float) -> None:
        connection.send(RESTS)
        time.sleep(seconds)
        connection.send(RESTED)
        connection.recv()  # whose turn it is says the other side

    limit_memory(JUDGE_MEMORY)
    try:
        while True:
            connection.send(examine_job(connection.recv(), setting, sandbox, rest))
    except Broken:  # the sandbox was lost: so is this worker, and the next one starts another
        return
    finally:
        sandbox.close()


class _Worker:
    def __init__(self, setting: Setting, sandbox: Sandbox) -> None:
        if not sandbox.is_alive:
            sandbox.start()
        self._forked = Forked(_serve, setting, sandbox)
        self.connection, self.process = self._forked.connection, self._forked.process
        self.stop = self._forked.kill
        self.job: Job | None = None
        self.rest = ""  # between two boxes: meanwhile another worker has the processor
        self.since = self.rests_since = 0.0

    @property
    def is_at_work(self) -> bool:
        """Does it need a processor?"""
        return self.job is not None and not self.rest

    def give(self, job: Job) -> None:
        self.job, self.rest, self.since = job, "", time.monotonic()
        with contextlib.suppress(OSError):  # it has died meanwhile: that is noticed elsewhere
            self.connection.send(job)

    def go_on(self) -> None:
        """It has rested, and it is its turn again. Its clock stood still meanwhile."""
        self.since += time.monotonic() - self.rests_since
        self.rest = ""
        with contextlib.suppress(OSError):
            self.connection.send(None)


def _needed(setting: Setting) -> set[str]:
    """What the judges of these tasks load when they first need it."""
    tasks = [task for tasks in setting.tasks.values() for task in tasks.values()]
    proofs = any(type(task.answer).__name__ == "Steps" for task in tasks)
    values_only = all(task.judge.__module__ == "dpcourse.tasks.judges.values" for task in tasks)
    return ({"sympy"} if proofs else set()) | (set() if values_only else {"scipy.stats"})


def _that_fit(sandbox: Sandbox, wanted: int) -> tuple[int, int]:
    """How many submissions are examined at a time, and with those that rest: no more than there is free memory for."""
    largest, most = sandbox.largest_box, 2 * wanted
    fit = most if largest is None else (boxes_that_fit(largest) or most)
    if fit < wanted:
        note(f"{fit} at a time instead of {wanted}: there is not more free memory (see --jobs)")
    return min(fit, wanted), min(fit, most)


def local(jobs: Iterable[Job], setting: Setting, number: int) -> Generator[Record, None, None]:
    """The records of the jobs, as they come; a job whose worker is lost is given to another.

    ``number`` at a time at most, and no more than the free memory has room for. One that only waits for its next box
    (``wait_by_chance``) does not count: meanwhile another one is examined.
    """
    for name in _needed(setting):  # before anybody forks
        importlib.import_module(name)
    waiting, again, sandbox = iter(jobs), deque[Job](), setting.sandbox()
    workers: list[_Worker] = []

    def next_job() -> Job | None:
        return again.popleft() if again else next(waiting, None)

    first = next_job()
    if first is None:
        return
    again.append(first)
    try:
        sandbox.start()
        number, places = _that_fit(sandbox, number)
        while True:
            while sum(worker.is_at_work for worker in workers) < number:
                rested = [worker for worker in workers if worker.rest == RESTED]
                if rested:
                    min(rested, key=lambda worker: worker.rests_since).go_on()
                    continue
                free = next((worker for worker in workers if worker.job is None), None)
                job = next_job() if free is not None or len(workers) < places else None
                if job is None:
                    break
                if free is None:
                    free = _Worker(setting, sandbox)
                    workers.append(free)
                free.give(job)
            busy = [worker for worker in workers if worker.job is not None]
            if not busy:
                return
            wait([*(worker.connection for worker in busy), *(worker.process.sentinel for worker in busy)], timeout=1.0)
            for worker in busy:
                yield from _heard(worker, workers, again, setting, sandbox)
    finally:
        for worker in workers:
            worker.stop()
        sandbox.close()


def _heard(
    worker: _Worker, workers: list[_Worker], again: deque[Job], setting: Setting, sandbox: Sandbox
) -> Iterator[Record]:
    """What a busy worker has to say: a record, or that it is no more."""
    job = worker.job
    assert job is not None
    with contextlib.suppress(EOFError, OSError):
        if worker.connection.poll():
            said = worker.connection.recv()
            if said == RESTS:
                worker.rest, worker.rests_since = said, time.monotonic()
            elif said == RESTED:
                worker.rest = said
            else:
                worker.job = None
                yield said
            return
    spent = job.spent + time.monotonic() - worker.since
    late = spent > LONGEST and not worker.rest
    if not late and worker.process.is_alive() and worker.job is not None:
        return
    worker.stop()
    workers[workers.index(worker)] = _Worker(setting, sandbox)
    assignment = setting.assignments[job.submission.assignment]
    if late:
        text = "Its answers kept the judge busy for too long: nothing of it could be decided."
        yield given_up(job.submission, assignment, job.seed, "timeout", text)
    elif job.losses + 1 >= MOST_LOSSES:
        text = f"The grader was lost {MOST_LOSSES} times while it examined this submission."
        yield given_up(job.submission, assignment, job.seed, "error", text)
    else:
        again.append(Job(job.submission, job.seed, job.losses + 1, spent))
