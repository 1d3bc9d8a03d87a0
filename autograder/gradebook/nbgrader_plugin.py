"""Stock ``nbgrader autograde`` on the trusted path: it neither runs nor reads a student's notebook by itself.

nbgrader goes over a submission twice. First it sanitises: here :class:`Examine` reads the submission by our rules, has
it examined in the sandbox, writes the points as ``dpcourse grade`` does, and hands over the graded notebook. There is
nothing left to do for the second time.
The course's ``nbgrader_config.py`` names these classes. There is no option for a seed: each start draws a secret one,
unless DPCOURSE_GRADING_SEED (a long one) or DPCOURSE_SEED_FOR_TESTS (any number, for trials) says otherwise.
"""

from __future__ import annotations

import atexit
import glob
import os
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.box import sandbox
from autograder.box.sandbox import Sandbox, mentioned
from autograder.box.walls import NoSandbox
from autograder.course.course import Course
from autograder.course.homework import Assignment
from autograder.course.libraries import need_libraries
from autograder.course.names import BadName, safe_name
from autograder.examine.batch import packages_of, tasks_of
from autograder.examine.examination import examine
from autograder.examine.runs import Run
from autograder.examine.seeds import TRIAL_VARIABLE, TRIALS, seed_of
from autograder.gradebook.graded_notebook import autograded_notebook, copy_timestamp
from autograder.gradebook.write import Writer
from autograder.intake.submission import submitted_at


class TrustedExporter(NotebookExporter):
    """Takes every folder that was handed in, whatever is in it, and copies none of its files.

    nbgrader would leave out a notebook with another name, stop at one that it cannot read, follow links, and wait for
    a pipe in the place of ``timestamp.txt``.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        converter: Any = self.parent
        course = converter.coursedir
        try:
            sandbox.check()  # before anything is touched
            place, seed = Course.find(Path(course.root)), seed_of(os.environ)
            need_libraries(place)
            self.run = Run(place, course.assignment_id, seed=seed, regrade=False, whole=False)
        except (NoSandbox, ValueError, OSError) as error:
            self.log.error("%s", error)
            raise NbGraderException(str(error)) from None
        if os.environ.get(TRIAL_VARIABLE):
            self.log.warning("%s: %s", TRIAL_VARIABLE, TRIALS)
        course.ignore = ["*"]
        course.get_existing_timestamp = lambda folder: submitted_at(Path(folder))
        folders = glob.glob(converter._format_source(course.assignment_id, course.student_id))
        name = f"{course.assignment_id}.ipynb"
        converter.assignments = {folder: [os.path.join(folder, name)] for folder in folders if self._is_taken(folder)}

    def _is_taken(self, folder: str) -> bool:
        """Is it a folder of somebody whose name nbgrader's pages may show? They do not escape it."""
        student = Path(folder).parent.name
        try:
            return os.path.isdir(folder) and safe_name(student) == student
        except BadName as reason:
            self.log.error("left out: %s", reason)
            return False

    def from_filename(self, filename: str, resources: Any = None, **settings: Any) -> tuple[Any, Any]:
        """The notebook, after the preprocessors. What a student handed in is not opened here."""
        converter: Any = self.parent
        if converter._sanitizing:
            return self.from_notebook_node(nbformat.v4.new_notebook(), resources, **settings)
        return super().from_filename(filename, resources, **settings)


class Examine(NbGraderPreprocessor):
    """Puts the graded notebook in the place of the submitted one, and the points into the gradebook."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Examine the submission that nbgrader is at."""
        run: Run = self.parent.run
        student, root = resources["nbgrader"]["student"], run.course.root
        tasks, own_sandbox = _prepared(run.course, run.name, run.course.source(run.name).stat().st_mtime_ns)
        submission = run.submission(student)
        record = examine(submission, run.assignment, tasks, run.seed, own_sandbox)
        record.save(run.folder)
        with Writer(run.course) as writer:
            writer.write([(record, submission)])
        copy_timestamp(root, student, run.name)
        for note in record.notes:
            self.log.warning("%s: %s", student, note)
        return autograded_notebook(run.assignment, submission, record, painted=True), resources


@cache
def _prepared(course: Course, name: str, changed: int) -> tuple[dict[str, Any], Sandbox]:
    """The tasks and the sandbox of a homework, until its source is changed: formgrader's server may run for days."""
    assignment = Assignment.read(course.source(name))
    libraries = need_libraries(course)
    packages = packages_of(course, [assignment], libraries)
    own_sandbox = Sandbox(preload=mentioned(assignment.given_code), packages=packages, libraries=sorted(libraries))
    atexit.register(own_sandbox.close)
    return tasks_of(course, assignment), own_sandbox
