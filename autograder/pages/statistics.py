"""A class in numbers: scores, tasks, misconceptions, and the submissions that a person should look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from statistics import mean, median
from typing import Any

from autograder.course.homework import Assignment
from autograder.examine.records import STATUSES, Record
from autograder.pages.similarity import THRESHOLD, similar

TASK_STATUSES = ("passed", "failed", "error", "timeout", "missing")  # in the order in which a bar shows them
SLOW, AT_LEAST = 3.0, 5.0  # times the median, and seconds
SHOWN = 20  # rows of a list


def tallied(records: Sequence[Record], assignment: Assignment, threshold: float = THRESHOLD) -> dict[str, Any]:
    """Everything that the report shows about one homework, plain enough for JSON."""
    statuses = Counter(record.status for record in records)
    scores = [record.score for record in records]
    return {
        "assignment": assignment.name,
        "submissions": len(records),
        **{status: statuses[status] for status in STATUSES},
        "max_score": assignment.machine_points,
        "scores": scores,
        "mean": round(mean(scores), 4),
        "median": round(median(scores), 4),
        "tasks": tasks(records, assignment),
        "misconceptions": misconceptions(records),
        "unnamed": sum(one.status == "failed" and not one.misconception for record in records for one in record.tasks),
        "seconds": round(sum(record.seconds for record in records), 3),
        "slow": slow(records),
        "broken": [
            {"student": record.student, "status": record.status, "notes": list(record.notes)}
            for record in records
            if record.status != "graded"
        ],
        "unsafe": [record.student for record in records if record.sandbox == "none"],
        "trials": [record.student for record in records if record.is_trial],
        "seeds": sorted({record.seed for record in records}),
        "similar": [asdict(pair) for pair in similar(records, assignment, threshold)],
    }


def tasks(records: Sequence[Record], assignment: Assignment) -> list[dict[str, Any]]:
    """How each task went, in the order of the homework."""
    found: dict[str, list[Any]] = {name: [] for name in assignment.task_names}
    for record in records:
        for task in record.tasks:
            found.setdefault(task.task, []).append(task)
    rows = []
    for name, seen in found.items():
        counts = Counter(task.status for task in seen)
        absent = len(records) - len(seen)  # rejected submissions have no tasks
        counts["missing"] += absent
        most = sum(task.max_points for task in seen) * (len(records) / len(seen) if seen else 1)
        rows.append({
            "task": name,
            **{status: counts[status] for status in TASK_STATUSES},
            "share": round(sum(task.points for task in seen) / most, 4) if most else 0.0,
        })  # fmt: skip
    return rows


def misconceptions(records: Sequence[Record]) -> list[dict[str, Any]]:
    """The known mistakes, the most frequent first."""
    counts = Counter((one.task, one.misconception) for record in records for one in record.tasks if one.misconception)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [{"task": task, "misconception": name, "count": number} for (task, name), number in ranked]


def slow(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Submissions that took far longer than others, the slowest first."""
    usual = median(record.seconds for record in records)
    found = [record for record in records if record.seconds > max(SLOW * usual, AT_LEAST)]
    found.sort(key=lambda record: -record.seconds)
    return [{"student": record.student, "seconds": round(record.seconds, 3)} for record in found[:SHOWN]]
