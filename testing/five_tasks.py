"""A course of five trivial tasks: hidden asserts for stock nbgrader, and a ``tasks.py`` of the same names for us."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from testing import ROOT

HOMEWORK = "five"

TASKS = '''"""Five trivial tasks, for measuring and attacking the grader."""

import numpy as np

from dpcourse.tasks import NUMBER, VECTOR, mistake, value_task


def _task(name, right, probes, wrong, form=NUMBER):
    return value_task(name, see="the question", probes=probes, right=right, form=form, seconds=2.0,
                      mistakes=[mistake("the usual mistake", "Read the question once more.", wrong)])


TASKS = (
    _task("double", lambda p: 2 * p.x, lambda rng: [{"x": float(x)} for x in rng.uniform(3, 9, 4)], lambda p: p.x**2),
    _task("add_up", lambda p: p.values.sum(), lambda rng: [{"values": rng.uniform(1, 5, n)} for n in (3, 7)],
          lambda p: p.values.mean()),
    _task("clip", lambda p: min(max(p.x, p.low), p.high),
          lambda rng: [{"x": float(x), "low": 2.0, "high": 5.0} for x in rng.uniform(0, 8, 12)], lambda p: p.x),
    _task("spread", lambda p: p.values.std(), lambda rng: [{"values": rng.uniform(1, 5, n)} for n in (4, 9)],
          lambda p: p.values.var()),
    _task("cumulate", lambda p: np.cumsum(p.values),
          lambda rng: [{"values": rng.uniform(1, 5, n)} for n in (4, 9)], lambda p: p.values, VECTOR),
)
'''

#: task -> (points, the line of the solution's body, the hidden assert for stock nbgrader)
CELLS: dict[str, tuple[int, str, str, str]] = {
    "double": (1, "x", "return 2 * x", "assert np.allclose(double(3.5), 7.0)"),
    "add_up": (2, "values", "return values.sum()", "assert np.allclose(add_up(np.array([1.0, 2.5])), 3.5)"),
    "clip": (1, "x, low, high", "return min(max(x, low), high)", "assert abs(clip(9.0, 2.0, 5.0) - 5.0) < 1e-9"),
    "spread": (3, "values", "return values.std()", "assert np.allclose(spread(np.array([1.0, 3.0])), 1.0)"),
    "cumulate": (3, "values", "return np.cumsum(values)", "assert np.allclose(cumulate(np.ones(3)), [1, 2, 3])"),
}
POINTS = sum(points for points, *_ in CELLS.values())
ESSAY = "essay-written"


def _cell(kind: str, source: str, **nbgrader: Any) -> dict[str, Any]:
    marks = {"schema_version": 3, "locked": False, "grade": False, "solution": False, "task": False, **nbgrader}
    cell = {"cell_type": kind, "id": nbgrader["grade_id"][:60], "metadata": {"nbgrader": marks}, "source": source}
    return cell if kind == "markdown" else {**cell, "execution_count": None, "outputs": []}


def notebook(solutions: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The source, or, with ``solutions`` (task -> source), what a student hands in."""
    cells = [_cell("code", "import numpy as np", grade_id="imports", locked=True)]
    for name, (points, arguments, body, test) in CELLS.items():
        right = f"def {name}({arguments}):\n    ### BEGIN SOLUTION\n    {body}\n    ### END SOLUTION"
        cells.append(_cell("markdown", f"Write `{name}`.", grade_id=f"{name}-question", locked=True))
        source = right if solutions is None else solutions.get(name, stub(name))
        cells.append(_cell("code", source, grade_id=f"{name}-solution", solution=True))
        hidden = f"### BEGIN HIDDEN TESTS\n{test}\n### END HIDDEN TESTS" if solutions is None else ""
        cells.append(_cell("code", hidden, grade_id=name, locked=True, grade=True, points=points))
    cells.append(_cell("markdown", "Why?", grade_id=ESSAY, solution=True, grade=True, points=5))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def stub(name: str) -> str:
    return f"def {name}({CELLS[name][1]}):\n    # YOUR CODE HERE\n    raise NotImplementedError()"


def right(name: str) -> str:
    return f"def {name}({CELLS[name][1]}):\n    {CELLS[name][2]}"


def wrong(name: str) -> str:
    return f"def {name}({CELLS[name][1]}):\n    return 0.125"


def all_right() -> dict[str, str]:
    return {name: right(name) for name in CELLS}


def all_wrong() -> dict[str, str]:
    return {name: wrong(name) for name in CELLS}


def five_course(folder: Path) -> Path:
    """The course, with nothing handed in."""
    root = folder / "exercises"
    (root / "source" / HOMEWORK).mkdir(parents=True)
    shutil.copy(ROOT / "exercises" / "nbgrader_config.py", root)
    (root / "tasks.py").write_text(TASKS, encoding="utf-8")
    (root / "source" / HOMEWORK / f"{HOMEWORK}.ipynb").write_text(json.dumps(notebook()), encoding="utf-8")
    return root


def some_right(number: int) -> dict[str, str]:
    """Student ``number`` has the tasks of its binary digits right."""
    return {name: right(name) if number >> place & 1 else wrong(name) for place, name in enumerate(CELLS)}


def score_of(number: int) -> int:
    """The points for that."""
    return sum(points for place, (points, *_) in enumerate(CELLS.values()) if number >> place & 1)
