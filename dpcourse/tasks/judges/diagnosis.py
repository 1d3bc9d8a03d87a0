"""Which known mistake explains these answers? The wrong functions are put the same questions, and compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.tasks.answers import Form
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.student import Student

#: Relative: a right formula in single precision is right. A task whose mathematics needs more says so.
TOLERANCE = 1e-5
NEAR_ZERO = 1e-7  # of the largest number of an answer, or of 1 where all of them are 0
LIKELY = 1e-4  # below this the wrong function's samples are not the student's


@dataclass(frozen=True)
class Recorded:
    """A question and its answer: one value (``number`` None), or a sample of ``number`` draws."""

    probe: Probe
    number: int | None
    response: Any


def explaining(
    mistakes: Iterable[Mistake],
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
                likely = min(likely, _alike(mistake, answer, record, summary, 1_000_003 + number))
                if likely <= best:
                    break
        except Complaint:
            continue
        if likely > best:
            best, name = likely, mistake.name
    return name


def _alike(
    mistake: Mistake,
    answer: Form,
    record: Recorded,
    summary: Callable[[np.ndarray], np.ndarray],
    seed: int,
) -> float:
    if record.number is None:
        return float(same_values(answer_of(mistake, answer, record.probe), record.response))
    drawn = draws_of(mistake, answer, record.probe, min(record.number, 4_000), seed)
    if drawn.shape[1:] != record.response.shape[1:]:
        return 0.0
    theirs, ours = (np.asarray(summary(sample)) for sample in (record.response, drawn))
    columns = zip(theirs.reshape(len(theirs), -1).T, ours.reshape(len(ours), -1).T, strict=True)
    return min(_alike_sample(one, other) for one, other in columns)


def answer_of(mistake: Mistake, form: Form, probe: Probe) -> Any:
    """The mistake's answer to one probe; a :class:`Complaint` is raised."""
    return Student(mistake.wrong, form, seconds=5.0).value(probe, 1)


def draws_of(mistake: Mistake, form: Form, probe: Probe, number: int, seed: int) -> np.ndarray:
    """Many of its answers, all at once where that can be had; a :class:`Complaint` is raised."""
    if mistake.sample is not None:
        return mistake.sample(probe, number, np.random.default_rng(seed))
    return Student(mistake.wrong, form, seconds=5.0).draws(probe, number, seed)


def alike_samples(one: np.ndarray, other: np.ndarray) -> float:
    """How likely is it that these rows have one law? The smallest of several p-values, corrected for their number.

    Compared are each coordinate, and of all together the sum, the sum of sizes around the middle, and their spread.
    """
    columns = list(zip(one.T, other.T, strict=True))
    if one.shape[1] > 1:
        sizes = [np.abs(rows - np.median(one, axis=0)).sum(axis=1) for rows in (one, other)]
        columns += [(one.sum(axis=1), other.sum(axis=1)), (sizes[0], sizes[1])]
    p_values = [_alike_sample(*pair) for pair in columns] + [_as_wide(one, other)]
    return min(1.0, len(p_values) * min(p_values))


def _as_wide(one: np.ndarray, other: np.ndarray) -> float:
    """Are both as wide, on average over all coordinates? The mean sizes around the medians, whose ratio is near 1."""
    sizes = [np.abs(rows - np.median(rows, axis=0)).ravel() for rows in (one, other)]
    means = [float(size.mean()) for size in sizes]
    if min(means) <= 0:
        return float(max(means) <= 0)
    relative = [float(size.std()) / mean / math.sqrt(size.size) for size, mean in zip(sizes, means, strict=True)]
    deviation = math.hypot(*relative)
    return math.erfc(abs(math.log(means[0] / means[1])) / deviation / math.sqrt(2))


def _alike_sample(one: np.ndarray, other: np.ndarray) -> float:
    if (one == one[0]).all() or (other == other[0]).all():
        return float((one == one[0]).all() and (other == other[0]).all() and np.isclose(one[0], other[0]))
    from scipy.stats import ks_2samp

    return float(ks_2samp(one, other, method="asymp").pvalue)


def first_and_sum(draws: np.ndarray) -> np.ndarray:
    """The first coordinate (its own law) and the sum of all (how they hang together)."""
    flat = draws.reshape(len(draws), -1)
    return np.column_stack([flat[:, 0], flat.sum(axis=1)]) if flat.shape[1] > 1 else flat


def same_values(one: Any, other: Any, tolerance: float = TOLERANCE, near_zero: float = NEAR_ZERO) -> bool:
    """Equal up to rounding, also for several named answers."""
    if isinstance(one, dict):
        return isinstance(other, dict) and all(same_values(one[key], other[key], tolerance, near_zero) for key in one)
    if one is None or other is None or isinstance(one, str | tuple):
        return bool(one == other)
    one, other = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if one.shape != other.shape:
        return False
    largest = float(np.abs(other[np.isfinite(other)]).max(initial=0.0))
    return bool(np.allclose(one, other, rtol=tolerance, atol=near_zero * (largest or 1.0)))
