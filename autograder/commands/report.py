"""The class on one page: points, who needs help and with what, questions, mistakes, and what a person should look at.

In the terminal a few lines; --html FILE writes the page, with plots; --json FILE holds all of it. Points by people are
those of the gradebook. What could not be read is listed, and counts nowhere else.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from autograder.commands.feedback import graded, marks_for
from autograder.console import counted, new_file, one_line, tell, watched, write_json
from autograder.course.course import Course
from autograder.examine.records import write_whole
from autograder.pages.similarity import THRESHOLD

EXAMPLE = "dpcourse report hw1_pure_dp --html report.html"
MOST = 5  # names and mistakes in a line


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``dpcourse report``."""
    parser.add_argument("homework", nargs="*", metavar="HW", help="which homeworks (default: all that were graded)")
    parser.add_argument("--html", metavar="FILE", help="write the page")
    parser.add_argument("--similar", type=share, default=THRESHOLD, metavar="X", help="from which similarity on pairs "
                        f"are shown, 0 to 1 (default: {THRESHOLD})")  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite a file that is there")


def share(text: str) -> float:
    """A number from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"a number from 0 to 1 is needed, not {text!r}")
    return value


def run(options: argparse.Namespace) -> int:
    """Count, and show."""
    from autograder.gradebook.people import read_names
    from autograder.pages.report import describe_class, make_page

    course = Course.find(Path(options.course))
    place = new_file(options.html, options.force) if options.html else None
    homeworks = course.chosen(options.homework)
    graded(course, homeworks)  # or a sentence that nothing was
    marks = marks_for(course, set(homeworks))
    report = describe_class(course, watched(homeworks, "report"), marks, read_names(course), options.similar)
    for section in report["homeworks"]:
        tell(options, in_words(section))
    if report["progress"]:
        tell(options, progress_in_words(report["progress"]))
    if place is not None:
        write_whole(place, make_page(report))
        tell(options, f"written to {place}")
    write_json(options.json, report)
    return 0


def in_words(section: dict[str, Any]) -> str:
    """One homework, for the terminal."""
    from autograder.pages.report import say_duration

    lines = [
        f"{section['assignment']}: {counted(section['submissions'], 'submission')}, "
        f"{section['rejected']} could not be read, {section['partial']} partial{points_in_words(section)}"
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
    lines += list_some("late", [f"{one['student']} ({say_duration(one['seconds'])})" for one in section["late"]])
    tasks = sorted((one for one in section["tasks"] if (one["share"] or 0) < 1), key=lambda one: one["share"] or 0)
    lines += list_some("hardest", [f"{one['question']} ({one['share']:.0%})" for one in tasks[:3]])
    mistakes = [(one["count"], task["question"], one) for task in section["tasks"] for one in task["mistakes"]]
    for number, question, one in sorted(mistakes, key=lambda mistake: -mistake[0])[:MOST]:
        lines.append(f"  {number:4} x {one_line(question, 60)}: {one_line(one['message'] or one['misconception'], 90)}")
    unnamed = sum(task["unnamed"] for task in section["tasks"])
    if unnamed:
        lines.append(f"  {counted(unnamed, 'wrong answer')} that no known mistake explains; see --html or --json")
    if section["similar"]:
        lines.append(f"  {counted(len(section['similar']), 'pair')} of similar submissions; see --html or --json")
    return "\n".join(lines)


def points_in_words(section: dict[str, Any]) -> str:
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


def progress_in_words(progress: dict[str, Any]) -> str:
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
