"""A task: what is asked of a student, how it is probed, who judges it, and the mistakes that are known."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np

from dpcourse.audit.evidence import Fit
from dpcourse.tasks.answers import Answer, Form
from dpcourse.tasks.coins import Coins
from dpcourse.tasks.complaints import Complaint, Unwritten
from dpcourse.tasks.judges.diagnosis import Recorded, explaining, first_and_sum
from dpcourse.tasks.respondent import Probe, Respondent
from dpcourse.tasks.verdict import Verdict

CLOSER = 3_000  # draws to name a mistake by
NO_CHANCE = 1e-20  # a p-value at which nobody asks again
SECOND = 1e-3  # of one task: the level of a second look
LEVEL = 5e-8  # of one task: the probability that chance fails a right answer. Twenty tasks stay within 1e-6.

#: What a test would notice, by the unit of its smallest error.
NOTICED = {"scale factor": "a scale off by {:.0%}", "true probability": "a share off by {:.1%}"}


@dataclass(frozen=True)
class Misconception:
    """A mistake that students really make: a name, the wrong function, and what to say about it.

    ``hides`` says whether the wrong noise hides somebody, where its width alone does not tell.
    """

    name: str
    wrong: Callable[..., Any]
    message: str
    hides: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is asked of a student.

    ``name`` is the name of the student's function and of the graded cell. ``probes`` draws the arguments of a few calls
    from a generator: never blind ones, at which a mistake does not show (epsilon = sensitivity = 1). ``judge`` puts
    them to the student by the :class:`Interview` and calls ``fail`` when the mathematics says so. ``secret`` draws what
    the judge keeps to itself; ``probes`` gets it, too, if there is one.
    How many points it is worth stands in the homework's graded cell, and nowhere else.
    ``summary`` turns a sample of answers (n, ...) into the numbers, (n,) or (n, m), by which mistakes are told apart.
    """

    name: str
    see: str
    probes: Callable[..., Sequence[Probe]]
    judge: Callable[[Interview], None]
    misconceptions: tuple[Misconception, ...]
    answer: Form = field(default_factory=Answer)
    summary: Callable[[np.ndarray], np.ndarray] = first_and_sum
    seconds: float = 10.0
    secret: Callable[[np.random.Generator], Any] | None = None

    def public_seed(self) -> int:
        """The seed of the probes that a student may see: always the same, so that pressing again helps to debug."""
        return zlib.crc32(self.name.encode())

    def examine(self, student: Respondent, seed: int, *, public: bool = False) -> Verdict:
        """Put probes drawn from ``seed`` (0 to 2**128 - 1) to the student, and decide."""
        coins = Coins(seed, self.name, public=public)
        talk = first = Interview(self, student, coins, public)
        status, message, name, wasteful = "passed", "", "", False
        layer, errors = "", tuple[str, ...]()
        try:
            try:
                self.judge(talk)
            except Failed:
                if not talk.may_be_chance:
                    raise
                second = SecondLook(self, student, coins, public)
                with contextlib.suppress(Failed):
                    self.judge(second)
                    talk = second
                if talk is not second:
                    raise
            message = talk.praise
        except Complaint as complaint:
            status, message = complaint.status, str(complaint)
            layer, errors = complaint.layer, complaint.errors
        except Failed as failed:
            known = {m.name: m for m in self.misconceptions}
            possible = [m for m in self.misconceptions if failed.possible is None or failed.possible(m)]
            name = failed.name or explaining(possible, talk.looked_closer(), self.answer, self.summary)
            status, wasteful = "failed", failed.wasteful
            words = (failed.text, failed.note, known[name].message if name in known else "")
            message = " ".join(part for part in words if part)
        share = min(1.0, max(0.0, talk.share)) if status == "passed" else 0.0
        if status == "passed" and share < 1:
            status, name, wasteful = "failed", talk.noticed, talk.wasteful
        where = "" if status == "passed" else f"See {self.see}."
        odds = self._odds(talk) if status in ("passed", "failed") else ""
        return Verdict(
            task=self.name, status=status, share=share,
            message=" ".join(part for part in (message, where, odds) if part),
            misconception=name, wasteful=wasteful, public=public, false_fail=first.spent, odds=odds,
            layer=layer, errors=errors,
            evidence=tuple(talk.evidence), picture=talk.picture,
        )  # fmt: skip

    def _odds(self, talk: Interview) -> str:
        if not talk.spent:
            return ""
        also = ""
        if talk.evidence:
            sharpest = max(talk.evidence, key=lambda fit: (fit.unit in NOTICED, fit.draws, fit.unit == "scale factor"))
            notices = NOTICED.get(sharpest.unit, "").format(sharpest.smallest_error)
            also = f"; it would notice {notices}" if notices and sharpest.smallest_error < 0.5 else ""
        return f"(A right answer fails this check at most once in {1 / LEVEL:,.0f} times{also}.)"


class Failed(Exception):
    """The judge has seen enough. ``possible`` says which misconceptions could be the reason (None: each of them).

    ``note`` follows the text: what a wrong answer means for privacy. A judge who knows more may exchange it.
    """

    def __init__(
        self, text: str, name: str, wasteful: bool, possible: Callable[[Misconception], bool] | None = None,
        note: str = "",
    ) -> None:  # fmt: skip
        super().__init__(text)
        self.text, self.name, self.wasteful, self.possible, self.note = text, name, wasteful, possible, note


@contextlib.contextmanager
def _telling(probe: Probe) -> Iterator[None]:
    """A complaint says with which arguments it came about: a student can call the function with them."""
    from dpcourse.tasks.judges.values import described

    try:
        yield
    except Unwritten:
        raise
    except Complaint as complaint:
        text = str(complaint)
        with contextlib.suppress(Exception):  # an argument that cannot be shown
            text = f"{text} I called you with {described(probe)}." if probe else text
        raise complaint.with_text(text) from None


class Interview:
    """One examination: the probes, the questions, and what was seen.

    ``rng`` is for what a judge shows to the student, ``secret_rng`` for what it keeps; ``secret`` is the task's.
    """

    def __init__(self, task: Task, student: Respondent, coins: Coins, public: bool) -> None:
        self.task, self.student, self.coins, self.public = task, student, coins, public
        self.rng, self.secret_rng = coins.probes, coins.secret
        self.secret = None if task.secret is None else task.secret(self.secret_rng)
        self.probes = list(task.probes(self.rng) if task.secret is None else task.probes(self.rng, self.secret))
        self.recorded: list[Recorded] = []
        self.evidence: list[Fit] = []
        self.spent = 0.0  # the probability of failing a right answer, so far
        self.share, self.wasteful = 1.0, False  # of the points, for tasks that are scored; and why it is not 1
        self.noticed = ""  # the misconception that cost the rest of them, if the judge knows it
        self.praise = ""
        self.picture: Any = None

    @property
    def few(self) -> int:
        """Draws that settle gross mistakes."""
        return 300

    @property
    def many(self) -> int:
        """Draws for what has passed so far: as many when checking, or else what check passes might fail grading."""
        return 20_000  # 19,447 see a Laplace scale off by 10% with probability 1 - 1e-6

    def value(self, probe: Probe) -> Any:
        """The student's answer to a probe."""
        with _telling(probe):
            found = self.student.value(probe, self.coins.seed_of_call())
        self.recorded.append(Recorded(probe, None, found))
        return found

    def draws(self, probe: Probe, number: int) -> np.ndarray:
        """A sample of the student's answers to a probe."""
        with _telling(probe):
            found = self.student.draws(probe, number, self.coins.seed_of_call())
        self.recorded.append(Recorded(probe, number, found))
        return found

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

    def fail(self, text: str, *, name: str = "", wasteful: bool = False, note: str = "") -> NoReturn:
        """The answers are wrong: say how, and by how much. ``name`` a misconception, if the judge knows it."""
        raise Failed(text, name, wasteful, note=note)


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
