"""How students know a question: by the heading above its cell, not by the name of a function."""

from __future__ import annotations

import re

from autograder.course.homework import Assignment, Cell

#: A heading, without the points in brackets at its end.
HEADING = re.compile(r"^#+ +(.+?)(?: *\([^()]*\bpoints?\b[^()]*\))? *$", re.MULTILINE)


def question(assignment: Assignment, cell: Cell) -> str:
    """The heading of the question above a cell, without the points in brackets; the cell's name if it has none.

    The question is the next markdown above, unless another graded cell stands between: that one ends a question.
    """
    for above in reversed(assignment.cells[: assignment.cells.index(cell)]):
        if above.role in ("task", "written"):
            break
        if above.kind == "markdown" and above.role == "given":
            match = HEADING.search(above.source)
            return match.group(1) if match else cell.grade_id
    return cell.grade_id
