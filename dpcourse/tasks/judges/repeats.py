"""Answers that come again: no noise, the same noise, noise that is sometimes absent, rounded or cut answers.

Noise of a continuous law hardly gives the same number twice. In single precision it sometimes does: a count of 500 plus
noise of scale 0.4 has about 10,000 different values within reach.
"""

from __future__ import annotations

import contextlib

import numpy as np

from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import CLOSER, Interview
from dpcourse.tasks.judges.noise_law import Noise
from dpcourse.tasks.wording import number

REPEATED = 15  # more equal answers are no chance, in single precision neither (a count of 500, scale 0.33: 1e-12)
#: If noise has 2^24 values, as torch's has, four equal ones among 3,000 have probability 1e-9, six among 30,000 1e-12.
TWICE, OFTEN = 3, 5
FEW = 0.3  # of all answers must differ: single precision repeats some, rounding nearly all
PAIRED = 0.02  # of all answers, and 20 more, may come a second time: of 30,000 noises of torch's 30 do

NO_NOISE, SAME_NOISE, SOMETIMES_NONE = "no noise", "always the same noise", "sometimes no noise"
CHANCE = 32.0  # more has the probability e^-32 if the digits below a small step are spread evenly
EXACT_DIGITS = "exact digits"
ROUNDED, CUT, CUT_AT_SECRET, CUT_NOISE = "rounded", "cut after the noise", "cut at the true answer", "cut in the tails"
AS_PRIVATE = (
    "Whoever rounds a noisy answer loses no privacy by that; whoever rounds the noise may. "
    "Give the noisy number itself."
)


def refuse_repeats(talk: Interview, answers: np.ndarray, right: Noise, about: str) -> None:
    """Fail answers, a row for each call, of which some coordinate has the same number again and again."""
    still = bool((answers == answers[0]).all())
    if still and np.allclose(answers[0], right.centers, rtol=1e-9, atol=1e-6 * right.scale):
        shown = number(float(answers[0, 0]), 6) if answers.shape[1] == 1 else "the same"
        talk.fail(f"{about} Every answer was {shown}, the true one: there is no noise.", name=NO_NOISE)
    finest = 2 * spacing(answers)
    for digits in range(3):
        step = 10.0**-digits  # of 5 million 1e-9 is half a cent: every number is so near to a multiple of one
        near = np.minimum(1e-9 * np.abs(answers), 1e-3 * step)
        if step >= finest and np.all(np.abs(answers - np.round(answers, digits)) <= near):
            talk.fail(
                f"{about} Every answer is a multiple of {step:g}: they are rounded, or come from discrete "
                f"(geometric) noise. {AS_PRIVATE}",
                name=ROUNDED,
            )
    for column, center in enumerate(right.centers):
        where = f" in coordinate {column}" if answers.shape[1] > 1 else ""
        _refuse(talk, answers[:, column], float(center), right.scale, about, where)


def _is_single(answers: np.ndarray) -> bool:
    """Are they numbers in single precision?"""
    return bool((answers == answers.astype(np.float32)).all())


def spacing(answers: np.ndarray) -> float:
    """How far apart the largest of these numbers are from their neighbours in the precision that they have."""
    largest = np.abs(answers).max()
    return float(np.spacing(np.float32(largest) if _is_single(answers) else largest))


def _refuse(talk: Interview, answers: np.ndarray, center: float, scale: float, about: str, where: str) -> None:
    _refuse_digits(talk, answers, center, scale, about, where)
    values, counts = np.unique(answers, return_counts=True)
    value, times = float(values[counts.argmax()]), int(counts.max())
    if times <= (REPEATED if _is_single(answers) else TWICE if len(answers) <= CLOSER else OFTEN):
        again = len(answers) - len(values)
        if again > 20 + PAIRED * len(answers) and not _is_single(answers):
            _refuse_rounded(talk, values, about, where)
        return
    exact = abs(value - center) <= 1e-6 * scale + 1e-9 * abs(center)
    if len(values) == 1:
        same = f"{about} Every answer{where} was {number(value, 6)}"
        if exact:
            talk.fail(f"{same}, the true one: there is no noise on it.", name="no noise on some")
        talk.fail(
            f"{same}: the noise is always the same (a fixed seed inside the function?). Whoever knows it subtracts it.",
            name=SAME_NOISE,
        )
    ends = value in (values[0], values[-1])
    if len(values) < FEW * len(answers) and not (ends and times > 0.1 * len(answers)):
        _refuse_rounded(talk, values, about, where)
    if ends and len(values) > 3:
        _refuse_cut(talk, answers, value, exact, center, about, where, times)
    if exact:
        talk.fail(
            f"{about} {times:,} of your answers{where} are the true one itself, {number(value, 6)}, without any noise. "
            f"Noise that is sometimes absent hides nobody: the exact answer stands out by coming again.",
            name=SOMETIMES_NONE,
        )
    talk.fail(
        f"{about} {times:,} of your answers{where} are exactly {number(value, 6)}, though noise of this kind hardly "
        f"gives the same number twice: do your seeds repeat, or is there no noise on some of them?",
        name=SOMETIMES_NONE,
    )


def _refuse_digits(talk: Interview, answers: np.ndarray, center: float, scale: float, about: str, where: str) -> None:
    """Noise that is rounded, on an exact answer that is not: the last digits are those of the secret.

    Each number counts once, so that an end to which answers are cut is no digit of theirs; and digits that are those of
    a round number are none of the secret's.
    """
    answers = np.unique(answers)
    for step in 10.0 ** np.arange(-6, 7):
        if not 16 * float(np.spacing(np.float32(scale))) * 64 < step < scale / 20:
            continue
        mean, own = np.exp(2j * np.pi * (answers / step % 1)).mean(), np.exp(2j * np.pi * (center / step % 1))
        clear = len(answers) * abs(mean) ** 2 > CHANCE
        if clear and abs(mean / abs(mean) - own) < min(0.1, abs(mean / abs(mean) - 1)) and np.ptp(answers) > scale:
            talk.fail(
                f"{about} Below {step:g} the digits of your answers{where} are those of the exact number. Noise that "
                f"is rounded does not hide them: leave it as it is.",
                name=EXACT_DIGITS,
            )


def _refuse_rounded(talk: Interview, values: np.ndarray, about: str, where: str) -> None:
    text = f"{about} Only {len(values):,} different answers came back{where}"
    if any(np.abs(values - np.round(values, digits)).max() <= 1e-3 * 10.0**-digits for digits in range(1, 7)):
        talk.fail(f"{text}: they are rounded. {AS_PRIVATE}", name=ROUNDED)
    talk.fail(f"{text}: do their seeds repeat? Every call needs noise of its own.", name=SAME_NOISE)


def _refuse_cut(
    talk: Interview, answers: np.ndarray, value: float, exact: bool, center: float, about: str, where: str, times: int
) -> None:
    """One end to which answers were cut: harmless if everybody knows it, no privacy if it is the secret."""
    text = (
        f"{about} {times:,} of your answers{where} are exactly {number(value, 6)}, the {_end(answers, value)} of them"
    )
    if exact and not _is_an_end_elsewhere(talk, value, value == answers.min()):
        talk.fail(
            f"{text}, and the true answer: they are cut there. An end that is the secret tells it to everybody.",
            name=CUT_AT_SECRET,
        )
    other_end = 2 * center - value
    if center != 0 and other_end != value and _comes_again(talk, answers, value, other_end):
        talk.fail(
            f"{text}, and others are exactly {number(other_end, 6)}: the noise is cut on both sides of the truth. "
            "Such ends follow the secret; an answer that can never come speaks against one of the two worlds.",
            name=CUT_NOISE,
        )
    talk.fail(
        f"{text}: are they cut to a range after the noise? If everybody knows the range, that costs no privacy; but on "
        f"average the answer is no longer right, and here the noisy number itself is asked for.",
        name=CUT,
    )


def _comes_again(talk: Interview, answers: np.ndarray, value: float, other: float) -> bool:
    """Does the ``other`` number come again and again, too, in the coordinate in which ``value`` does?"""
    columns = [answers[:, None]]
    if talk.failing is not None:
        with contextlib.suppress(Complaint):
            columns.append(talk.draws(talk.failing, CLOSER).reshape(CLOSER, -1))
    for several in columns:
        here = np.isclose(several, other, rtol=1e-12, atol=1e-9 * abs(value - other))
        if np.count_nonzero(here & (several == value).any(axis=0)) > TWICE:
            return True
    return False


def _is_an_end_elsewhere(talk: Interview, value: float, low: bool) -> bool:
    """Are the answers to another probe, with another true answer, cut at the same number?"""
    for probe in talk.probes:
        if probe is not talk.failing:
            with contextlib.suppress(Complaint):
                others = talk.draws(probe, talk.few)
                if np.count_nonzero(others == value) > TWICE and (others.min() if low else others.max()) == value:
                    return True
    return value == 0


def _end(answers: np.ndarray, value: float) -> str:
    return "smallest" if value == answers.min() else "largest"
