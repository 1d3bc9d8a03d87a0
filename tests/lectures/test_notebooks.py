"""Every lecture runs from top to bottom in a fresh kernel, without an error and without a warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest

LECTURES = Path(__file__).parents[2] / "lectures"


@pytest.mark.parametrize("path", sorted(LECTURES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_lecture_runs_in_a_fresh_kernel(path: Path, run_once: Callable[[Path], Path]) -> None:
    notebook = nbformat.read(run_once(path) / path.name, as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    assert not [output.text for output in outputs if output.get("name") == "stderr"]
