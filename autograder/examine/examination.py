"""One submission, examined: its cells run in the box, its functions are asked, and here is decided.

What counts is taken from the submission by ``grade_id``; everything else is the instructor's. If the submission's
process is lost, a new one runs the cells again, without the one that was the end of it, and the next task is examined.
What something else has killed is asked again in a fresh box. The words for the student come from a second examination,
by the public probes, in boxes that never saw a fresh one and are told nothing of the first.
No student code has ever run in the process that this module runs in.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from autograder.box.process import KilledFromOutside, Lost, Remote
from autograder.box.sandbox import Broken, Sandbox
from autograder.box.services import told_of
from autograder.box.walls import NoSandbox
from autograder.course.homework import Assignment, Cell
from autograder.examine.records import Record, TaskRecord
from autograder.examine.remote_student import RemoteStudent, Rest, wait_by_chance
from autograder.examine.seeds import probe_seed
from autograder.intake.submission import Submission
from autograder.pages.pictures import kept
from dpcourse.tasks.complaints import Late
from dpcourse.tasks.libraries import about, absent_in
from dpcourse.tasks.task import Task
from dpcourse.tasks.verdict import Verdict

SECONDS = 240.0  # for everything that one submission does
MOST_STARTS = 8  # of a submission's process
AGAIN = 2  # times, if something outside kills it
PASSED = "Fresh probes were answered as they should be."
OWN_WORDS = {
    "missing": "There is nothing to grade: your function is not written yet, or not under this name.",
    "timeout": "Your function did not answer in time. A loop that never ends? `check` tells how far it came.",
    "lost": "While your function was asked, its process was lost: it crashed, was stopped, or ended by itself.",
}
NOT_LIKE_THAT = "Your function passes the public checks, but fresh ones of the same kind fail."
ADDED = "Cells that you added are not graded: what your function needs must stand in the cell of its solution."
MISSING = "ModuleNotFoundError"
MOST_NAMED = 3  # libraries that were not found
LOST = "While your function was asked, the notebook's process was lost: {}."

Result = TypeVar("Result")


class Examination:
    """One submission, gone through once; ``public`` asks the public probes, as ``check`` does, ``only`` some tasks."""

    def __init__(
        self,
        submission: Submission,
        assignment: Assignment,
        tasks: Mapping[str, Task],
        sandbox: Sandbox,
        *,
        public: bool = False,
        only: Collection[str] | None = None,
        progress: Callable[[Verdict], object] = lambda _: None,
        rest: Rest = time.sleep,
    ) -> None:
        self.submission, self.assignment, self.tasks, self.sandbox = submission, assignment, tasks, sandbox
        self.public, self.only, self.progress, self.rest, self.left = public, only, progress, rest, SECONDS
        self.fatal = dict[str, str]()  # cells that ended a process, and what was said of it: they are not run again
        self.notes: list[str] = []
        self.lost: set[str] = set()  # tasks that ended the process, or never got one
        self.starts = 0
        self.services = told_of("\n".join(cell.source for cell in assignment.cells))
        self._remote: Remote | None = None
        self._ran: list[Cell] = []  # what a new process has to run again
        self._wrong: list[str] = []  # what went wrong in the cells since the last task
        self._absent: list[str] = []  # libraries that cells could not import

    def verdicts(self, seed: int = 0) -> list[tuple[Verdict, float]]:
        """The tasks' verdicts, in order, and the seconds that each took."""
        found = []
        try:
            for cell in self.assignment.cells:
                if cell.role == "task":
                    if self.only is None or cell.grade_id in self.only:
                        task, start = self.tasks[cell.grade_id], time.monotonic()
                        verdict = self._asked(task, task.public_seed() if self.public else seed)
                        found.append((verdict, time.monotonic() - start))
                        self.progress(verdict)
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
        if name in self.fatal:
            self._wrong.append(self.fatal[name])
            return
        try:
            wrong = self._despite_kills(lambda: self._process().run(name, cell.source))
            self._ran.append(cell)
        except Lost as lost:
            wrong = self.fatal[name] = f"While the cell {name!r} ran, {lost}."
            self.notes.append(wrong)
        except Late as error:
            wrong = self.fatal[name] = f"The cell {name!r} was stopped. {error}"
            self.notes.append(wrong)
        if wrong:
            self._wrong.append(wrong)
            self._absent += absent_in(wrong) if MISSING in getattr(wrong, "errors", ()) else []

    def _process(self) -> Remote:
        """The submission's process, or a new one in the same state."""
        if self._remote is not None and self._remote.alive:
            return self._remote
        self._close()
        if self.starts >= MOST_STARTS or self.left <= 0:
            raise Lost("it had to be stopped too often" if self.left > 0 else "all its time was used up")
        self.starts += 1
        self._remote = Remote(self.sandbox, self.left, self.services)
        for cell in self._ran:
            self._remote.run(cell.grade_id or "given", cell.source)
        return self._remote

    def _despite_kills(self, work: Callable[[], Result]) -> Result:
        """Do it; if something outside kills the process meanwhile, do it again in a fresh box."""
        for _ in range(AGAIN):
            try:
                return work()
            except KilledFromOutside:
                self.starts -= 1  # no fault of the submission's
        try:
            return work()
        except KilledFromOutside as killed:
            raise Lost(f"{killed}, {AGAIN + 1} times") from None

    def _anew(self, spent: float) -> Remote:
        """The judge's wish, which is no fault of the submission's: it does not count as a start.

        The old box is closed before the wait, so a submission never has two boxes.
        """
        self._close()
        wait_by_chance(spent, self.rest)
        self.starts -= 1
        return self._process()

    def _close(self) -> None:
        if self._remote is None:
            return
        self.left = self._remote.left
        self._remote.close()
        self._remote = None

    # The tasks

    def _asked(self, task: Task, seed: int) -> Verdict:
        def without_answer(status: str, text: str) -> Verdict:
            return Verdict(task=task.name, status=status, message=text)

        def judged() -> Verdict:
            student = RemoteStudent(self._process(), task.name, task.answer, task.seconds, self._anew)
            return task.examine(student, seed, public=self.public)

        try:
            verdict = self._despite_kills(judged)
        except (Broken, NoSandbox):
            raise  # not the student's fault: this worker cannot go on
        except Lost as lost:
            self.notes.append(f"{task.name}: {LOST.format(lost)}")
            self.lost.add(task.name)
            return without_answer("error", LOST.format(lost))
        except Exception as error:  # the judge itself: a defect of ours must not end the batch
            self.notes.append(f"{task.name}: the judge stopped with {type(error).__name__}: {error}"[:300])
            return without_answer(
                "error", "The judge could not make sense of your answers. Please tell your instructor."
            )
        if verdict.status == "missing" and self._wrong:
            errors = tuple(name for wrong in self._wrong for name in getattr(wrong, "errors", ()))
            verdict = replace(without_answer("error", " ".join(self._wrong)[:1_500]), errors=errors)
        also = [ADDED] if "NameError" in verdict.errors and self.submission.extra else []
        if {"NameError", MISSING} & set(verdict.errors):  # what one cell could not import, the next ones do not have
            absent = absent_in(verdict.message) or list(dict.fromkeys(self._absent))
            also += [about(name, self.sandbox.libraries) for name in absent[:MOST_NAMED]]
        return replace(verdict, message=" ".join(filter(None, [verdict.message, *also]))) if also else verdict


def for_the_student(task: Task, verdict: Verdict, seen: Verdict | None) -> tuple[str, str]:
    """Words and picture that give no fresh probe away.

    What a process says that has met fresh probes may tell of them, however it does so. So the words are our own, or
    those for what the public probes showed of the same mistake in a process that met no others (``seen``).
    """
    if verdict.passed:
        return PASSED, ""
    if verdict.status in OWN_WORDS:
        return f"{OWN_WORDS[verdict.status]} See {task.see}.", ""
    if seen is None:  # the process was lost; how exactly was its own choice, down to a number, and may tell something
        return f"{OWN_WORDS['lost']} See {task.see}.", ""
    if not seen.passed:
        return seen.message, kept(seen.picture)
    known = {one.name: one.message for one in task.mistakes}
    return " ".join([NOT_LIKE_THAT, known.get(verdict.mistake, "")]).strip(), kept(seen.picture)


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
    submission: Submission,
    assignment: Assignment,
    tasks: Mapping[str, Task],
    seed: int,
    sandbox: Sandbox,
    rest: Rest = time.sleep,
) -> Record:
    """The record of a submission. Never raises because of what is in it. ``rest`` waits between two boxes."""
    start = time.monotonic()
    common: dict[str, Any] = {
        "student": submission.student, "assignment": assignment.name, "seed": seed,
        "fingerprint": submission.fingerprint, "sandbox": sandbox.wall.name,
    }  # fmt: skip
    if submission.rejected:
        notes = tuple(dict.fromkeys([*submission.notes, submission.rejected]))
        return Record(
            status="rejected", tasks=_nothing(assignment, "missing", submission.rejected), notes=notes, **common
        )
    first = Examination(submission, assignment, tasks, sandbox, rest=rest)
    verdicts = first.verdicts(probe_seed(seed, assignment.name, submission.student))
    unclear = {one.task for one, _ in verdicts if one.status in ("failed", "error")} - first.lost
    seen: dict[str, Verdict] = {}
    if unclear:
        wait_by_chance(SECONDS - first.left, rest)
        second = Examination(submission, assignment, tasks, sandbox, public=True, only=unclear, rest=rest)
        seen = {one.task: one for one, _ in second.verdicts()}
    points = {cell.grade_id: cell.points for cell in assignment.cells if cell.role == "task"}
    records = tuple(
        _record(
            one, points[one.task], took, *for_the_student(tasks[one.task], one, seen.get(one.task)),
            doubt="" if one.passed else _doubt(one, submission, assignment),
        )
        for one, took in verdicts
    )  # fmt: skip
    missing = [cell for cell in assignment.solutions if cell not in submission.answers]
    return Record(
        status="partial" if first.notes or missing else "graded", tasks=records,
        notes=(*submission.notes, *first.notes), happened=tuple(first.notes), answers=dict(submission.answers),
        seconds=round(time.monotonic() - start, 3), **common,
    )  # fmt: skip


def _doubt(verdict: Verdict, submission: Submission, assignment: Assignment) -> str:
    """Why a person should decide about a wrong answer: another one may have been meant. "" if nothing suggests it."""
    doubt = submission.doubts.get(assignment.solution_of(verdict.task), "")
    named = any(re.search(rf"\b{verdict.task}\b", source) for source in submission.extra)
    elsewhere = (verdict.status == "missing" and named) or ("NameError" in verdict.errors and submission.extra)
    return doubt or (ADDED if elsewhere else "")


def _record(
    verdict: Verdict, points: float, seconds: float, feedback: str, picture: str, doubt: str = ""
) -> TaskRecord:
    """The verdict in the points of the homework's own cell."""
    return TaskRecord(
        task=verdict.task, points=round(verdict.share * points, 4), max_points=points, status=verdict.status,
        message=verdict.message, mistake=verdict.mistake, feedback=feedback, picture=picture,
        wasteful=verdict.wasteful, seconds=round(seconds, 3), doubt=doubt,
    )  # fmt: skip
