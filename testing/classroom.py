"""A class that hands in: submissions made from the source notebook, right, wrong, empty and broken ones mixed."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from testing import ROOT

SOURCE = ROOT / "exercises" / "source"
REGION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?", re.DOTALL | re.MULTILINE)
MARKS = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION\n?", re.MULTILINE)
HIDDEN = re.compile(r"^[ \t]*### BEGIN HIDDEN TESTS\n.*?^[ \t]*### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
STUB = "# YOUR CODE HERE\n{0}raise NotImplementedError()\n"


def course_in(folder: Path, *homeworks: str) -> Path:
    """A course's folder with these homeworks, and nothing handed in yet."""
    root = folder / "exercises"
    root.mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    for homework in homeworks:
        shutil.copytree(SOURCE / homework, root / "source" / homework)
    return root


def grade_id(cell: Mapping[str, Any]) -> str:
    return str(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))


def is_solution(cell: Mapping[str, Any]) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution")) and cell["cell_type"] == "code"


def released(source: Path) -> dict[str, Any]:
    """What students were handed out: the source without solutions and hidden tests."""
    return _changed(source, lambda name, text: REGION.sub(lambda found: found[1] + STUB.format(found[1]), text))


def solved(source: Path) -> dict[str, Any]:
    """The same with the right solutions."""
    return _changed(source, lambda name, text: MARKS.sub("", text))


def _changed(source: Path, solution: Any) -> dict[str, Any]:
    book: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        text = HIDDEN.sub("", "".join(cell["source"]))
        cell["source"] = solution(grade_id(cell), text) if is_solution(cell) else text
    return book


def answering(book: dict[str, Any], answers: Mapping[str, str]) -> dict[str, Any]:
    """The notebook with these solution cells (by grade_id) rewritten."""
    left = set(answers)
    for cell in book["cells"]:
        if grade_id(cell) in answers:
            cell["source"] = answers[grade_id(cell)]
            left.discard(grade_id(cell))
    assert not left, f"no cells {left}"
    return book


def hand_in(root: Path, student: str, homework: str, book: dict[str, Any]) -> Path:
    """Write it where nbgrader would."""
    place = root / "submitted" / student / homework / f"{homework}.ipynb"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(book), encoding="utf-8")
    return place


def mixed(source: Path, number: int) -> dict[str, Any]:
    """The submission of student ``number``: most cells right, some empty, crashing, constant or twice as large."""
    rng = np.random.default_rng([2024, number])
    right, empty = solved(source), released(source)
    for cell, stub in zip(right["cells"], empty["cells"], strict=True):
        if not is_solution(cell) or number % 5 == 0:
            continue
        defined = re.findall(r"^def (\w+)\(", cell["source"], re.MULTILINE)
        if not defined:
            continue
        kind, name = rng.choice(["right"] * 6 + ["empty", "crash", "nothing", "doubled"]), defined[-1]
        if kind == "empty":
            cell["source"] = stub["source"]
        elif kind == "crash":
            cell["source"] += f"\n\ndef {name}(*given, **named):\n    return [][0]\n"
        elif kind == "nothing":
            cell["source"] += f"\n\ndef {name}(*given, **named):\n    return 0.0\n"
        elif kind == "doubled":
            cell["source"] += (
                f"\n\nbefore_{name} = {name}\n\n\ndef {name}(*given, rng=None, **named):\n"
                f"    rng = rng or np.random.default_rng()\n    try:\n"
                f"        found = before_{name}(*given, rng=rng, **named)\n    except TypeError:\n"
                f"        found = before_{name}(*given, **named)\n    return np.multiply(found, 2.0)\n"
            )
    return right


def class_of(root: Path, homework: str, number: int) -> list[str]:
    """So many students hand in; their names."""
    names = [f"student{index:04}" for index in range(number)]
    for index, name in enumerate(names):
        hand_in(root, name, homework, mixed(root / "source" / homework / f"{homework}.ipynb", index))
    return names
