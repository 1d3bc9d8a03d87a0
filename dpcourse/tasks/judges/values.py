"""Judging a number that can be computed: compare with the reference, at every probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, shown

#: A probe, the student's answer to it, and the right one.
Answered = tuple[Probe, Any, Any]


def values_of(
    reference: Callable[..., Any],
    *,
    tolerance: float = 1e-6,
    named: Callable[[Sequence[Answered]], str] = lambda pairs: "",
) -> Callable[[Interview], None]:
    """The student's values must be those of ``reference`` (called with the probe), up to a relative ``tolerance``.

    ``named`` gives the mistake that it sees in the wrong answers, or "": then the known functions are compared.
    """

    def judge(talk: Interview) -> None:
        pairs = [(probe, talk.value(probe), reference(**probe)) for probe in talk.probes]  # all, then decide:
        for probe, found, right in pairs:  # the whole pattern of answers names a mistake better than the first
            if not same_values(found, right, tolerance):
                talk.fail(
                    f"For {arguments(probe)} you answer {shown(found)}; right is {shown(right)}.", name=named(pairs)
                )
        talk.praise = f"All {len(pairs)} probes are answered right."

    return judge
