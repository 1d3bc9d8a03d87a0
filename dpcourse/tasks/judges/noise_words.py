"""What wrong noise means: which known mistakes it is, and whether it hides too little, or only more than it must.

Nothing here decides; it chooses words. They are said after all probes were looked at: noise that is too wide at one of
them may be too narrow at another, and noise whose width follows the secret hides nobody, however wide it is.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dpcourse.audit import binomial_fit, ks_fit
from dpcourse.tasks.complaints import Complaint
from dpcourse.tasks.interview import Failed, Interview
from dpcourse.tasks.judges.diagnosis import LIKELY, alike_samples, draws_of
from dpcourse.tasks.judges.noise_law import Noise, with_parts
from dpcourse.tasks.mistake import Mistake
from dpcourse.tasks.probes import Edge
from dpcourse.tasks.respondent import Probe
from dpcourse.tasks.wording import arguments, number, shown

NAMING = 8_000  # draws of each probe: so many tell widths apart that differ by a sixteenth
SCREENING = 400  # draws that rule out most mistakes
CLEARLY = 30  # times as likely as what is right must a mistake be
AT_AN_EDGE = 2_000  # draws of a probe at an edge
WIDER, NARROWER = 1.06, 0.94  # five deviations of the mean size of 8,000 draws
FAR_NARROWER = 0.9  # the same of 2,000
WASTEFUL = "That is private, but wasteful: more noise than the guarantee needs."
TOO_LITTLE = "That is too little to hide one person."
FROM_THE_SECRET = "The width of your noise follows from the data, which are the secret: it tells about them."


class Seen(NamedTuple):
    """A probe, what is right there, and many answers to it."""

    probe: Probe
    right: Noise
    answers: np.ndarray

    @property
    def factor(self) -> float:
        """How many times too wide the noise is, around wherever it lies."""
        around = np.abs(self.answers - np.median(self.answers, axis=0))
        return float(around.mean() / self.right.scale / self.right.law.mean_size)

    @property
    def factors(self) -> np.ndarray:
        """How many times too wide it is in each coordinate."""
        return np.asarray(
            np.median(np.abs(self.answers - self.right.centers), axis=0) / self.right.scale / self.right.law.typical
        )

    @property
    def has_the_shape(self) -> bool:
        """Is it noise of this law around the right centre, of whatever width, of its own in every coordinate?"""
        z, widths = self.right.standardized(self.answers), self.factors
        if not widths.min() > 0 or abs(self.factor / widths.mean() - 1) > 5 / math.sqrt(z.size):
            return False
        level = 1e-4 / z.shape[1]
        above = (z > 0).sum(axis=0)
        alone = all(
            binomial_fit(int(above[column]), len(z), 0.5, level=level).passed
            and ks_fit(z[:, column] / widths[column], self.right.law.cdf, level=level).passed
            for column in range(z.shape[1])
        )
        together = (z > 0).T.astype(float) @ (z > 0) + (z <= 0).T.astype(float) @ (z <= 0)
        apart = np.abs(together - np.diag(np.diag(together)) - len(z) / 2 * (1 - np.eye(z.shape[1])))
        return alone and float(apart.max(initial=0.0)) < 6 * math.sqrt(len(z)) / 2  # no two that go together


def diagnose_noise(
    talk: Interview, probes: Sequence[Probe], law: Callable[..., Noise], failed: Failed, *, hides: bool
) -> Failed:
    """The failure with the names of the mistakes, and what it means for privacy."""
    seen = list[Seen]()
    failing = failed.probe
    for probe in probes:
        try:
            seen.append(_seen(talk, probe, law, AT_AN_EDGE if isinstance(probe, Edge) else NAMING))
        except Complaint:
            if not isinstance(probe, Edge):
                names = failed.names or _of_this_length(talk, failing)
                return Failed(failed.text, names, probe=failing, diagnosed=True)
    known = _explaining(talk, law, [one for one in seen if not isinstance(one.probe, Edge)])
    meaning = Meaning()
    if hides and not failed.names:  # of answers that were cut, rounded or repeated no width can be read
        meaning = _meaning(talk, law, seen, failing)
    names = tuple(one.name for one in known) or failed.names
    if not names and any(one.name == meaning.name for one in talk.task.mistakes):
        names = (meaning.name,)
    if known and all(one.hides is not None for one in known):  # its own message says so
        meaning = Meaning(wasteful=meaning.wasteful and all(one.hides for one in known))
    return Failed(failed.text, names, wasteful=meaning.wasteful, note=meaning.note, probe=failing, diagnosed=True)


def _of_this_length(talk: Interview, probe: Probe | None) -> tuple[str, ...]:
    """The mistakes, at most one, that give back as many numbers as the student does."""
    if probe is None:
        return ()
    with contextlib.suppress(Complaint):
        length = talk.draws(probe, 1).size
        for one in talk.task.mistakes:
            with contextlib.suppress(Complaint):
                if draws_of(one, talk.task.answer, probe, 1, 1).size == length:
                    return (one.name,)
    return ()


def _seen(talk: Interview, probe: Probe, law: Callable[..., Noise], draws: int) -> Seen:
    right = law(**probe)
    answers = talk.draws(probe, draws).reshape(draws, -1)
    if answers.shape[1] != right.centers.size:
        raise Complaint("another length")
    return Seen(probe, right, answers)


class Meaning(NamedTuple):
    """What wrong noise means for whoever is in the data: the sentence, and whether it is only wasteful."""

    note: str = ""
    wasteful: bool = False
    name: str = ""


def _meaning(talk: Interview, law: Callable[..., Noise], seen: list[Seen], failing: Probe | None) -> Meaning:
    """Nothing can be said where the shape is another one."""
    if not all(one.has_the_shape for one in seen):
        return Meaning()
    if _follows_the_secret(talk, law, seen):
        return Meaning(FROM_THE_SECRET)
    uneven = [
        one for one in seen if one.factors.max() > (1.15 if len(one.answers) == NAMING else 1.3) * one.factors.min()
    ]
    if uneven:
        return _meaning_of_uneven(uneven[0])
    narrow = [one for one in seen if one.factor < (NARROWER if len(one.answers) == NAMING else FAR_NARROWER)]
    if narrow and any(one.probe is failing for one in narrow):
        return Meaning(TOO_LITTLE)
    if narrow:
        scale = narrow[0].right.scale
        return Meaning(
            f"For {arguments(narrow[0].probe)} its width is about {number(narrow[0].factor * scale)}, and "
            f"{number(scale)} is needed. {TOO_LITTLE}"
        )
    wide = max(one.factor for one in seen)
    return Meaning(WASTEFUL, wasteful=True) if wide > WIDER else Meaning()


def _meaning_of_uneven(one: Seen) -> Meaning:
    """Coordinates of different widths: what they spend together decides whether one person is hidden.

    Of Laplace noise that is the sum of 1 / scale, of Gaussian noise the sum of 1 / variance.
    """
    power = one.right.law.sizes.power
    spent = float(np.mean(one.factors**-power) ** (1 / power))
    widths = f"The widths of your noise are about {shown(one.factors * one.right.scale)}"
    if spent > 1.05:
        return Meaning(f"{widths}: together they spend more than is allowed. {TOO_LITTLE}")
    return Meaning(f"{widths}: one person is hidden, but some numbers get more noise than others.", name="uneven split")


def _follows_the_secret(talk: Interview, law: Callable[..., Noise], seen: list[Seen]) -> bool:
    """Other data, all else equal: is the noise as wide as before? An edge differs from the first probe in some."""
    for place, one in enumerate([some for some in seen if not isinstance(some.probe, Edge)][:2]):
        others = [changed for name in one.probe for changed in _changed(one.probe, name)]
        others += [some.probe for some in seen if place == 0 and isinstance(some.probe, Edge)]
        for other in others:
            if _has_other_data(one.probe, other, law):
                with contextlib.suppress(Complaint):
                    there = _seen(talk, other, law, AT_AN_EDGE)
                    if not 0.85 < there.factor / one.factor < 1.18:
                        return True
    return False


def _changed(probe: Probe, name: str) -> Iterator[Probe]:
    """The probe with other values of a numeric argument: smaller, 0, larger; of a table fewer rows, and more."""
    value = probe[name]
    if not isinstance(value, int | float | np.ndarray) or isinstance(value, bool):
        return
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        return
    if array.ndim:
        yield {**probe, name: array[: len(array) // 2]}
        yield {**probe, name: np.concatenate([array] * 3)}
    for factor in (0.4, 0, 5, 40):
        other: Any = (array * factor).astype(array.dtype)
        yield {**probe, name: other if array.ndim else type(value)(other)}


def _has_other_data(probe: Probe, other: Probe, law: Callable[..., Noise]) -> bool:
    """Does the right centre move, and not the scale?"""
    try:
        with np.errstate(all="ignore"):
            before, after = law(**probe), law(**other)
    except (ValueError, ArithmeticError, IndexError):
        return False
    same_scale = bool(np.isclose(before.scale, after.scale, rtol=1e-9))
    return same_scale and before.centers.shape == after.centers.shape and not np.allclose(before.centers, after.centers)


def _explaining(talk: Interview, law: Callable[..., Noise], seen: list[Seen]) -> tuple[Mistake, ...]:
    """The mistake, or the two of different parts, that the answers to these probes look like; () if none does.

    Two are asked for only where none explains everything by itself.
    """
    right = _likely(talk, with_parts(law, {}), seen, 0.0)
    least = max(LIKELY, CLEARLY * right)
    known, shaped = talk.task.mistakes, all(one.has_the_shape for one in seen if one.factors.min() > 0)
    single = [(one, one) for one in known if shaped or set(one.parts) != {"scale"}]  # another scale keeps the shape
    best = _best(talk, single, seen, least)
    if best:
        return (best,)
    pairs = [
        ((one, other), with_parts(law, {**one.parts, **other.parts}))
        for one, other in combinations([one for one in known if one.parts], 2)
        if not set(one.parts) & set(other.parts)
    ]
    both = _best(talk, pairs, seen, least)
    return both or ()


def _best(talk: Interview, candidates: list[tuple[Any, Mistake]], seen: list[Seen], least: float) -> Any:
    """The label of the likeliest candidate, if one is likelier than ``least``; else None."""
    best = None
    for label, one in candidates:
        likely = _likely(talk, one, seen, least)
        if likely > least:
            best, least = label, likely
    return best


def _likely(talk: Interview, one: Mistake, seen: list[Seen], least: float) -> float:
    """How likely is it that all these answers are the mistake's? The smallest p-value over all probes, corrected.

    A few draws come first: most mistakes are ruled out by them, in a tenth of the time.
    """
    likely = 1.0
    for place, here in enumerate(reversed(seen)):
        for draws in (SCREENING, NAMING):
            try:
                theirs = draws_of(one, talk.task.answer, here.probe, draws, 1_000_003 + place)
            except Complaint:
                return 0.0
            theirs = theirs.reshape(len(theirs), -1)
            if theirs.shape[1] != here.answers.shape[1]:
                return 0.0
            alike = len(seen) * alike_samples(here.answers[:draws], theirs)
            if alike <= LIKELY:
                return alike
        likely = min(likely, alike)
        if likely <= least:
            return likely
    return likely
