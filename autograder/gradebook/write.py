"""nbgrader's gradebook, written in batches: many submissions, a few queries, one commit.

The homework's cells follow the source notebook in the same commit, so points never stand between two versions.

The rules are nbgrader's own: a person's scores, extra credit and comments stay; a text that was left as it was handed
out gets 0 points, any other waits for a person; late submissions get the penalty of the course's plugin. What could not
be read has no points at all, not 0: a person decides, and until then it is exported as empty.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import nbformat
from nbgrader import api, utils
from sqlalchemy.orm import contains_eager, selectinload

from autograder.console import counted, note
from autograder.course.homework import Assignment, as_jupyter
from autograder.examine.records import Record, write_whole
from autograder.gradebook.cells import differences_of_cells, synchronise_cells
from autograder.gradebook.drift import differences
from autograder.gradebook.graded_notebook import (
    answer_shown,
    answers_shown,
    copy_timestamp,
    graded_path,
    write_autograded,
)
from autograder.gradebook.penalties import LatePenalties, are_same, due_date, seconds_late
from autograder.gradebook.read import DROPPED, UNREAD, agrees, marks_of
from autograder.intake.submission import Submission, submitted_at

if TYPE_CHECKING:
    from autograder.course.course import Course

Graded = tuple[Record, Submission]

ELSEWHERE = "No response here; is the answer in another cell? Cells that do not belong to the homework are at the end."
AT_ONCE = 200  # submissions that are held in memory; databases also limit the names in one query


class Writer:
    """The gradebook and the graded notebooks of a course, open for writing."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.gradebook = api.Gradebook(course.db_url, course.name)
        self._assignments: dict[str, Assignment] = {}
        self._penalties = LatePenalties(course)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.gradebook.close()

    def write(self, graded: Sequence[Graded]) -> None:
        """Write these verdicts into the gradebook, all of them or none, and then the graded notebooks.

        Doing it twice changes nothing.
        """
        homeworks: dict[str, list[Graded]] = defaultdict(list)
        for record, submission in graded:
            if (record.student, record.assignment) != (submission.student, submission.assignment):
                raise ValueError(f"the record of {record.student!r} does not belong to {submission.student!r}")
            homeworks[record.assignment].append((record, submission))
        assignments = {name: self._homework(name) for name in homeworks}
        try:
            for name, pairs in homeworks.items():
                self._keep(name, synchronise_cells(self.gradebook, assignments[name]))
                for start in range(0, len(pairs), AT_ONCE):
                    some = pairs[start : start + AT_ONCE]
                    _Batch(self, assignments[name], some).write()
                    self._update_penalties(name, [record.student for record, _ in some])
            self.gradebook.db.commit()
        finally:
            self.gradebook.db.rollback()
            self.gradebook.db.expunge_all()
        for record, submission in graded:  # afterwards: the old ones show which texts a person has graded
            write_autograded(self.course.root, assignments[record.assignment], submission, record)

    def students_to_write(self, records: Sequence[Record]) -> set[str]:
        """Whose points in the gradebook are not those of these records (of one homework), or are missing."""
        homework = self._homework(records[0].assignment)
        differ = bool(differences_of_cells(self.gradebook, homework))
        marks = {} if differ else marks_of(self.gradebook, homework.name)
        return {record.student for record in records if differ or not agrees(marks.get(record.student), record)}

    def differences(self, name: str) -> list[str]:
        """Where source, records and gradebook of a homework say different things."""
        return differences(self.course, name, self.gradebook)

    def _keep(self, name: str, by_people: list[dict[str, Any]]) -> None:
        """Write down what people gave for tasks that are dropped now, before it leaves the gradebook."""
        if by_people:
            place = self.course.records(name) / DROPPED
            earlier = place.read_text(encoding="utf-8") if place.is_file() else ""
            lines = "".join(f"{json.dumps(one)}\n" for one in by_people)
            write_whole(place, (earlier + lines).encode())
            note(
                f"{name}: {counted(len(by_people), 'grade')} and comments that people gave were for tasks that are no "
                f"longer asked: they left the gradebook, and are kept in {place}"
            )

    def _homework(self, name: str) -> Assignment:
        """The homework as its source is now; it is read once."""
        if name not in self._assignments:
            self._assignments[name] = Assignment.read(self.course.source(name))
        return self._assignments[name]

    def update_penalties(self, name: str, students: Sequence[str] | None = None) -> list[str]:
        """Bring times of handing in and late penalties of a homework up to date; whose penalty was changed.

        Verdicts, points and records stay as they are.
        """
        try:
            changed = self._update_penalties(name, students)
            self.gradebook.db.commit()
        finally:
            self.gradebook.db.rollback()
            self.gradebook.db.expunge_all()
        return changed

    def _update_penalties(self, name: str, students: Sequence[str] | None) -> list[str]:
        try:
            master = self.gradebook.find_assignment(name)
        except api.MissingEntry:
            return []
        rows = (  # with the points as they are in the gradebook now, a person's among them
            self.gradebook.db.query(api.SubmittedNotebook, api.SubmittedNotebook.score)
            .join(api.SubmittedNotebook.assignment)
            .filter(api.SubmittedAssignment.assignment_id == master.id)
            .options(contains_eager(api.SubmittedNotebook.assignment))
        )
        if students is not None:
            rows = rows.filter(api.SubmittedAssignment.student_id.in_(students))
        changed = []
        for notebook, score in rows.order_by(api.SubmittedAssignment.student_id).all():
            student = str(notebook.assignment.student_id)
            self._update_time(notebook.assignment, name)
            late = seconds_late(notebook.assignment.timestamp, due_date(notebook.assignment))
            before = float(notebook.late_submission_penalty or 0)
            after = self._penalties.of_today(name, student, float(score), late, before)
            if not are_same(before, after):
                notebook.late_submission_penalty = after or None
                changed.append(student)
        self._penalties.note(name)
        return changed

    def _update_time(self, row: Any, name: str) -> None:
        """Take over the time of handing in, which a person may have corrected."""
        handed_in = submitted_at(self.course.submitted(row.student_id, name))
        if handed_in is not None and handed_in != row.timestamp:
            row.timestamp = handed_in
            if graded_path(self.course.root, row.student_id, name).is_file():
                copy_timestamp(self.course.root, row.student_id, name)


class _Batch:
    """Some submissions of one homework, and the rows of the gradebook that belong to them."""

    def __init__(self, writer: Writer, assignment: Assignment, pairs: list[Graded]) -> None:
        self.writer, self.assignment, self.pairs = writer, assignment, pairs
        self.db = writer.gradebook.db
        self.master = writer.gradebook.find_assignment(assignment.name)
        self.notebook = writer.gradebook.find_notebook(assignment.name, assignment.name)
        kinds = (api.GradeCell, api.SolutionCell, api.TaskCell, api.SourceCell)
        rows = [self.db.query(kind).filter(kind.notebook_id == self.notebook.id).all() for kind in kinds]
        self.grade_cells, self.solution_cells, self.task_cells, source_cells = rows
        self.checksums = {cell.name: cell.checksum for cell in source_cells}

    def write(self) -> None:
        """Put everything into the session; the caller commits."""
        names = [record.student for record, _ in self.pairs]
        known = {name for (name,) in self.db.query(api.Student.id).filter(api.Student.id.in_(names))}
        self.db.add_all([api.Student(id=name) for name in dict.fromkeys(names) if name not in known])
        self.db.flush()
        found = (
            self.db.query(api.SubmittedAssignment)
            .filter(api.SubmittedAssignment.assignment_id == self.master.id)
            .filter(api.SubmittedAssignment.student_id.in_(names))
            .options(
                selectinload(api.SubmittedAssignment.notebooks).selectinload(api.SubmittedNotebook.grades),
                selectinload(api.SubmittedAssignment.notebooks).selectinload(api.SubmittedNotebook.comments),
            )
        )
        rows = {row.student_id: row for row in found}
        with self.db.no_autoflush:
            for record, submission in self.pairs:
                row = rows.get(record.student)
                if row is None:
                    row = api.SubmittedAssignment(assignment=self.master, student_id=record.student)
                    rows[record.student] = row
                self._submission(row, record, submission)
                self.db.add(row)  # and with it all that is new below it
        self.db.flush()

    def _submission(self, row: Any, record: Record, submission: Submission) -> None:
        """One submission: its grades and comments."""
        notebook = next((one for one in row.notebooks if one.notebook_id == self.notebook.id), None)
        if notebook is None:
            notebook = api.SubmittedNotebook(notebook=self.notebook, assignment=row)
        untouched = {name for name in self.checksums if self._untouched(name, submission)}
        changed = self._changed(submission) if any(one.manual_score is not None for one in notebook.grades) else set()
        points = {task.task: task.points for task in record.tasks}
        doubtful = {task.task for task in record.tasks if task.doubt}
        grades = {grade.cell_id: grade for grade in notebook.grades}
        for cell in [*self.grade_cells, *self.task_cells]:
            grade = grades.get(cell.id) or self._new(api.Grade, cell, notebook)
            by_machine = self._role(cell.name) == "task"
            is_empty = cell.name in untouched and not submission.is_odd
            score = points.get(cell.name, 0.0) if by_machine else 0.0 if is_empty else None
            if submission.rejected:  # nobody has seen the work: that is no 0
                score = None
            if grade.manual_score is None:
                grade.needs_manual_grade = score is None or cell.name in doubtful
            elif grade.auto_score != score or cell.name in changed:
                grade.needs_manual_grade = True  # a person should look again
            grade.auto_score = score
        comments = {comment.cell_id: comment for comment in notebook.comments}
        for cell in [*self.solution_cells, *self.task_cells]:
            comment = comments.get(cell.id) or self._new(api.Comment, cell, notebook)
            nothing = UNREAD if submission.rejected else ELSEWHERE if submission.is_odd else "No response."
            comment.auto_comment = nothing if cell.name in untouched else None

    def _new(self, kind: type, cell: Any, notebook: Any) -> Any:
        row = kind(cell_id=cell.id, notebook=notebook)
        self.db.add(row)
        return row

    def _role(self, name: str) -> str:
        cell = self.assignment.by_grade_id.get(name)
        return cell.role if cell else ""

    def _untouched(self, name: str, submission: Submission) -> bool:
        """Was nothing answered here? nbgrader decides by the checksum of what was handed out."""
        if self._role(name) not in ("solution", "written"):
            return False
        if submission.rejected or name not in submission.answers:
            return True
        answered = as_jupyter(self.assignment.by_grade_id[name], submission.answers[name])
        return bool(utils.compute_checksum(nbformat.from_dict(answered)) == self.checksums[name])

    def _changed(self, submission: Submission) -> set[str]:
        """The cells that show something else than in the graded notebook that a person has seen."""
        path = graded_path(self.writer.course.root, submission.student, submission.assignment)
        before = answers_shown(path)
        cells = [cell for cell in self.assignment.cells if cell.manual and cell.role != "given"]
        shown = {cell.grade_id: answer_shown(cell, self.assignment, submission) for cell in cells}
        return {name for name, text in shown.items() if before.get(name) != text}
