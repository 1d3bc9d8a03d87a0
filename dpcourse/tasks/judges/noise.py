"""Judging noise: do the student's answers have the law that they should? Few draws first, many for what has passed.

Each test is the one with the most power for its error: the sum of sizes for the scale, a sign count for one-sided
noise, Kolmogorov-Smirnov for the shape, the largest size for the tails, equal values for rounding and fixed seeds,
signs and sizes of every two coordinates for noise that is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import CLOSER, LEVEL, Failed, Interview
from dpcourse.tasks.judges.diagnosis import answers_of
from dpcourse.tasks.judges.scale_tests import LAPLACE, NORMAL, Sizes, largest_fit, width_fit
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.pictures import spread
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, number


@dataclass(frozen=True)
class Noise:
    """The law that an answer must have: symmetric noise around ``center`` (a number or a vector)."""

    center: Any
    scale: float
    cdf: Callable[[np.ndarray], Any]  # of (answer - center) / scale
    words: str  # "Laplace noise of scale"
    typical: float  # the median of |answer - center| / scale
    sizes: Sizes  # the law of their sum: the sharpest test of the scale

    @classmethod
    def laplace(cls, center: Any, scale: float) -> Noise:
        """Density exp(-|z|) / 2."""
        return cls(
            center, scale, lambda z: np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2),
            "Laplace noise of scale", float(np.log(2)), LAPLACE,
        )  # fmt: skip

    @classmethod
    def gaussian(cls, center: Any, sigma: float) -> Noise:
        """The normal law with standard deviation sigma."""
        from scipy.special import ndtr

        return cls(center, sigma, ndtr, "Gaussian noise of standard deviation", 0.6744897501960817, NORMAL)


TESTS = 7  # of one look, at most

#: More than so many equal answers are no chance, in single precision neither (a count of 500, scale 0.33: 1e-12).
REPEATED = 15

#: Draws that see a Laplace scale off by 10%, and a Gaussian in its place, with probability 1 - 1e-6.
LAPLACE_DRAWS = 12_800


def noise_of(law: Callable[..., Noise], *, draws: int | None = None) -> Callable[[Interview], None]:
    """The student's answers must have the law ``law(**probe)``. ``draws``: of the last look, instead of talk.many."""

    def judge(talk: Interview) -> None:
        level = LEVEL / (len(talk.probes) + 1) / TESTS  # looks, and tests in each
        for probe in talk.probes:
            _look(talk, probe, law(**probe), talk.few, level)
        probe = talk.probes[-1]
        _look(talk, probe, law(**probe), draws or talk.many, level)
        talk.praise = (
            f"Your answers to {len(talk.probes)} probes spread as they should. (What comes less often than once in a "
            f"thousand calls, far out in the tails, I hardly see.)"
        )

    return judge


def _look(talk: Interview, probe: Probe, right: Noise, draws: int, level: float) -> None:
    answers = talk.draws(probe, draws).reshape(draws, -1)
    if answers.shape[1] != np.size(right.center):
        asked = f"{np.size(right.center)} are asked for"
        talk.fail(f"For {arguments(probe)} you give back {answers.shape[1]} numbers; {asked}.")
    center = float(np.ravel(right.center)[0])
    z = (answers - np.ravel(right.center)) / right.scale
    first = z[:, 0]
    if talk.public:
        talk.picture = spread(talk.task.name, answers[:, 0], center, right.scale, right.cdf)
    about = f"I called you {draws:,} times with {arguments(probe)}."
    _fresh(talk, answers, center, about)
    above = int(np.count_nonzero(first > 0))
    talk.require(
        binomial_fit(above, draws, 0.5, level=level),
        f"{about} {above / draws:.0%} of your answers lie above {number(center, 6)}, and half should: their median is "
        f"{number(np.median(answers[:, 0]), 6)}.",
    )
    width, wasteful, only_width = _width(first, right, level)
    try:
        talk.require(width_fit(first, right.sizes, level=level), f"{about} {width}", wasteful=wasteful)
    except Failed as failed:
        if only_width:  # then no mistake in the shape is the reason
            failed.possible = lambda known: _of_this_shape(talk, known, probe, right)
        raise
    talk.require(ks_fit(first, right.cdf, level=level), f"{about} {_other_shape(right)}")
    _tails(talk, first, right, about, level)
    if z.shape[1] > 1:
        _each_coordinate(talk, z, right, about, level)
    _apart(talk, first[1:], first[:-1], right, f"{about} The noise of one call and of the next", level, CALLS)


def _width(first: np.ndarray, right: Noise, level: float) -> tuple[str, bool, bool]:
    """What to say about a wrong width; is it only wasteful, the right shape but wider; is the shape the right one?"""
    factor = float(np.median(np.abs(first))) / right.typical
    # Only to choose the words, not to decide: the factor comes from the sample itself.
    if not ks_fit(first / factor, right.cdf, level=level).passed:
        return _other_shape(right), False, False
    found = (
        f"Your answers spread like {right.words} about {number(factor * right.scale)}; {number(right.scale)} is needed."
    )
    if factor > 1:
        return f"{found} That is private, but wasteful: more noise than the guarantee needs.", True, True
    return f"{found} That is too little to hide one person.", False, True


def _of_this_shape(talk: Interview, known: Mistake, probe: Probe, right: Noise) -> bool:
    """Does the wrong function's noise have the right shape? By mean(z^2) / mean(|z|)^2, which no scale changes.

    It is 2 for Laplace noise and pi/2 for Gaussian noise. Of 3,000 draws its deviation is 0.04 and 0.02.
    """
    try:
        drawn = answers_of(known.wrong, talk.task.answer, probe, CLOSER, 1_000_003)
    except Complaint:
        return False
    first = drawn.reshape(len(drawn), -1)[:, 0]
    sizes = np.abs(first - np.median(first))
    if not sizes.mean() > 0:
        return False
    return bool(abs((sizes**2).mean() / sizes.mean() ** 2 - right.sizes.flatness) < 0.2)


def _tails(talk: Interview, first: np.ndarray, right: Noise, about: str, level: float) -> None:
    largest = float(np.abs(first).max())
    text = f"{about} The largest noise among them is {number(largest)} times the scale."
    if 2 * float(right.cdf(np.array(-largest))) * len(first) > 1:  # larger ones were to be expected
        text += " Is it cut off further out? An answer that can never come speaks against one of the two worlds."
    talk.require(largest_fit(first, right.cdf, level=level), text, name="cut in the tails")


def _other_shape(right: Noise) -> str:
    return f"Your noise does not have the right shape: it is not {right.words} {number(right.scale)}, nor of any other."


def _fresh(talk: Interview, answers: np.ndarray, center: float, about: str) -> None:
    """A continuous law hardly gives the same number twice.

    Numbers in single precision do so sometimes (a count of 500 plus noise of scale 0.4, 25,000 times: a quarter of
    them), numbers rounded to two digits nearly always. So at least 30% must differ.
    """
    distinct, same = len(np.unique(answers[:, 0])), f"{about} Every answer was {number(answers[0, 0], 6)}"
    if distinct == 1 and np.isclose(answers[0, 0], center):
        talk.fail(f"{same}, the true one: there is no noise.", name="no noise")
    if distinct == 1:
        talk.fail(
            f"{same}: the noise is always the same (a fixed seed inside the function?). Whoever knows it subtracts it.",
            name="always the same noise",
        )
    if distinct < 0.3 * len(answers):
        whole = bool((answers[:, 0] == np.round(answers[:, 0])).all())
        why = "they are rounded, or their seeds repeat"
        if whole:
            why = "they are all whole numbers, rounded ones or those of discrete (geometric) noise"
        text = f"{about} Only {distinct:,} different answers came back: {why}."
        _say_if_cut(talk, answers[:, 0], about, 0.1 * len(answers) if not whole else len(answers))
        talk.fail(
            f"{text} That can be private, too, but here the continuous Laplace number itself is asked for."
            if whole
            else f"{text} Rounding afterwards costs no privacy, but here the noisy number itself is asked for.",
            name="rounded",
        )
    _say_if_cut(talk, answers[:, 0], about, REPEATED)


def _say_if_cut(talk: Interview, answers: np.ndarray, about: str, often: float) -> None:
    """One value that comes again and again among others that do not: an end to which the answers were cut."""
    values, counts = np.unique(answers, return_counts=True)
    if counts.max() > often:
        value, times = float(values[counts.argmax()]), int(counts.max())
        talk.fail(
            f"{about} {times:,} of your answers are exactly {number(value, 6)}, though noise of this kind hardly gives "
            f"the same number twice: are they cut to a range after the noise? That costs no privacy, but on average "
            f"the answer is no longer right; here the noisy number itself is asked for.",
            name="cut after the noise",
        )


def _each_coordinate(talk: Interview, z: np.ndarray, right: Noise, about: str, level: float) -> None:
    pooled = z[: max(talk.few, len(z) // z.shape[1])]
    still = np.flatnonzero((z == z[0]).all(axis=0))
    if still.size:
        text = f"{about} Coordinate {still[0]} of your answer is always the same: there is no noise on it."
        talk.fail(text, name="no noise on some")
    pairs = list(combinations(range(z.shape[1]), 2))
    for one, other in pairs:
        _apart(
            talk,
            z[:, one],
            z[:, other],
            right,
            f"{about} The noise of coordinates {one} and {other}",
            level / len(pairs),
        )
    for column in range(1, z.shape[1]):
        talk.require(
            ks_fit(pooled[:, column], right.cdf, level=level / z.shape[1]),
            f"{about} The noise of coordinate {column} is not {right.words} {number(right.scale)}.",
        )


COORDINATES = "every coordinate needs noise of its own, because shared noise cancels", "shared noise"
CALLS = "every call needs noise of its own, or else two answers together give it away", "same noise in two calls"


def _apart(
    talk: Interview,
    one: np.ndarray,
    other: np.ndarray,
    right: Noise,
    whose: str,
    level: float,
    says: tuple[str, str] = COORDINATES,
) -> None:
    """Independent noises agree in half of the answers: in their signs, and on being large. (Calls: one after another.)

    Signs of neighbouring calls, compared, are independent coins as well: the binomial law is exact for them, too.
    """
    typical = right.typical
    for what, same in (
        ("has the same sign", (one > 0) == (other > 0)),
        ("is large or small together", (np.abs(one) > typical) == (np.abs(other) > typical)),
    ):
        agree = int(np.count_nonzero(same))
        talk.require(
            binomial_fit(agree, len(same), 0.5, level=level / 2),
            f"{whose} {what} in {agree / len(same):.0%} of the answers, and should in half of them: {says[0]}.",
            name=says[1],
        )
