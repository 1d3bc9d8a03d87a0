"""The cells of a homework in nbgrader's gradebook, made to follow the source notebook.

nbgrader refuses to add or remove cells once there are submissions. Here the points of a cell may change at any time, a
task may be dropped and another added; what students have there changes with it, in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from nbgrader import api

from autograder.course.homework import Assignment, Cell

BY_PEOPLE = {api.Grade: ("manual_score", "extra_credit"), api.Comment: ("manual_comment",)}
KINDS = (api.GradeCell, api.SolutionCell, api.TaskCell, api.SourceCell)


def synchronise_cells(gradebook: Any, homework: Assignment) -> list[dict[str, Any]]:
    """Make the rows of the homework's cells what the source says. The caller commits.

    Gives what people had written about the cells that are gone.
    """
    name, by_people = homework.name, list[dict[str, Any]]()
    try:
        notebook = gradebook.find_notebook(name, name)
    except api.MissingEntry:
        gradebook.update_or_create_assignment(name)
        notebook = gradebook.add_notebook(name, name, kernelspec="{}")
    for kind in KINDS:
        rows = {row.name: row for row in gradebook.db.query(kind).filter(kind.notebook_id == notebook.id)}
        wanted = _wanted(kind, homework)
        for dropped in rows.keys() - wanted.keys():
            by_people += _remove(gradebook.db, rows[dropped])
        for cell, values in wanted.items():
            row = rows.get(cell)
            if row is None:
                gradebook.db.add(kind(name=cell, notebook=notebook, **values))
                continue
            for column, value in values.items():
                if getattr(row, column) != value:
                    setattr(row, column, value)
    gradebook.db.flush()
    gradebook.db.expire(notebook)
    return by_people


def differences_of_cells(gradebook: Any, homework: Assignment) -> list[str]:
    """In what the gradebook's cells differ from the source, a sentence each; nothing if it does not know any."""
    try:
        notebook = gradebook.find_notebook(homework.name, homework.name)
    except api.MissingEntry:
        return []
    theirs = {cell.name: float(cell.max_score) for cell in [*notebook.grade_cells, *notebook.task_cells]}
    ours = {cell.grade_id: cell.points for cell in homework.graded}
    sentences = [f"{name} is in the gradebook, but no longer in the source" for name in sorted(theirs.keys() - ours)]
    sentences += [f"{name} is in the source, but not yet in the gradebook" for name in sorted(ours.keys() - theirs)]
    for name in sorted(ours.keys() & theirs):
        if ours[name] != theirs[name]:
            sentences.append(f"{name} is worth {ours[name]:g} in the source and {theirs[name]:g} in the gradebook")
    return sentences


def _wanted(kind: type, homework: Assignment) -> dict[str, dict[str, Any]]:
    """The rows of this kind: name -> values."""
    if kind is api.SourceCell:
        return {
            cell.grade_id: {
                "cell_type": cell.kind, "locked": cell.role in ("given", "task"),
                "source": homework.released[cell.grade_id], "checksum": homework.checksums[cell.grade_id],
            }
            for cell in homework.cells if cell.grade_id
        }  # fmt: skip
    if kind is api.SolutionCell:
        return {cell.grade_id: {} for cell in homework.cells if cell.role in ("solution", "written")}
    by_hand_only = kind is api.TaskCell
    cells: Iterable[Cell] = (cell for cell in homework.graded if (cell.role == "given") == by_hand_only)
    return {cell.grade_id: {"max_score": cell.points, "cell_type": cell.kind} for cell in cells}


def _remove(db: Any, row: Any) -> list[dict[str, Any]]:
    """A cell, with what students have there; gives what people wrote about it."""
    by_people = []
    for kind, columns in BY_PEOPLE.items():
        for one in db.query(kind).filter(kind.cell_id == row.id):
            values = {column: getattr(one, column) for column in columns}
            if any(value is not None for value in values.values()):
                by_people.append({"student": one.notebook.student.id, "cell": row.name, **values})
            db.delete(one)
    db.delete(row)
    return by_people
