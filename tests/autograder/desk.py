"""A student's desk: a folder to hand something in, and the homework that it is about."""

import nbformat

from autograder.course.homework import Assignment
from autograder.intake.submission import read_submission
from tests.autograder.small_course import HW

RIGHT = "def noisy_count(count, epsilon, rng):\n    return count + rng.laplace(0, 1 / epsilon)"


class Desk:
    """A student's folder, and the homework."""

    def __init__(self, root):
        self.assignment = Assignment.read(root / "source" / HW / f"{HW}.ipynb")
        self.folder = root / "submitted" / "ada" / HW
        self.folder.mkdir(parents=True)
        self.file = self.folder / f"{HW}.ipynb"

    def book(self):
        """What Ada hands in if nothing is odd: one function is written."""
        source = (self.folder.parents[2] / "source" / HW / f"{HW}.ipynb").read_text(encoding="utf-8")
        book = nbformat.reads(source, as_version=4)
        for cell in book.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in self.assignment.released:
                cell.source = self.assignment.released[name]
        self.cell(book, "noisy_count-solution").source = RIGHT
        return book

    @staticmethod
    def cell(book, name):
        return next(cell for cell in book.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == name)

    def write(self, book, path=None):
        (path or self.file).write_text(nbformat.writes(book), encoding="utf-8")

    def read(self):
        return read_submission(self.folder, self.assignment, "ada")
