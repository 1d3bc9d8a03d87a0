"""One run over a homework: what it still has to do, and how its results get to the disk and into the gradebook.

A record is on the disk before anything else is told about it; the gradebook follows in batches. While a run is not
finished, ``grading/<homework>/.run`` says what it wants; whoever comes next finishes it.
"""

from __future__ import annotations

import json
import secrets
import time
from typing import Any

from autograder.assignment import Assignment
from autograder.course import Course
from autograder.examine.records import Record, records_in, write_whole
from autograder.scribe import Graded, Scribe
from autograder.submission import Submission, read_submission

BATCH, SOON = 25, 2.0  # records, or seconds, until the gradebook is written


class Run:
    """One homework in one run: its seed, and who is still to be graded."""

    def __init__(self, course: Course, assignment: str, *, seed: int | None, regrade: bool, whole: bool) -> None:
        self.course, self.name = course, assignment
        self.assignment = Assignment.read(course.source(assignment))
        self.folder = course.records(assignment)
        self.records = {record.student: record for record in records_in(self.folder)}
        self._place = self.folder / ".run"
        before = self._unfinished()
        if before is not None and not regrade and seed in (None, before["seed"]):
            self.seed, self.identity, self.again = before["seed"], before["run"], before["again"]
        else:
            # A program may remember a fresh probe and say it where students read: then nobody else is asked the same.
            told = any((course.root / "feedback").glob(f"*/{assignment}"))
            known = [record.seed for record in self.records.values() if not told]
            self.seed = seed if seed is not None else (known[0] if known and not regrade else secrets.randbits(62))
            self.identity, self.again = secrets.token_hex(8), regrade
        self.resumed, self._seeded = before is not None, seed is not None
        self._told = not whole  # a part of the class is no run that others would have to finish

    def _unfinished(self) -> dict[str, Any] | None:
        try:
            found = json.loads(self._place.read_text(encoding="utf-8"))
            return {"seed": int(found["seed"]), "run": str(found["run"]), "again": bool(found["again"])}
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def begin(self) -> None:
        """Say what this run wants, for whoever has to finish it."""
        if not self._told:
            told = {"seed": self.seed, "run": self.identity, "again": self.again}
            write_whole(self._place, json.dumps(told).encode())
            self._told = True

    def end(self) -> None:
        """Everything is graded and written."""
        self._place.unlink(missing_ok=True)

    def submission(self, student: str) -> Submission:
        """What the student handed in."""
        return read_submission(self.course.submitted(student, self.name), self.assignment, student)

    def is_done(self, submission: Submission) -> bool:
        """Is there a record of this very file, as this run wants it?"""
        record = self.records.get(submission.student)
        if record is None or record.fingerprint != submission.fingerprint:
            return False
        if self.again:
            return record.run == self.identity
        return record.seed == self.seed or not self._seeded


class Writing:
    """Records to the disk at once; gradebook and autograded notebooks in batches, by a process of their own."""

    def __init__(self, course: Course, runs: dict[str, Run]) -> None:
        self._runs, self._scribe = runs, Scribe(course)
        self._waiting: list[Graded] = []
        self._since = time.monotonic()

    def __enter__(self) -> Writing:
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._scribe.write(self._waiting)
            self._scribe.wait()
        finally:
            self._scribe.close()

    def kept(self, record: Record) -> Record:
        """On the disk, and marked as this run's."""
        run = self._runs[record.assignment]
        record = record.of_run(run.identity)
        record.save(run.folder)
        return record

    def add(self, record: Record, submission: Submission) -> None:
        """To the gradebook, soon: when there are some, and nothing else is being written."""
        self._waiting.append((record, submission))
        soon = len(self._waiting) >= BATCH or time.monotonic() - self._since > SOON
        if soon and self._scribe.idle():
            self._scribe.write(self._waiting)
            self._waiting, self._since = [], time.monotonic()
