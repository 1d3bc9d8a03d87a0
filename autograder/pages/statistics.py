"""A class in numbers: points, how each question went, and the submissions that a person should look at.

What could not be read is listed, and is in no other number: it says nothing about what its author knows.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from autograder.examine.records import STATUSES, Record
from autograder.pages.anonymity import Anonymizer
from autograder.pages.mistakes import group_mistakes
from autograder.pages.needs import list_who_needs_help
from autograder.pages.results import Homework
from autograder.pages.similarity import THRESHOLD, similar

TASK_STATUSES = ("passed", "failed", "error", "timeout", "missing")  # in the order in which a bar shows them
SLOW, AT_LEAST = 3.0, 5.0  # times the median, and seconds
SHOWN = 20  # rows of a list
FEWEST = 5  # submissions from which on a correlation is told


def describe_homework(homework: Homework, threshold: float = THRESHOLD) -> dict[str, Any]:
    """Everything that the report shows about one homework, plain enough for JSON."""
    records, results, assignment = homework.records, homework.results, homework.assignment
    readable = [result.record for result in results]
    statuses = Counter(record.status for record in records)
    scores = [result.score for result in results]
    anonymizer = Anonymizer([record.student for record in records], homework.names, assignment)
    tasks = [describe_task(homework, name, anonymizer) for name in assignment.task_names]
    return {
        "assignment": assignment.name,
        "title": homework.title or assignment.name,
        "submissions": len(records),
        **{status: statuses[status] for status in STATUSES},
        "points_by_people": bool(homework.marks),
        "max_score": homework.max_score,
        "scores": scores,
        **summarize(scores),
        "share": mean_of([result.share for result in results]),
        "by_machine": {"max_score": assignment.machine_points, **summarize([one.score for one in readable])},
        "students": describe_students(homework),
        "unread": [{"student": record.student, "reason": " ".join(record.notes)} for record in homework.unread],
        "needs_help": list_who_needs_help(homework),
        "tasks": tasks,
        "texts": describe_texts(homework),
        "late": list_late(homework),
        "seconds": round(sum(record.seconds for record in readable), 3),
        "slow": list_slow(readable),
        "broken": [{"student": one.student, "notes": list(one.notes)} for one in readable if one.status == "partial"],
        "unsafe": [record.student for record in records if record.sandbox == "none"],
        "trials": [record.student for record in records if record.is_trial],
        "seeds": sorted({record.seed for record in records}),
        "similar": [asdict(pair) for pair in similar(readable, assignment, threshold)],
    }


def summarize(scores: Sequence[float]) -> dict[str, float | None]:
    """Mean and median; None of nothing."""
    return {"mean": mean_of(scores), "median": round(statistics.median(scores), 4) if scores else None}


def mean_of(values: Sequence[float | None]) -> float | None:
    """The mean of those that are known; None if none is."""
    known = [value for value in values if value is not None]
    return round(statistics.fmean(known), 4) if known else None


def describe_students(homework: Homework) -> list[dict[str, Any]]:
    """A row for everybody. The points of what could not be read are unknown, and not 0."""
    results = {result.student: result for result in homework.results}
    rows = []
    for record in homework.records:
        result = results.get(record.student)
        rows.append({
            "student": record.student, "status": record.status, "score": result.score if result else None,
            "share": result.share if result else None, "waits": list(result.waits) if result else [],
            "seconds_late": homework.seconds_late.get(record.student),
        })  # fmt: skip
    return rows


def describe_task(homework: Homework, name: str, anonymizer: Anonymizer) -> dict[str, Any]:
    """How one task went: verdicts, difficulty, discrimination, and what was wrong."""
    verdicts = [result.tasks.get(name) for result in homework.results]
    counts = Counter(verdict.status if verdict else "missing" for verdict in verdicts)
    return {
        "name": name,
        "question": homework.questions[name],
        "by": "machine",
        **{status: counts[status] for status in TASK_STATUSES},
        **measure(homework, name),
        **group_mistakes(homework, name, anonymizer),
    }


def describe_texts(homework: Homework) -> list[dict[str, Any]]:
    """How the answers went that people read, and how many still wait for them."""
    return [
        {
            "name": cell.grade_id,
            "question": homework.questions[cell.grade_id],
            "by": "person",
            "waits": sum(cell.grade_id in result.waits for result in homework.results),
            **measure(homework, cell.grade_id),
        }
        for cell in homework.graded_cells
        if cell.role != "task"
    ]


def measure(homework: Homework, name: str) -> dict[str, Any]:
    """Of one graded cell: its place, how many have points for it, its difficulty and its discrimination.

    The difficulty is the share of its points that the class has: 1 is easy, 0 is hard. (Item analysis calls it that,
    although it is easiness: Crocker and Algina, Introduction to Classical and Modern Test Theory, 1986, chapter 14.)
    """
    results = [result for result in homework.results if name in result.points]
    points = [result.points[name] for result in results]
    most = sum(result.possible[name] for result in results)
    others = homework.decided_everywhere - {name}
    rest = [sum(result.points[cell] for cell in others) for result in results]
    return {
        "place": homework.assignment.cells.index(homework.assignment.by_grade_id[name]),
        "with_points": len(results),
        "share": round(sum(points) / most, 4) if most else None,
        "discrimination": correlate(points, rest),
    }


def correlate(points: Sequence[float], rest: Sequence[float]) -> float | None:
    """How well a question tells the strong from the weak: the correlation of its points with those of the others.

    It is the corrected item-total correlation: the question itself is left out of the total, with which it would
    correlate in any case (Henrysson, Correction of item-total correlations in item analysis, Psychometrika 28, 1963,
    211-218). Where the points are all or nothing, Pearson's correlation is the point-biserial one. From 0.3 on a
    question is usually called good; below 0 those who do well elsewhere do badly here, so look at the question.
    None where there are too few, or where all have the same points.
    """
    if len(points) < FEWEST or max(points) - min(points) < 1e-9 or max(rest) - min(rest) < 1e-9:
        return None
    return round(statistics.correlation(points, rest), 4)


def list_late(homework: Homework) -> list[dict[str, Any]]:
    """Who handed in late and by how much, the latest first."""
    late = [(student, seconds) for student, seconds in homework.seconds_late.items() if seconds > 0]
    penalties = {student: mark.penalty for student, mark in homework.marks.items()}
    return [
        {"student": student, "seconds": seconds, "penalty": penalties.get(student, 0.0)}
        for student, seconds in sorted(late, key=lambda item: (-item[1], item[0]))
    ]


def list_slow(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Submissions that took far longer than others, the slowest first."""
    usual = statistics.median(record.seconds for record in records) if records else 0.0
    slow = [record for record in records if record.seconds > max(SLOW * usual, AT_LEAST)]
    slow.sort(key=lambda record: -record.seconds)
    return [{"student": record.student, "seconds": round(record.seconds, 3)} for record in slow[:SHOWN]]
