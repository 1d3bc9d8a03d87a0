"""A student's function behind the border: it is asked, and its answers are read, as if it were here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.box.process import Remote
from dpcourse.tasks.answers import Answer, Complaint, Form
from dpcourse.tasks.student import Probe


class RemoteStudent:
    """The two questions of a judge (``value``, ``draws``), put to a function on the other side.

    ``again`` starts its process anew.
    """

    def __init__(
        self, remote: Remote, task: str, answer: Form, seconds: float, again: Callable[[], Remote] | None = None
    ) -> None:
        self.remote, self.task, self.answer, self.seconds, self._again = remote, task, answer, seconds, again

    def forget(self) -> None:
        """A new process in the same state as the old one was before the first question."""
        if self._again is not None:
            self.remote = self._again()

    def value(self, probe: Probe, seed: int = 0) -> Any:
        """The answer to one probe, read by the task's form."""
        return self.answer.read(_single(self.remote.ask(self.task, probe, 1, seed, self.seconds)))

    def draws(self, probe: Probe, number: int, seed: int = 0) -> np.ndarray:
        """The answers to many calls: as many as were asked for, each read by the form."""
        found = self.remote.ask(self.task, probe, number, seed, self.seconds)
        many = isinstance(found, list) or (isinstance(found, np.ndarray) and found.ndim > 0)
        if not many or len(found) != number:
            raise Complaint("Your function's answers did not arrive as they should.")
        if isinstance(found, np.ndarray):
            return _all_read(found, self.answer)
        return _stacked([self.answer.read(one) for one in found])


def _single(found: Any) -> Any:
    many = isinstance(found, list) or (isinstance(found, np.ndarray) and found.ndim > 0)
    if not many or len(found) != 1:
        raise Complaint("Your function's answer did not arrive as it should.")
    return found[0].item() if isinstance(found, np.ndarray) and found.ndim == 1 else found[0]


def _all_read(found: np.ndarray, form: Form) -> np.ndarray:
    """Read every row; where the first says that all are of the right form, look at all of them at once."""
    first = np.asarray(form.read(_row(found, 0)))
    plain = isinstance(form, Answer) and not form.choices and not form.optional and not form.infinite
    if plain and found.dtype.kind in "fiub":
        numbers = found.astype(float)
        bad = ~np.isfinite(numbers.reshape(len(numbers), -1)).all(axis=1)
        if bad.any():
            form.read(_row(found, int(np.argmax(bad))))  # complains
        return numbers.reshape(len(numbers), *first.shape)
    return _stacked([form.read(_row(found, number)) for number in range(len(found))])


def _row(found: np.ndarray, number: int) -> Any:
    return found[number].item() if found.ndim == 1 else found[number]


def _stacked(answers: list[Any]) -> np.ndarray:
    try:
        return np.array(answers)
    except ValueError:
        shapes = sorted({np.shape(one) for one in answers})
        raise Complaint(f"The shape of your answer changes between calls: {shapes[0]}, {shapes[1]}.") from None
