"""``check(f)``: the student's button. ``grade(f)``: the same examination with fresh probes, for the graded cell."""

from __future__ import annotations

import contextlib
import io
import os
import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from dpcourse.tasks.libraries import warning_of
from dpcourse.tasks.notebook import helpers_elsewhere, is_outdated, refused
from dpcourse.tasks.own_course import tasks_near
from dpcourse.tasks.progress import sign_of_life
from dpcourse.tasks.registry import HOMEWORKS, task_named, tasks_of
from dpcourse.tasks.student import Student
from dpcourse.tasks.task import Task
from dpcourse.tasks.verdict import Verdict
from dpcourse.tasks.wording import described

SEED = "DPCOURSE_GRADING_SEED"


def check(function: Callable[..., Any], task: str | None = None) -> Verdict:
    """Put the public probes of a task to your function, and say what was seen.

    The task is the one with the function's name, or ``task``: the course's own (the nearest ``tasks.py``, see ``own``),
    else one of this package. Passing means that the public checks passed; grading draws other ones.
    """
    asked = _task_of(function, task)
    if is_outdated(function):
        return _no_answer(asked, f"The cell with `{asked.name}` stopped with an error when it was run last, so the "
                                 f"function is an older one. Mend that cell, run it, and check again.")  # fmt: skip
    with sign_of_life(f"checking {asked.name}"):
        verdict = _examined(asked, function, asked.public_seed(), public=True)
    warning = " ".join(filter(None, [warning_of(function), _about_helpers(function)]))
    return replace(verdict, message=f"{verdict.message} {warning}".strip()) if warning else verdict


def grade(
    function: Callable[..., Any], task: str | None = None, *, points: float | None = None, seed: int | None = None
) -> float | None:
    """Put fresh probes to the function, and print the verdict. What it gives back is for nbgrader.

    Nothing: the answers are right, so the cell earns all its points, which stand there and not here. A number: so many
    points. Where a part of the points can be earned, ``points`` says what the cell is worth.
    The seed is the given one, else that of the environment variable DPCOURSE_GRADING_SEED, else the system's.
    """
    asked = _task_of(function, task)
    if seed is None:
        seed_text = os.environ.get(SEED, "")
        if seed_text and not seed_text.isdigit():
            raise ValueError(f"{SEED} must be a whole number >= 0, got {seed_text!r}")
        seed = int(seed_text) if seed_text else secrets.randbits(63)
    verdict = _examined(asked, function, seed)
    print(verdict)
    if verdict.passed:
        return None
    if 0 < verdict.share < 1 and points is None:
        part = f"{verdict.share:.0%} of the points"
        print(f"{part}: to give them, the graded cell must say grade({asked.name}, points=...).")
    return round(verdict.share * (points or 0), 2)


def _about_helpers(function: Callable[..., Any]) -> str:
    """Words about the helpers that grading may miss."""
    names = helpers_elsewhere(function, [*tasks_near(), *(name for one in HOMEWORKS for name in tasks_of(one))])
    if not names:
        return ""
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"Your function uses {listed} from another cell. If that is a cell of your own, grading will not find it: "
        f"put it into the cell of your function."
    )


def _no_answer(task: Task, text: str) -> Verdict:
    return Verdict(task=task.name, status="error", message=text, layer="code", public=True)


def _examined(task: Task, function: Callable[..., Any], seed: int, *, public: bool = False) -> Verdict:
    absent = refused(function)
    if absent:
        return replace(_no_answer(task, absent), public=public)
    # nbgrader gives no points to a cell that writes to stderr: no warning of a library may cost a student any.
    with contextlib.redirect_stderr(io.StringIO()):
        return task.examine(Student(function, task.answer, seconds=task.seconds), seed, public=public)


def _task_of(function: Any, name: str | None) -> Task:
    if name is None:
        if not callable(function):
            raise TypeError(f"give me your function itself, check(f) and not check(f(...)); got {described(function)}")
        name = getattr(function, "__name__", "")
    return task_named(name, tasks_near())
