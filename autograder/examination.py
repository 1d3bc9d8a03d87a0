"""One submission, examined: its cells run in the box, its functions are asked, and here is decided.

What counts is taken from the submission by ``grade_id``; everything else is the instructor's. If the submission's
process is lost, a new one runs the cells again, without the one that was the end of it, and the next task is examined.
No student code has ever run in the process that this module runs in.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.assignment import Assignment, Cell
from autograder.pictures import kept
from autograder.records import Record, TaskRecord
from autograder.remote import Lost, Remote, RemoteStudent
from autograder.sandbox import KNOWN, Broken, NoSandbox, Sandbox
from autograder.services import SERVICES, told_of
from autograder.submission import Submission
from dpcourse.tasks.answers import Late
from dpcourse.tasks.task import Task
from dpcourse.tasks.verdict import Verdict

SECONDS = 240.0  # for everything that one submission does
MOST_STARTS = 8  # of a submission's process
CALLED = " I called you with "  # from here on a complaint speaks of the probe
NOT_LIKE_THAT = "Your function passes the public checks, but fresh ones of the same kind fail."
ADDED = "Cells that you added are not graded: what your function needs must stand in the cell of its solution."
LOST = "While your function was asked, the notebook's process was lost: {}."


class Box:
    """A sandbox that is replaced when it breaks."""

    def __init__(self, *, preload: Sequence[str] = (), unsafe: bool = False) -> None:
        self.preload, self.unsafe = tuple(preload), unsafe
        self._sandbox: Sandbox | None = None

    def remote(self, seconds: float, services: Collection[str] = tuple(SERVICES)) -> Remote:
        """A fresh process for a submission, with these services."""
        for attempt in (1, 2, 3):
            if self._sandbox is None:
                self._sandbox = Sandbox(preload=self.preload, unsafe=self.unsafe)
            try:
                return Remote(self._sandbox, seconds, services)
            except Broken:
                self.close()
                if attempt == 3:
                    raise
        raise AssertionError

    def close(self) -> None:
        """Tear it down."""
        if self._sandbox is not None:
            self._sandbox.close()
            self._sandbox = None


def mentioned(sources: Sequence[str]) -> list[str]:
    """The known packages that these cells mention: worth loading once, before any of them runs."""
    text = "\n".join(sources)
    found = {name for name in KNOWN if name.partition(".")[0] in text}
    return sorted(found | ({"pandas"} if "dpcourse import data" in text else set()))


class Examination:
    """One submission; ``public`` asks only the public probes, as ``check`` does."""

    def __init__(
        self,
        submission: Submission,
        assignment: Assignment,
        tasks: Mapping[str, Task],
        box: Box,
        *,
        public: bool = False,
    ) -> None:
        self.submission, self.assignment, self.tasks, self.box, self.public = submission, assignment, tasks, box, public
        self.notes: list[str] = []
        self.left, self.starts = SECONDS, 0
        self.services = told_of("\n".join(cell.source for cell in assignment.cells))
        self._remote: Remote | None = None
        self._ran: list[Cell] = []  # what a new process has to run again
        self._wrong: list[str] = []  # what went wrong in the cells since the last task

    def verdicts(self, seed: int = 0) -> list[tuple[Verdict, TaskRecord]]:
        """Every task's verdict, in order."""
        found = []
        try:
            for cell in self.assignment.cells:
                if cell.role == "task":
                    found.append(self._examined(self.tasks[cell.grade_id], cell, seed))
                    self._wrong = []
                elif cell.kind == "code":
                    self._run(cell)
        finally:
            self._close()
        return found

    # The cells

    def _run(self, cell: Cell) -> None:
        answers = self.submission.answers
        if cell.role == "solution":
            if cell.grade_id not in answers:
                self._wrong.append(f"The cell {cell.grade_id!r} is missing in your notebook.")
                return
            cell = Cell(cell.grade_id, "code", "solution", answers[cell.grade_id])
        name = cell.grade_id or "given"
        try:
            wrong = self._process().run(name, cell.source)
            self._ran.append(cell)
        except Lost as lost:
            wrong = f"While the cell {name!r} ran, {lost}."
            self.notes.append(wrong)
        except Late as error:
            wrong = f"The cell {name!r} was stopped. {error}"
            self.notes.append(wrong)
        if wrong:
            self._wrong.append(wrong)

    def _process(self) -> Remote:
        """The submission's process, or a new one in the same state."""
        if self._remote is not None and self._remote.alive:
            return self._remote
        self._close()
        if self.starts >= MOST_STARTS or self.left <= 0:
            raise Lost("it had to be stopped too often" if self.left > 0 else "all its time was used up")
        self.starts += 1
        self._remote = self.box.remote(self.left, self.services)
        for cell in self._ran:
            self._remote.run(cell.grade_id or "given", cell.source)
        return self._remote

    def _close(self) -> None:
        if self._remote is None:
            return
        self.left = self._remote.left
        try:
            self._remote.close()
        except Broken:
            self.box.close()
        self._remote = None

    # The tasks

    def _examined(self, task: Task, cell: Cell, seed: int) -> tuple[Verdict, TaskRecord]:
        start = time.monotonic()
        verdict = self._asked(task, task.public_seed() if self.public else seed, self.public)
        feedback, picture = verdict.message, kept(verdict.picture)
        if not self.public:
            feedback, picture = self._for_the_student(task, verdict)
        share = verdict.points / verdict.max_points if verdict.max_points else 0.0
        points = round(share * cell.points, 4)
        return verdict, TaskRecord(
            task=task.name, points=points, max_points=cell.points, status=verdict.status, message=verdict.message,
            misconception=verdict.misconception, feedback=feedback, picture=picture, wasteful=verdict.wasteful,
            seconds=round(time.monotonic() - start, 3),
        )  # fmt: skip

    def _asked(self, task: Task, seed: int, public: bool) -> Verdict:
        def without_answer(status: str, text: str) -> Verdict:
            return Verdict(task=task.name, status=status, points=0, max_points=task.points, message=text)

        try:
            student = RemoteStudent(self._process(), task.name, task.answer, task.seconds)
            verdict = task.examine(student, seed, public=public)
        except (Broken, NoSandbox):
            raise  # not the student's fault: this worker cannot go on
        except Lost as lost:
            self.notes.append(f"{task.name}: {LOST.format(lost)}")
            return without_answer("error", LOST.format(lost))
        except Exception as error:  # the judge itself: a defect of ours must not end the batch
            self.notes.append(f"{task.name}: the judge stopped with {type(error).__name__}: {error}"[:300])
            return without_answer(
                "error", "The judge could not make sense of your answers. Please tell your instructor."
            )
        if verdict.status == "missing" and self._wrong:
            verdict = without_answer("error", " ".join(self._wrong)[:1_500])
        if "NameError" in verdict.message and self.submission.extra:
            verdict = replace(verdict, message=f"{verdict.message} {ADDED}")
        return verdict

    def _for_the_student(self, task: Task, verdict: Verdict) -> tuple[str, str]:
        """Words and picture that give no fresh probe away: what the public probes show of the same mistake."""
        if verdict.passed:
            return "Fresh probes were answered as they should be.", ""
        if verdict.status == "missing" or (CALLED not in verdict.message and verdict.status != "failed"):
            return verdict.message, ""
        if verdict.status == "timeout":
            return verdict.message.partition(CALLED)[0], ""
        seen = self._asked(task, task.public_seed(), True)
        if not seen.passed:
            return seen.message, kept(seen.picture)
        known = {one.name: one.message for one in task.misconceptions}
        return " ".join([NOT_LIKE_THAT, known.get(verdict.misconception, "")]).strip(), kept(seen.picture)


def _nothing(assignment: Assignment, status: str, text: str) -> tuple[TaskRecord, ...]:
    tasks = [cell for cell in assignment.cells if cell.role == "task"]
    return tuple(
        TaskRecord(task=cell.grade_id, points=0, max_points=cell.points, status=status, message=text, feedback=text)
        for cell in tasks
    )


def given_up(submission: Submission, assignment: Assignment, seed: int, status: str, text: str) -> Record:
    """The record of a submission that could not be examined at all, although it could be read."""
    return Record(
        student=submission.student, assignment=assignment.name, status="partial", notes=(*submission.notes, text),
        tasks=_nothing(assignment, status, text), seed=seed, fingerprint=submission.fingerprint,
        answers=dict(submission.answers),
    )  # fmt: skip


def examine(
    submission: Submission, assignment: Assignment, tasks: Mapping[str, Task], seed: int, box: Box, *, judge: str = ""
) -> Record:
    """The record of a submission. Never raises because of what is in it."""
    start = time.monotonic()
    common: dict[str, Any] = {
        "student": submission.student, "assignment": assignment.name, "seed": seed, "judge": judge,
        "fingerprint": submission.fingerprint, "sandbox": "none" if box.unsafe else "bubblewrap",
    }  # fmt: skip
    if submission.rejected:
        notes = tuple(dict.fromkeys([*submission.notes, submission.rejected]))
        return Record(
            status="rejected", tasks=_nothing(assignment, "missing", submission.rejected), notes=notes, **common
        )
    examination = Examination(submission, assignment, tasks, box)
    tasks_done = tuple(record for _, record in examination.verdicts(seed))
    notes = (*submission.notes, *examination.notes)
    missing = [cell for cell in assignment.solutions if cell not in submission.answers]
    return Record(
        status="partial" if examination.notes or missing else "graded", tasks=tasks_done, notes=notes,
        seconds=round(time.monotonic() - start, 3), answers=dict(submission.answers), **common,
    )  # fmt: skip
