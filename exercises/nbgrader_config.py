"""nbgrader's settings for this course. Run its commands in this folder: see ../autograder/README.md."""

import os
import sys
from pathlib import Path

# nbgrader calls `alembic` by its name. It stands next to this Python, also where the environment is not activated.
BESIDE = str(Path(sys.executable).parent)
if BESIDE not in os.environ.get("PATH", "").split(os.pathsep):
    os.environ["PATH"] = os.pathsep.join(filter(None, (BESIDE, os.environ.get("PATH", ""))))

c = get_config()  # noqa: F821  (given by nbgrader)

c.CourseDirectory.course_id = "dpcourse"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"

# A function that never returns is stopped by its task after seconds; this is for whatever else hangs.
c.ExecutePreprocessor.timeout = 300

# What a student finds in place of a solution. The tasks know an unwritten function by this very line.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
