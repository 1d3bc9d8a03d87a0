"""Whatever a function gives back, every task answers with a sentence: no judge stumbles, no point is given away."""

import math
from typing import Any

import numpy as np
import pytest

from dpcourse.tasks import HOMEWORKS, Student, tasks_of
from testing.submissions.bank import few_draws_to_name


def unwritten(**_: Any) -> None:
    raise NotImplementedError()


CLUMSY = {
    "nothing": lambda **_: None,
    "a word": lambda **_: "yes",
    "a dict": lambda **_: {"a": 1},
    "a complex number": lambda **_: 1j,
    "not a number": lambda **_: math.nan,
    "infinity": lambda **_: math.inf,
    "zero": lambda **_: 0,
    "one": lambda **_: 1,
    "a negative number": lambda **_: -1.0,
    "a huge number": lambda **_: 1e300,
    "a tiny number": lambda **_: 1e-320,
    "two zeros": lambda **_: (0, 0),
    "three zeros": lambda **_: (0, 0, 0),
    "an empty list": lambda **_: [],
    "two empty lists": lambda **_: ([], []),
    "two short lists": lambda **_: ([1.0], [1.0]),
    "a list and two numbers": lambda **_: ([1, 0, 1], 1, 1),
    "a table": lambda **_: np.array([[1.0, 2.0], [3.0, 4.0]]),
    "a crash": lambda **_: 1 / 0,
    "any noise": lambda rng, **_: rng.normal(),
    "wild noise": lambda rng, **_: rng.standard_cauchy(),
    "a vector of noise": lambda rng, **_: rng.normal(size=4),
    "a vector of one": lambda rng, **_: rng.normal(size=1),
    "hardly ever": lambda rng, **_: int(rng.random() < 0.001),
    "nearly always": lambda rng, **_: int(rng.random() < 0.999),
    "a step without a reason": lambda **_: [("=", "1")],
    "a step that says nothing": lambda **_: [("=", "", "algebra")],
}


@pytest.mark.parametrize("homework", HOMEWORKS)
@pytest.mark.parametrize("what", CLUMSY)
def test_every_judge_keeps_its_countenance(homework, what):
    for name, task in tasks_of(homework).items():
        for public in (False, True):
            with few_draws_to_name():
                verdict = task.examine(Student(CLUMSY[what], task.answer, seconds=task.seconds), 7, public=public)
            assert verdict.status in ("failed", "error", "timeout"), f"{name}: {verdict}"
            assert verdict.share <= 0.1, f"{name}: {verdict}"  # a scored task may give a crumb
            assert len(verdict.message) > 20, name
            assert verdict._repr_html_()


@pytest.mark.parametrize("homework", HOMEWORKS)
def test_what_is_not_written_is_missing(homework):
    for name, task in tasks_of(homework).items():
        verdict = task.examine(Student(unwritten, task.answer, seconds=task.seconds), 7)
        assert (verdict.status, verdict.share) == ("missing", 0), f"{name}: {verdict}"
