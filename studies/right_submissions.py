"""Do right submissions ever lose a point to chance? Grade them again and again.

Run it by ``python -m studies.right_submissions``.

Every right submission of the banks (testing/submissions) is graded with ``--seeds`` grading seeds; it must pass each
time. What was done is kept under build/judge_study and not done again, so the study can be stopped at any time and goes
on where it was; after any change of the judges or of the banks it starts anew.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import json
import os
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from dpcourse.tasks import HOMEWORKS, Student, tasks_of
from testing.submissions.bank import bank_of

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("dpcourse/tasks", "dpcourse/audit", "testing/submissions")
KEPT = ROOT / "build" / "judge_study" / "results.json"
AT_ONCE = 10.0  # seconds of work that are given away at a time


class Submission(NamedTuple):
    """A right submission of the banks."""

    homework: str
    task: str
    style: str

    def student(self) -> Student:
        """Who answers for it."""
        task, function = tasks_of(self.homework)[self.task], bank_of(self.homework).RIGHT[self.task][self.style]
        return Student(function, task.answer, seconds=10 * task.seconds)


def code_version() -> str:
    """A fingerprint of the files that decide: the judges, what they test with, and the submissions."""
    files = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def submissions() -> list[Submission]:
    """Every right one."""
    return [
        Submission(homework, task, style)
        for homework in HOMEWORKS
        for task, styles in bank_of(homework).RIGHT.items()
        for style in styles
    ]


class Graded(NamedTuple):
    """Some seeds of a submission: how many, which of them failed, the seconds, and the judge's own bound."""

    seeds: int = 0
    failed: tuple[int, ...] = ()
    seconds: float = 0.0
    bound: float = 0.0

    def and_more(self, other: Graded) -> Graded:
        """Both together."""
        return Graded(
            self.seeds + other.seeds,
            self.failed + other.failed,
            self.seconds + other.seconds,
            max(self.bound, other.bound),
        )


def graded(one: Submission, first: int, number: int) -> Graded:
    """Grade a submission with the seeds first, first + 1, ..."""
    task, result = tasks_of(one.homework)[one.task], Graded()
    for seed in range(first, first + number):
        start = time.process_time()
        verdict = task.examine(one.student(), seed)
        missed = () if verdict.passed else (seed,)
        result = result.and_more(Graded(1, missed, time.process_time() - start, verdict.false_fail))
    return result


def _stored_results() -> dict[str, dict[str, Any]]:
    return dict(json.loads(KEPT.read_text())) if KEPT.exists() else {}


class Study:
    """What is known so far, and on disk."""

    def __init__(self, chosen: list[Submission], seeds: int) -> None:
        self.seeds, self.version = seeds, code_version()
        stored = _stored_results()
        self.known = {one: self._known(one, stored.get("|".join(one), {})) for one in chosen}

    def _known(self, one: Submission, stored: dict[str, Any]) -> Graded:
        if stored.get("version") != self.version:
            return Graded()
        return Graded(stored["seeds"], tuple(stored["failed"]), stored["seconds"], stored["bound"])

    def add(self, one: Submission, result: Graded) -> None:
        """Note it, and keep it, beside what another process may have kept."""
        self.known[one] = self.known[one].and_more(result)
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        with KEPT.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            stored = _stored_results()
            stored["|".join(one)] = {"version": self.version, **self.known[one]._asdict()}
            KEPT.with_suffix(".new").write_text(json.dumps(stored, indent=0))
            KEPT.with_suffix(".new").replace(KEPT)

    def next(self, busy: set[Submission]) -> tuple[Submission, int, int] | None:
        """What to do next: a few seeds of each, then a twentieth of all, then all; always the quickest first."""
        for goal in (min(4, self.seeds), self.seeds // 20, self.seeds):
            waiting = [one for one in self.known if one not in busy and self.known[one].seeds < goal]
            if waiting:
                one = min(waiting, key=self._cost)
                have, at_once = self.known[one].seeds, round(AT_ONCE / max(self._cost(one), 1e-3))
                return one, have, min(max(1, at_once), goal - have)
        return None

    def _cost(self, one: Submission) -> float:
        known = self.known[one]
        return known.seconds / known.seeds if known.seeds else AT_ONCE / 2

    def run(self, minutes: float, processes: int) -> None:
        """Go on until every submission has its seeds, or the time is over."""
        os.environ["OMP_NUM_THREADS"] = "1"
        end, running = time.monotonic() + 60 * minutes, dict[Future[Graded], Submission]()
        with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
            while True:
                while len(running) < processes and time.monotonic() < end:
                    job = self.next(set(running.values()))
                    if job is None:
                        break
                    running[pool.submit(graded, *job)] = job[0]
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    self.add(running.pop(future), future.result())

    def summary(self) -> str:
        """A paragraph for each homework, and what failed."""
        lines = []
        for homework in dict.fromkeys(one.homework for one in self.known):
            known = {one: result for one, result in self.known.items() if one.homework == homework}
            bounds = {one.task: 0.0 for one in known}
            for one, result in known.items():
                bounds[one.task] = max(bounds[one.task], result.bound)
            seeds = [result.seeds for result in known.values()]
            lines.append(
                f"{homework}: a right one loses a point to chance with probability at most {sum(bounds.values()):.2g}; "
                f"{sum(seeds):,} gradings of {len(seeds)} right submissions to {len(bounds)} tasks, each at least "
                f"{min(seeds):,}"
            )
        fewer = [f"{'|'.join(one)} {result.seeds:,}" for one, result in self.known.items() if result.seeds < self.seeds]
        lines.append(f"fewer than {self.seeds:,} seeds: {', '.join(fewer) or 'none'}")
        failed = {"|".join(one): result.failed for one, result in self.known.items() if result.failed}
        lines.append(f"{sum(result.seeds for result in self.known.values()):,} gradings, failed: {failed or 'none'}")
        return "\n".join(lines)


def main(arguments: list[str]) -> None:
    asked = argparse.ArgumentParser(description="Grade every right submission again and again.")
    asked.add_argument("--seeds", type=int, default=2_000, help="of every submission")
    asked.add_argument("--minutes", type=float, default=600, help="no work is begun later; 0: what is known")
    asked.add_argument("--processes", type=int, default=2)
    asked.add_argument("--tasks", nargs="*", help="only these")
    options = asked.parse_args(arguments)
    chosen = [one for one in submissions() if not options.tasks or one.task in options.tasks]
    if options.tasks and (unknown := set(options.tasks) - {one.task for one in chosen}):
        asked.error(f"there is no task {sorted(unknown)[0]!r}")
    study = Study(chosen, options.seeds)
    study.run(options.minutes, options.processes)
    print(study.summary())


if __name__ == "__main__":
    main(sys.argv[1:])
