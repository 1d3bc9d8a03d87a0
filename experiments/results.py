"""Writes stored results: JSON with a record to a line, short enough to read and to compare."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

#: Where the explorers look for them.
RESULTS = Path(__file__).resolve().parents[1] / "dpcourse" / "explore" / "results"
#: What is longer is opened, unless it is a plain list of numbers or words.
LONGEST_RECORD = 1_000


def compact_json(content: Any) -> str:
    """JSON in which a list or a dict stands on one line, or else each of its parts does."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    parts = list(content.values()) if isinstance(content, dict) else content if isinstance(content, list) else []
    if len(text) <= LONGEST_RECORD or not any(isinstance(part, dict | list) for part in parts):
        return text
    lines = [compact_json(part) for part in parts]
    if isinstance(content, list):
        return "[\n" + ",\n".join(lines) + "\n]"
    names = [json.dumps(name, ensure_ascii=False) for name in content]
    return "{\n" + ",\n".join(f"{name}:{line}" for name, line in zip(names, lines, strict=True)) + "\n}"


def write_result(path: Path, content: Any) -> None:
    """Write a result so that no half-written file is ever seen under its name."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(compact_json(content) + "\n", encoding="utf-8")
    unfinished.replace(path)
