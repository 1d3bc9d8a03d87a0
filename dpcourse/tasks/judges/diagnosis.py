"""Which known mistake explains these answers? The wrong functions are put the same questions, and compared."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.tasks.answers import Form
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.student import Student

LIKELY = 1e-4  # below this the wrong function's samples are not the student's


@dataclass(frozen=True)
class Recorded:
    """A question and its answer: one value (``number`` None), or a sample of ``number`` draws."""

    probe: Probe
    number: int | None
    found: Any


def explaining(
    mistakes: Iterable[Any],
    recorded: list[Recorded],
    answer: Form,
    summary: Callable[[np.ndarray], np.ndarray],
) -> str:
    """The name of the mistake whose function answers like the student, or "".

    Values must agree (to 1e-6); samples by a two-sample Kolmogorov-Smirnov test, and the likeliest is taken.
    """
    best, name = LIKELY, ""
    for mistake in mistakes:
        likely = 1.0
        try:
            for number, record in enumerate(reversed(recorded)):  # the last one failed: it tells the most
                likely = min(likely, _alike(mistake.wrong, answer, record, summary, 1_000_003 + number))
                if likely <= best:
                    break
        except Complaint:
            continue
        if likely > best:
            best, name = likely, mistake.name
    return name


def _alike(
    wrong: Callable[..., Any],
    answer: Form,
    record: Recorded,
    summary: Callable[[np.ndarray], np.ndarray],
    seed: int,
) -> float:
    if record.number is None:
        return float(same_values(answers_of(wrong, answer, record.probe, None, seed), record.found))
    drawn = answers_of(wrong, answer, record.probe, min(record.number, 4_000), seed)
    if drawn.shape[1:] != record.found.shape[1:]:
        return 0.0
    theirs, ours = (np.asarray(summary(sample)) for sample in (record.found, drawn))
    columns = zip(theirs.reshape(len(theirs), -1).T, ours.reshape(len(ours), -1).T, strict=True)
    return min(_alike_sample(one, other) for one, other in columns)


#: What wrong functions answered: a whole class is asked the same, so they are not asked again for each student.
_answered: OrderedDict[bytes, Any] = OrderedDict()
MOST_ANSWERED = 400


def answers_of(wrong: Callable[..., Any], answer: Form, probe: Probe, number: int | None, seed: int) -> Any:
    """The answer of a mistake's function, or ``number`` draws of it; a :class:`Complaint` is raised."""
    try:
        key = pickle.dumps((id(wrong), repr(answer), number, seed, dict(probe)))
    except Exception:  # an argument that has no bytes, such as a function
        key = b""
    if key not in _answered:
        student = Student(wrong, answer, seconds=5.0)
        try:
            found = student.value(probe, seed) if number is None else student.draws(probe, number, seed)
        except Complaint as complaint:
            found = complaint
        _answered[key] = found
        while len(_answered) > MOST_ANSWERED:
            _answered.popitem(last=False)
    found = _answered[key] if key else _answered.pop(key)
    if isinstance(found, Complaint):
        raise found
    return found


def _alike_sample(theirs: np.ndarray, ours: np.ndarray) -> float:
    if (theirs == theirs[0]).all() or (ours == ours[0]).all():
        return float((theirs == theirs[0]).all() and (ours == ours[0]).all() and np.isclose(theirs[0], ours[0]))
    from scipy.stats import ks_2samp

    return float(ks_2samp(theirs, ours, method="asymp").pvalue)


def first_and_sum(draws: np.ndarray) -> np.ndarray:
    """The first coordinate (its own law) and the sum of all (how they hang together)."""
    flat = draws.reshape(len(draws), -1)
    return np.column_stack([flat[:, 0], flat.sum(axis=1)]) if flat.shape[1] > 1 else flat


def same_values(one: Any, other: Any, tolerance: float = 1e-6) -> bool:
    """Equal up to rounding, also for several named answers."""
    if isinstance(one, dict):
        return isinstance(other, dict) and all(same_values(one[key], other[key], tolerance) for key in one)
    if one is None or other is None or isinstance(one, str | tuple):
        return bool(one == other)
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=tolerance, atol=1e-9))
