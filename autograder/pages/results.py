"""A homework's submissions with their points, from the machine and from people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from autograder.course.homework import Assignment, Cell
from autograder.examine.records import Record, TaskRecord
from autograder.gradebook.read import CellMark, Mark
from autograder.pages.questions import question

if TYPE_CHECKING:
    from dpcourse.tasks import Task


@dataclass(frozen=True, kw_only=True)
class Result:
    """A submission that could be read. ``score`` is what counts now, less what it loses for coming late.

    ``points`` and ``possible``: graded cell -> its points, and the most that it can have. What waits for a person is in
    neither of them, but in ``waits``.
    """

    record: Record
    score: float
    points: Mapping[str, float]
    possible: Mapping[str, float]
    waits: tuple[str, ...] = ()
    penalty: float = 0.0

    @property
    def student(self) -> str:
        """Whose it is."""
        return self.record.student

    @property
    def max_score(self) -> float:
        """The points of everything that has been decided."""
        return round(sum(self.possible.values()), 6)

    @property
    def share(self) -> float | None:
        """The part of those points that it has; None if nothing has been decided."""
        return self._share_less(self.penalty)

    @property
    def share_before_penalty(self) -> float | None:
        """The same as if it had come in time: what its author knows."""
        return self._share_less(0.0)

    def _share_less(self, penalty: float) -> float | None:
        most = self.max_score
        return round(max(0.0, sum(self.points.values()) - penalty) / most, 6) if most else None

    @cached_property
    def tasks(self) -> dict[str, TaskRecord]:
        """task -> the machine's verdict."""
        return {task.task: task for task in self.record.tasks}


@dataclass(frozen=True, kw_only=True)
class Homework:
    """A homework as far as it was graded.

    ``marks``: student -> what the gradebook says, if there is one. ``seconds_late``: of those for whom it is known.
    ``tasks``: those whose mistakes have messages. ``names``: student -> first name, last name, e-mail address.
    """

    assignment: Assignment
    records: Sequence[Record]
    title: str = ""
    marks: Mapping[str, Mark] = field(default_factory=dict)
    seconds_late: Mapping[str, float] = field(default_factory=dict)
    tasks: Mapping[str, Task] = field(default_factory=dict)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def unread(self) -> list[Record]:
        """What could not be read: it says nothing about what its author knows, so it is in no statistic."""
        return [record for record in self.records if record.status == "rejected"]

    @cached_property
    def results(self) -> list[Result]:
        """Everything else."""
        return [self._add_up(record) for record in self.records if record.status != "rejected"]

    @cached_property
    def decided_everywhere(self) -> set[str]:
        """The graded cells for which everybody has points: only by these people can be compared."""
        return {
            cell.grade_id
            for cell in self.graded_cells
            if self.results and all(cell.grade_id in result.points for result in self.results)
        }

    @property
    def graded_cells(self) -> list[Cell]:
        """The cells that have points, in order."""
        return [cell for cell in self.assignment.cells if cell.role == "task" or cell.manual]

    @property
    def max_score(self) -> float:
        """The points that there are: a person's only where a gradebook can hold them."""
        by_people = self.assignment.manual_points if self.marks else 0.0
        return self.assignment.machine_points + by_people

    @cached_property
    def questions(self) -> dict[str, str]:
        """Graded cell -> the heading of its question."""
        return {cell.grade_id: question(self.assignment, cell) for cell in self.graded_cells}

    def explain(self, task: str, mistake: str) -> str:
        """What a student is told about a known mistake; "" if the task has no words of its own for it."""
        known = self.tasks[task].mistakes if task in self.tasks else ()
        return next((one.message for one in known if one.name == mistake), "")

    def _add_up(self, record: Record) -> Result:
        mark = self.marks.get(record.student)
        by_machine = {task.task: task for task in record.tasks}
        points: dict[str, float] = {}
        possible: dict[str, float] = {}
        waits: list[str] = []
        for cell in self.graded_cells:
            name = cell.grade_id
            entry = mark.cells.get(name) if mark else None
            if cell.role == "task" and not (entry and _is_by_person(entry)):
                task = by_machine.get(name)  # a task that is new in the homework has no verdict yet
                points[name], possible[name] = (task.points, task.max_points) if task else (0.0, cell.points)
            elif entry and not entry.waits:
                points[name], possible[name] = entry.score, entry.max_score
            elif entry or self._is_answered(cell, record):
                waits.append(name)
        return Result(
            record=record, score=mark.final if mark else record.score, points=points, possible=possible,
            waits=tuple(waits), penalty=mark.penalty if mark else 0.0,
        )  # fmt: skip

    def _is_answered(self, cell: Cell, record: Record) -> bool:
        answer = record.answers.get(cell.grade_id, "")
        return bool(answer.strip()) and answer != self.assignment.released.get(cell.grade_id)


def _is_by_person(entry: CellMark) -> bool:
    return entry.by_hand or bool(entry.extra_credit)
