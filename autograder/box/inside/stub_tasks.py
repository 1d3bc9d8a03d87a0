"""What ``dpcourse.tasks`` is while a notebook is graded: the buttons do nothing, the questions come from outside."""

from __future__ import annotations

from typing import Any


def check(function: Any, task: str | None = None) -> None:
    """Nothing: what counts is asked by the grader."""


def grade(function: Any, task: str | None = None, *, seed: int | None = None) -> None:
    """Nothing: what counts is asked by the grader."""
