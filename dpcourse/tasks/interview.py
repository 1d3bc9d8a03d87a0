"""One examination: the probes, the questions, what was seen, and what chance may still cost.

``require`` adds up what random tests spend; ``fail`` ends the examination.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, Protocol

import numpy as np

from dpcourse.audit.fit_result import Fit
from dpcourse.tasks.answers import Form
from dpcourse.tasks.coins import Coins
from dpcourse.tasks.complaints import Complaint, Unwritten
from dpcourse.tasks.judges.diagnosis import Recorded
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe, Respondent
from dpcourse.tasks.wording import arguments

CLOSER = 3_000  # draws to name a mistake by
NO_CHANCE = 1e-20  # a p-value at which nobody asks again
SECOND = 1e-3  # of one task: the level of a second look
LEVEL = 5e-8  # of one task: the probability that chance fails a right answer. Twenty tasks stay within 1e-6.


class Question(Protocol):
    """What an examination has to know of a task (:class:`dpcourse.tasks.task.Task`)."""

    @property
    def name(self) -> str: ...

    @property
    def answer(self) -> Form: ...

    @property
    def mistakes(self) -> tuple[Mistake, ...]: ...

    @property
    def probes(self) -> Callable[..., Sequence[Probe]]: ...

    @property
    def secret(self) -> Callable[[np.random.Generator], Any] | None: ...


class Failed(Exception):
    """The judge has seen enough.

    ``names`` are the mistakes that explain it, the most important first; ``diagnosed``: the judge has looked for
    them itself. ``note`` follows the text: what a wrong answer means for privacy. ``probe`` is the call it speaks of.
    """

    def __init__(
        self, text: str, names: tuple[str, ...] = (), *, wasteful: bool = False, note: str = "",
        probe: Probe | None = None, diagnosed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(text)
        self.text, self.names, self.wasteful, self.note = text, names, wasteful, note
        self.probe, self.diagnosed = probe, diagnosed

    @property
    def name(self) -> str:
        """The mistake that explains the most, or ""."""
        return self.names[0] if self.names else ""


@contextlib.contextmanager
def _telling(probe: Probe) -> Iterator[None]:
    """A complaint says with which arguments it came about: a student can call the function with them."""
    try:
        yield
    except Unwritten:
        raise
    except Complaint as complaint:
        text = str(complaint)
        with contextlib.suppress(Exception):  # an argument that cannot be shown
            text = f"{text} I called you with {arguments(probe)}." if probe else text
        raise complaint.with_text(text) from None


class Interview:
    """One examination: the probes, the questions, and what was seen.

    ``rng`` is for what a judge shows to the student, ``secret_rng`` for what it keeps; ``secret`` is the task's.
    """

    def __init__(self, task: Question, student: Respondent, coins: Coins, public: bool) -> None:
        self.task, self.student, self.coins, self.public = task, student, coins, public
        self.rng, self.secret_rng = coins.probes, coins.secret
        self.secret = None if task.secret is None else task.secret(self.secret_rng)
        self.probes = list(task.probes(self.rng) if task.secret is None else task.probes(self.rng, self.secret))
        self.recorded: list[Recorded] = []
        self.evidence: list[Fit] = []
        self.spent = 0.0  # the probability of failing a right answer, so far
        self.share, self.wasteful = 1.0, False  # of the points, for tasks that are scored; and why it is not 1
        self.noticed = tuple[str, ...]()  # the mistakes that cost the rest of them, if the judge knows them
        self.failing: Probe | None = None  # the probe that the verdict speaks of
        self.praise = ""
        self.picture: Any = None

    @property
    def few(self) -> int:
        """Draws of every probe: so many see a Laplace scale off by a third, wherever it is."""
        return 1_500

    @property
    def many(self) -> int:
        """Draws for what has passed so far: as many when checking, or else what check passes might fail grading."""
        return 20_000  # 19,447 see a Laplace scale off by 10% with probability 1 - 1e-6

    def value(self, probe: Probe) -> Any:
        """The student's answer to a probe."""
        self.failing = probe
        with _telling(probe):
            answers = self.student.value(probe, self.coins.seed_of_call())
        self.recorded.append(Recorded(probe, None, answers))
        return answers

    def draws(self, probe: Probe, number: int) -> np.ndarray:
        """A sample of the student's answers to a probe."""
        self.failing = probe
        with _telling(probe):
            answers = self.student.draws(probe, number, self.coins.seed_of_call())
        self.recorded.append(Recorded(probe, number, answers))
        return answers

    def forget(self) -> None:
        """From now on the student's function knows nothing of the questions so far, where points depend on it."""
        if not self.public:
            self.student.forget()

    def looked_closer(self) -> list[Recorded]:
        """What was asked and answered; if that was a small sample, a larger one, which tells mistakes apart better."""
        last = self.recorded[-1] if self.recorded else None
        if last is not None and last.number is not None and 100 <= last.number < CLOSER:
            with contextlib.suppress(Complaint):
                self.draws(last.probe, CLOSER)
        return self.recorded

    def require(self, fit: Fit, text: str, *, name: str = "", wasteful: bool = False, note: str = "") -> None:
        """Note the evidence; fail if it says so. All random tests of a task together may spend LEVEL, no more."""
        self.evidence.append(fit)
        self.spent += fit.level
        if self.spent > LEVEL * (1 + 1e-9):
            raise RuntimeError(f"the judge of {self.task.name} spends {self.spent:g}, more than {LEVEL:g}: split LEVEL")
        if not fit.passed:
            self.fail(text, name=name, wasteful=wasteful, note=note)

    @property
    def may_be_chance(self) -> bool:
        """Whether a random test has failed, and not so clearly that no chance could have done it."""
        return bool(self.evidence) and not self.evidence[-1].passed and self.evidence[-1].p_value > NO_CHANCE

    def fail(
        self, text: str, *, name: str = "", names: tuple[str, ...] = (), wasteful: bool = False, note: str = ""
    ) -> NoReturn:
        """The answers are wrong: say how, and by how much. ``name``, or ``names``: the mistakes, if the judge knows."""
        raise Failed(text, names or ((name,) if name else ()), wasteful=wasteful, note=note, probe=self.failing)


class SecondLook(Interview):
    """The same examination once more, with fresh probes and coins: what chance failed passes now.

    Its level is higher: a right answer fails both with probability LEVEL times SECOND at most, and a wrong one that has
    failed the first hardly ever gets away because of the second.
    """

    def require(self, fit: Fit, text: str, *, name: str = "", wasteful: bool = False, note: str = "") -> None:
        """As at the first look, at a higher level."""
        level = fit.level * SECOND / LEVEL
        fit = replace(fit, level=level)
        self.evidence.append(fit)
        self.spent += level
        if not fit.passed:
            self.fail(text, name=name, wasteful=wasteful, note=note)
