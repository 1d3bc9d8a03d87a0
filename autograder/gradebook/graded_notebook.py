"""The graded notebook that formgrader and nbgrader's feedback show: the homework with the student's answers in place.

Every cell but the student's own comes from the instructor's source, without hidden tests. The verdicts are those for
the student (made from public probes). Nothing that the student wrote can act in the page of whoever opens it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.homework import Assignment, Cell, as_jupyter
from autograder.examine.records import Record, TaskRecord, write_whole
from autograder.intake.submission import Submission, submitted_at
from autograder.pages.page import data_uri
from autograder.pages.sanitizing import LONGEST, harmless, short_code
from dpcourse.tasks.verdict import Verdict, as_html

if TYPE_CHECKING:
    from nbformat import NotebookNode

MOST_EXTRA = 100  # cells beside the homework's that are shown
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}


def autograded_notebook(
    assignment: Assignment, submission: Submission, record: Record, *, painted: bool = False
) -> NotebookNode:
    """The graded notebook; ``painted`` with the pictures of the verdicts, which takes a while."""
    import nbformat  # it takes two seconds to load

    return nbformat.from_dict(_notebook(assignment, submission, record, painted))


def _notebook(assignment: Assignment, submission: Submission, record: Record, painted: bool) -> dict[str, Any]:
    verdicts = {task.task: task for task in record.tasks}
    cells = [_about(submission, record)] if submission.rejected or record.notes else []
    for number, cell in enumerate(assignment.cells):
        made = _cell(cell, assignment, submission)
        made["id"] = cell.cell_id or f"cell-{number}"
        if cell.role == "task":
            made["outputs"] = [_output(cell, verdicts.get(cell.grade_id), painted)]
        cells.append(made)
    cells += _not_graded(submission.extra)
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def write_autograded(root: Path, assignment: Assignment, submission: Submission, record: Record) -> Path:
    """Write ``root/autograded/<student>/<assignment>/<assignment>.ipynb``: whole, or not at all."""
    place = graded_path(root, submission.student, assignment.name)
    book = _notebook(assignment, submission, record, painted=False)
    write_whole(place, json.dumps(book, ensure_ascii=False).encode("utf-8"))
    copy_timestamp(root, submission.student, assignment.name)
    return place


def copy_timestamp(root: Path, student: str, assignment: str) -> None:
    """Say beside the graded notebook when it was handed in: by this nbgrader knows whether there is a newer one."""
    handed_in = submitted_at(root / "submitted" / student / assignment)
    if handed_in is not None:
        place = graded_path(root, student, assignment).parent / "timestamp.txt"
        write_whole(place, f"{handed_in:%Y-%m-%d %H:%M:%S.%f} UTC".encode())


def graded_path(root: Path, student: str, assignment: str) -> Path:
    """Where nbgrader looks for the graded notebook."""
    return root / "autograded" / student / assignment / f"{assignment}.ipynb"


def answers_shown(path: Path) -> dict[str, str]:
    """grade_id -> source, of the answers in a graded notebook. {} if there is none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        marked = [cell for cell in cells if cell["metadata"].get("nbgrader", {}).get("solution")]
        return {cell["metadata"]["nbgrader"]["grade_id"]: "".join(cell["source"]) for cell in marked}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def answer_shown(cell: Cell, assignment: Assignment, submission: Submission) -> str:
    """What the graded notebook shows of a student's cell. A missing one looks as it was handed out."""
    released = assignment.released[cell.grade_id]
    answer = submission.answers.get(cell.grade_id, released)
    if answer == released:
        return answer
    if cell.kind == "code":
        return short_code(answer)
    pictures = [f"![a picture](attachment:{name})" for name in attachments(cell, submission)]
    return "\n\n".join([harmless(answer), *pictures])


def attachments(cell: Cell, submission: Submission) -> dict[str, dict[str, str]]:
    """The pictures in a written answer, under names of ours: another picture has another name."""
    pictures = submission.pictures.get(cell.grade_id, ())
    return {hashlib.sha256(content.encode()).hexdigest()[:16]: {kind: content} for kind, content in pictures}


def _cell(cell: Cell, assignment: Assignment, submission: Submission) -> dict[str, Any]:
    """A cell of the homework as it is shown."""
    if cell.role in ("solution", "written"):
        made = as_jupyter(cell, answer_shown(cell, assignment, submission))
        if cell.grade_id in submission.pictures:
            made["attachments"] = attachments(cell, submission)
    else:
        made = as_jupyter(cell, assignment.released.get(cell.grade_id))
    if cell.grade_id:
        made["metadata"]["nbgrader"]["checksum"] = assignment.checksums[cell.grade_id]
    return made


def _output(cell: Cell, task: TaskRecord | None, painted: bool) -> dict[str, Any]:
    """The verdict, as the result of the cell: nbgrader takes its plain text, a number, as the points."""
    if task is None:
        task = TaskRecord(task=cell.grade_id, points=0, max_points=cell.points, status="missing")
    verdict = Verdict(
        task=task.task, status=task.status, message=harmless(f"{task.feedback} {task.doubt}".strip()),
        mistake=task.mistake, wasteful=task.wasteful,
    )  # fmt: skip
    address = data_uri(task.picture) if painted else ""
    picture = f'<img alt="The answers, and what they should be." src="{address}">' if address else ""
    page = f'<div class="tex2jax_ignore mathjax_ignore">{as_html(verdict)}{picture}</div>'
    data = {"text/html": page, "text/plain": repr(min(max(float(task.points), 0.0), cell.points))}
    return {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}


def _about(submission: Submission, record: Record) -> dict[str, Any]:
    """What was odd about the submission, at the top."""
    said = [*([submission.rejected] if submission.rejected else []), *record.student_notes]
    lines = "\n".join(f"- {harmless(' '.join(sentence.split()))}" for sentence in dict.fromkeys(said))
    return _plain("about-this-submission", "markdown", f"**About this submission**\n\n{lines}")


def _not_graded(sources: Sequence[str]) -> list[dict[str, Any]]:
    """The cells that the student added, at the end, as far as there is room for them."""
    if not sources:
        return []
    shown, room = list[str](), LONGEST
    for source in sources[:MOST_EXTRA]:
        shown.append(short_code(source, room))
        room -= min(room, len(source))
        if room <= 0:
            break
    said = "Cells that do not belong to the homework."
    if len(shown) < len(sources):
        said += f" Only {len(shown)} of {len(sources)} are shown here; all are in the file that was handed in."
    title = _plain("not-graded", "markdown", f"## Not graded\n\n{said}")
    return [title, *(_plain(f"not-graded-{number}", "code", text) for number, text in enumerate(shown, 1))]


def _plain(name: str, kind: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, "source": source, **code}
