"""A student's function behind the border: it is asked, and its answers are read, as if it were here."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Protocol

import numpy as np

from dpcourse.tasks.answers import Form
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.respondent import Answered, Probe, Respondent, read_together


class Process(Protocol):
    """The process of a submission, as far as a question needs it (``box.process.Remote``)."""

    def ask(self, task: str, probe: Probe, times: int, seed: int, seconds: float) -> object:
        """What the function answers, still as it came; a complaint is raised."""


Rest = Callable[[float], object]  # waits for so many seconds
LONGEST_WAIT, WAIT = 60.0, 2.0


def wait_by_chance(spent: float, rest: Rest = time.sleep) -> None:
    """Let some time go by before a program that took so many seconds gets its next box; ``rest`` waits.

    A box and the one after it read the same clock: a program could end late on purpose, and tell by the time of day
    what it has seen. So the next box starts later, by chance, in proportion to the time that the program took itself.
    """
    rest(min(LONGEST_WAIT, WAIT * spent * secrets.SystemRandom().random()))


class RemoteStudent(Respondent):
    """A student's function in another process. ``again`` starts that process anew; it is told the old one's seconds."""

    def __init__(
        self, remote: Process, task: str, answer: Form, seconds: float,
        again: Callable[[float], Process] | None = None,
    ) -> None:  # fmt: skip
        self.remote, self.task, self.answer, self.seconds, self._again = remote, task, answer, seconds, again
        self._since = time.monotonic()

    def forget(self) -> None:
        """A new process in the same state as the old one was before the first question."""
        if self._again is not None:
            self.remote, self._since = self._again(time.monotonic() - self._since), time.monotonic()

    def answers(self, probe: Probe, number: int, seed: int = 0) -> Answered:
        """As many answers as were asked for, each read by the form."""
        raw = self.remote.ask(self.task, probe, number, seed, self.seconds)
        many = isinstance(raw, list) or (isinstance(raw, np.ndarray) and raw.ndim > 0)
        if not many or len(raw) != number:  # type: ignore[arg-type]
            words = "answer did not arrive as it should" if number == 1 else "answers did not arrive as they should"
            raise Complaint(f"Your function's {words}.", layer="border")
        if isinstance(raw, np.ndarray):
            return read_together(self.answer, raw)
        return [self.answer.read(one) for one in raw]  # type: ignore[attr-defined]
