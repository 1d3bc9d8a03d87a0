"""What handing in late costs, by the plugin of the course (nbgrader's ``AssignLatePenalties``).

A penalty depends on the due date, the time of handing in, the plugin and the points, and each may change after
grading. So it is computed anew at each run of ``dpcourse grade``. What the plugin gave is noted in
``grading/<homework>/.penalties``: when the plugin says nothing any more, that goes, and what a person gave stays.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from autograder.course.course import Course, settings_of
from autograder.examine.records import write_whole

NOTES = ".penalties"
SAME = 1e-6  # points; a database may round


def due_date(submission: Any) -> datetime | None:
    """When a submission of nbgrader's gradebook is due, the student's extension included."""
    due: datetime | None = submission.assignment.duedate
    return due if due is None or submission.extension is None else due + submission.extension


def seconds_late(time: datetime | None, due: datetime | None) -> float | None:
    """How late something was handed in; None if nobody knows."""
    return None if time is None or due is None else max(0.0, (time - due).total_seconds())


def are_same(one: float, other: float) -> bool:
    """Are these penalties the same?"""
    return abs(one - other) < SAME


class LatePenalties:
    """The course's plugin, loaded, and what it gave. nbgrader takes seconds to load, so it is not loaded before."""

    def __init__(self, course: Course) -> None:
        from nbgrader.preprocessors import AssignLatePenalties

        self._course = course
        self._preprocessor = AssignLatePenalties(config=settings_of(course.root))
        self._preprocessor.init_plugin()
        self._from_plugin: dict[str, tuple[float, float]] = {}  # student -> the penalty before, and the plugin's

    def by_plugin(self, student: str, score: float, late: float | None) -> float | None:
        """The points that such a submission loses; None if the plugin is not asked or says nothing."""
        if late is None:
            return None
        if late <= 0:
            return 0.0
        points = self._preprocessor.plugin_inst.late_submission_penalty(student, score, late)
        if points is None:
            return None
        if not math.isfinite(points):
            raise ValueError(f"the plugin for late submissions gives {points!r} as the penalty of {student!r}")
        return float(self._preprocessor._check_late_penalty(SimpleNamespace(score=score), points))

    def of_today(self, homework: str, student: str, score: float, late: float | None, standing: float) -> float:
        """The penalty that is right now, where ``standing`` is the one in the gradebook."""
        points = self.by_plugin(student, score, late)
        if points:
            self._from_plugin[student] = standing, points
        if points is not None:
            return points
        if standing and any(are_same(standing, one) for one in self._notes(homework).get(student, ())):
            return 0.0
        return standing

    def note(self, homework: str) -> None:
        """Note what the plugin gave since the last note. To be called before that is written into the gradebook.

        The penalty before stays noted if it was the plugin's: should the writing fail, it still stands there.
        """
        notes = self._notes(homework)
        new = dict(notes)
        for student, (before, after) in self._from_plugin.items():
            known = [one for one in notes.get(student, []) if are_same(one, before) and not are_same(one, after)]
            new[student] = [*known, after]
        if new != notes:
            write_whole(self._place(homework), json.dumps(new, indent=1).encode())
        self._from_plugin.clear()

    def _place(self, homework: str) -> Path:
        return self._course.records(homework) / NOTES

    def _notes(self, homework: str) -> dict[str, list[float]]:
        try:
            notes = json.loads(self._place(homework).read_text(encoding="utf-8"))
            return {str(student): [float(one) for one in points] for student, points in notes.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
