"""One run over a homework: what it still has to do, and how its results get to the disk and into the gradebook.

A record is on the disk before anything else is told about it; the gradebook follows in batches. While a run is not
finished, ``grading/<homework>/.run`` says what it wants; whoever comes next finishes it.

A run draws a secret seed of its own. A student's program may remember a fresh probe and say it in the student's page:
so no seed from before the pages is used after them, unless the instructor insists.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from autograder.console import Problem
from autograder.course.course import Course
from autograder.course.homework import Assignment, read_homeworks
from autograder.examine.records import Record, records_in, write_whole, written_together
from autograder.examine.seeds import is_guessable, new_seed
from autograder.examine.within_limits import OverLimit, within_limits
from autograder.gradebook.writing_process import Graded, Scribe
from autograder.intake.submission import Submission, homeworks_in, read_submission

BATCH, SOON = 25, 2.0  # records, or seconds, until the gradebook is written


class Run:
    """One homework in one run: its seed, and who is still to be graded.

    ``seed`` is one that the instructor chose; with ``repeat_probes`` also after feedback was made. ``whole``: of the
    whole class; a part of it is no run that others would have to finish.
    """

    def __init__(
        self, course: Course, assignment: str, *, seed: int | None, regrade: bool, whole: bool,
        repeat_probes: bool = False,
    ) -> None:  # fmt: skip
        self.course, self.name = course, assignment
        self.assignment = Assignment.read(course.source(assignment))
        self.folder = course.records(assignment)
        self.records = {record.student: record for record in records_in(self.folder)}
        self._place = self.folder / ".run"
        has_feedback = course.has_feedback(assignment)
        if seed is not None and has_feedback and not repeat_probes:
            raise Problem(
                f"the seed {seed} is refused: students have feedback about {assignment}, and a program that met the "
                f"probes of this seed may have told them there. Leave the seed out, and fresh ones are drawn; "
                f"`dpcourse grade --seed {seed} --repeat-probes` insists"
            )
        wish = self._unfinished()
        if wish is not None and regrade and not (whole and wish["again"]):
            wish = None  # what was stopped was no grading of everybody again
        self.resumed = wish is not None
        if wish is None or seed not in (None, wish["seed"]):
            wish = {"seed": new_seed(), "run": secrets.token_hex(8), "again": regrade, "chosen": None}
        elif has_feedback or is_guessable(wish["seed"]):
            wish["seed"] = new_seed()
        if seed is not None:
            wish |= {"seed": seed, "chosen": seed}
        self.seed: int = wish["seed"]
        self.identity: str = wish["run"]
        self._again: bool = wish["again"]
        self._chosen: int | None = wish["chosen"]  # by the instructor: what has another seed is graded again
        self._is_announced = not whole

    def _unfinished(self) -> dict[str, Any] | None:
        try:
            entries = json.loads(self._place.read_text(encoding="utf-8"))
            chosen = entries.get("chosen")
            return {
                "seed": int(entries["seed"]), "run": str(entries["run"]), "again": bool(entries["again"]),
                "chosen": None if chosen is None else int(chosen),
            }  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def begin(self) -> None:
        """Say what this run wants, for whoever has to finish it."""
        if not self._is_announced:
            wish = {"seed": self.seed, "run": self.identity, "again": self._again, "chosen": self._chosen}
            write_whole(self._place, json.dumps(wish).encode())
            self._is_announced = True

    def end(self) -> None:
        """Everything is graded and written."""
        self._place.unlink(missing_ok=True)

    def submission(self, student: str) -> Submission:
        """What the student handed in. Reading it takes so much memory and time at most."""
        folder = self.course.submitted(student, self.name)
        try:
            submission = within_limits(read_submission, folder, self.assignment, student)
            if not (submission.rejected and submission.fingerprint):
                return submission
            others = read_homeworks(map(self.course.source, self.course.assignments()))
            names = within_limits(homeworks_in, folder, list(others.values()))
        except OverLimit as error:
            return Submission(student, self.name, rejected=f"It could not be read: {error}.")
        if not names:
            return submission
        text = (
            f"{submission.rejected} Its cells are those of {' or '.join(names)}: it was handed in at the wrong place."
        )
        return replace(submission, rejected=text)

    def restate(self, writer: Writing) -> None:
        """If the points of tasks have changed, or a task is no longer asked: tell the gradebook, and then the records.

        A record of which a task was never examined stays as it is: its submission is examined again.
        """
        changed: list[Graded] = []
        for student in self.course.students_of(self.name):
            old = self.records.get(student)
            record = old and old.in_points_of(self.assignment)
            if old is not None and record is None:
                del self.records[student]
            elif old is not None and record is not None and record != old:
                submission = self.submission(student)
                if submission.fingerprint == record.fingerprint:
                    self.records[student] = record
                    changed.append((record, submission))
        if not changed:
            return
        with written_together({record.place(self.folder): record.content for record, _ in changed}):
            writer.write_now(changed)

    def is_done(self, submission: Submission) -> bool:
        """Is there a record of this very file, as this run wants it?"""
        record = self.records.get(submission.student)
        if record is None or record.fingerprint != submission.fingerprint:
            return False
        if record.run == self.identity:
            return True
        return not self._again and self._chosen in (None, record.seed)


class Writing:
    """Records to the disk at once; gradebook and autograded notebooks in batches, by a process of their own."""

    def __init__(self, course: Course, runs: dict[str, Run]) -> None:
        self._runs, self._scribe = runs, Scribe(course)
        self.examined = 0
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
        self.examined += 1
        return record

    def add(self, record: Record, submission: Submission) -> None:
        """To the gradebook, soon: when there are some, and nothing else is being written."""
        self._waiting.append((record, submission))
        soon = len(self._waiting) >= BATCH or time.monotonic() - self._since > SOON
        if soon and self._scribe.idle():
            self._scribe.write(self._waiting)
            self._waiting, self._since = [], time.monotonic()

    def write_now(self, graded: Sequence[Graded]) -> None:
        """To the gradebook, and be sure that it is there."""
        self._scribe.write(graded)
        self._scribe.wait()

    def complete(self, run: Run) -> None:
        """See that the gradebook has the points of every record of the homework: a row may have been removed there."""
        there = set(run.course.students_of(run.name))
        records = {record.student: record for record in records_in(run.folder) if record.student in there}
        self.write_now(self._waiting)
        self._waiting = []
        names = self._scribe.students_to_write(list(records.values())) if records else set()
        pairs = [(records[name], run.submission(name)) for name in sorted(names)]
        self.write_now([(record, one) for record, one in pairs if one.fingerprint == record.fingerprint])

    def differences(self) -> list[str]:
        """Where source, records and gradebook of the homeworks still say different things."""
        return [sentence for name in self._runs for sentence in self._scribe.differences(name)]

    def update_penalties(self, students: Sequence[str] | None) -> dict[str, list[str]]:
        """Write what still waits, and see that every late penalty is the one of today; homework -> whose was changed.

        Also of who was graded long ago: a due date, a timestamp or a person's points may have changed since.
        """
        self._scribe.write(self._waiting)
        self._waiting = []
        changed = {name: self._scribe.update_penalties(name, students) for name in self._runs}
        return {name: who for name, who in changed.items() if who}
