"""Judging a choice: does each of the possible answers come as often as it should?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import chdtrc

from dpcourse.audit import binomial_fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import CLOSER, LEVEL, Failed, Interview
from dpcourse.tasks.judges.diagnosis import LIKELY, answers_of
from dpcourse.tasks.judges.fixed_seed import same_coin
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import shares
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments

DOUBTFUL = 0.05  # a p-value below which more is drawn: one right answer in twenty
NAMING = 7_000  # draws of a wrong function, at most, to find out whether the student's mistake is this one
FAR = 40.0  # an epsilon at which the best one nearly always wins


def shares_of(
    probabilities: Callable[..., Any], labels: Callable[..., Any], *, draws: int | None = None, more: int = 0
) -> Callable[[Interview], None]:
    """The student's answers must be ``labels(**probe)`` with ``probabilities(**probe)``: an exact binomial for each.

    ``draws``: of the last look, instead of talk.many. If the likeliest answer's share is doubtful then, ``more`` are
    drawn, and all of them are judged together. That is a test of its own with a level of its own: whether it is asked
    for or not, a right answer fails it no more often than that.
    """

    def judge(talk: Interview) -> None:
        level = LEVEL / (len(talk.probes) + (2 if more else 1))
        for probe in talk.probes:
            one = Choice(probe, list(labels(**probe)), np.asarray(probabilities(**probe), dtype=float))
            one.look(talk, talk.draws(probe, talk.few), level)
        answers = talk.draws(probe, draws or talk.many)
        one.look(talk, answers, level)
        if more and one.doubtful(answers):
            one.look(talk, np.concatenate([answers, talk.draws(probe, more)]), level)
        talk.praise = f"Your answers to {len(talk.probes)} probes come as often as they should."

    return judge


class Choice:
    """A probe, the answers that it may get, and how often each of them should come."""

    def __init__(self, probe: Probe, names: list[Any], right: np.ndarray) -> None:
        self.probe, self.names, self.right = probe, names, right
        self.likeliest = int(np.argmax(right))

    def look(self, talk: Interview, answers: np.ndarray, level: float) -> None:
        """Fail what does not come as often as it should, and say which known mistake it is."""
        try:
            self._look(talk, answers, level)
        except Failed as failed:
            failed.name = failed.name or self._known(talk, answers)
            failed.possible = lambda known: False  # all of them have been compared
            raise

    def doubtful(self, answers: np.ndarray) -> bool:
        """Does the likeliest answer come a little too often, or too seldom?"""
        hits = int(self._counts(answers)[self.likeliest])
        return not binomial_fit(hits, len(answers), float(self.right[self.likeliest]), level=DOUBTFUL).passed

    def _look(self, talk: Interview, answers: np.ndarray, level: float) -> None:
        draws, about = len(answers), f"I called you {len(answers):,} times with {arguments(self.probe)}."
        seen = np.unique(answers).tolist()
        strange = [one for one in seen if one not in self.names]
        if strange:
            talk.fail(f"{about} You answered {strange[0]!r}, which is none of {self.names[:6]}.")
        if len(seen) == 1 and 2 * self.right.max() ** draws <= level / 2:  # the binomials below would say so, too
            same = f"{about} Every answer was {seen[0]!r}"
            if same_coin(talk, self.probe, far=FAR):
                talk.fail(f"{same}.", name="always the same coin")
            talk.fail(f"{same}: no coin is tossed.")
        counts = self._counts(answers)
        if talk.public:
            labels = [str(name) for name in self.names]
            talk.picture = shares(talk.task.name, labels, counts / draws, self.right, what="answer")
        for place, (name, hits, share) in enumerate(zip(self.names, counts, self.right, strict=True)):
            # Half of the level goes to the likeliest one, which sees most, the rest to the others.
            own = level / 2 if place == self.likeliest else level / 2 / (len(self.names) - 1)
            talk.require(
                binomial_fit(int(hits), draws, float(share), level=own),
                f"{about} You answered {name!r} in {hits / draws:.1%} of them; {share:.1%} is right.",
            )

    def _counts(self, answers: np.ndarray) -> np.ndarray:
        return np.array([np.count_nonzero(answers == name) for name in self.names])

    def _known(self, talk: Interview, answers: np.ndarray) -> str:
        """The mistake that most likely gave these answers, or ""."""
        if len(answers) < CLOSER:
            answers = talk.draws(self.probe, CLOSER)
        likely = {known.name: self._alike(talk, known, answers) for known in talk.task.mistakes}
        name = max(likely, key=lambda one: likely[one])  # the first of several
        return name if likely[name] > LIKELY else ""

    def _alike(self, talk: Interview, known: Mistake, answers: np.ndarray) -> float:
        """How likely is it that both come from one law? A chi-square of two samples, over all names together."""
        try:
            drawn = answers_of(known.wrong, talk.task.answer, self.probe, min(len(answers), NAMING), 1_000_003)
        except Complaint:
            return 0.0
        theirs, ours = self._counts(drawn), self._counts(answers)
        came = (theirs + ours) > 0
        theirs, ours = theirs[came], ours[came]
        if ours.sum() < len(answers):  # other answers than these names
            return 0.0
        if len(ours) == 1:  # always the same answer, in both
            return 1.0
        excess = np.sqrt(theirs.sum() / ours.sum()) * ours - np.sqrt(ours.sum() / theirs.sum()) * theirs
        return float(chdtrc(len(ours) - 1, float((excess**2 / (theirs + ours)).sum())))
