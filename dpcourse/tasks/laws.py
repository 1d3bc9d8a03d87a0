"""Judging noise: do the student's answers have the law that they should? Few draws first, many for what has passed.

Each test is the one with the most power for its error: a binomial on one well-chosen event for the scale, a sign count
for one-sided noise, Kolmogorov-Smirnov for the shape, equal values for rounding and fixed seeds, signs of two
coordinates for noise that is shared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpcourse.audit import binomial_fit, ks_fit, scale_fit
from dpcourse.tasks.shown import spread
from dpcourse.tasks.student import Probe
from dpcourse.tasks.task import LEVEL, Interview
from dpcourse.tasks.values import described


@dataclass(frozen=True)
class Noise:
    """The law that an answer must have: symmetric noise around ``center`` (a number or a vector)."""

    center: Any
    scale: float
    cdf: Callable[[np.ndarray], Any]  # of (answer - center) / scale
    words: str  # "Laplace noise of scale"
    typical: float  # the median of |answer - center| / scale

    @classmethod
    def laplace(cls, center: Any, scale: float) -> Noise:
        """Density exp(-|z|) / 2."""
        return cls(
            center, scale, lambda z: np.where(z < 0, np.exp(np.minimum(z, 0)) / 2, 1 - np.exp(-np.maximum(z, 0)) / 2),
            "Laplace noise of scale", float(np.log(2)),
        )  # fmt: skip

    @classmethod
    def gaussian(cls, center: Any, sigma: float) -> Noise:
        """The normal law with standard deviation sigma."""
        from scipy.special import ndtr

        return cls(center, sigma, ndtr, "Gaussian noise of standard deviation", 0.6744897501960817)


def noise_of(law: Callable[..., Noise]) -> Callable[[Interview], None]:
    """The student's answers must have the law ``law(**probe)``."""

    def judge(talk: Interview) -> None:
        level = LEVEL / (len(talk.probes) + 1) / 6
        for number, probe in enumerate(talk.probes):
            _look(talk, probe, law(**probe), talk.few, level)
            if number == len(talk.probes) - 1:
                _look(talk, probe, law(**probe), talk.many, level)
        talk.praise = f"Your answers to {len(talk.probes)} probes spread as they should."

    return judge


def _look(talk: Interview, probe: Probe, right: Noise, draws: int, level: float) -> None:
    answers = talk.draws(probe, draws).reshape(draws, -1)
    center = float(np.ravel(right.center)[0])
    z = (answers - np.ravel(right.center)) / right.scale
    first = z[:, 0]
    if talk.public:
        talk.picture = spread(talk.task.name, answers[:, 0], center, right.scale, right.cdf)
    about = f"I called you {draws:,} times with {described(probe)}."
    _fresh(talk, answers, center, about)
    above = int(np.count_nonzero(first > 0))
    talk.require(
        binomial_fit(above, draws, 0.5, level=level),
        f"{about} {above / draws:.0%} of your answers lie above {center:.6g}, and half should: their median is "
        f"{np.median(answers[:, 0]):.6g}.",
    )
    factor = float(np.median(np.abs(first))) / right.typical
    shape = ks_fit(first / factor, right.cdf, level=level)  # only to choose the words: factor comes from the sample
    found = (
        f"{about} Your answers spread like {right.words} about {factor * right.scale:.3g}; {right.scale:.3g} is needed."
    )
    other = f"{about} Your noise does not have the right shape: it is not {right.words} {right.scale:.3g}, nor of any other."
    waste = " That is private, but wasteful: more noise than the guarantee needs."
    short = " That is too little to hide one person."
    width = found + (waste if factor > 1 else short) if shape.passed else other
    talk.require(scale_fit(first, right.cdf, level=level), width, wasteful=shape.passed and factor > 1)
    talk.require(ks_fit(first, right.cdf, level=level), other)
    if z.shape[1] > 1:
        _each_coordinate(talk, z, right, about, level)


def _fresh(talk: Interview, answers: np.ndarray, center: float, about: str) -> None:
    """A continuous law never gives the same number twice (odds below 1e-9 in double precision)."""
    distinct = len(np.unique(answers[:, 0]))
    if distinct == 1:
        if np.isclose(answers[0, 0], center):
            talk.fail(
                f"{about} Every answer was {answers[0, 0]:.6g}, the true one: there is no noise.", name="no noise"
            )
        talk.fail(
            f"{about} Every answer was {answers[0, 0]:.6g}: the noise is always the same (a fixed seed inside the "
            f"function?). Whoever asks for something else subtracts it.",
            name="always the same noise",
        )
    if distinct < 0.98 * len(answers):
        talk.fail(
            f"{about} Only {distinct:,} different answers came back: they are rounded, or their seeds repeat. Give back "
            f"the noisy number as it is.",
            name="rounded",
        )


def _each_coordinate(talk: Interview, z: np.ndarray, right: Noise, about: str, level: float) -> None:
    pooled = z[: max(talk.few, len(z) // z.shape[1])]
    agree = int(np.count_nonzero(np.sign(z[:, 0]) == np.sign(z[:, 1])))
    talk.require(
        binomial_fit(agree, len(z), 0.5, level=level),
        f"{about} The noise of the first two coordinates has the same sign in {agree / len(z):.0%} of the answers, not in "
        f"half of them: each coordinate needs noise of its own. Shared noise cancels when two coordinates are subtracted.",
        name="shared noise",
    )
    for column in range(1, z.shape[1]):
        talk.require(
            ks_fit(pooled[:, column], right.cdf, level=level / z.shape[1]),
            f"{about} The noise of coordinate {column} is not {right.words} {right.scale:.3g}.",
        )


def shares_of(probabilities: Callable[..., Any], labels: Callable[..., Any]) -> Callable[[Interview], None]:
    """The student's answers must be ``labels(**probe)`` with ``probabilities(**probe)``: an exact binomial for each."""

    def judge(talk: Interview) -> None:
        for number, probe in enumerate(talk.probes):
            names, right = list(labels(**probe)), np.asarray(probabilities(**probe), dtype=float)
            level = LEVEL / (len(talk.probes) + 1) / len(names)
            for draws in (talk.few, talk.many)[: 2 if number == len(talk.probes) - 1 else 1]:
                answers = talk.draws(probe, draws)
                about = f"I called you {draws:,} times with {described(probe)}."
                strange = [one for one in np.unique(answers).tolist() if one not in names]
                if strange:
                    talk.fail(f"{about} You answered {strange[0]!r}, which is none of {names[:6]}.")
                if len(np.unique(answers)) == 1 and right.max() ** draws < level:
                    talk.fail(f"{about} Every answer was {answers[0]!r}: no coin is tossed, or always the same one.")
                for name, share in zip(names, right, strict=True):
                    hits = int(np.count_nonzero(answers == name))
                    talk.require(
                        binomial_fit(hits, draws, float(share), level=level),
                        f"{about} You answered {name!r} in {hits / draws:.1%} of them; {share:.1%} is right.",
                    )
        talk.praise = f"Your answers to {len(talk.probes)} probes come as often as they should."

    return judge
