"""``dpcourse report``: what it tells in the terminal."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import click

from autograder.commands.options import command, homeworks_argument, in_course
from autograder.console import Output, counted, in_words, new_file, note, one_line, watched
from autograder.course.course import Course
from autograder.examine.records import write_whole
from autograder.gradebook.drift import differences_of
from autograder.gradebook.people import read_names
from autograder.pages.feedback import read_marks, read_records
from autograder.pages.similarity import THRESHOLD

MOST = 5  # names and mistakes in a line


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise click.BadParameter(f"a number from 0 to 1 is needed, not {text!r}")
    return value


@command(example="dpcourse report hw1_pure_dp --html report.html")
@homeworks_argument
@click.option("--html", metavar="FILE", help="write the page")
@click.option(
    "--similar", type=share, default=THRESHOLD, metavar="X",
    help=f"from which similarity on pairs are shown, 0 to 1 (default: {THRESHOLD})",
)  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite a file that is there")
@in_course
def report(course: Course, homeworks: list[str], html: str | None, similar: float, force: bool, output: Output) -> int:
    """The class on one page (default: all homeworks that were graded): points, who needs help and with what, questions,
    mistakes, and what a person should look at.

    In the terminal a few lines; --html FILE writes the page, with plots; --json FILE holds all of it. Points by people
    are those of the gradebook. What could not be read is listed, and counts nowhere else.
    """
    from autograder.pages.report import describe_class, make_page

    place = new_file(html, force) if html else None
    read_records(course, homeworks)  # or a sentence that nothing was graded
    marks = read_marks(course, homeworks)
    described = describe_class(course, watched(homeworks, "report"), marks, read_names(course), similar)
    described["differences"] = differences_of(course, homeworks)
    for section in described["homeworks"]:
        output.tell(describe_homework(section))
    if described["progress"]:
        output.tell(describe_progress(described["progress"]))
    if place is not None:
        write_whole(place, make_page(described))
        output.tell(f"written to {place}")
    for sentence in described["differences"]:
        note(f"WARNING: {sentence}")
    output.write_json(described)
    return 0


def describe_homework(section: dict[str, Any]) -> str:
    """One homework, for the terminal."""
    lines = [
        f"{section['assignment']}: {counted(section['submissions'], 'submission')}, "
        f"{section['rejected']} could not be read, {section['partial']} partial{describe_points(section)}"
    ]
    if section["unsafe"]:
        unsafe = counted(len(section["unsafe"]), "submission")
        lines.append(f"  WARNING: {unsafe} graded WITHOUT A SANDBOX; do not trust these grades")
    if section["trials"]:
        trials = counted(len(section["trials"]), "submission")
        lines.append(f"  WARNING: {trials} graded FOR TRIALS, with a seed that can be guessed; do not trust them")
    waits = [f"{one['question']} ({one['waits']})" for one in section["texts"] if one["waits"]]
    lines += list_some("a person has still to read", waits)
    lines += list_some("could not be read, and counted nowhere else", [one["student"] for one in section["unread"]])
    needs = [
        f"{one['student']} ({one['share']:.0%}{'' if one['has_usable_answer'] else ', no usable answer'})"
        for one in section["needs_help"]
    ]
    lines += list_some("need help", needs)
    late = [f"{one['student']} ({in_words(timedelta(seconds=one['seconds']))})" for one in section["late"]]
    lines += list_some("late", late)
    tasks = sorted((one for one in section["tasks"] if (one["share"] or 0) < 1), key=lambda one: one["share"] or 0)
    lines += list_some("hardest", [f"{one['question']} ({one['share']:.0%})" for one in tasks[:3]])
    mistakes = [(one["count"], task["question"], one) for task in section["tasks"] for one in task["mistakes"]]
    for number, question, one in sorted(mistakes, key=lambda mistake: -mistake[0])[:MOST]:
        lines.append(f"  {number:4} x {one_line(question, 60)}: {one_line(one['message'] or one['mistake'], 90)}")
    unnamed = sum(task["unnamed"] for task in section["tasks"])
    if unnamed:
        lines.append(f"  {counted(unnamed, 'wrong answer')} that no known mistake explains; see --html or --json")
    if section["similar"]:
        lines.append(f"  {counted(len(section['similar']), 'pair')} of similar submissions; see --html or --json")
    return "\n".join(lines)


def describe_points(section: dict[str, Any]) -> str:
    """Mean and median of what could be read."""
    if section["mean"] is None:
        return ""
    whole = f"; mean {section['mean']:.4g}, median {section['median']:.4g} of {section['max_score']:g}"
    if not section["points_by_people"]:
        return f"{whole} points by machine"
    machine = section["by_machine"]
    return f"{whole} points (by machine {machine['mean']:.4g} of {machine['max_score']:g})"


def list_some(words: str, names: list[str]) -> list[str]:
    """A line with the first few of them; none if there are none."""
    if not names:
        return []
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return [f"  {words}: {', '.join(one_line(name, 60) for name in names[:MOST])}{more}"]


def describe_progress(progress: dict[str, Any]) -> str:
    """All homeworks, for the terminal."""
    means = [
        f"{one['assignment']} {'-' if one['share'] is None else format(one['share'], '.0%')}"
        for one in progress["homeworks"]
    ]
    lines = [f"all homeworks: mean {', '.join(means)}"]
    students = progress["students"]
    lines += list_some("dropped", [f"{one['student']} ({one['change']:+.0%})" for one in students if one["dropped"]])
    lines += list_some("nothing of the last homework", [one["student"] for one in students if one["stopped"]])
    return "\n".join(lines)
