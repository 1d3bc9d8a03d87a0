"""Every task takes a right answer in whatever form numbers come: single precision, lists, torch, pandas, decimals.

The first right submission of each task answers; what it gives back is turned into the form. So each form is tried with
each task, and a form that a judge does not take cannot hide behind a task that nobody thought of.
"""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

from dpcourse.tasks import HOMEWORKS, Student, tasks_of
from dpcourse.tasks.proofs.steps import Steps
from tests.tasks.test_bank import bank


def plain(raw):
    """A number or an array of floats; None, texts and infinities stay as they are."""
    if raw is None or isinstance(raw, str | bool):
        return raw
    return np.asarray(raw, dtype=float) if np.ndim(raw) else float(raw)


def finite(value):
    return not isinstance(value, str | bool) and value is not None and bool(np.isfinite(value).all())


def each_number(kind):
    def form(value):
        return np.vectorize(kind, otypes=[object])(value).tolist() if np.ndim(value) else kind(value)

    return form


#: Right in single precision means: every number rounded to 24 bits.
FORMS = {
    "single precision": lambda value: np.float32(value) if np.ndim(value) == 0 else value.astype(np.float32),
    "list": lambda value: value.tolist() if np.ndim(value) else [value],
    "array without axes": lambda value: np.array(value),
    "torch": lambda value: torch.tensor(value, dtype=torch.float64),
    "torch, single precision": lambda value: torch.tensor(value, dtype=torch.float32),
    "pandas": lambda value: pd.Series(value) if np.ndim(value) == 1 else (
        pd.DataFrame(value) if np.ndim(value) == 2 else np.float64(value)
    ),
    "decimals": each_number(lambda x: Decimal(repr(float(x)))),
    "fractions": each_number(lambda x: Fraction(float(x))),
}  # fmt: skip
EVERY_TASK = [
    (homework, name) for homework in HOMEWORKS for name, task in tasks_of(homework).items()
    if not isinstance(task.answer, Steps) and task.seconds <= 10
]  # fmt: skip


def in_form(form, raw):
    if isinstance(raw, dict):
        return {key: in_form(form, value) for key, value in raw.items()}
    if isinstance(raw, tuple):
        return tuple(in_form(form, value) for value in raw)
    value = plain(raw)
    return form(value) if finite(value) else raw


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("homework", "name"), EVERY_TASK)
def test_a_right_answer_is_right_in_any_form(homework, name, form):
    task = tasks_of(homework)[name]
    right = next(iter(bank(homework).RIGHT[name].values()))
    student = Student(right, task.answer)

    def answer(**arguments):
        if not student._takes_rng:
            arguments.pop("rng", None)
        return in_form(FORMS[form], right(**arguments))

    verdict = task.examine(Student(answer, task.answer, seconds=60), 7)
    assert verdict.passed, verdict
