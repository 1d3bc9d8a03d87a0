"""``dpcourse export``."""

from __future__ import annotations

import sys

import click

from autograder.commands.options import command, homeworks_argument, in_course, roster_option
from autograder.console import Output, Problem, counted, in_words, new_file, note, one_line, watched
from autograder.course.course import Course
from autograder.course.roster import Roster
from autograder.examine.records import write_whole
from autograder.gradebook.drift import differences
from autograder.gradebook.export import FORMATS, make_table
from autograder.gradebook.read import Mark, exists, gradebook, marks_of, outdated


@command(example="dpcourse export hw1_pure_dp --format moodle --to grades.csv")
@homeworks_argument
@click.option("--format", "system", type=click.Choice(FORMATS), default="nbgrader", help="(default: nbgrader)")
@click.option("--to", metavar="FILE", help="where to; - is stdout (default: grades-FORMAT.csv in the course)")
@roster_option
@click.option("--force", is_flag=True, help="overwrite a file that is there")
@in_course
def export(
    course: Course, homeworks: list[str], system: str, to: str | None, roster: Roster | None, force: bool,
    output: Output,
) -> int:  # fmt: skip
    """Write the grades (default: of all homeworks) as CSV: points by machine and by people, less the penalty for
    handing in late.

    moodle: for one homework, Moodle's grading worksheet; for several, a column each, for its grade import. canvas: what
    Canvas's gradebook imports. nbgrader: what `nbgrader export` writes. For moodle and canvas, who handed in nothing
    (also who is only in --students) has an empty field, which changes nothing there; so has who handed in what nobody
    could read. What is late, unread or not final is told, and also where source, records and gradebook differ.
    """
    if to == output.file == "-":
        raise Problem("--to - and --json - cannot both go to stdout; give one of them a file")
    place = None if to == "-" else new_file(to or str(course.root / f"grades-{system}.csv"), force)
    if not exists(course):
        raise Problem(f"there is no gradebook at {course.db_url}; `dpcourse grade` makes it")
    with gradebook(course) as book:
        marks = {name: some for name in watched(homeworks, "reading") if (some := marks_of(book, name))}
        if not marks:
            raise Problem(f"the gradebook knows no submission of {', '.join(homeworks)}; `dpcourse grade` makes them")
        sentences = [sentence for name in homeworks for sentence in differences(course, name, book)]
        table = make_table(book, marks, roster or Roster(), system).encode("utf-8")
    if place is None:
        sys.stdout.buffer.write(table)
        sys.stdout.flush()
    else:
        write_whole(place, table)
    everything = [(name, mark) for name, some in marks.items() for mark in some.values()]
    waiting = sum(mark.waits and not mark.unread for _, mark in everything)
    if waiting:
        note(f"WARNING: {counted(waiting, 'submission')} not final: a person has still to look at it (formgrader)")
    unread = [f"{mark.student} ({name})" for name, mark in everything if mark.unread]
    if unread:
        note(
            f"WARNING: {counted(len(unread), 'submission')} could not be read: the grade is left empty, it is not 0. "
            f"Look at {one_line(', '.join(unread))}"
        )
    late = [f"{mark.student} ({name}: {in_words(mark.late)})" for name, mark in everything if mark.late]
    if late:
        note(f"{counted(len(late), 'submission')} came late: {one_line(', '.join(late))}")
    for sentence in sentences:
        note(f"WARNING: {sentence}")
    old = {name: warn_of_penalties(course, name, some) for name, some in marks.items()}
    rows = [
        {"student": mark.student, "assignment": name, "score": mark.final, "raw_score": mark.score,
         "penalty": mark.penalty, "penalty_outdated": mark.student in old[name], "max_score": mark.max_score,
         "waits": mark.waits, "unread": mark.unread, "late_seconds": mark.late.total_seconds()}
        for name, mark in everything
    ]  # fmt: skip
    output.write_json({"file": str(place or "-"), "format": system, "waiting": waiting, "submissions": rows})
    show = note if place is None else output.tell
    show(f"{place or 'stdout'}: {counted(len(rows), 'submission')} of {', '.join(marks)}")
    return 0


def warn_of_penalties(course: Course, homework: str, marks: dict[str, Mark]) -> list[str]:
    """Whose late penalty does not fit the points; says so."""
    try:
        students = [mark.student for mark in outdated(course, marks.values())]
    except Exception as error:  # of the course's own plugin: the grades are there without it
        note(f"WARNING: {homework}: late penalties were not looked at: {one_line(f'{type(error).__name__}: {error}')}")
        return []
    if students:
        note(
            f"WARNING: {homework}: the late penalty of {one_line(', '.join(students))} does not fit the points now "
            f"(did a person give some after it was computed?). To compute it anew: dpcourse grade {homework}"
        )
    return students
