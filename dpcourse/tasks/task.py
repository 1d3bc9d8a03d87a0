"""A task: what is asked of a student, how it is probed, who judges it, and the mistakes that are known."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpcourse.tasks.answers import Answer, Form
from dpcourse.tasks.coins import Coins
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Failed, Interview, SecondLook
from dpcourse.tasks.judges.diagnosis import explaining, first_and_sum
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe, Respondent
from dpcourse.tasks.verdict import Verdict
from dpcourse.tasks.wording import shortens

#: What a test would notice, by the unit of its smallest error.
SCALE = "scale factor"
NOTICED = {SCALE: "a scale that is {:.0%} off", "true probability": "a probability that is {:.3f} off"}


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
    mistakes: tuple[Mistake, ...]
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
        status, message, names, wasteful = "passed", "", tuple[str, ...](), False
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
            known = {one.name: one for one in self.mistakes}
            names = failed.names
            if not names and not failed.diagnosed:
                names = tuple(
                    filter(None, [explaining(self.mistakes, talk.looked_closer(), self.answer, self.summary)])
                )
            status, wasteful, talk.failing = "failed", failed.wasteful, failed.probe or talk.failing
            words = (failed.text, failed.note, *(known[name].message for name in names if name in known))
            message = " ".join(part for part in words if part)
        share = min(1.0, max(0.0, talk.share)) if status == "passed" else 0.0
        if status == "passed" and share < 1:
            status, names, wasteful = "failed", talk.noticed, talk.wasteful
        where = "" if status == "passed" else f"See {self.see}."
        odds = self._odds(talk) if status in ("passed", "failed") else ""
        probe = talk.failing if public and status not in ("passed", "missing") else None
        whole = f"(`check({self.name}).probe` has all of the arguments.)" if probe and shortens(probe) else ""
        return Verdict(
            task=self.name, status=status, share=share,
            message=" ".join(part for part in (message, whole, where, odds) if part),
            mistake=names[0] if names else "", also=names[1:], probe=probe,
            wasteful=wasteful, public=public, false_fail=first.spent, odds=odds, layer=layer, errors=errors,
            evidence=tuple(talk.evidence), picture=talk.picture,
        )  # fmt: skip

    def _odds(self, talk: Interview) -> str:
        if not talk.spent:
            return ""
        also = ""
        sharpest = max(talk.evidence, key=lambda fit: (fit.unit == SCALE, fit.unit in NOTICED, fit.draws), default=None)
        if sharpest is not None and sharpest.unit in NOTICED and sharpest.smallest_error < 0.5:
            its_test = "Its sharpest test" if len(talk.evidence) > 1 else "Its test"
            also = f" {its_test} notices {NOTICED[sharpest.unit].format(sharpest.smallest_error)}"
            worst = max(fit.smallest_error for fit in talk.evidence if fit.unit == sharpest.unit)
            also += f", that of another call {worst:.0%}." if sharpest.unit == SCALE and worst > 0.15 else "."
        return f"(A right answer fails this check at most once in {1 / LEVEL:,.0f} times.{also})"
