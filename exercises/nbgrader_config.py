"""nbgrader's settings for this course. Run its commands in this folder: see ../autograder/README.md."""

from pathlib import Path

c = get_config()  # noqa: F821  (given by nbgrader)

c.CourseDirectory.course_id = "dpcourse"
c.CourseDirectory.root = str(Path(__file__).resolve().parent)
c.CourseDirectory.db_url = f"sqlite:///{Path(__file__).resolve().parent / 'gradebook.db'}"

# A function that never returns is stopped by its task after seconds; this is for whatever else hangs.
c.ExecutePreprocessor.timeout = 300

# What a student finds in place of a solution. The tasks know an unwritten function by this very line.
c.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
