"""nbgrader's settings for this course. Run its commands in this folder: see ../autograder/README.md."""

import os
import sys
from pathlib import Path

import nbgrader

import autograder

# nbgrader calls `alembic` by its name. It stands next to this Python, also where the environment is not activated.
BESIDE = str(Path(sys.executable).parent)
if BESIDE not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join(filter(None, (BESIDE, os.environ.get("PATH", ""))))

c = get_config()  # noqa: F821  (given by nbgrader)

c.CourseDirectory.course_id = "dpcourse"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"

# `nbgrader autograde` examines each submission in the sandbox, decides outside of it, and saves those points.
c.Autograde.exporter_class = "autograder.gradebook.nbgrader_plugin.TrustedExporter"
c.Autograde.sanitize_preprocessors = ["autograder.gradebook.nbgrader_plugin.Examine"]
c.Autograde.autograde_preprocessors = [
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# formgrader typesets formulas with the server's own MathJax, so it needs no network.
c.HTMLExporter.extra_template_basedirs = [
    str(Path(autograder.__file__).parent / "pages" / "templates"),
    str(Path(nbgrader.__file__).parent / "server_extensions" / "formgrader" / "templates"),
]

# What a student finds in place of a solution. The tasks know an unwritten function by this very line.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
