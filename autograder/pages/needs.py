"""Who needs help, and with what."""

from __future__ import annotations

from typing import Any

from autograder.examine.records import TaskRecord
from autograder.pages.mistakes import shorten
from autograder.pages.page import WORDS
from autograder.pages.results import Homework, Result

ENOUGH = 0.5  # of the points: with less somebody needs help
AT_LEAST = 3  # students are listed, if so many lack points
USABLE = ("passed", "failed")


def list_who_needs_help(homework: Homework) -> list[dict[str, Any]]:
    """The students with the fewest points or without a usable answer, the fewest points first."""
    shares = {result.student: result.share_before_penalty for result in homework.results}
    candidates = [(share, student) for student, share in shares.items() if share is not None and share < 1]
    by_student = {result.student: result for result in homework.results}
    rows = [
        by_student[student] for place, (share, student) in enumerate(sorted(candidates))
        if place < AT_LEAST or share < ENOUGH or not has_usable_answer(by_student[student])
    ]  # fmt: skip
    return [
        {
            "student": result.student,
            "score": result.score,
            "share": result.share_before_penalty,
            "max_score": result.max_score,
            "has_usable_answer": has_usable_answer(result),
            "misses": [
                describe_miss(homework, name, result.tasks.get(name))
                for name in homework.assignment.task_names
                if result.points.get(name, 0.0) < result.possible.get(name, 0.0)
            ],
        }
        for result in rows
    ]


def has_usable_answer(result: Result) -> bool:
    """Was there anything that the machine could judge?"""
    return not result.record.tasks or any(task.status in USABLE for task in result.record.tasks)


def describe_miss(homework: Homework, name: str, verdict: TaskRecord | None) -> dict[str, Any]:
    """What somebody lacks in one task, in the words that the student knows."""
    status, misconception = (verdict.status, verdict.misconception) if verdict else ("missing", "")
    message = homework.explain(name, misconception) if misconception else ""
    if verdict and not message and status != "missing":
        message = shorten(verdict.feedback)
    words = "private, but wasteful" if verdict and verdict.wasteful else WORDS.get(status, status)
    return {
        "task": name, "question": homework.questions[name], "status": status, "words": words, "message": message,
        "misconception": misconception,
    }  # fmt: skip
