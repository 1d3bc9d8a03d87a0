"""Who needs help, and with what."""

from __future__ import annotations

from typing import Any

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
            "points": round(sum(result.points.values()), 6),
            "share": result.share_before_penalty,
            "max_score": result.max_score,
            "has_usable_answer": has_usable_answer(result),
            "misses": [
                describe_miss(homework, result, name)
                for name in result.points
                if result.points[name] < result.possible[name]
            ],
        }
        for result in rows
    ]


def has_usable_answer(result: Result) -> bool:
    """Was there anything that the machine could judge?"""
    return not result.record.tasks or any(task.status in USABLE for task in result.record.tasks)


def describe_miss(homework: Homework, result: Result, name: str) -> dict[str, Any]:
    """What somebody lacks in one question, in the words that the student knows: the machine's, or a person's."""
    verdict, message, mistake = result.tasks.get(name), "", ""
    if homework.assignment.by_grade_id[name].role != "task":
        status, words = "read", f"{result.points[name]:g} of {result.possible[name]:g} points"
        message = homework.marks[result.student].cells[name].comment
    elif verdict is None:
        status, words = "missing", WORDS["missing"]
    else:
        status, mistake = verdict.status, verdict.mistake
        words = "private, but wasteful" if verdict.wasteful else WORDS.get(status, status)
        if status != "missing":
            message = homework.explain(name, mistake) or shorten(verdict.feedback)
    return {
        "name": name, "question": homework.questions[name], "status": status, "words": words, "message": message,
        "mistake": mistake,
    }  # fmt: skip
