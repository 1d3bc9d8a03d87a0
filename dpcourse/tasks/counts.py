"""Judging a choice: does each of the possible answers come as often as it should?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpcourse.audit import binomial_fit
from dpcourse.tasks.shown import shares
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import LEVEL, Interview
from dpcourse.tasks.values import described


def shares_of(
    probabilities: Callable[..., Any], labels: Callable[..., Any], *, draws: int | None = None
) -> Callable[[Interview], None]:
    """The student's answers must be ``labels(**probe)`` with ``probabilities(**probe)``: an exact binomial for each.

    ``draws``: of the last look, instead of talk.many.
    """

    def judge(talk: Interview) -> None:
        level = LEVEL / (len(talk.probes) + 1)
        for probe in talk.probes:
            _count(talk, probe, list(labels(**probe)), probabilities(**probe), talk.few, level)
        probe = talk.probes[-1]
        _count(talk, probe, list(labels(**probe)), probabilities(**probe), draws or talk.many, level)
        talk.praise = f"Your answers to {len(talk.probes)} probes come as often as they should."

    return judge


def _count(talk: Interview, probe: Probe, names: list[Any], probabilities: Any, draws: int, level: float) -> None:
    answers, right = talk.draws(probe, draws), np.asarray(probabilities, dtype=float)
    about = f"I called you {draws:,} times with {described(probe)}."
    level = level / len(names)
    seen = np.unique(answers).tolist()
    strange = [one for one in seen if one not in names]
    if strange:
        talk.fail(f"{about} You answered {strange[0]!r}, which is none of {names[:6]}.")
    if len(seen) == 1 and 2 * right.max() ** draws <= level:  # the binomial below would say so, too, in other words
        talk.fail(f"{about} Every answer was {seen[0]!r}: no coin is tossed, or always the same one.")
    counts = [int(np.count_nonzero(answers == name)) for name in names]
    if talk.public:
        talk.picture = shares(
            talk.task.name, [str(name) for name in names], np.array(counts) / draws, right, what="answer"
        )
    for name, hits, share in zip(names, counts, right, strict=True):
        talk.require(
            binomial_fit(hits, draws, float(share), level=level),
            f"{about} You answered {name!r} in {hits / draws:.1%} of them; {share:.1%} is right.",
        )
