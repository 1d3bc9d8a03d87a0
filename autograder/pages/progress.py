"""From one homework to the next: the class, and each student's course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from autograder.pages.statistics import mean_of

COLUMNS = ("assignment", "title", "submissions", "mean", "max_score", "share")
DROP = 0.2  # of the points, below the mean of one's earlier homeworks


def describe_progress(sections: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Homeworks in the order of their names, and who dropped; None if there is one homework only.

    Shares are of the points that have been decided, so homeworks of different lengths can be compared, and one whose
    texts nobody has read yet does not look hard.
    """
    if len(sections) < 2:
        return None
    in_order = sorted(sections, key=lambda section: str(section["assignment"]))
    rows = [{row["student"]: row for row in section["students"]} for section in in_order]
    students = [follow(student, rows) for student in sorted({student for row in rows for student in row})]
    return {
        "homeworks": [
            {"brief": brief, **{name: section[name] for name in COLUMNS}}
            for section, brief in zip(in_order, name_briefly([one["assignment"] for one in in_order]), strict=True)
        ],
        "students": sorted(students, key=lambda one: (not one["dropped"], not one["stopped"], one["change"] or 0.0)),
    }


def follow(student: str, rows: Sequence[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    """One student's course. ``change``: the last share less the mean of those before it.

    Somebody dropped if that is less than -0.2, and stopped if the last homework is missing although an earlier one is
    there.
    """
    statuses = [row[student]["status"] if student in row else "absent" for row in rows]
    shares = [row[student]["share"] if student in row else None for row in rows]
    before = mean_of(shares[:-1])
    change = round(shares[-1] - before, 4) if shares[-1] is not None and before is not None else None
    return {
        "student": student,
        "shares": shares,
        "statuses": statuses,
        "change": change,
        "dropped": change is not None and change < -DROP,
        "stopped": statuses[-1] == "absent",
    }


def name_briefly(names: Sequence[str]) -> list[str]:
    """Names of homeworks for narrow places: hw1 for hw1_pure_dp, if there is one hw1 only."""
    counts = Counter(name.split("_")[0] for name in names)
    return [name.split("_")[0] if counts[name.split("_")[0]] == 1 else name for name in names]
