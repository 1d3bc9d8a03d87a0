"""nbgrader's settings for a course that is graded here: its ``nbgrader_config.py`` calls :func:`set_up_course`.

nbgrader reads that file for each of its commands, so nothing here takes long to load.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PLUGIN = "autograder.gradebook.nbgrader_plugin"
TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "templates"


def set_up_course(c: Any, config: str) -> None:
    """Make the folder of ``config`` (the ``__file__`` of an ``nbgrader_config.py``) a course.

    Each setting can be changed afterwards, and the course's own ones be added: ``c.CourseDirectory.course_id``,
    ``c.CourseDirectory.db_url``, ``c.DpCourse.libraries``.
    """
    root = Path(config).resolve().parent
    c.CourseDirectory.course_id = root.name
    c.CourseDirectory.root = str(root)
    c.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"

    # `nbgrader autograde` examines each submission in the sandbox, decides outside of it, and writes those points.
    c.Autograde.exporter_class = f"{PLUGIN}.TrustedExporter"
    c.Autograde.sanitize_preprocessors = [f"{PLUGIN}.Examine"]
    c.Autograde.autograde_preprocessors = []

    # formgrader typesets formulas with the server's own MathJax, so it needs no network.
    c.HTMLExporter.extra_template_basedirs = [str(TEMPLATES), *_templates_of_nbgrader()]

    # What a student finds in place of a solution. The tasks know an unwritten function by this very line.
    c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
    put_programs_on_path()


def put_programs_on_path() -> None:
    """nbgrader calls ``alembic`` by its name. It stands next to this Python, also in an environment not activated."""
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join(filter(None, (beside, os.environ.get("PATH", ""))))


def _templates_of_nbgrader() -> list[str]:
    """formgrader's own; none where nbgrader is not installed, as with students."""
    package = find_spec("nbgrader")
    if package is None or package.origin is None:
        return []
    return [str(Path(package.origin).parent / "server_extensions" / "formgrader" / "templates")]
