"""Who answers a judge's questions: a student's function, in this process or behind the border of the sandbox.

The two differ in one thing, how a function is called many times (``answers``). What a judge asks stands here, once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dpcourse.tasks.answers import Answer, Form
from dpcourse.tasks.complaints import Complaint

MOST_DRAWN = 4_000_000  # numbers in all answers to one question: 20,000 draws of 200 numbers

Probe = Mapping[str, Any]
#: Answers that were read: one by one, or, where all are numbers of one shape, together.
Answered = Sequence[Any] | np.ndarray


class Respondent(Protocol):
    """A function that answers probes. Whatever it does, the answer is of the task's form, or it is a complaint."""

    answer: Form

    @abstractmethod
    def answers(self, probe: Probe, number: int, seed: int = 0) -> Answered:
        """The answers to ``number`` calls with the same arguments, each read by the form."""

    @abstractmethod
    def forget(self) -> None:
        """From now on the function knows nothing of what it was asked so far, where that can be had."""

    def value(self, probe: Probe, seed: int = 0) -> Any:
        """The answer to one probe."""
        return self.answers(probe, 1, seed)[0]

    def draws(self, probe: Probe, number: int, seed: int = 0) -> np.ndarray:
        """The answers to ``number`` calls with the same arguments, (number, ...): a randomized function's samples."""
        answers = self.answers(probe, number, seed)
        return answers if isinstance(answers, np.ndarray) else stacked(answers)


def stacked(answers: Sequence[Any]) -> np.ndarray:
    """Answers of one shape, as one array with a row for each; others are a complaint."""
    try:
        return np.array(answers)
    except ValueError:  # rows of unequal length
        first = np.shape(answers[0])
        other = next((shape for shape in map(np.shape, answers) if shape != first), first)
        few, many = sorted((first, other))
        raise Complaint(f"The shape of your answer changes between calls: {few}, {many}.") from None


def read_together(form: Form, numbers: np.ndarray) -> Answered:
    """Many answers that are numbers of one shape, a row for each: all are looked at together, where the form allows it.

    Else, and where one of them is wrong, each is read by itself.
    """
    if numbers.size > MOST_DRAWN:
        raise Complaint(f"Your answers have {numbers.size:,} numbers together; nothing here needs {MOST_DRAWN:,}.")
    first = form.read(row(numbers, 0))
    if len(numbers) == 1:
        return [first]
    plain = isinstance(form, Answer) and not form.choices and not form.optional and not form.infinite
    if not plain or numbers.dtype.kind not in "fiub":
        return [form.read(row(numbers, place)) for place in range(len(numbers))]
    read = numbers.astype(float)
    bad = ~np.isfinite(read.reshape(len(read), -1)).all(axis=1)
    if bad.any():
        form.read(row(numbers, int(np.argmax(bad))))  # complains
    return read.reshape(len(read), *np.shape(first))


def row(numbers: np.ndarray, place: int) -> Any:
    """One of many answers, as the function gave it: a number, or an array."""
    return numbers[place].item() if numbers.ndim == 1 else numbers[place]
