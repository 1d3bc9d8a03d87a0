"""``dpcourse collect``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from autograder.commands.options import command, in_course, roster_option, students_option
from autograder.console import Output, Problem, counted, note, one_line
from autograder.course.course import Course
from autograder.course.roster import Roster
from autograder.gradebook.people import store_names
from autograder.intake.archives import timestamps_left_out
from autograder.intake.collection import OUTCOMES, Collection
from autograder.intake.exchange import from_exchange


@command(example="dpcourse collect moodle.zip --assignment hw1_pure_dp --students class.csv")
@click.argument("source")
@click.option("--assignment", metavar="HW", help="only this homework; also for files that do not tell")
@roster_option
@students_option
@click.option("--replace", is_flag=True, help="let a submission that differs give way to the new one")
@click.option(
    "--trust-timestamps", is_flag=True,
    help="read each STUDENT/HW/timestamp.txt of a folder as the time of handing in. Only safe where no student "
    "could write: another course's submitted/, not a folder that was cloned or unpacked from students",
)  # fmt: skip
@in_course
def collect(
    course: Course, source: str, assignment: str | None, roster: Roster | None, students: tuple[str, ...],
    replace: bool, trust_timestamps: bool, output: Output,
) -> int:  # fmt: skip
    """Take in what was handed in: a folder (a folder or a file for each student), a zip of Moodle or Canvas, or, by
    the word "exchange", nbgrader's exchange.

    Each notebook goes to submitted/STUDENT/HW/HW.ipynb. The homework is known by the cells, else by the file's name.
    Without --students, a student's id is the number that Moodle or Canvas gives, or the name of the folder or file.
    With it, the gradebook gets the names of the list.
    A submission that is there and differs is replaced only by one that goes before it (or with --replace). The first
    of these decides of which both tell and in which they differ: the time of handing in, Canvas's number, the right
    name of the file, Canvas's version, the time of the file in a folder. The one that gives way is kept in earlier/.
    What is refused or kept back is listed, the others are taken in.

    Two numbers (or folders) that would be the same student are both refused, unless --students names one of them; also
    what comes from another one than the submission that is there.
    """
    homeworks = course.chosen([assignment] if assignment else None)
    if source == "exchange" and not Path("exchange").exists():
        if students:
            raise Problem(f"--student {students[0]!r} is for folders and zips, not for nbgrader's exchange")
        outcomes = from_exchange(course, homeworks)
    else:
        place = Path(source)
        if trust_timestamps and not place.is_dir():
            raise Problem(f"--trust-timestamps is for a folder, but {source!r} is none")
        collection = Collection(course, assignment, roster, only=students, replace=replace, trust=trust_timestamps)
        outcomes = collection.take(place)
        left_out = timestamps_left_out(place, trust_timestamps)
        if left_out:
            note(
                f"{counted(len(left_out), 'file')} timestamp.txt did not count as a time of handing in (first: "
                f"{one_line(left_out[0])}): a student could have written it. If nobody but you could, and it is "
                f"STUDENT/HW/timestamp.txt of a folder: --trust-timestamps"
            )
    if roster is not None and (changed := store_names(course, roster)):
        note(f"the gradebook has the names of {counted(changed, 'student')} from the list, new or changed")
    if not outcomes:
        note(f"{source!r} holds nothing that could be collected")
    counts = Counter(one["outcome"] for one in outcomes)
    for one in outcomes:
        if one["why"]:
            output.tell(f"{one['outcome']}: {one['where']} {one['why']}")
    output.tell(", ".join(f"{counts[name]} {name}" for name in OUTCOMES))
    output.write_json({"counts": {name: counts[name] for name in OUTCOMES}, "files": outcomes})
    return int(counts["refused"] + counts["kept"] > 0 or not outcomes)
