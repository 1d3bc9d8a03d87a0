"""The right and wrong submissions to each homework, for whoever tries the judges."""

from __future__ import annotations

import importlib
from typing import Any


def bank_of(homework: str) -> Any:
    """The module with the submissions to a homework: ``RIGHT`` and ``WRONG``."""
    return importlib.import_module(f"tests.tasks.bank_{homework.split('_')[0]}")
