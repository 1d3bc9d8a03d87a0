"""Judging vectors with Gaussian noise, from few calls: every coordinate of an answer is one more draw.

With z = (answer - center) / sigma, n answers of d coordinates: n |mean of z|^2 is chi-square with d degrees of freedom,
the sum of all (z - mean)^2 with (n - 1) d, in one coordinate with n - 1, and the sum of (z_1 + ... + z_d)^2 / d with n,
all exactly. So is the number of z beyond a bound, which is binomial. The second sees a scale that is 9% off with 2,500
answers of four coordinates where an event count needs 20,000 answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from dpcourse.audit import Fit, binomial_fit, ks_fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import LEVEL, Failed, Interview
from dpcourse.tasks.judges.diagnosis import answers_of
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import spread
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, shown

DRAWS = 2_500
WASTEFUL = "That is private, but wasteful: more noise than the guarantee needs."
TOO_LITTLE = "That is too little to hide one person."
EXPLAINING = 6_000  # draws of a known mistake, to compare with: so many tell l1 from a budget that was split
FAR = 3.0  # standard deviations: noise of another shape has more beyond them, or fewer
TESTS = 6  # at each of two looks


class Spread(NamedTuple):
    """The law that an answer must have: independent Gaussian noise of deviation ``sigma`` around ``center``.

    ``hides`` somebody, or is a sampler's: then nothing is said on privacy.
    """

    center: np.ndarray
    sigma: float
    hides: bool = True


def vectors_of(law: Callable[..., Spread], *, draws: int = DRAWS) -> Callable[[Interview], None]:
    """The student's vectors must have the law ``law(**probe)``."""

    def judge(talk: Interview) -> None:
        for probe in talk.probes:
            look_at_vectors(talk, probe, law(**probe), LEVEL / len(talk.probes), draws)
        talk.praise = f"Your answers to {len(talk.probes)} probes have the right center, spread and shape."

    return judge


def look_at_vectors(talk: Interview, probe: Probe, right: Spread, level: float, most: int = DRAWS) -> None:
    """Ask for a sample, first a small one, and compare it with the law; chance fails it with probability ``level``."""
    for draws in (talk.few, most):
        answers = talk.draws(probe, draws)
        if answers.shape[1:] != right.center.shape:
            talk.fail(f"I expected {right.center.size} numbers, but got {answers[0].size}: {shown(answers[0])}.")
        refuse_huge(talk, answers)
        if talk.public:
            talk.picture = spread(talk.task.name, answers[:, 0], float(right.center[0]), right.sigma, special.ndtr)
        try:
            _compare(talk, answers, right, f"I called you {draws:,} times with {arguments(probe)}.", level / TESTS / 2)
        except Failed as failed:
            if failed.name not in ("center", "spread", "shape"):
                raise
            # Few draws settle that it is wrong; more tell which mistake it is.
            sample = answers if draws == most else talk.draws(probe, most)
            known = _explained(talk, probe, sample)
            if known is not None and known.hides is not None:  # its message says so itself
                raise Failed(failed.text, known.name, failed.wasteful and known.hides) from None
            name = known.name if known else f"wrong {failed.name}"
            raise Failed(failed.text, name, failed.wasteful, note=failed.note) from None


def refuse_huge(talk: Interview, answers: np.ndarray) -> None:
    """Numbers whose squares are no numbers any more."""
    if np.abs(answers).max() > 1e100:
        talk.fail(f"Your answers are as large as {np.abs(answers).max():.3g}: something runs away.", name="huge")


def _explained(talk: Interview, probe: Probe, sample: np.ndarray) -> Mistake | None:
    """The mistake whose function gives vectors like these: by means, spreads, shape, and how they go together."""
    likeliest, found = 1e-4, None
    for known in talk.task.mistakes:
        try:
            theirs = answers_of(known.wrong, talk.task.answer, probe, EXPLAINING, 1_000_003)
        except Complaint:
            continue
        likely = _alike(sample, theirs)
        if likely > likeliest:
            likeliest, found = likely, known
    return found


def _alike(one: np.ndarray, other: np.ndarray) -> float:
    """The smallest of p-values of two samples of vectors: equal means, equal spreads (of each coordinate, of all, and
    of their sums), equal shapes."""
    from scipy.stats import ks_2samp

    if one.shape[1] != other.shape[1]:
        return 0.0
    (n, d), m = one.shape, len(other)
    a, b = one - one.mean(axis=0), other - other.mean(axis=0)
    if not min((a**2).sum(axis=0).min(), (b**2).sum(axis=0).min()) > 0:
        return 0.0
    spreads = ((a**2).sum(axis=0) + (b**2).sum(axis=0)) / (n + m - 2)
    means = float(((one.mean(axis=0) - other.mean(axis=0)) ** 2 / spreads).sum()) / (1 / n + 1 / m)
    p_values = [float(special.chdtrc(d, means)), float(ks_2samp(a.ravel(), b.ravel(), method="asymp").pvalue)]
    pairs = [(a, b), (a.sum(axis=1), b.sum(axis=1)), *((a[:, i], b[:, i]) for i in range(d))]
    for x, y in pairs:  # the logarithm of a ratio of variances is about normal
        deviation = math.sqrt(2 / x.size + 2 / y.size)
        p_values.append(float(special.erfc(abs(math.log(np.mean(x**2) / np.mean(y**2))) / deviation / math.sqrt(2))))
    return min(p_values)


def _compare(talk: Interview, answers: np.ndarray, right: Spread, about: str, level: float) -> None:
    distinct = len(np.unique(answers[:, 0]))
    if distinct < 0.3 * len(answers):  # single precision repeats some, rounding nearly all
        _repeated(talk, answers, right, about, distinct)
    _refuse_cut_or_rounded(talk, answers, about)
    z = (answers - right.center) / right.sigma
    n, d = z.shape
    middle = z.mean(axis=0)
    around = z - middle
    each = np.sqrt((around**2).sum(axis=0) / (n - 1))
    factor = math.sqrt(float((around**2).sum()) / (n - 1) / d)
    centered = n * float(middle @ middle) / factor**2 < 60 + 2 * d
    uneven = each.max() > (1 + 8 / math.sqrt(n)) * each.min()  # chance does not do that
    more = right.hides and factor > 1 and centered and not uneven
    measured = f"Your noise has a standard deviation of about {factor * right.sigma:.4g}; {right.sigma:.4g} is right."
    if uneven:
        least, most = int(each.argmin()), int(each.argmax())
        measured = (
            f"Your noise has a standard deviation of about {each[least] * right.sigma:.4g} in coordinate {least} and "
            f"{each[most] * right.sigma:.4g} in coordinate {most}; {right.sigma:.4g} is right in all of them."
        )
    little = right.hides and factor < 1 and not uneven
    talk.require(
        chi_square_of("spread", float((around**2).sum()), (n - 1) * d, n, level, scale=True),
        f"{about} {measured}",
        name="spread",
        wasteful=more,
        note=WASTEFUL if more else TOO_LITTLE if little else "",
    )
    odd = int(np.argmax(np.abs(np.log(each))))
    one = chi_square_of("spread of a coordinate", (n - 1) * float(each[odd]) ** 2, n - 1, n, level / d, scale=True)
    talk.require(
        replace(one, level=level, p_value=min(1.0, d * one.p_value)),  # the oddest of d
        f"{about} {measured}",
        name="spread",
    )
    off = int(np.argmax(np.abs(middle)))
    talk.require(
        chi_square_of("mean", n * float(middle @ middle), d, n, level),
        f"{about} In coordinate {off} your answers lie around {answers[:, off].mean():.4g}; {right.center[off]:.4g} is "
        f"right. Their spread is as it should be.",
        name="center",
    )
    talk.require(
        chi_square_of("shared noise", float((z.sum(axis=1) ** 2).sum()) / d, n, n, level),
        f"{about} The noise of your coordinates goes together: each needs noise of its own. Shared noise cancels when "
        f"two coordinates are subtracted.",
        name="shared noise",
    )
    beyond = int(np.count_nonzero(np.abs(z) > FAR))
    talk.require(
        binomial_fit(beyond, z.size, 2 * float(special.ndtr(-FAR)), level=level),
        f"{about} {beyond} of your {z.size:,} noises are larger than {FAR:g} standard deviations; a Gaussian has "
        f"{2 * z.size * float(special.ndtr(-FAR)):.0f} of them.",
        name="shape",
    )
    talk.require(
        ks_fit(z.ravel(), special.ndtr, level=level),
        f"{about} Your noise does not have the shape of a Gaussian.",
        name="shape",
    )


def _repeated(talk: Interview, answers: np.ndarray, right: Spread, about: str, distinct: int) -> None:
    """A continuous law hardly gives the same number twice, in single precision neither."""
    if distinct == 1 and np.allclose(answers[0], right.center, rtol=1e-6, atol=1e-9):
        talk.fail(f"{about} Every answer was the same, and without any noise.")
    if distinct == 1:
        talk.fail(f"{about} Every answer was {shown(answers[0])}: no noise, or always the same (a fixed seed inside?).")
    talk.fail(
        f"{about} Only {distinct:,} different answers came back: they are rounded, or their seeds repeat. Give the "
        f"numbers as they come, and draw new ones in every call.",
        name="rounded",
    )


def _refuse_cut_or_rounded(talk: Interview, answers: np.ndarray, about: str) -> None:
    """Both would be seen by chance only: three answers of a continuous law at one end, or all on a grid."""
    for end in (answers.min(axis=0), answers.max(axis=0)):
        alike = (answers == end).sum(axis=0)
        most = int(alike.argmax())
        if alike[most] > 2 + len(answers) // 100:
            talk.fail(
                f"{about} {alike[most]} of your answers in coordinate {most} are exactly {end[most]:.6g}: they are cut "
                f"off after the noise. That costs no privacy, but it bends the answers. Give the numbers as they come.",
                name="cut off",
            )
    for digits in range(3):
        if np.all(np.abs(answers - np.round(answers, digits)) <= 1e-9 * np.abs(answers)):
            talk.fail(
                f"{about} Every answer is a multiple of {10.0**-digits:g}: they are rounded. Give the numbers as they "
                f"come.",
                name="rounded",
            )


def chi_square_of(name: str, statistic: float, freedom: int, draws: int, level: float, *, scale: bool = False) -> Fit:
    """A two-sided test of a statistic that is chi-square with ``freedom`` degrees under the right law."""
    upper, lower = float(special.chdtrc(freedom, statistic)), float(special.chdtr(freedom, statistic))
    low, high = (float(special.chdtri(freedom, tail)) for tail in (1 - level / 2, level / 2))
    # A scale s times as large multiplies the statistic by s^2: caught with power 1 - level beyond these factors.
    narrow = math.sqrt(low / float(special.chdtri(freedom, level)))
    wide = math.sqrt(high / float(special.chdtri(freedom, 1 - level)))
    error: dict[str, Any] = {"smallest_error": max(1 - narrow, wide - 1), "unit": "scale factor"}
    if not scale:  # a shift adds a noncentrality of n |shift|^2: see a normal approximation of it
        gap = math.sqrt(high) + 6
        error = {"smallest_error": gap / math.sqrt(draws), "unit": "shift in standard deviations, approximately"}
    return Fit(
        name=f"chi-square of the {name}", statistic=statistic, p_value=min(1.0, 2 * min(upper, lower)), level=level,
        power=1 - level, draws=draws, **error,
    )  # fmt: skip
