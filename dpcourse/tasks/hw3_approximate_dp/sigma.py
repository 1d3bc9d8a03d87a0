"""Homework 3, second part: how much Gaussian noise? The textbook's sigma, and the smallest one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcourse.mechanisms import Gaussian, classical_sigma
from dpcourse.privacy_loss import GaussianLoss
from dpcourse.tasks.answers import Answer
from dpcourse.tasks.complaints import Complaint, Unwritten
from dpcourse.tasks.interview import Interview
from dpcourse.tasks.judges.diagnosis import same_values
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.task import Task
from dpcourse.tasks.wording import arguments, shown

FOUR_DIGITS = 5.01e-4  # what rounding 1.0005 to 1.000 or to 1.001 changes
REFUSALS = ("ValueError", "AssertionError")


def _textbook_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Two that the proof covers, then three that it does not (1 itself, and both sides of where the formula fails)."""
    epsilons = (rng.uniform(0.15, 0.4), rng.uniform(0.5, 0.95), 1.0, rng.uniform(1.5, 4), rng.uniform(9, 20))
    return [
        {"epsilon": float(epsilon), "delta": float(10 ** rng.uniform(-6, -3)), "sensitivity": float(rng.uniform(2, 6))}
        for epsilon in epsilons
    ]


def _textbook(epsilon: float, delta: float, sensitivity: float) -> float:
    return sensitivity * classical_sigma(epsilon, delta)


def _judge_textbook(talk: Interview) -> None:
    inside = [probe for probe in talk.probes if probe["epsilon"] < 1]
    found = [talk.value(probe) for probe in inside]
    for probe, sigma in zip(inside, found, strict=True):
        right = Gaussian.classical(**probe).sigma
        if sigma is None or not same_values(sigma, right):
            talk.fail(f"For {arguments(probe)} you answer {shown(sigma)}; right is {shown(right)}.")
    for probe in talk.probes:
        if probe["epsilon"] >= 1 and (sigma := _unless_refused(talk, probe)) is not None:
            true = _true_delta(probe, sigma)
            talk.fail(
                f"For {arguments(probe)} you answer {shown(sigma)} instead of refusing; the true delta of that noise "
                f"is {true:.2g}.",
                name="refuses nothing",
            )
    talk.praise = f"All {len(inside)} values are right, and what the proof does not cover is refused."


def _true_delta(probe: Probe, sigma: float) -> float:
    """The exact delta of noise with this sigma; next to no noise hides nothing."""
    if sigma < 1e-6 * probe["sensitivity"]:
        return 1.0
    return float(GaussianLoss(probe["sensitivity"] / sigma).delta(probe["epsilon"]))


def _unless_refused(talk: Interview, probe: Probe) -> Any:
    """The answer, or None if the function says no: by an error that means it, or by None."""
    try:
        return talk.value(probe)
    except Unwritten:
        talk.fail(
            f"For {arguments(probe)} you raise NotImplementedError, which says that a function is not written yet. To "
            f"refuse a value, raise a ValueError.",
            name="refuses in other words",
        )
    except Complaint as complaint:
        if set(complaint.errors) & set(REFUSALS):
            return None
        if complaint.errors[:1] == ("Exception",):
            talk.fail(
                f"For {arguments(probe)} you refuse by an error of no kind. Raise a ValueError: who calls your "
                f"function can then tell a refusal from a bug.",
                name="refuses in other words",
            )
        raise


textbook_sigma = Task(
    name="textbook_sigma",
    see="lecture 3, The Gaussian mechanism",
    probes=_textbook_probes,
    judge=_judge_textbook,
    answer=Answer(optional=True),
    mistakes=(
        Mistake(
            "refuses nothing", _textbook,
            "The proof needs 0 < epsilon < 1. Beyond, nobody has promised anything, and for large epsilon the formula "
            "really gives too little noise: raise a ValueError.",
        ),
        Mistake(
            "the variance", lambda epsilon, delta, sensitivity: _textbook(epsilon, delta, sensitivity) ** 2,
            "That is sigma squared.",
        ),
        Mistake(
            "sensitivity forgotten", lambda epsilon, delta, sensitivity: _textbook(epsilon, delta, 1.0),
            "One person moves the answer by the sensitivity: the noise must grow with it.",
        ),
        Mistake(
            "1.25 forgotten", lambda epsilon, delta, sensitivity: _textbook(epsilon, 1.25 * delta, sensitivity),
            "The logarithm is that of 1.25/delta, not of 1/delta: a little too little noise.",
        ),
        Mistake(
            "base ten",
            lambda epsilon, delta, sensitivity: _textbook(epsilon, delta, sensitivity) / math.sqrt(math.log(10)),
            "ln is the natural logarithm.",
        ),
        Mistake(
            "factor 2 forgotten",
            lambda epsilon, delta, sensitivity: _textbook(epsilon, delta, sensitivity) / math.sqrt(2),
            "The factor 2 under the root is missing.",
        ),
    ),
)  # fmt: skip


def _smallest_probes(rng: np.random.Generator) -> Sequence[Probe]:
    """Below 1, above 1, and where the textbook's formula gives too little.

    Not further: at epsilon = 20 the textbook difference of two Phi, as a student computes it, loses its digits.
    """
    return [
        {"epsilon": float(rng.uniform(*sides)), "delta": float(10 ** rng.uniform(-5, -4)),
         "sensitivity": float(rng.uniform(2, 6))}
        for sides in ((0.3, 0.9), (1.5, 4), (10, 12))
    ]  # fmt: skip


def _smallest(epsilon: float, delta: float, sensitivity: float) -> float:
    return Gaussian.analytic(epsilon=epsilon, delta=delta, sensitivity=sensitivity).sigma


def _judge_smallest(talk: Interview) -> None:
    """To four digits (a search has a tolerance); on either side of that, too little or too much."""
    found = [talk.value(probe) for probe in talk.probes]
    for probe, sigma in zip(talk.probes, found, strict=True):
        right = _smallest(**probe)
        if abs(sigma / right - 1) <= FOUR_DIGITS:
            continue
        text = f"For {arguments(probe)} you answer {shown(sigma)}; {shown(right)} is enough."
        if sigma > right:
            talk.fail(f"{text} Yours is private, but wasteful: more noise than the guarantee needs.", wasteful=True)
        talk.fail(f"{text} The true delta of yours is {_true_delta(probe, sigma):.3g}, more than was promised.")
    talk.praise = f"All {len(found)} probes are answered right."


def _by_the_tail(epsilon: float, delta: float, sensitivity: float) -> float:
    """The sigma at which Pr[L > eps] = delta: solve mu/2 - eps/mu = z for mu."""
    from scipy.special import ndtri

    z = float(ndtri(delta))
    return sensitivity / (z + math.sqrt(z**2 + 2 * epsilon))


smallest_sigma = Task(
    name="smallest_sigma",
    see="lecture 3, Textbook against truth",
    probes=_smallest_probes,
    judge=_judge_smallest,
    mistakes=(
        Mistake(
            "textbook formula", _textbook,
            "That is the textbook formula. Below epsilon = 1 it wastes noise, far above it there is too little.",
        ),
        Mistake(
            "sensitivity forgotten", lambda epsilon, delta, sensitivity: _smallest(epsilon, delta, 1.0),
            "That is the sigma for a query of sensitivity 1; noise grows in proportion to the sensitivity.",
        ),
        Mistake(
            "mu for sigma",
            lambda epsilon, delta, sensitivity: sensitivity / _smallest(epsilon, delta, sensitivity),
            "That is mu = sensitivity/sigma. Divide the sensitivity by it.",
        ),
        Mistake(
            "by the tail", _by_the_tail,
            "You ask that Pr[L > epsilon] be delta. The exact delta is smaller than that tail, so less noise is "
            "enough.",
        ),
        Mistake(
            "the variance", lambda epsilon, delta, sensitivity: _smallest(epsilon, delta, sensitivity) ** 2,
            "That is sigma squared.",
        ),
    ),
)  # fmt: skip

TASKS: tuple[Task, ...] = (textbook_sigma, smallest_sigma)
