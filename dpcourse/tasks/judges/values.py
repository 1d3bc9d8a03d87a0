"""Judging a number that can be computed: compare with the reference, at every probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpcourse.tasks import wording as bounded
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Interview

#: A probe, the student's answer to it, and the right one.
Answered = tuple[Probe, Any, Any]


def values_of(
    reference: Callable[..., Any],
    *,
    tolerance: float = 1e-6,
    named: Callable[[Sequence[Answered]], str] = lambda pairs: "",
) -> Callable[[Interview], None]:
    """The student's values must be those of ``reference`` (called with the probe), up to a relative ``tolerance``.

    ``named`` gives the misconception that it sees in the wrong answers, or "": then the known functions are compared.
    """

    def judge(talk: Interview) -> None:
        pairs = [(probe, talk.value(probe), reference(**probe)) for probe in talk.probes]  # all, then decide:
        for probe, found, right in pairs:  # the whole pattern of answers names a misconception better than the first
            if not same_values(found, right, tolerance):
                talk.fail(
                    f"For {described(probe)} you answer {shown(found)}; right is {shown(right)}.", name=named(pairs)
                )
        talk.praise = f"All {len(pairs)} probes are answered right."

    return judge


def described(probe: Probe) -> str:
    """The arguments in words."""
    return ", ".join(f"{name} = {shown(value)}" for name, value in probe.items())


def shown(value: Any) -> str:
    """A value as a student wants to read it: four digits, the beginning of a long array."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(one)}" for key, one in value.items()) + "}"
    if isinstance(value, str | bool) or value is None:
        return bounded.described(value)
    if np.ndim(value) == 0 and not callable(value):
        return number(float(value), 6)
    if callable(value):
        return getattr(value, "__name__", "a function")
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        return bounded.described(value, 80)
    flat = [number(float(one), 4).replace(",", "") for one in array.ravel()[:6]]  # commas part the numbers here
    more = f", ... ({array.size} numbers)" if array.size > 6 else ""
    return (
        f"[{', '.join(flat)}{more}]"
        if array.ndim == 1
        else f"an array of shape {array.shape} [{', '.join(flat)}{more}]"
    )


def number(value: float, digits: int = 3) -> str:
    """So many digits, and 1,190,000 rather than 1.19e+06."""
    rounded = float(f"{value:.{digits}g}") if np.isfinite(value) else value
    return f"{rounded:,.0f}" if 1e4 <= abs(rounded) < 1e12 else f"{rounded:.{digits}g}"
