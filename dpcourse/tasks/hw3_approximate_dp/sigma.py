"""Homework 3, second part: how much Gaussian noise? The textbook's sigma, and the smallest one."""

from __future__ import annotations

import math
from typing import Any

from dpcourse.mechanisms import Gaussian, classical_sigma
from dpcourse.privacy_loss import GaussianLoss
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.complaints import NO_MESSAGE, Complaint, Unwritten
from dpcourse.tasks.declare import judged_task, value_task
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.judges.values import Note
from dpcourse.tasks.mistake import arguments_of, mistake
from dpcourse.tasks.probes import each, log_uniform, uniform
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, shown

FOUR_DIGITS = 5.01e-4  # what rounding 1.0005 to 1.000 or to 1.001 changes
OTHER_REFUSALS = ("AssertionError", "Exception")  # errors that mean a refusal, and are not the one asked for
VARIANCE = "the variance", "That is sigma squared."


def _textbook(p: Any) -> float:
    """The formula, also where the theorem does not apply."""
    return p.sensitivity * classical_sigma(p.epsilon, p.delta)


def _judge_textbook(talk: Interview) -> None:
    inside = [(probe, talk.value(probe)) for probe in talk.probes if probe["epsilon"] < 1]
    for probe, sigma in inside:
        talk.failing, right = probe, _textbook(arguments_of(probe))
        if sigma is None or not same_values(sigma, right):
            talk.fail(f"For {arguments(probe)} you answer {shown(sigma)}; right is {shown(right)}.")
    answered = [probe for probe in talk.probes if probe["epsilon"] >= 1 and not _refused(talk, probe)]
    if answered:
        probe = talk.failing = answered[0]
        sigma = talk.value(probe)
        all_of_them = len(answered) == sum(probe["epsilon"] >= 1 for probe in talk.probes)
        talk.fail(
            f"For {arguments(probe)} you answer {shown(sigma)} instead of refusing; the true delta of that noise "
            f"is {_true_delta(arguments_of(probe), sigma):.2g}.",
            name="refuses nothing" if all_of_them else "refuses too little",
        )
    talk.praise = f"All {len(inside)} values are right, and what the proof does not cover is refused."


def _true_delta(p: Any, sigma: float) -> float:
    """The exact delta of noise with this sigma; next to no noise hides nothing."""
    return 1.0 if sigma < 1e-6 * p.sensitivity else float(GaussianLoss(p.sensitivity / sigma).delta(p.epsilon))


def _refused(talk: Interview, probe: Probe) -> bool:
    """Does the function say no, by a ValueError that says why (by its own type, or its words)? Other ways fail."""
    about, way = f"For {arguments(probe)} you", ""
    try:
        if talk.value(probe) is not None:
            return False
        way = "give back None, as a function without `return` does"
    except Unwritten:
        way = "raise NotImplementedError, which says that a function is not written yet"
    except Complaint as complaint:
        if "ValueError" in complaint.errors:
            if len(complaint.errors) > 1 or not str(complaint).partition(": ")[2].startswith(NO_MESSAGE):
                return True
            way = "raise a ValueError without a message: nobody learns what was wrong"
        elif kind := next((one for one in complaint.errors if one in OTHER_REFUSALS), ""):
            way = f"raise {complaint.errors[0]}" + (f", a kind of {kind}" if kind != complaint.errors[0] else "")
            way += ", and not a ValueError"
        elif complaint.layer == "answer":
            way = "give back something that is no number, in place of refusing"
        else:
            raise
    talk.failing = probe
    talk.fail(f"{about} {way}.", name="refuses in other words")


textbook_sigma = judged_task(
    "textbook_sigma",
    see="lecture 3, The Gaussian mechanism",
    # Three that the proof covers, then three that it does not (1 itself, and both sides of where the formula fails).
    probes=each(
        6, epsilon=uniform((0.15, 0.4), (0.5, 0.9), (0.96, 0.995), (1, 1), (1.5, 4), (9, 20)),
        delta=log_uniform(-6, -3), sensitivity=uniform((2, 6), (0.05, 0.15), *[(2, 6)] * 4),
    ),
    judge=_judge_textbook,
    form=Answer(optional=True),
    mistakes=[
        mistake(
            "refuses nothing",
            "The proof needs 0 < epsilon < 1. Beyond, nobody has promised anything, and for large epsilon the formula "
            "really gives too little noise: raise a ValueError.",
            _textbook,
        ),
        mistake(
            "refuses too little",
            "The proof needs epsilon < 1: 1 itself is refused, and so is all above it.",
            lambda p: _textbook(p) if p.epsilon <= 1 else _refuse(p),
        ),
        mistake(
            "refuses in other words",
            "To refuse a value, write `raise ValueError(...)` with a message: whoever calls your function then notices "
            "at once, learns why, and can tell a refusal from a bug or a forgotten `return`.",
            lambda p: _textbook(p) if p.epsilon < 1 else None,
        ),
        mistake(*VARIANCE, lambda p: _textbook(p) ** 2),
        mistake(
            "sensitivity forgotten",
            "One person moves the answer by the sensitivity: the noise must grow with it.",
            lambda p: classical_sigma(p.epsilon, p.delta),
        ),
        mistake(
            "1.25 forgotten",
            "The logarithm is that of 1.25/delta, not of 1/delta: a little too little noise.",
            lambda p: p.sensitivity * classical_sigma(p.epsilon, 1.25 * p.delta),
        ),
        mistake(
            "classical bracket",
            "It looks like ln(1.25)/delta. delta stands inside the logarithm, too: ln(1.25/delta).",
            lambda p: math.sqrt(2 * math.log(1.25) / p.delta) * p.sensitivity / p.epsilon,
        ),
        mistake(
            "epsilon under the root",
            "epsilon stands below the root's line, not under the root: sigma is the root times sensitivity/epsilon.",
            lambda p: _textbook(p) * math.sqrt(p.epsilon),
        ),
        mistake("base ten", "ln is the natural logarithm.", lambda p: _textbook(p) / math.sqrt(math.log(10))),
        mistake("base two", "ln is the natural logarithm.", lambda p: _textbook(p) / math.sqrt(math.log(2))),
        mistake(
            "root forgotten",
            "The root over 2 ln(1.25/delta) is missing.",
            lambda p: 2 * math.log(1.25 / p.delta) * p.sensitivity / p.epsilon,
        ),
        mistake(
            "factor 2 forgotten",
            "The factor 2 under the root is missing.",
            lambda p: _textbook(p) / math.sqrt(2),
        ),
    ],
)  # fmt: skip


def _refuse(p: Any) -> float:
    raise ValueError(f"the theorem needs 0 < epsilon < 1, got {p.epsilon}")


def _smallest(p: Any) -> float:
    return Gaussian.analytic(epsilon=p.epsilon, delta=p.delta, sensitivity=p.sensitivity).sigma


def _meaning_of_sigma(p: Any, sigma: float, right: float) -> Note:
    """On either side of what is right: too much or too little."""
    if sigma > right:
        return Note("Yours is private, but wasteful: more noise than the guarantee needs.", wasteful=True)
    return Note(f"The true delta of yours is {_true_delta(p, sigma):.3g}, more than was promised.")


def _by_the_tail(p: Any) -> float:
    """The sigma at which Pr[L > eps] = delta: solve mu/2 - eps/mu = z for mu."""
    from scipy.special import ndtri

    z = float(ndtri(p.delta))
    return p.sensitivity / (z + math.sqrt(z**2 + 2 * p.epsilon))


def _without_factor(p: Any) -> float:
    """The sigma at which the difference of the two tails, without e^eps, is delta."""
    from scipy.special import ndtr

    def excess(mu: float) -> float:
        return float(ndtr(mu / 2 - p.epsilon / mu) - ndtr(-mu / 2 - p.epsilon / mu)) - p.delta

    low, high = 1e-3, 20.0
    while high / low > 1 + 1e-9:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if excess(middle) > 0 else (middle, high)
    return p.sensitivity / low


smallest_sigma = value_task(
    "smallest_sigma",
    see="lecture 3, Textbook against truth",
    # Below 1, above 1, and where the textbook's formula gives too little. Not further: at epsilon = 20 the textbook
    # difference of two Phi, as a student computes it, loses its digits.
    probes=each(
        3, epsilon=uniform((0.3, 0.9), (1.5, 4), (10, 12)), delta=log_uniform(-5, -4),
        sensitivity=uniform((2, 6), (0.05, 0.15), (2, 6)),
    ),
    right=_smallest,
    tolerance=FOUR_DIGITS,  # a search has a tolerance
    note=_meaning_of_sigma,
    mistakes=[
        mistake(
            "textbook formula",
            "That is the textbook formula. Below epsilon = 1 it wastes noise, far above it there is too little.",
            _textbook,
        ),
        mistake(
            "textbook as upper end",
            "It looks like a search between 0 and the textbook's sigma. For a large epsilon that is too little noise, "
            "and the right answer lies beyond it: begin with a larger upper end.",
            lambda p: min(_textbook(p), _smallest(p)),
        ),
        mistake(
            "sensitivity forgotten",
            "That is the sigma for a query of sensitivity 1; noise grows in proportion to the sensitivity.",
            lambda p: _smallest(p) / p.sensitivity,
        ),
        mistake(
            "mu for sigma",
            "That is mu = sensitivity/sigma. Divide the sensitivity by it.",
            lambda p: p.sensitivity / _smallest(p),
        ),
        mistake(
            "by the tail",
            "You ask that Pr[L > epsilon] be delta. The exact delta is smaller than that tail, so less noise is "
            "enough.",
            _by_the_tail, hides=True,
        ),
        mistake(
            "e^epsilon forgotten",
            "The neighbour's probability is multiplied by e^epsilon before it is subtracted. Without that factor less "
            "is taken off, and you ask for more noise than is needed.",
            _without_factor, hides=True,
        ),
        mistake(*VARIANCE, lambda p: _smallest(p) ** 2),
    ],
)  # fmt: skip
