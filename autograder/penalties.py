"""What handing in late costs, by the plugin of the course (nbgrader's ``AssignLatePenalties``)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class LatePenalties:
    """The course's plugin, loaded. nbgrader takes seconds to load, so it is loaded here and not with this module."""

    def __init__(self, settings: Any) -> None:
        from nbgrader.preprocessors import AssignLatePenalties

        self._asked = AssignLatePenalties(config=settings)
        self._asked.init_plugin()

    def of(self, student: str, score: float, late: float) -> float | None:
        """The points that a submission loses which came ``late`` seconds late; None if the plugin says nothing."""
        if late <= 0:
            return 0.0
        points = self._asked.plugin_inst.late_submission_penalty(student, score, late)
        if points is None:
            return None
        return float(self._asked._check_late_penalty(SimpleNamespace(score=score), points))
