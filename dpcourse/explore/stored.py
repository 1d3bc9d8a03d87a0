"""Stored results of long computations, in ``results/``; ``make experiments`` computes them again."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any


@cache
def stored(name: str) -> Any:
    """The content of ``explore/results/<name>.json``."""
    return json.loads((resources.files("dpcourse.explore") / "results" / f"{name}.json").read_text(encoding="utf-8"))
