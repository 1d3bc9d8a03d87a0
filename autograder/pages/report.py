"""The report on a class: what is in it, and the page with its pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from autograder.console import counted, in_words
from autograder.course.course import Course, heading
from autograder.course.homework import Assignment
from autograder.examine.records import records_in
from autograder.gradebook.penalties import seconds_late
from autograder.gradebook.read import Mark
from autograder.pages.progress import DROP, describe_progress
from autograder.pages.results import Homework
from autograder.pages.similarity import THRESHOLD
from autograder.pages.statistics import FEWEST, SHOWN, TASK_STATUSES, describe_homework

if TYPE_CHECKING:
    from dpcourse.scenes import Picture
    from dpcourse.tasks import Task

Names = Mapping[str, tuple[str, ...]]
MOST_MISTAKES = 5  # of a task on the page, of each kind
MOST_LINES = 80  # students' courses in one picture


def describe_class(
    course: Course,
    homeworks: Iterable[str],
    marks: Mapping[str, Mapping[str, Mark]],
    names: Names,
    threshold: float = THRESHOLD,
) -> dict[str, Any]:
    """All of the report, plain enough for JSON. ``marks``: homework -> student -> what the gradebook says."""
    sections = []
    for name in homeworks:
        homework = read_homework(course, name, marks.get(name, {}), names)
        if homework.records:
            sections.append(describe_homework(homework, threshold))
    return {"course": course.name, "homeworks": sections, "progress": describe_progress(sections)}


def read_homework(course: Course, name: str, marks: Mapping[str, Mark], names: Names) -> Homework:
    """What is known of one homework."""
    place = course.source(name)
    assignment = Assignment.read(place)
    records = list(records_in(course.records(name)))
    late = {record.student: measure_lateness(course, marks.get(record.student)) for record in records}
    return Homework(
        assignment=assignment, records=records, title=heading(place), marks=marks, names=names,
        seconds_late={student: seconds for student, seconds in late.items() if seconds is not None},
        tasks=find_tasks(course, assignment),
    )  # fmt: skip


def measure_lateness(course: Course, mark: Mark | None) -> float | None:
    """How many seconds late something was handed in; None if nobody knows."""
    if mark is None or mark.due is None:
        return None
    from autograder.intake.submission import submitted_at

    time = submitted_at(course.submitted(mark.student, mark.assignment)) or mark.time
    return seconds_late(time, mark.due)


def find_tasks(course: Course, assignment: Assignment) -> dict[str, Task]:
    """The tasks of a homework, for their words about mistakes. One that is gone is left out: it was graded before."""
    tasks = {}
    for name in assignment.task_names:
        try:
            tasks[name] = course.task(name)
        except ValueError:
            continue
    return tasks


def make_page(report: Mapping[str, Any]) -> bytes:
    """The whole page."""
    from autograder.pages.page import embedded, rendered
    from dpcourse.scenes import matplotlib_painter

    def paint(picture: Picture) -> dict[str, str]:
        wide, narrow = (embedded(matplotlib_painter.png(picture, width=width, dpi=110)) for width in (8, 4.4))
        return {"wide": wide, "narrow": narrow, "says": picture.says}

    sections = [
        {**section, "plot": paint(draw_scores(section)) if section["scores"] else None}
        for section in report["homeworks"]
    ]
    progress = report["progress"]
    return rendered(
        "report.html", course=report["course"], sections=sections, progress=progress,
        differences=report.get("differences", ()),
        progress_plot=paint(draw_progress(progress)) if progress else None, statuses=TASK_STATUSES, most_rows=SHOWN,
        most_mistakes=MOST_MISTAKES, fewest=FEWEST, drop=DROP,
        say_duration=lambda seconds: in_words(timedelta(seconds=seconds)),
    )  # fmt: skip


def draw_scores(section: Mapping[str, Any]) -> Picture:
    """How many have how many points."""
    import numpy as np

    from dpcourse.scenes import Axis, Bars, Picture, Rule, panel

    scores, most = section["scores"], max(section["max_score"], 1e-9)
    bins = int(min(20, max(5, most)))
    edges = np.linspace(0, most, bins + 1)
    counts = np.histogram(np.clip(scores, 0, most), edges)[0]
    middle = (edges[1:] + edges[:-1]) / 2
    high = max(1.0, counts.max() * 1.15)
    some = counts > 0
    marks = (
        Bars(middle[some], counts[some], "", "blue", width=float(0.92 * (edges[1] - edges[0]))),
        Rule(min(section["mean"], most), label=f"mean {section['mean']:.3g}"),
    )
    number = counted(len(scores), "submission")
    says = f"{number}; mean {section['mean']:.3g}, median {section['median']:.3g} of {section['max_score']:g} points."
    step = max(1, round(high / 5))
    ticks = tuple((float(count), f"{count}") for count in range(0, int(high) + 1, step))
    waits = any(text["waits"] for text in section["texts"]) and section["points_by_people"]
    label = "points so far" if waits else "points" if section["points_by_people"] else "points by machine"
    axes = Axis(label, 0, float(most)), Axis("submissions", 0, float(high), ticks=ticks)
    return Picture((panel("How many have how many points", *axes, *marks, height=220),), says)


def draw_progress(progress: Mapping[str, Any]) -> Picture:
    """The mean of each homework, and each student's course."""
    from dpcourse.scenes import Axis, Line, Picture, Points, panel

    homeworks, students = progress["homeworks"], progress["students"]
    others = [one for one in students if not one["dropped"]][: MOST_LINES - 1]
    drops = [one for one in students if one["dropped"]][: MOST_LINES - len(others)]
    marks: list[Any] = []
    for group, colour, dash, width, label in (
        (others, "grey", "solid", 0.6, "others"), (drops, "red", "dashed", 1.4, "who dropped"),
    ):  # fmt: skip
        lines = [line for one in group for line in join_neighbours(one["shares"])]
        for place, (x, y) in enumerate(lines):
            marks.append(Line(x, y, "" if place else label, colour, dash, width))
    means = [(place, 100 * one["share"]) for place, one in enumerate(homeworks) if one["share"] is not None]
    if means:
        across, up = zip(*means, strict=True)
        marks += [Line(across, up, "", "blue", width=2.5), Points(across, up, "mean of the class", "blue", size=8)]
    ticks = tuple((float(place), one["brief"]) for place, one in enumerate(homeworks))
    axes = Axis("homework", -0.3, len(homeworks) - 0.7, ticks=ticks), Axis("% of the points", 0, 103)
    says = ", ".join(f"{homeworks[place]['brief']} {value:.0f}%" for place, value in means) or "no points yet"
    return Picture((panel("Each line is a student", *axes, *marks, height=260),), f"Mean of the class: {says}.")


def join_neighbours(shares: list[float | None]) -> list[tuple[list[float], list[float]]]:
    """The lines through one's homeworks, in per cent; none through one that is missing."""
    pairs = [(place, shares[place], shares[place + 1]) for place in range(len(shares) - 1)]
    return [
        ([float(place), place + 1.0], [min(103.0, 100 * one), min(103.0, 100 * other)])
        for place, one, other in pairs
        if one is not None and other is not None
    ]
