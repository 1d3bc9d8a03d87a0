"""``dpcourse report``: what it tells, and the page."""

from __future__ import annotations

from typing import Any

import click

from autograder.commands.options import command, homeworks_argument, in_course
from autograder.console import Output, counted, new_file, watched
from autograder.course.course import Course, heading
from autograder.course.homework import Assignment
from autograder.examine.records import records_in, write_whole
from autograder.pages.feedback import read_records
from autograder.pages.similarity import THRESHOLD


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
    """The class on one page (default: all homeworks that were graded): scores, tasks, misconceptions, slow and broken
    submissions, similar ones.

    In the terminal a few lines; --html FILE writes the page, with plots. Points are those given by machine.
    """
    from autograder.pages.statistics import tallied

    place = new_file(html, force) if html else None
    read_records(course, homeworks)  # or a sentence that nothing was graded
    sections = []
    for name in watched(homeworks, "report"):
        records = list(records_in(course.records(name)))
        if records:
            sections.append(tallied(records, Assignment.read(course.source(name)), similar))
    for section in sections:
        output.tell(in_words(section))
    if place is not None:
        titles = {section["assignment"]: heading(course.source(section["assignment"])) for section in sections}
        write_whole(place, page(sections, titles, course.name))
        output.tell(f"written to {place}")
    output.write_json(sections)
    return 0


def in_words(section: dict[str, Any]) -> str:
    """For the terminal."""
    lines = [
        f"{section['assignment']}: {counted(section['submissions'], 'submission')}, {section['rejected']} rejected, "
        f"{section['partial']} partial; mean {section['mean']:g}, median {section['median']:g} of "
        f"{section['max_score']:g}"
    ]
    if section["unsafe"]:
        unsafe = counted(len(section["unsafe"]), "submission")
        lines.append(f"  WARNING: {unsafe} graded WITHOUT A SANDBOX; do not trust these grades")
    if section["trials"]:
        trials = counted(len(section["trials"]), "submission")
        lines.append(f"  WARNING: {trials} graded FOR TRIALS, with a seed that can be guessed; do not trust them")
    hardest = sorted(section["tasks"], key=lambda task: task["share"])[:3]
    lines.append("  hardest: " + ", ".join(f"{task['task']} ({task['share']:.0%})" for task in hardest))
    for one in section["misconceptions"][:5]:
        lines.append(f"  {one['count']:4} x {one['task']}: {one['misconception']}")
    if section["similar"]:
        lines.append(f"  {counted(len(section['similar']), 'pair')} of similar submissions; see --html or --json")
    return "\n".join(lines)


def page(sections: list[dict[str, Any]], titles: dict[str, str], course: str) -> bytes:
    """The whole page."""
    from autograder.pages.page import embedded, rendered
    from autograder.pages.statistics import SHOWN, TASK_STATUSES
    from dpcourse.plots import paper

    shown = []
    for section in sections:
        picture = distribution(section["scores"], section["max_score"])
        plot = embedded(paper.png(picture, width=8, dpi=110))
        shown.append({**section, "title": titles[section["assignment"]], "plot": plot, "says": picture.says})
    return rendered("report.html", course=course, sections=shown, statuses=TASK_STATUSES, most_rows=SHOWN)


def distribution(scores: list[float], most: float) -> Any:
    """How many have how many points."""
    import numpy as np

    from dpcourse.plots import Axis, Bars, Picture, Rule, panel

    bins = int(min(20, max(5, most)))
    edges = np.linspace(0, max(most, 1e-9), bins + 1)
    counts = np.histogram(np.clip(scores, 0, most), edges)[0]
    middle = (edges[1:] + edges[:-1]) / 2
    high = max(1.0, counts.max() * 1.15)
    average = float(np.mean(scores))
    marks = (
        Bars(middle, counts, "submissions", "blue", width=float(0.92 * (edges[1] - edges[0]))),
        Rule(average, label=f"mean {average:.3g}"),
    )
    number = counted(len(scores), "submission")
    says = f"{number}; mean {average:.3g}, median {np.median(scores):.3g} of {most:g} points."
    axes = Axis("points by machine", 0, float(max(most, 1e-9))), Axis("submissions", 0, float(high))
    return Picture((panel("Scores", *axes, *marks, height=220),), says)
