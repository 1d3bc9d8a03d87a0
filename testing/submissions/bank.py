"""The right and wrong submissions to each homework, for whoever tries the judges."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any


def bank_of(homework: str) -> Any:
    """The module with the submissions to a homework: ``RIGHT`` and ``WRONG``."""
    return importlib.import_module(f"testing.submissions.{homework.split('_')[0]}")


def gather(parts: Iterable[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The submissions of several modules by task; two of one name are an error."""
    tasks: dict[str, dict[str, Any]] = {}
    for part in parts:
        for task, submissions in part.items():
            mine = tasks.setdefault(task, {})
            if same := mine.keys() & submissions.keys():
                raise ValueError(f"{task} has two submissions called {sorted(same)}")
            mine.update(submissions)
    return tasks
