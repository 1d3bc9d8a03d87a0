"""One training step can be read: it passes few files and few functions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpcourse
from dpcourse.data import digits
from dpcourse.sgd import digit_mlp, train, training

HOME = str(Path(dpcourse.__file__).parent)


def passed_by(step: Callable[[], Any]) -> set[tuple[str, str, int]]:
    """The functions of this package that a call passes: file, name, line. Comprehensions and lambdas count."""
    functions: set[tuple[str, str, int]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HOME):
            functions.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return functions


def test_a_training_step_passes_eight_files_and_35_functions_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """14 and 76 were too many. The fifth step is taken: the first looks the lot over."""
    take = training._Step.take
    steps: list[set[tuple[str, str, int]] | None] = []

    def watched(self: training._Step) -> None:
        steps.append(passed_by(lambda: take(self)) if len(steps) == 4 else take(self))

    monkeypatch.setattr(training._Step, "take", watched)
    data, _ = digits()
    train(digit_mlp(), data, epsilon=3, lot_size=128, epochs=1, seed=0, progress=False)
    functions = steps[4]
    assert functions is not None
    names = sorted(f"{Path(file).name}: {name}" for file, name, _ in functions)
    assert len({file for file, _, _ in functions}) <= 8, names
    assert len(functions) <= 35, names
